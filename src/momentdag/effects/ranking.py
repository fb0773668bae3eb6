"""Levers of a target, ranked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np
import pandas as pd

from momentdag.effects.fitted import Fitted, read_fit
from momentdag.effects.intervals import check_level, summarise
from momentdag.effects.lever_search import Answers, Goal, Judge, LeverSearch
from momentdag.effects.settings import warn_outside
from momentdag.effects.variance_only import causes_of, variance_only_probability
from momentdag.effects.worlds import MonteCarlo, draw_worlds
from momentdag.errors import OptionError
from momentdag.posterior.queries import Edge

if TYPE_CHECKING:
    from momentdag.estimator import MomentDAG

__all__ = ["LEVEL_MATTERS", "LeverRanking", "RankBy", "levers"]

RankBy: TypeAlias = Literal["level", "total"]
"""Levers whose level matters before those that need only be held still, or by both together."""

LEVEL_MATTERS = 0.9
"""Largest ratio by the level that counts as a cut: the sd falls by about a twentieth."""

_SEARCH_WORLDS, _SEARCH_ROWS = 64, 128
_DEFAULT_TOLERANCE = 0.1
_MAX_LEVERS = 3


@dataclass(frozen=True, eq=False)
class LeverRanking:
    """Levers with their best settings, best first.

    Parameters
    ----------
    target : str
    goal : {"lower_variance", "raise_mean", "lower_mean"}
    rank_by : {"level", "total"}
        What the order went by.
    tolerance : float
        Largest change of the mean in the target's units, or of the sd as a fraction.
    confidence : float
        Probability with which the constraint was to hold.
    settings : tuple of dict
        Best setting of each lever or group of levers, in the order of the table.
    table : DataFrame
        See `to_frame`.
    """

    target: str
    goal: Goal
    rank_by: RankBy
    tolerance: float
    confidence: float
    settings: tuple[dict[str, float], ...]
    table: pd.DataFrame

    @property
    def recommended(self) -> dict[str, float] | None:
        """The first setting that holds what must be held and serves the goal; None if none does."""
        serves = self.table["holds"].astype(bool) & (self.table["p_improves"] >= 0.5)
        return dict(self.settings[int(serves.argmax())]) if serves.any() else None

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each lever or group, best first.

        Columns: levers; setting (name=value); variance_ratio, Var(Y | do) / Var(Y), with _low and
        _high; ratio_by_level and ratio_by_holding, whose product it is in every world: what the
        choice of the level does, and what holding the lever still at a typical value would do;
        mean_change, E(Y | do) - E(Y), with _low and _high; p_improves, the posterior probability
        that the goal is served; p_held, that the constraint holds; holds, whether p_held reaches
        the confidence asked for; p_variance_only, that every lever of the row is a cause of the
        target's spread with no way to its mean; p_direct, that every lever is a direct cause of
        the variance and not of the mean. Ratios and changes are posterior means.
        """
        return self.table.copy()

    def __repr__(self) -> str:
        best = self.recommended
        said = "nothing recommended" if best is None else f"recommended {best}"
        return f"LeverRanking({self.goal} of {self.target!r}, {said})"


