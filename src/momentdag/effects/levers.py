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
from dataclasses import replace
from typing import Any, get_args

import numpy as np
import pandas as pd

from momentdag.effects.inputs import EffectInputs, FittedEstimator, read_world
from momentdag.effects.intervals import check_level, summarise
from momentdag.effects.lever_ranges import Bounds, find_ranges
from momentdag.effects.lever_ranking import LeverRanking, RankBy
from momentdag.effects.lever_search import Goal, LeverCriterion, LeverSearch, Outcomes
from momentdag.effects.posterior_samples import MonteCarlo, PosteriorSample, draw_samples
from momentdag.effects.propagation import descendants_of, propagate
from momentdag.effects.settings import Settings
from momentdag.effects.tolerance import parse_tolerance
from momentdag.effects.trust import judge
from momentdag.errors import OptionError
from momentdag.posterior import Posterior
from momentdag.posterior.queries import Edge
from momentdag.posterior.spread import variance_only_probability

__all__ = [
    "LEVEL_MATTERS",
    "NO_EFFECT",
    "levers",
    "variance_held_fixed",
]

LEVEL_MATTERS = 0.9
"""Largest ratio by the level at which the level is said to matter: the sd falls by about 5 %."""

NO_EFFECT = 0.97
"""Ratio of variances above which a setting changes nothing worth the name."""

_SEARCH_DRAWS, _SEARCH_ROWS = 64, 128
_OUTSIDE_DRAWS = 20
_DEFAULT_SD_TOLERANCE = 0.1
_NO_CHANGE = 0.05  # of the mean, in sds of the target
_MAX_LEVERS = 3
_PAIRINGS = 2  # noise rows that each value of the levers is paired with


def levers(
    estimator: FittedEstimator,
    target: str,
    *,
    goal: Goal = "lower_variance",
    rank_by: RankBy = "level",
    tolerance: float | str | None = None,
    candidates: Sequence[str] | None = None,
    fixed: Sequence[str] = (),
    bounds: Bounds | None = None,
    costs: Mapping[str, float] | None = None,
    max_levers: int = 1,
    confidence: float = 0.9,
    n_settings: int = 9,
    level: float = 0.9,
    force: bool = False,
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
    tolerance : float or str, optional
        How far the mean may move: 0.3 in the target's units, "5%" of the mean, or "0.1sd" (the
        default). If the sd must be kept, a fraction, by default 0.1.
    candidates : sequence of str, optional
        Variables that can be set; by default all. Only those that cause the target in some draw of
        the posterior are ranked.
    fixed : sequence of str
        Variables that cannot be set.
    bounds : mapping from name to (low, high), optional
        Range in which a variable may be set; by default the central 90 % of its data (its whole
        range if these are one value). Variables on a grid are set to values they have.
    costs : mapping from name to number, optional
        What setting a variable costs, 1 for those not named. Levers are then ranked by what they
        gain per cost.
    max_levers : {1, 2, 3}
        Maximum number of levers set jointly.
    confidence : float
        Probability with which the constraint must hold.
    n_settings : int
        Settings of each lever that are computed; splines interpolate between them.
    level : float
        Probability of the central intervals.
    force : bool
        Recommend a lever although the answer is not to be used (see `LeverRanking.trust`).
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
    inputs = read_world(estimator)
    inputs.number(target)
    check_level(level)
    criterion, tolerance_text = _criterion(inputs, target, goal, tolerance)
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
    for name, cost in ({} if costs is None else costs).items():
        inputs.column(name, "costs")
        if not (np.isfinite(cost) and cost > 0):
            raise OptionError(f"Expected costs[{name!r}] to be a positive number; got {cost!r}.")
    ranges = find_ranges(inputs, target, candidates, fixed, bounds, int(n_settings))
    how = MonteCarlo() if monte_carlo is None else monte_carlo
    search_rng, final_rng, holding_rng = how.rng.spawn(3)
    samples = draw_samples(search_rng, inputs, _SEARCH_DRAWS, _SEARCH_ROWS, "both")
    # The best of many settings looks a little better than it is, so the search takes half the risk.
    stricter = (1 + confidence) / 2
    search = LeverSearch(target, samples, criterion, ranges, stricter)
    settings = search.best(max_levers)
    # The reported numbers come from samples that had no part in the choice.
    samples = draw_samples(final_rng, inputs, how.n_draws, how.n_rows, "both")
    final = LeverSearch(target, samples, criterion, ranges, confidence)
    shown = [_in_file(inputs, setting) for setting in settings]
    rows: list[dict[str, Any]] = [
        {"levers": " + ".join(setting), "setting": _spell(inputs, setting)} for setting in shown
    ]
    unit = float(inputs.summary.loc[target, "sd"])
    for row, setting in zip(rows, settings, strict=True):
        row |= _row(holding_rng, final, inputs.posterior, setting, level)
        row["has_effect"] = _has_effect(row, goal, unit)
        if costs is not None:
            row["cost"] = sum(costs.get(name, 1.0) for name in setting)
    columns = [*_COLUMNS, *(["cost"] if costs is not None else [])]
    table = pd.DataFrame(rows, columns=columns)
    order = _order(table, criterion, rank_by)
    return LeverRanking(
        target,
        goal,
        rank_by,
        criterion.tolerance,
        confidence,
        tuple(shown[k] for k in order),
        table.iloc[order].reset_index(drop=True),
        tolerance_text,
        judge(estimator, [target]),
        force,
    )


