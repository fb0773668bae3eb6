"""The levers of a target, ranked, and the recommendation in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from momentdag.display import text
from momentdag.display.printable import Printable, Writer
from momentdag.effects.lever_search import Goal
from momentdag.effects.trust import Trust

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

__all__ = ["LeverRanking", "RankBy"]

RankBy: TypeAlias = Literal["level", "total"]
"""Levers whose level matters first, or all by the total ratio of variances."""


_SHOWN = (
    "setting",
    "variance_ratio",
    "variance_ratio_low",
    "variance_ratio_high",
    "ratio_by_level",
    "mean_change",
    "p_improves",
    "p_held",
    "holds",
    "p_variance_only",
)
"""Columns of the table that is shown."""


@dataclass(frozen=True, eq=False, repr=False)
class LeverRanking(Printable):
    """Levers with their best settings, best first.

    Parameters
    ----------
    target : str
    goal : {"lower_variance", "raise_mean", "lower_mean"}
    rank_by : {"level", "total"}
    tolerance : float
        Largest change of the mean in the target's units, or of the sd as a fraction.
    confidence : float
        Probability with which the constraint was to hold.
    settings : tuple of dict
        Best setting of each lever or group of levers, in the order of the table.
    table : DataFrame
        See `to_frame`.
    tolerance_text : str
        The tolerance in all the ways it can be said.
    trust : Trust or None
        How far the ranking can be trusted.
    is_forced : bool
        Whether to recommend although the model does not reproduce the data.

    Examples
    --------
    >>> table = pd.DataFrame({"levers": ["z", "x"], "holds": [True, True], "p_improves": [1, 0.4]})
    >>> table = table.assign(variance_ratio=[0.3, 1], variance_ratio_low=0.2, variance_ratio_high=1)
    >>> settings = ({"z": -1.6}, {"x": 0.1})
    >>> LeverRanking("y", "lower_variance", "level", 0.1, 0.9, settings, table)
    LeverRanking(lower_variance of 'y': recommended z = -1.6; variance ratio 0.3 (0.2 to 1))
    """

    target: str
    goal: Goal
    rank_by: RankBy
    tolerance: float
    confidence: float
    settings: tuple[dict[str, float], ...]
    table: pd.DataFrame = field(repr=False)
    tolerance_text: str = ""
    trust: Trust | None = None
    is_forced: bool = False

    @property
    def is_refused(self) -> bool:
        """Whether nothing is recommended because the model does not reproduce the data."""
        return self.trust is not None and bool(self.trust.failed) and not self.is_forced

    @property
    def recommended(self) -> dict[str, float] | None:
        """The first setting that probably improves and satisfies the constraint, or None.

        None, too, if the model does not reproduce the columns that the ranking rests on. Look at
        ``trust`` before acting: chains of draws may contradict each other.
        """
        good = self._good()
        return dict(self.settings[int(good.argmax())]) if good.any() else None

    def _good(self) -> npt.NDArray[np.bool_]:
        if self.is_refused:
            return np.zeros(len(self.table), dtype=bool)
        good = self.table["holds"].astype(bool) & (self.table["p_improves"] >= 0.5)
        if "has_effect" in self.table:
            good &= self.table["has_effect"].astype(bool)
        return np.asarray(good, dtype=bool)

    def recommendation(self) -> str:
        """Return the recommendation as a sentence or two."""
        if self.is_refused and self.trust is not None:
            return f"None. {self.trust.message()}"
        good = self._good()
        doubt = "" if self.trust is None else self.trust.message()
        if not good.any():
            none = f"None: no lever moves the mean of {self.target} and keeps its sd."
            if self.goal == "lower_variance":
                none = (
                    f"None: no lever reduces the variance of {self.target} while keeping its mean "
                    f"within {self.tolerance_text}."
                )
            return f"{none} {doubt}".rstrip()
        row, setting = self.table.iloc[int(good.argmax())], self.settings[int(good.argmax())]
        what = " and ".join(f"{name} to {value:.4g}" for name, value in setting.items())
        ratio = [f"{100 * row[f'variance_ratio{end}']:.0f}" for end in ("", "_low", "_high")]
        sentence = (
            f"Set {what}. The variance of {self.target} is then {ratio[0]} % of today's "
            f"({ratio[1]} to {ratio[2]} %) and its mean changes by {row['mean_change']:+.3g} "
            f"({row['mean_change_low']:+.3g} to {row['mean_change_high']:+.3g})."
        )
        if self.trust is not None and self.trust.grade == "do not use":
            return f"{doubt} The best setting found is: {sentence[0].lower()}{sentence[1:]}"
        return f"{sentence} {doubt}".rstrip()

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each lever or group, best first.

        Columns: levers; setting (name=value); variance_ratio, Var(Y | do) / Var(Y), with _low and
        _high; its factors ratio_by_level (the choice of the level) and ratio_by_holding (holding
        the lever fixed at a typical value); mean_change, E(Y | do) - E(Y), with _low and _high;
        p_improves, the posterior probability that the setting serves the goal; p_held, that it
        satisfies the constraint; holds, whether p_held reaches the confidence; has_effect, whether
        the setting changes anything worth the name; p_variance_only, that every lever of the row
        moves only the spread of the target: it affects it and has no path to its mean;
        p_variance_edge_only, that every lever has an edge to the target in the variance graph and
        none in the mean graph; outside_data, the share of simulated rows that left the data; cost,
        if costs were given. Ratios and changes are posterior means.
        """
        return self.table.copy()

    def to_dict(self) -> Mapping[str, object]:
        """Return plain values, for JSON."""
        return {
            "target": self.target,
            "goal": self.goal,
            "rank_by": self.rank_by,
            "tolerance": self.tolerance,
            "confidence": self.confidence,
            "recommended": self.recommended,
            "recommendation": self.recommendation(),
            "trust": None if self.trust is None else self.trust.to_dict(),
            "levers": self.table.to_dict("records"),
        }

    def plot(self) -> Figure:
        """Return a figure: what each lever does to variance and mean."""
        from momentdag.effects.figures import draw_ranking

        return draw_ranking(self)

    def _headline(self) -> str:
        good = self._good()
        if not good.any():
            return f"{self.goal} of {self.target!r}: nothing recommended"
        place = int(good.argmax())
        ratio = self.table[[f"variance_ratio{end}" for end in ("", "_low", "_high")]].iloc[place]
        return (
            f"{self.goal} of {self.target!r}: recommended {text.settings(self.settings[place])}; "
            f"variance ratio {text.interval(ratio)}"
        )

    def _write(self, to: Writer) -> str:
        shown = [name for name in _SHOWN if name in self.table]
        parts = [to.sentence(self.recommendation()), to.table(self.table[shown])]
        return to.block(f"Levers of {self.target}", parts)
