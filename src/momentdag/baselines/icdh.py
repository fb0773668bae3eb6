"""ICDH: a continuous search for the graph of a model with changing noise variance.

Yin, Gao, Yu and Ji (2024). Networks with a location and a scale head (`networks`) minimise a
penalised Gaussian likelihood under a smooth constraint that vanishes iff the graph is acyclic. The
constraint enters by an augmented Lagrangian (`lagrangian`), whose subproblems L-BFGS-B solves.
Within a subproblem two phases alternate: the first layer and the location head are optimised with
the scale head fixed, then the scale head with all else fixed. A last pass, given the order found,
fixes the scales themselves, so that the graph is that of the locations.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.optimize import Bounds, minimize

from momentdag.baselines.lagrangian import Loss, Multipliers, Objective, Penalties
from momentdag.baselines.one_graph import GraphLimits
from momentdag.baselines.options import Options, number, whole
from momentdag.baselines.protocol import Estimate
from momentdag.table import Dataset

__all__ = ["METHOD_VERSION", "ICDHOptions", "learn_icdh"]

METHOD_VERSION = 1
"""Raised by hand when drawn graphs change: finished runs of studies carry it."""

FloatArray: TypeAlias = npt.NDArray[np.float64]
Updates: TypeAlias = Literal["likelihood", "least_squares", "joint"]

_PROGRESS = 0.25  # share of h that may be left if the penalty is to stay as it is
_GROWTH = 10.0


@dataclass(frozen=True)
class ICDHOptions(Options):
    """Options of ICDH.

    Parameters
    ----------
    threshold : float
        An edge is kept if its weight, the norm of its first-layer weights, exceeds this.
    n_hidden : int
        Hidden units of each network.
    sparsity, shrinkage : float
        λ_1 and λ_2.
    updates : {"likelihood", "least_squares", "joint"}
        How the graph is optimised. "likelihood": the weights of the scale head are fixed but the
        scales follow the hidden units, so that causes of mean and spread get edges.
        "least_squares": the scales themselves are fixed, which leaves weighted least squares, so
        that only causes of the mean get edges. "joint": everything is optimised in one phase.
    last_pass : {"least_squares", "none"}
        "least_squares": fit once more given the order found, with the scales themselves fixed, and
        take the graph from that fit; causes of the spread alone then hardly ever get an edge.
    n_starts : int
        Number of random starts, of which the one with the lowest objective is kept.
    n_rounds : int
        Number of alternations of the phases in each subproblem.
    max_steps : int
        Steps of L-BFGS-B in each phase.
    tolerance : float
        Value of h at which the constraint counts as met.
    max_penalty : float
        Weight of h² at which the search gives up.
    """

    threshold: float = number(0.2, above=0.0)
    n_hidden: int = whole(10, at_least=1)
    sparsity: float = number(0.01, above=0.0, closed=True)
    shrinkage: float = number(0.01, above=0.0, closed=True)
    updates: Updates = "likelihood"
    last_pass: Literal["least_squares", "none"] = "least_squares"
    n_starts: int = whole(1, at_least=1)
    n_rounds: int = whole(2, at_least=1)
    max_steps: int = whole(100, at_least=1)
    tolerance: float = number(1e-6, above=0.0)
    max_penalty: float = number(1e12, above=1.0)


class _End(NamedTuple):
    """Where a search ended: the vector, its h, the last penalty and the penalised likelihood."""

    vector: FloatArray
    violation: float
    penalty: float
    objective: float


def learn_icdh(
    rng: np.random.Generator,
    dataset: Dataset,
    limits: GraphLimits,
    n_draws: int,
    options: ICDHOptions,
) -> Estimate:
    """Search for one graph from several starts; ``n_draws`` is not used."""
    penalties = Penalties(options.sparsity, options.shrinkage)
    objective = Objective(dataset.standardised, limits, options.n_hidden, penalties)
    ends = [_search(objective, objective.start(rng), options) for _ in range(options.n_starts)]
    # Ends that meet the constraint come first: others are lower because they have cycles.
    best = min(ends, key=lambda end: (end.violation > options.tolerance, end.objective))
    status = "complete"
    if best.violation > options.tolerance:
        status = (
            f"the search ended with h = {best.violation:.2g}, above the tolerance of "
            f"{options.tolerance:.2g}, and cycles were cut at their lightest edge; raise "
            "max_penalty, max_steps or sparsity"
        )
    weights = objective.weights(best.vector)
    if options.last_pass == "least_squares":
        # Edges along the order form no cycle, so no penalty is needed: the fit is quick, and edges
        # that the penalty of a late subproblem would keep can vanish.
        along = replace(limits, allowed=limits.strongest(weights, 0.0))
        last = Objective(dataset.standardised, along, options.n_hidden, penalties)
        weights = _refitted_weights(last, best.vector, options)
    graph = limits.strongest(weights, options.threshold)
    details = {
        "acyclicity": best.violation,
        "objectives": [end.objective for end in ends],
        "penalty": best.penalty,
    }
    return Estimate(graph[None], status, details)


def _search(objective: Objective, vector: FloatArray, options: ICDHOptions) -> _End:
    """Raise the multipliers until the constraint is met."""
    penalty, linear, violation = 1.0, 0.0, objective.violation(vector)
    goal = np.inf
    while goal > _PROGRESS * options.tolerance and penalty < options.max_penalty:
        found = _solve(objective, vector, Multipliers(penalty, linear), options)
        reached = objective.violation(found)
        if not reached <= goal:
            penalty *= _GROWTH
            continue
        vector, violation, goal = found, reached, _PROGRESS * reached
        linear += penalty * violation
    value, _ = objective.lagrangian(vector, Multipliers(0.0, 0.0))
    return _End(vector, violation, penalty, value)


def _refitted_weights(objective: Objective, vector: FloatArray, options: ICDHOptions) -> FloatArray:
    """Return edge weights (d, d) of a fit by weighted least squares without the constraint."""
    start = np.clip(vector, objective.bounds.lb, objective.bounds.ub)
    by_squares = replace(options, updates="least_squares")
    return objective.weights(_solve(objective, start, Multipliers(0.0, 0.0), by_squares))


def _solve(
    objective: Objective, vector: FloatArray, multipliers: Multipliers, options: ICDHOptions
) -> FloatArray:
    """Minimise the augmented Lagrangian for fixed multipliers."""
    split, lower, upper = objective.split, objective.bounds.lb, objective.bounds.ub
    if options.updates == "joint":
        whole_loss = partial(objective.lagrangian, multipliers=multipliers)
        return _minimise(whole_loss, vector, objective.bounds, options.max_steps)
    for _ in range(options.n_rounds):
        graph_loss = _graph_loss(objective, vector, multipliers, options.updates)
        bounds = Bounds(lower[:split], upper[:split])
        graph = _minimise(graph_loss, vector[:split], bounds, options.max_steps)
        vector = np.concatenate([graph, vector[split:]])
        bounds = Bounds(lower[split:], upper[split:])
        scale_loss = objective.scale_loss(vector)
        scale = _minimise(scale_loss, vector[split:], bounds, options.max_steps)
        vector = np.concatenate([graph, scale])
    return vector


def _graph_loss(
    objective: Objective, vector: FloatArray, multipliers: Multipliers, updates: Updates
) -> Loss:
    """Return the loss of the first phase, as a function of the vector up to the split."""
    split, scale = objective.split, vector[objective.split :]
    held = objective.log_scales(vector) if updates == "least_squares" else None

    def loss(part: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = objective.lagrangian(np.concatenate([part, scale]), multipliers, held)
        return value, gradient[:split]

    return loss


def _minimise(loss: Loss, start: FloatArray, bounds: Bounds, max_steps: int) -> FloatArray:
    options = {"maxiter": max_steps}
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    return np.asarray(found.x)