def _in_file(inputs: EffectInputs, setting: Mapping[str, float]) -> dict[str, float]:
    """Return a setting in the units of the file."""
    return {
        name: float(inputs.to_file(name, np.array([value]))[0]) for name, value in setting.items()
    }


def _spell(inputs: EffectInputs, setting: Mapping[str, float]) -> str:
    return ", ".join(f"{name}={inputs.spell(name, value)}" for name, value in setting.items())


def _has_effect(row: Mapping[str, Any], goal: Goal, unit: float) -> bool:
    if goal == "lower_variance":
        return bool(row["variance_ratio"] <= NO_EFFECT)
    return bool(abs(row["mean_change"]) >= _NO_CHANGE * unit)


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
    "has_effect",
    "p_variance_only",
    "p_variance_edge_only",
    "outside_data",
)


def _order(table: pd.DataFrame, criterion: LeverCriterion, rank_by: RankBy) -> list[int]:
    """Return the rows of a table, best first."""
    # The loss is linear in the outcomes, so the loss of their means is the expected loss.
    expected = Outcomes(*(table[name].to_numpy(np.float64) for name in Outcomes._fields))
    by_level = table["ratio_by_level"].to_numpy(np.float64)
    matters = by_level <= LEVEL_MATTERS
    matters &= rank_by == "level" and criterion.goal == "lower_variance"
    loss = np.where(matters, by_level, criterion.loss(expected))
    if "cost" in table:
        neutral = 1.0 if criterion.goal == "lower_variance" else 0.0
        loss = (criterion.loss(expected) - neutral) / table["cost"].to_numpy(np.float64)
        matters = np.ones(len(table), dtype=bool)
    fails = ~table["holds"].to_numpy(bool)
    return [int(k) for k in np.lexsort((loss, ~matters, fails))]


def _row(
    rng: np.random.Generator,
    search: LeverSearch,
    posterior: Posterior,
    setting: Mapping[str, float],
    level: float,
) -> dict[str, Any]:
    names, at = tuple(setting), np.array(list(setting.values()))
    outcomes = search.outcomes(names, at[None])
    weights = np.full(len(search.samples), 1 / len(search.samples))
    row: dict[str, Any] = {}
    few = replace(search, samples=search.samples[:_OUTSIDE_DRAWS])
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
        "p_variance_edge_only": posterior.subgraph_probability(direct),
        "outside_data": few.outside_data(names, at),
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


def _criterion(
    inputs: EffectInputs, target: str, goal: Goal, tolerance: float | str | None
) -> tuple[LeverCriterion, str]:
    """Return goal and constraint, and the constraint in words."""
    if goal not in get_args(Goal):
        raise OptionError(f"Expected goal among {get_args(Goal)}; got {goal!r}.")
    if goal == "lower_variance":
        mean, sd = (float(inputs.summary.loc[target, name]) for name in ("mean", "sd"))
        given = parse_tolerance(tolerance, mean, sd)
        return LeverCriterion(goal, given.value), given.text
    share = _DEFAULT_SD_TOLERANCE if tolerance is None else tolerance
    if isinstance(share, str) or not (np.isfinite(share) and share > 0):
        raise OptionError(f"Expected tolerance to be a positive number; got {tolerance!r}.")
    return LeverCriterion(goal, float(share)), f"{share:.3g} of the sd"
