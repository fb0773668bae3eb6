"""What the page shows of each variable: range, parents, curves, levers, variance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from momentdag.effects import LeverRanking, MonteCarlo, decompose_variance, levers
from momentdag.effects.inputs import consensus_pair
from momentdag.posterior import Posterior
from momentdag.report.curves import Curve, draw_mechanisms, parent_curves

if TYPE_CHECKING:
    from momentdag.estimator import MomentDAG

__all__ = ["Effort", "Part", "VariableContent", "describe_variables"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

_N_PARENT_SETS = 3
_MIN_CAUSE = 0.1  # least probability of a path from a lever to its target
_MAX_LEVERS = 8
_N_SETTINGS = 5


@dataclass(frozen=True)
class Effort:
    """How much is computed: enough for a dozen variables, bounded for fifty.

    Parameters
    ----------
    n_draws : int
        Draws for curves, levers and decompositions.
    n_rows : int
        Noise rows in each draw.
    n_shown : int
        Rows of the data behind the curves.
    n_lever_searches : int
        Levers searched over all targets together; targets with the most probable variance parents
        first.
    n_parts : int
        Causes among which variance is decomposed, over all targets together, in the same order.
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
        Rows of `effects.levers` that change something, best first; None if not computed.
    n_idle : int
        Levers left out because they change next to nothing.
    tolerance : str or None
        Largest change of the mean allowed to a lever.
    recommendation : str or None
        What to set, in a sentence.
    parts : list of Part or None
        Where the variance comes from; None if not computed.
    """

    summary: dict[str, float]
    parent_sets: list[dict[str, Any]]
    curves: list[Curve]
    has_causes: bool
    levers: list[dict[str, Any]] | None
    n_idle: int
    tolerance: str | None
    recommendation: str | None
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
    candidates, decomposed = _within_budget(estimator, causes, effort)
    curves = _curves(estimator, values, shown, effort)
    described = []
    for name in posterior.names:
        ranking = None
        if candidates.get(name):
            ranking = levers(
                estimator,
                name,
                candidates=candidates[name],
                n_settings=_N_SETTINGS,
                monte_carlo=MonteCarlo(effort.n_draws, effort.n_rows),
            )
        described.append(
            VariableContent(
                {k: float(v) for k, v in estimator.summary_.loc[name].items()},
                _parent_sets(estimator, name),
                curves[name],
                bool(causes[name]),
                *_lever_content(ranking),
                _parts(estimator, name, effort) if name in decomposed else None,
            )
        )
    return described


def _lever_content(
    ranking: LeverRanking | None,
) -> tuple[list[dict[str, Any]] | None, int, str | None, str | None]:
    if ranking is None:
        return None, 0, None, None
    table = ranking.to_frame()
    rows = table[table["has_effect"].astype(bool)].to_dict("records")
    return rows, len(table) - len(rows), ranking.tolerance_text, ranking.recommendation()


def _likely_causes(posterior: Posterior) -> dict[str, list[str]]:
    """Return the likely causes of each variable, direct or not, most probable first."""
    paths = posterior.ancestor_probabilities("either")
    causes = {}
    for name in posterior.names:
        ranked = paths[name].sort_values(ascending=False, kind="stable")
        causes[name] = [str(cause) for cause in ranked.index[ranked >= _MIN_CAUSE]]
    return causes


def _within_budget(
    estimator: MomentDAG, causes: Mapping[str, Sequence[str]], effort: Effort
) -> tuple[dict[str, list[str]], set[str]]:
    """Return the candidate levers of each target, and the targets whose variance is decomposed."""
    if estimator.scm_ is None:
        return {}, set()
    posterior = estimator.posterior_
    spread = posterior.edge_probabilities("variance").sum() + 1e-3 * (
        posterior.edge_probabilities("mean").sum()
    )
    candidates: dict[str, list[str]] = {}
    decomposed: set[str] = set()
    searches, parts = effort.n_lever_searches, effort.n_parts
    for name in spread.sort_values(ascending=False, kind="stable").index:
        likeliest = list(causes[name][:_MAX_LEVERS])
        if len(likeliest) <= searches:
            candidates[name] = likeliest
            searches -= len(likeliest)
        if causes[name] and len(causes[name]) <= parts:
            decomposed.add(name)
            parts -= len(causes[name])
    return candidates, decomposed


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
    estimator: MomentDAG, values: FloatArray, shown: npt.NDArray[np.intp], effort: Effort
) -> dict[str, list[Curve]]:
    """Return the curves of each variable; none without parents or without mechanisms."""
    model, posterior = estimator.scm_, estimator.posterior_
    curves: dict[str, list[Curve]] = {name: [] for name in posterior.names}
    consensus = consensus_pair(estimator)
    if model is None or not consensus.edges():
        return curves
    mechanisms = model.mean_functions(consensus)
    draws = draw_mechanisms(np.random.default_rng(0), model, posterior, effort.n_draws)
    for name in posterior.names:
        if consensus.parents(name):
            drawn = [draw[name] for draw in draws]
            curves[name] = parent_curves(
                consensus, name, mechanisms[name], drawn, values, values[shown]
            )
    return curves


def _parts(estimator: MomentDAG, name: str, effort: Effort) -> list[Part]:
    how = MonteCarlo(effort.n_draws, effort.n_rows)
    table = decompose_variance(estimator, name, monte_carlo=how).to_frame()
    return [
        Part(row.part, row.cause, row.share)
        for row in table.itertuples()
        if row.part != "total" and row.share >= 0.005
    ]
