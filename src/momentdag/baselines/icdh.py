"""ICDH: a continuous search for the graph of a model with changing noise variance.

Yin, Gao, Yu and Ji (2024). Networks with a location and a scale head (`networks`) minimise

    (1/n) Σ_ij [log σ_ij + (x_ij - μ_ij)² / 2σ_ij²] + λ_1 ‖W‖_1 + (λ_2 / 2) ‖θ‖²   s.t.   h(W) = 0,

where h(W) = tr exp(A) - d with A_ij = Σ_k W_jki² vanishes iff the graph is acyclic (Zheng et al.
2018, 2020). The constraint enters by an augmented Lagrangian, whose subproblems L-BFGS-B solves: W
is the difference of two non-negative parts, which makes the l1 norm smooth, and bounds hold closed
edges at zero. Within a subproblem two phases alternate: the first layer and the location head move
with the scale head held, then the scale head moves with all else held.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.linalg import expm
from scipy.optimize import Bounds, minimize

from momentdag.baselines.networks import (
    Networks,
    backward,
    bounded,
    bounded_slope,
    forward,
    initial_networks,
)
from momentdag.baselines.one_graph import GraphLimits
from momentdag.baselines.options import Options, number, whole
from momentdag.baselines.protocol import Estimate
from momentdag.data import Dataset

__all__ = ["ICDHOptions", "Multipliers", "Objective", "acyclicity", "learn_icdh"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
Loss: TypeAlias = Callable[[FloatArray], tuple[float, FloatArray]]
Updates: TypeAlias = Literal["likelihood", "least_squares", "joint"]

_SMALL_START = 0.1  # of the usual initial weights: a start close to the empty, acyclic graph
_PROGRESS = 0.25  # share of h that must go before the penalty stays as it is
_GROWTH = 10.0


@dataclass(frozen=True)
class ICDHOptions(Options):
    """Options of ICDH.

    Parameters
    ----------
    threshold : float
        Edges whose weight, the norm of their first-layer weights, is not larger are left out.
    n_hidden : int
        Hidden units of each network.
    sparsity, shrinkage : float
        λ_1 and λ_2.
    updates : {"likelihood", "least_squares", "joint"}
        How the graph moves. "likelihood": the scale head is held but reads the hidden units as they
        move, so that causes of mean and spread draw edges. "least_squares": the scales are held as
        numbers, which leaves weighted least squares, so that only causes of the mean do. "joint":
        one phase, in which everything moves.
    n_rounds : int
        Alternations of the phases in each subproblem.
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
    n_rounds: int = whole(2, at_least=1)
    max_steps: int = whole(100, at_least=1)
    tolerance: float = number(1e-6, above=0.0)
    max_penalty: float = number(1e12, above=1.0)


class Multipliers(NamedTuple):
    """Of the augmented Lagrangian: (ρ/2) h² + α h."""

    penalty: float
    linear: float


def acyclicity(squares: FloatArray) -> tuple[float, FloatArray]:
    """Return h = tr exp(A) - d and its gradient for a non-negative matrix A, shape (d, d)."""
    exponential = expm(squares)
    return float(np.trace(exponential)) - len(squares), exponential.T


