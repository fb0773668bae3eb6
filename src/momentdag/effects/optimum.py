"""Proposals for several levers and several outcomes, and the recommendation in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pandas as pd

from momentdag.display import text
from momentdag.display.printable import Printable, Writer
from momentdag.effects.trust import Trust

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

__all__ = ["Optimum"]


@dataclass(frozen=True, eq=False, repr=False)
class Optimum(Printable):
    """Settings of levers that serve several outcomes, best first.

    Parameters
    ----------
    goals : str
        What was to be achieved, in words.
    confidence : float
        Probability with which the constraints were to hold.
    settings : tuple of dict
        The proposals, in the order of the tables; levels of text by their names.
    table : DataFrame
        See `to_frame`.
    by_outcome : DataFrame
        See `outcomes`.
    trust : Trust or None
        How far the proposals can be trusted.
    is_forced : bool
        Whether to recommend although the model does not reproduce the data.

    Examples
    --------
    >>> table = pd.DataFrame({"proposal": [1], "setting": ["z=-1.6"], "holds": [True]})
    >>> table = table.assign(gain=0.4, gain_low=0.3, gain_high=0.5, p_better=0.99, p_holds=0.97)
    >>> optimum = Optimum("steady y", 0.9, ({"z": -1.6},), table, pd.DataFrame())
    >>> optimum.recommended
    {'z': -1.6}
    >>> optimum
    Optimum(recommended z = -1.6, gain 0.4 (0.3 to 0.5), to steady y)
    """

    goals: str
    confidence: float
    settings: tuple[dict[str, float | str], ...]
    table: pd.DataFrame = field(repr=False)
    by_outcome: pd.DataFrame = field(repr=False)
    trust: Trust | None = None
    is_forced: bool = False

    @property
    def is_refused(self) -> bool:
        """Whether nothing is recommended because the model does not reproduce the data."""
        return self.trust is not None and bool(self.trust.failed) and not self.is_forced

    @property
    def recommended(self) -> dict[str, float | str] | None:
        """The first proposal that respects the constraints and is probably better than today."""
        place = self._place()
        return None if place is None else dict(self.settings[place])

    def _place(self) -> int | None:
        if self.is_refused or self.table.empty:
            return None
        good = self.table["holds"].astype(bool) & (self.table["p_better"] >= 0.5)
        good &= self.table["gain"] > 0
        return int(good.to_numpy().argmax()) if good.any() else None

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each proposal, best first.

        Columns: proposal, its number; setting (name=value); gain over today, with _low and _high,
        the cost taken off; cost; p_better, the posterior probability that the gain is positive;
        p_holds, that every constraint holds; holds, whether that reaches the confidence;
        outside_data, the share of simulated rows that left the data.
        """
        return self.table.copy()

    def outcomes(self) -> pd.DataFrame:
        """Return one row for each proposal and outcome.

        Columns: proposal, outcome; mean and sd, with _low and _high; mean_change against today and
        sd_ratio, likewise; p_spread_falls and p_mean_stays, the posterior probabilities that the sd
        is smaller than today and that the mean moves by no more than its tolerance (0.1 sd where
        none was given); risk of being outside the limits, if there are any.
        """
        return self.by_outcome.copy()

    def recommendation(self) -> str:
        """Return the recommendation as a few sentences."""
        if self.is_refused and self.trust is not None:
            return f"None. {self.trust.message()}"
        doubt = "" if self.trust is None else self.trust.message()
        place = self._place()
        if place is None:
            none = f"None: no setting is better than today and surely keeps to: {self.goals}."
            return f"{none} {doubt}".rstrip()
        row = self.table.iloc[place]
        what = " and ".join(
            f"{name} to {text.number(v)}" for name, v in self.settings[place].items()
        )
        lines = [f"Set {what}."]
        outcomes = self.by_outcome[self.by_outcome["proposal"] == row["proposal"]]
        for one in outcomes.itertuples():
            lines.append(
                f"{one.outcome}: mean {one.mean:.4g} ({one.mean_change:+.3g}), sd {one.sd:.4g} "
                f"({100 * one.sd_ratio:.0f} % of today's); the spread falls with probability "
                f"{one.p_spread_falls:.2f}, the mean stays with {one.p_mean_stays:.2f}."
            )
        return f"{' '.join(lines)} {doubt}".rstrip()

    def to_dict(self) -> Mapping[str, object]:
        """Return plain values, for JSON."""
        return {
            "goals": self.goals,
            "confidence": self.confidence,
            "recommended": self.recommended,
            "recommendation": self.recommendation(),
            "trust": None if self.trust is None else self.trust.to_dict(),
            "proposals": self.table.to_dict("records"),
            "outcomes": self.by_outcome.to_dict("records"),
        }

    def plot(self) -> Figure:
        """Return a figure: the gain of each proposal, and what it does to each outcome."""
        from momentdag.effects.figures import draw_optimum

        return draw_optimum(self)

    def _headline(self) -> str:
        place = self._place()
        if place is None:
            return f"nothing recommended, to {self.goals}"
        gain = self.table[["gain", "gain_low", "gain_high"]].iloc[place]
        setting = text.settings(self.settings[place])
        return f"recommended {setting}, gain {text.interval(gain)}, to {self.goals}"

    def _write(self, to: Writer) -> str:
        parts = [to.sentence(self.recommendation()), to.table(self.table)]
        outcomes = to.table(self.by_outcome, full="outcomes()")
        return to.block(f"To {self.goals}", [*parts, outcomes])
