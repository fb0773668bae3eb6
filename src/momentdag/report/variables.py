"""What the page tells about each variable: its range, parents, curves, levers, variance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from momentdag.effects import MonteCarlo, decompose_variance, levers
from momentdag.posterior import Posterior
from momentdag.report.curves import Curve, draw_mechanisms, parent_curves
from momentdag.report.picture import shown_pair

if TYPE_CHECKING:
    from momentdag.estimator import MomentDAG

__all__ = ["Effort", "Part", "VariableContent", "describe_variables"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

_N_PARENT_SETS = 3
_LEAST_CAUSE = 0.1  # least probability of a path from a lever that is looked into
_MOST_LEVERS = 8
_SETTINGS = 5


@dataclass(frozen=True)
class Effort:
    """How much is worked out: enough for a dozen variables, bounded for fifty.

    Parameters
    ----------
    n_draws : int
        Worlds for curves, levers and decompositions.
    n_rows : int
        Noise rows in each world.
    n_shown : int
        Rows of the data behind the curves.
    n_lever_searches : int
        Levers searched over all targets together; targets with the surest variance parents first.
    n_parts : int
        Causes among which variance is split, over all targets together, in the same order.
    """

    n_draws: int = 40
    n_rows: int = 128
    n_shown: int = 300
    n_lever_searches: int = 30
    n_parts: int = 60


@dataclass(frozen=True)
class Part:
    """A share of a variable's variance: "own noise", or through the mean or scale from a cause."""

    part: str
    cause: str
    share: float


@dataclass(frozen=True)
class VariableContent:
    """Everything about one variable.

    Parameters
    ----------
    summary : dict
        min, median, max, mean, sd in the data's units.
    parent_sets : list of dict
        The most probable pairs of parent sets: mean, variance, probability.
    curves : list of Curve
        Against each parent in the consensus pair.
    has_causes : bool
        Whether any other variable is a probable cause, direct or not.
    levers : list of dict or None
        Rows of `effects.levers`, best first; None if they were not worked out.
    tolerance : float or None
        Change of the mean that a lever was allowed.
    parts : list of Part or None
        Where the variance comes from; None if it was not worked out.
    """

    summary: dict[str, float]
    parent_sets: list[dict[str, Any]]
    curves: list[Curve]
    has_causes: bool
    levers: list[dict[str, Any]] | None
    tolerance: float | None
    parts: list[Part] | None


def describe_variables(
    estimator: MomentDAG, values: FloatArray, shown: npt.NDArray[np.intp], effort: Effort
) -> list[VariableContent]:
    """Describe every variable, in the order of the columns.

    Parameters
    ----------
    estimator : MomentDAG
    values : float array, shape (n_samples, d)
    shown : int array
        The rows to show behind curves.
    effort : Effort
    """
    posterior = estimator.posterior_
    causes = _likely_causes(posterior)
    asked, decomposed = _within(estimator, causes, effort)
    described = []
    for name in posterior.names:
        ranking = None
        if asked.get(name):
            ranking = levers(
                estimator,
                name,
                candidates=asked[name],
                n_settings=_SETTINGS,
                monte_carlo=MonteCarlo(effort.n_draws, effort.n_rows),
            )
        described.append(
            VariableContent(
                {k: float(v) for k, v in estimator.summary_.loc[name].items()},
                _parent_sets(estimator, name),
                _curves(estimator, name, values, shown, effort),
                bool(causes[name]),
                None if ranking is None else ranking.to_frame().to_dict("records"),
                None if ranking is None else ranking.tolerance,
                _parts(estimator, name, effort) if name in decomposed else None,
            )
        )
    return described


def _likely_causes(posterior: Posterior) -> dict[str, list[str]]:
    """Return the likely causes of each variable, direct or not, the likeliest first."""
    paths = posterior.ancestor_probabilities("either")
    found = {}
    for name in posterior.names:
        ranked = paths[name].sort_values(ascending=False, kind="stable")
        found[name] = [str(cause) for cause in ranked.index[ranked >= _LEAST_CAUSE]]
    return found


def _within(
    estimator: MomentDAG, causes: Mapping[str, Sequence[str]], effort: Effort
) -> tuple[dict[str, list[str]], set[str]]:
    """Return whose levers are searched, among which candidates, and whose variance is split."""
    if estimator.scm_ is None:
        return {}, set()
    posterior = estimator.posterior_
    spread = posterior.edge_probabilities("variance").sum() + 1e-3 * (
        posterior.edge_probabilities("mean").sum()
    )
    asked: dict[str, list[str]] = {}
    decomposed: set[str] = set()
    searches, parts = effort.n_lever_searches, effort.n_parts
    for name in spread.sort_values(ascending=False, kind="stable").index:
        candidates = list(causes[name][:_MOST_LEVERS])
        if len(candidates) <= searches:
            asked[name] = candidates
            searches -= len(candidates)
        if causes[name] and len(causes[name]) <= parts:
            decomposed.add(name)
            parts -= len(causes[name])
    return asked, decomposed


def _parent_sets(estimator: MomentDAG, name: str) -> list[dict[str, Any]]:
    table = estimator.posterior_.parent_sets(name).head(_N_PARENT_SETS)
    return [
        {
            "mean": list(row.mean_parents),
            "variance": list(row.variance_parents),
            "probability": row.probability,
        }
        for row in table.itertuples()
    ]


def _curves(
    estimator: MomentDAG,
    name: str,
    values: FloatArray,
    shown: npt.NDArray[np.intp],
    effort: Effort,
) -> list[Curve]:
    model, posterior = estimator.scm_, estimator.posterior_
    if model is None:
        return []
    consensus = shown_pair(estimator)
    if not consensus.parents(name):
        return []
    drawn = draw_mechanisms(np.random.default_rng(0), model, posterior, name, effort.n_draws)
    return parent_curves(model, consensus, name, drawn, values, values[shown])


def _parts(estimator: MomentDAG, name: str, effort: Effort) -> list[Part]:
    how = MonteCarlo(effort.n_draws, effort.n_rows)
    table = decompose_variance(estimator, name, monte_carlo=how).to_frame()
    return [
        Part(row.part, row.cause, row.share)
        for row in table.itertuples()
        if row.part != "total" and row.share >= 0.005
    ]