def levers(
    estimator: MomentDAG,
    target: str,
    *,
    goal: Goal = "lower_variance",
    rank_by: RankBy = "level",
    tolerance: float | None = None,
    candidates: Sequence[str] | None = None,
    bounds: Mapping[str, tuple[float, float]] | None = None,
    max_levers: int = 1,
    confidence: float = 0.9,
    n_settings: int = 9,
    level: float = 0.9,
    monte_carlo: MonteCarlo | None = None,
) -> LeverRanking:
    """Rank what to set, and where, to steady a target (or to move it without unsteadying it).

    With ``goal="lower_variance"`` a setting is as good as the expected ratio Var(Y | do) / Var(Y)
    is small, among settings under which ``|E(Y | do) - E(Y)| <= tolerance`` with probability
    ``confidence``. The baseline is the world as it is, as modelled, draw by draw. With
    "raise_mean" and "lower_mean" the expected change of the mean counts, and the sd must stay
    within ``tolerance`` as a fraction. Levers without a setting that holds come last.

    A cause that is held still, wherever, passes its own variation on no more; of a cause of the
    variance the *level* matters too. With V the expectation of Var(Y | do x) over the lever's own
    distribution,

        Var(Y | do x*) / Var(Y) = [V / Var(Y)] · [Var(Y | do x*) / V] ,

    by holding and by the level, as tolerance design and parameter design are kept apart (Taguchi,
    Chowdhury and Wu 2005). With ``rank_by="level"`` levers whose level matters come first.

    Parameters
    ----------
    estimator : MomentDAG
        Fitted.
    target : str
    goal : {"lower_variance", "raise_mean", "lower_mean"}
    rank_by : {"level", "total"}
        The order of levers that hold, where the goal is "lower_variance" (the other goals have one
        order only). "level": those with an expected ratio by the level of 0.9 or less
        (`LEVEL_MATTERS`) by this ratio, then the others by the total; so where no level matters,
        the best lever to hold still is first. "total": all by Var(Y | do) / Var(Y).
    tolerance : float, optional
        By default a tenth of the target's observed sd; a tenth, where the sd must be held.
    candidates : sequence of str, optional
        Variables that can be set; by default all. Only those that some draw of the posterior makes
        a cause of the target are ranked.
    bounds : mapping from name to (low, high), optional
        Where a variable may be set; by default in the central 90 % of its data (in all of its range
        if these are one value).
    max_levers : {1, 2, 3}
        Also look for joint settings of up to so many levers.
    confidence : float
        Probability with which the constraint must hold.
    n_settings : int
        Settings of each lever that are worked out; in between, splines.
    level : float
        Probability of the central intervals.
    monte_carlo : MonteCarlo, optional
        For the final figures; the search uses 64 worlds of its own.

    Returns
    -------
    LeverRanking

    Raises
    ------
    OptionError
        If a name is unknown or an option is out of range.

    Warns
    -----
    ExtrapolationWarning
        If bounds leave the data's range.

    Examples
    --------
    >>> import momentdag as md, numpy as np, pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> z = rng.uniform(-2, 2, 300)
    >>> y = 5 + np.exp(0.5 * z) * rng.normal(size=300)
    >>> est = md.MomentDAG(n_draws=100, random_state=0).fit(pd.DataFrame({"z": z, "y": y}))
    >>> ranking = md.effects.levers(est, "y")
    >>> ranking.recommended["z"] < -1.5  # where y is steadiest
    True
    """
    fitted = read_fit(estimator)
    fitted.column(target, "target")
    check_level(level)
    judge = _judge(fitted, target, goal, tolerance)
    if rank_by not in get_args(RankBy):
        raise OptionError(f"Expected rank_by among {get_args(RankBy)}; got {rank_by!r}.")
    if not 0 < confidence < 1:
        raise OptionError(f"Expected confidence between 0 and 1; got {confidence!r}.")
    if max_levers not in range(1, _MAX_LEVERS + 1):
        raise OptionError(f"Expected max_levers from 1 to {_MAX_LEVERS}; got {max_levers!r}.")
    if not isinstance(n_settings, int | np.integer) or n_settings < 4:
        raise OptionError(f"Expected n_settings as an integer from 4; got {n_settings!r}.")
    within = _bounds(fitted, target, candidates, bounds)
    how = MonteCarlo() if monte_carlo is None else monte_carlo
    search_rng, final_rng, holding_rng = how.rng.spawn(3)
    worlds = draw_worlds(search_rng, fitted, _SEARCH_WORLDS, _SEARCH_ROWS, "both")
    # The best of many settings looks a little better than it is; hence half the risk here.
    stricter = (1 + confidence) / 2
    search = LeverSearch(fitted, target, worlds, judge, within, int(n_settings), stricter)
    settings = search.best(max_levers)
    # The figures come from worlds that had no part in the choice.
    worlds = draw_worlds(final_rng, fitted, how.n_draws, how.n_rows, "both")
    final = LeverSearch(fitted, target, worlds, judge, within, int(n_settings), confidence)
    rows = [_row(holding_rng, final, setting, level) for setting in settings]
    table = pd.DataFrame(rows, columns=list(_COLUMNS))
    order = _order(table, judge, rank_by)
    return LeverRanking(
        target,
        goal,
        rank_by,
        judge.tolerance,
        confidence,
        tuple(settings[k] for k in order),
        table.iloc[order].reset_index(drop=True),
    )


