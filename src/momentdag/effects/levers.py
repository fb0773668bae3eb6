"""Levers of a target, ranked by what setting them does to its variance or mean.

A cause that is set no longer passes its own variation on. With x distributed as the levers are in
a posterior sample, the levers of a group jointly,

    V = E_x Var(Y | do x) = E[v²] + E_x Var(m | do x)

is the variance that remains at a typical value. So Var(Y | do x*) / Var(Y) is the product of
V / Var(Y), by holding, and Var(Y | do x*) / V, by the level: tolerance design and parameter design
in the words of robust design (Taguchi, Chowdhury and Wu 2005).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np
import pandas as pd

from momentdag.effects.inputs import EffectInputs, read_inputs
from momentdag.effects.intervals import check_level, summarise
from momentdag.effects.lever_search import Goal, LeverCriterion, LeverSearch, Outcomes
from momentdag.effects.posterior_samples import MonteCarlo, PosteriorSample, draw_samples
from momentdag.effects.propagation import descendants_of, propagate
from momentdag.effects.settings import Settings, warn_outside
from momentdag.errors import OptionError
from momentdag.graph import BoolArray, reachability
from momentdag.posterior import Posterior
from momentdag.posterior.queries import Edge, distinct_pairs

if TYPE_CHECKING:
    from momentdag.estimator import MomentDAG

__all__ = [
    "LEVEL_MATTERS",
    "LeverRanking",
    "RankBy",
    "levers",
    "variance_held_fixed",
    "variance_only_probability",
]

RankBy: TypeAlias = Literal["level", "total"]
"""Levers whose level matters first, or all by the total ratio of variances."""

LEVEL_MATTERS = 0.9
"""Largest ratio by the level at which the level is said to matter: the sd falls by about 5 %."""

_SEARCH_DRAWS, _SEARCH_ROWS = 64, 128
_DEFAULT_TOLERANCE = 0.1
_MAX_LEVERS = 3
_PAIRINGS = 2  # noise rows that each value of the levers is paired with


@dataclass(frozen=True, eq=False)
class LeverRanking:
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

    Examples
    --------
    >>> table = pd.DataFrame({"levers": ["z", "x"], "holds": [True, True], "p_improves": [1, 0.4]})
    >>> settings = ({"z": -1.6}, {"x": 0.1})
    >>> LeverRanking("y", "lower_variance", "level", 0.1, 0.9, settings, table)
    LeverRanking(lower_variance of 'y', recommended {'z': -1.6})
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
        """The first setting that probably improves and satisfies the constraint, or None."""
        good = self.table["holds"].astype(bool) & (self.table["p_improves"] >= 0.5)
        return dict(self.settings[int(good.argmax())]) if good.any() else None

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each lever or group, best first.

        Columns: levers; setting (name=value); variance_ratio, Var(Y | do) / Var(Y), with _low and
        _high; its factors ratio_by_level (the choice of the level) and ratio_by_holding (holding
        the lever fixed at a typical value); mean_change, E(Y | do) - E(Y), with _low and _high;
        p_improves, the posterior probability that the setting serves the goal; p_held, that it
        satisfies the constraint; holds, whether p_held reaches the confidence; p_variance_only,
        that every lever of the row affects the target's spread and has no path to its mean;
        p_direct, that every lever is a direct cause of the variance and not of the mean. Ratios
        and changes are posterior means.
        """
        return self.table.copy()

    def __repr__(self) -> str:
        best = self.recommended
        outcome = "nothing recommended" if best is None else f"recommended {best}"
        return f"LeverRanking({self.goal} of {self.target!r}, {outcome})"


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
    """Rank what to set, and to which value, to reduce the variance of a target or move its mean.

    With ``goal="lower_variance"`` the expected ratio Var(Y | do) / Var(Y) is minimised over
    settings under which ``|E(Y | do) - E(Y)| <= tolerance`` with probability ``confidence``. The
    baseline is the model without intervention, draw by draw. With "raise_mean" and "lower_mean"
    the expected change of the mean counts, and the sd must stay within ``tolerance`` as a fraction.
    Levers without a setting that satisfies the constraint come last. The module's docstring has
    the two factors of the ratio.

    Parameters
    ----------
    estimator : MomentDAG
        Fitted.
    target : str
    goal : {"lower_variance", "raise_mean", "lower_mean"}
    rank_by : {"level", "total"}
        Order of the levers for "lower_variance" (the other goals have one order). "level": levers
        with an expected ratio by the level of at most 0.9 (`LEVEL_MATTERS`) first, by that ratio,
        then the others by the total; where no level matters, the best lever to hold fixed is first.
        "total": all by Var(Y | do) / Var(Y).
    tolerance : float, optional
        By default a tenth of the target's observed sd; 0.1 if the sd must be kept.
    candidates : sequence of str, optional
        Variables that can be set; by default all. Only those that cause the target in some draw of
        the posterior are ranked.
    bounds : mapping from name to (low, high), optional
        Range in which a variable may be set; by default the central 90 % of its data (its whole
        range if these are one value).
    max_levers : {1, 2, 3}
        Maximum number of levers set jointly.
    confidence : float
        Probability with which the constraint must hold.
    n_settings : int
        Settings of each lever that are computed; splines interpolate between them.
    level : float
        Probability of the central intervals.
    monte_carlo : MonteCarlo, optional
        For the reported numbers; the search uses 64 draws of its own.

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
    With a fitted ``estimator``, the setting that steadies ``y``::

        md.effects.levers(estimator, "y").recommended
    """
    inputs = read_inputs(estimator)
    inputs.column(target, "target")
    check_level(level)
    criterion = _criterion(inputs, target, goal, tolerance)
    if rank_by not in get_args(RankBy):
        raise OptionError(f"Expected rank_by among {get_args(RankBy)}; got {rank_by!r}.")
    if not 0 < confidence < 1:
        raise OptionError(f"Expected confidence between 0 and 1; got {confidence!r}.")
    if max_levers not in range(1, _MAX_LEVERS + 1):
        raise OptionError(f"Expected max_levers from 1 to {_MAX_LEVERS}; got {max_levers!r}.")
    if not isinstance(n_settings, int | np.integer) or n_settings < 4:
        raise OptionError(
            f"Expected n_settings to be an integer of at least 4; got {n_settings!r}."
        )
    ranges = _ranges(inputs, target, candidates, bounds)
    how = MonteCarlo() if monte_carlo is None else monte_carlo
    search_rng, final_rng, holding_rng = how.rng.spawn(3)
    samples = draw_samples(search_rng, inputs, _SEARCH_DRAWS, _SEARCH_ROWS, "both")
    # The best of many settings looks a little better than it is, so the search takes half the risk.
    stricter = (1 + confidence) / 2
    search = LeverSearch(target, samples, criterion, ranges, int(n_settings), stricter)
    settings = search.best(max_levers)
    # The reported numbers come from samples that had no part in the choice.
    samples = draw_samples(final_rng, inputs, how.n_draws, how.n_rows, "both")
    final = LeverSearch(target, samples, criterion, ranges, int(n_settings), confidence)
    rows = [_row(holding_rng, final, inputs.posterior, setting, level) for setting in settings]
    table = pd.DataFrame(rows, columns=list(_COLUMNS))
    order = _order(table, criterion, rank_by)
    return LeverRanking(
        target,
        goal,
        rank_by,
        criterion.tolerance,
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


def _order(table: pd.DataFrame, criterion: LeverCriterion, rank_by: RankBy) -> list[int]:
    """Return the rows of a table, best first."""
    # The loss is linear in the outcomes, so the loss of their means is the expected loss.
    expected = Outcomes(*(table[name].to_numpy(np.float64) for name in Outcomes._fields))
    by_level = table["ratio_by_level"].to_numpy(np.float64)
    matters = by_level <= LEVEL_MATTERS
    matters &= rank_by == "level" and criterion.goal == "lower_variance"
    loss = np.where(matters, by_level, criterion.loss(expected))
    fails = ~table["holds"].to_numpy(bool)
    return [int(k) for k in np.lexsort((loss, ~matters, fails))]


def _row(
    rng: np.random.Generator,
    search: LeverSearch,
    posterior: Posterior,
    setting: Mapping[str, float],
    level: float,
) -> dict[str, object]:
    names = tuple(setting)
    outcomes = search.outcomes(names, np.array([list(setting.values())]))
    weights = np.full(len(search.samples), 1 / len(search.samples))
    row: dict[str, object] = {
        "levers": " + ".join(names),
        "setting": ", ".join(f"{name}={value:.4g}" for name, value in setting.items()),
    }
    for name, values in zip(Outcomes._fields, outcomes, strict=True):
        summary = summarise(values[:, 0], weights, level)
        row |= {label: float(part) for label, part in summary.columns(name).items()}
    columns, target = [search.column(name) for name in names], search.column(search.target)
    held_fixed = [variance_held_fixed(rng, sample, columns, target) for sample in search.samples]
    by_holding = held_fixed / search.baseline[1][:, 0]
    p_held = float(search.criterion.is_satisfied(outcomes).mean())
    direct: list[Edge] = [(name, search.target, "variance_only") for name in names]
    return {
        **row,
        "ratio_by_level": float(np.mean(outcomes.variance_ratio[:, 0] / by_holding)),
        "ratio_by_holding": float(np.mean(by_holding)),
        "p_improves": float(search.criterion.improves(outcomes).mean()),
        "p_held": p_held,
        "holds": p_held >= search.confidence,
        "p_variance_only": variance_only_probability(posterior, names, search.target),
        "p_direct": posterior.subgraph_probability(direct),
    }


def variance_held_fixed(
    rng: np.random.Generator, sample: PosteriorSample, columns: Sequence[int], target: int
) -> float:
    """Return E_x Var(Y | do x), where x has the distribution of the levers in this sample.

    Each noise row's lever values are paired with two other noise rows at random: the variance of m
    between the pairings of one value estimates Var(m | do x) without bias.
    """
    if not descendants_of(sample.graph.union_graph, columns)[target]:
        # The levers cannot affect the target: exactly the variance without intervention.
        return float(propagate(sample, Settings.none(), [target]).moments()[1][0, 0])
    values = propagate(sample, Settings.none(), columns).values[0]  # (n_levers, n_rows)
    pairings = np.stack([rng.permutation(values.shape[1]) for _ in range(_PAIRINGS)])
    settings = Settings((), tuple(columns), np.stack([values[:, rows] for rows in pairings]))
    result = propagate(sample, settings, [target])
    mean = np.take_along_axis(result.mean[:, 0], np.argsort(pairings, axis=1), axis=1)
    return float(np.mean(result.sd**2) + mean.var(axis=0, ddof=1).mean())


def variance_only_probability(posterior: Posterior, names: Sequence[str], target: str) -> float:
    """Return the probability that every named lever is a variance-only cause of the target.

    Such a cause has a path to the target in the union of both graphs, but is neither a mean parent
    of the target nor an ancestor of one. Setting it changes v(X_paV) only: the distribution of
    m(X_paM), and so the mean, stays as it is.

    Examples
    --------
    >>> from momentdag.graph import MomentGraph
    >>> from momentdag.posterior import Posterior, Provenance
    >>> chain = MomentGraph.from_edges("abc", mean=[("a", "b")], variance=[("b", "c")])
    >>> posterior = Posterior("abc", [chain.mean_graph], [chain.variance_graph], Provenance("-"))
    >>> [variance_only_probability(posterior, lever, "c") for lever in "ab"]
    [1.0, 1.0]
    """
    pairs = distinct_pairs(posterior)
    end = posterior.index(target)
    paths = reachability(posterior.graphs("either")[pairs.first])
    mean_parents = posterior.mean_graphs[pairs.first][:, :, end]
    variance_only: BoolArray = np.ones(len(pairs.first), dtype=bool)
    for i in map(posterior.index, names):
        on_mean = mean_parents[:, i] | np.any(paths[:, i] & mean_parents, axis=1)
        variance_only &= paths[:, i, end] & ~on_mean
    return float(pairs.counts[variance_only].sum() / pairs.counts.sum())


def _criterion(
    inputs: EffectInputs, target: str, goal: Goal, tolerance: float | None
) -> LeverCriterion:
    if goal not in get_args(Goal):
        raise OptionError(f"Expected goal among {get_args(Goal)}; got {goal!r}.")
    if tolerance is None:
        unit = float(inputs.summary.loc[target, "sd"]) if goal == "lower_variance" else 1.0
        tolerance = _DEFAULT_TOLERANCE * unit
    if not (np.isfinite(tolerance) and tolerance > 0):
        raise OptionError(f"Expected tolerance to be a positive number; got {tolerance!r}.")
    return LeverCriterion(goal, float(tolerance))


def _ranges(
    inputs: EffectInputs,
    target: str,
    candidates: Sequence[str] | None,
    bounds: Mapping[str, tuple[float, float]] | None,
) -> dict[str, tuple[float, float]]:
    """Return the range of each candidate that causes the target in some draw."""
    given = {} if bounds is None else dict(bounds)
    for name in [*(() if candidates is None else candidates), *given]:
        if inputs.column(name, "candidates or bounds") == inputs.names.index(target):
            raise OptionError(f"The target {name!r} cannot be its own lever. Name other variables.")
    ranges = {}
    for name, probability in inputs.posterior.ancestor_probabilities("either")[target].items():
        if probability == 0 or (candidates is not None and name not in candidates):
            continue
        low, high = given.get(name, _usual_range(inputs, name))
        if not (np.isfinite([low, high]).all() and low < high):
            raise OptionError(f"Expected bounds[{name!r}] with low < high; got {(low, high)!r}.")
        if name in given:
            warn_outside(inputs, name, low, high)
        ranges[str(name)] = (float(low), float(high))
    return ranges


def _usual_range(inputs: EffectInputs, name: str) -> tuple[float, float]:
    """Return the central 90 % of a column, or all of it if most of it is one value."""
    low, q05, q95, high = (
        float(inputs.summary.loc[name, column]) for column in ("min", "q05", "q95", "max")
    )
    return (q05, q95) if q05 < q95 else (low, high)