class Objective:
    """The penalised likelihood of all networks at once, as a function of one vector.

    The vector holds the two parts of W, the hidden biases and the location head; behind ``split``
    follows the scale head.

    Parameters
    ----------
    values : float array, shape (n, d)
        Standardised columns.
    limits : GraphLimits
    options : ICDHOptions
    """

    def __init__(self, values: FloatArray, limits: GraphLimits, options: ICDHOptions) -> None:
        self._columns = np.ascontiguousarray(values.T)
        self._precedes = limits.precedes.astype(np.float64)
        self._options = options
        d, h = limits.n_variables, options.n_hidden
        self._shapes = [(d, h, d), (d, h, d), (d, h, 1), (d, 1, h), (d, 1, 1), (d, 1, h), (d, 1, 1)]
        self._ends = np.cumsum([int(np.prod(shape)) for shape in self._shapes])
        self.split = int(self._ends[4])
        closed = np.broadcast_to(~limits.allowed.T[:, None, :], (d, h, d)).ravel()
        lower = np.full(self._ends[-1], -np.inf)
        upper = np.full(self._ends[-1], np.inf)
        lower[: self._ends[1]] = 0.0
        upper[: self._ends[1]] = np.where(np.tile(closed, 2), 0.0, np.inf)
        self.bounds = Bounds(lower, upper)

    def start(self, rng: np.random.Generator) -> FloatArray:
        """Draw a vector to start from."""
        d, h = self._shapes[0][:2]
        first, hidden, heads, output = initial_networks(rng, d, d, h)
        first = first * _SMALL_START
        parts = [np.maximum(first, 0), np.maximum(-first, 0), hidden]
        parts += [heads[:, :1], output[:, :1], heads[:, 1:], output[:, 1:]]
        vector = np.concatenate([part.ravel() for part in parts])
        return np.asarray(np.clip(vector, self.bounds.lb, self.bounds.ub))

    def networks(self, vector: FloatArray) -> Networks:
        """Return the networks that a vector stands for."""
        parts = [
            part.reshape(shape)
            for part, shape in zip(np.split(vector, self._ends[:-1]), self._shapes, strict=True)
        ]
        positive, negative, hidden, location, location_bias, scale, scale_bias = parts
        return Networks(
            positive - negative,
            hidden,
            np.concatenate([location, scale], axis=1),
            np.concatenate([location_bias, scale_bias], axis=1),
        )

    def weights(self, vector: FloatArray) -> FloatArray:
        """Return the weight of each edge, shape (d, d), row causes column."""
        return np.asarray(np.sqrt(np.sum(self.networks(vector).first ** 2, axis=1)).T)

    def violation(self, vector: FloatArray) -> float:
        """Return h, with the order that knowledge states counted as edges."""
        return acyclicity(self.weights(vector) ** 2 + self._precedes)[0]

    def log_scales(self, vector: FloatArray) -> FloatArray:
        """Return log σ of every variable in every row, shape (d, n)."""
        return forward(self.networks(vector), self._columns).log_scale

    def lagrangian(
        self, vector: FloatArray, multipliers: Multipliers, held: FloatArray | None = None
    ) -> tuple[float, FloatArray]:
        """Return the augmented Lagrangian and its gradient.

        With ``held`` log scales (d, n) the likelihood does not depend on the scale head.
        """
        networks, options = self.networks(vector), self._options
        outputs = forward(networks, self._columns)
        n = self._columns.shape[1]
        log_scale = outputs.log_scale if held is None else held
        precision = np.exp(-log_scale)
        noise = (self._columns - outputs.location) * precision
        value = float((0.5 * noise**2 + log_scale).sum()) / n
        by_log_scale = (1 - noise**2) / n if held is None else np.zeros_like(noise)
        slopes = backward(networks, self._columns, outputs, -noise * precision / n, by_log_scale)

        squares = np.sum(networks.first**2, axis=1).T
        h, by_squares = acyclicity(squares + self._precedes)
        value += 0.5 * multipliers.penalty * h**2 + multipliers.linear * h
        pull = (multipliers.penalty * h + multipliers.linear) * by_squares
        by_first = slopes.first + 2 * pull.T[:, None, :] * networks.first

        size = float(np.sum(networks.first**2) + np.sum(networks.heads**2))
        l1 = float(vector[: self._ends[1]].sum())
        value += 0.5 * options.shrinkage * size + options.sparsity * l1
        by_first = by_first + options.shrinkage * networks.first
        by_heads = slopes.heads + options.shrinkage * networks.heads
        parts = [options.sparsity + by_first, options.sparsity - by_first, slopes.hidden]
        parts += [by_heads[:, :1], slopes.output[:, :1], by_heads[:, 1:], slopes.output[:, 1:]]
        return value, np.concatenate([part.ravel() for part in parts])

    def scale_loss(self, vector: FloatArray) -> Loss:
        """Return what of `lagrangian` depends on the scale head, as a function of it alone.

        With all else held, the hidden units need not be computed again.
        """
        d, h = self._shapes[0][:2]
        n = self._columns.shape[1]
        outputs = forward(self.networks(vector), self._columns)
        units = outputs.units
        squares = (self._columns - outputs.location) ** 2

        def loss(part: FloatArray) -> tuple[float, FloatArray]:
            head, bias = part[: d * h].reshape(d, 1, h), part[d * h :].reshape(d, 1, 1)
            log_scale = bounded(head @ units + bias)[:, 0]
            weighted = squares * np.exp(-2 * log_scale)
            value = float((0.5 * weighted + log_scale).sum()) / n
            value += 0.5 * self._options.shrinkage * float(np.sum(head**2))
            by_raw = ((1 - weighted) * bounded_slope(log_scale) / n)[:, None]
            by_head = by_raw @ units.transpose(0, 2, 1) + self._options.shrinkage * head
            return value, np.concatenate([by_head.ravel(), by_raw.sum(axis=2).ravel()])

        return loss


def learn_icdh(
    rng: np.random.Generator,
    dataset: Dataset,
    limits: GraphLimits,
    n_draws: int,
    options: ICDHOptions,
) -> Estimate:
    """Search for one graph; ``n_draws`` is not used."""
    objective = Objective(dataset.standardised, limits, options)
    vector = objective.start(rng)
    penalty, linear, violation = 1.0, 0.0, np.inf
    while violation > options.tolerance and penalty < options.max_penalty:
        found = _solve(objective, vector, Multipliers(penalty, linear), options)
        reached = objective.violation(found)
        if not np.isfinite(reached):
            break
        if reached > _PROGRESS * violation:
            penalty *= _GROWTH
            continue
        vector, violation = found, reached
        linear += penalty * violation
    status = "complete"
    if violation > options.tolerance:
        status = (
            f"the search ended with h = {violation:.2g}, above the tolerance of "
            f"{options.tolerance:.2g}, and cycles were cut at their lightest edge; raise "
            "max_penalty, max_steps or sparsity"
        )
    graph = limits.strongest(objective.weights(vector), options.threshold)
    likelihood = objective.lagrangian(vector, Multipliers(0.0, 0.0))[0]
    details = {
        "acyclicity": None if np.isinf(violation) else violation,
        "objective": likelihood,
        "penalty": penalty,
    }
    return Estimate(graph[None], status, details)


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