_COLUMNS = (
    "levers",
    "setting",
    "variance_ratio",
    "variance_ratio_low",
    "variance_ratio_high",
    "ratio_by_level",
    "ratio_by_holding",
    "mean_change",
    "mean_change_low",
    "mean_change_high",
    "p_improves",
    "p_held",
    "holds",
    "p_variance_only",
    "p_direct",
)


def _order(table: pd.DataFrame, judge: Judge, rank_by: RankBy) -> list[int]:
    """Return the rows of a table, best first."""
    # The loss is linear in the answers, so that of the expected answers is the expected loss.
    expected = Answers(*(table[what].to_numpy(np.float64) for what in Answers._fields))
    by_level = table["ratio_by_level"].to_numpy(np.float64)
    matters = by_level <= LEVEL_MATTERS
    matters &= rank_by == "level" and judge.goal == "lower_variance"
    loss = np.where(matters, by_level, judge.loss(expected))
    fails = ~table["holds"].to_numpy(bool)
    return [int(k) for k in np.lexsort((loss, ~matters, fails))]


def _row(
    rng: np.random.Generator, search: LeverSearch, setting: Mapping[str, float], level: float
) -> dict[str, object]:
    names = tuple(setting)
    posterior, judge = search.fitted.posterior, search.judge
    answers = search.answers(names, np.array([list(setting.values())]))
    weights = np.full(len(search.worlds), 1 / len(search.worlds))
    row: dict[str, object] = {
        "levers": " + ".join(names),
        "setting": ", ".join(f"{name}={value:.4g}" for name, value in setting.items()),
    }
    for what, answer in zip(Answers._fields, answers, strict=True):
        summary = summarise(answer[:, 0], weights, level)
        for suffix, part in zip(("", "_low", "_high"), summary, strict=True):
            row[what + suffix] = float(part)
    by_holding = search.ratio_by_holding(rng, names)
    held = float(judge.held(answers).mean())
    direct: list[Edge] = [(name, search.target, "variance_only") for name in names]
    return {
        **row,
        "ratio_by_level": float(np.mean(answers.variance_ratio[:, 0] / by_holding)),
        "ratio_by_holding": float(np.mean(by_holding)),
        "p_improves": float(judge.improves(answers).mean()),
        "p_held": held,
        "holds": held >= search.confidence,
        "p_variance_only": variance_only_probability(posterior, names, search.target),
        "p_direct": posterior.subgraph_probability(direct),
    }


def _judge(fitted: Fitted, target: str, goal: Goal, tolerance: float | None) -> Judge:
    if goal not in get_args(Goal):
        raise OptionError(f"Expected goal among {get_args(Goal)}; got {goal!r}.")
    if tolerance is None:
        in_units = float(fitted.summary.loc[target, "sd"]) if goal == "lower_variance" else 1.0
        tolerance = _DEFAULT_TOLERANCE * in_units
    if not (np.isfinite(tolerance) and tolerance > 0):
        raise OptionError(f"Expected tolerance as a positive number; got {tolerance!r}.")
    return Judge(goal, float(tolerance))


def _bounds(
    fitted: Fitted,
    target: str,
    candidates: Sequence[str] | None,
    bounds: Mapping[str, tuple[float, float]] | None,
) -> dict[str, tuple[float, float]]:
    """Return the levers that may matter, each with its range."""
    given = {} if bounds is None else dict(bounds)
    named = [*(() if candidates is None else candidates), *given]
    for name in named:
        if fitted.column(name, "candidates and bounds") == fitted.names.index(target):
            raise OptionError(f"Expected levers other than the target; got {name!r}.")
    found = {}
    for name in causes_of(fitted.posterior, target):
        if candidates is not None and name not in candidates:
            continue
        low, high = given.get(name, _usual_range(fitted, name))
        if not (np.isfinite([low, high]).all() and low < high):
            raise OptionError(f"Expected bounds[{name!r}] with low < high; got {(low, high)!r}.")
        if name in given:
            warn_outside(fitted, name, low, high)
        found[name] = (float(low), float(high))
    return found


def _usual_range(fitted: Fitted, name: str) -> tuple[float, float]:
    """Return the central 90 % of a column, or all of it if most of it is one value."""
    low, q05, q95, high = (
        float(fitted.summary.loc[name, what]) for what in ("min", "q05", "q95", "max")
    )
    return (q05, q95) if q05 < q95 else (low, high)
