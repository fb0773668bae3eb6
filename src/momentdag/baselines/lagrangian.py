"""The augmented Lagrangian of ICDH: penalised likelihood of all networks under acyclicity.

    (1/n) Σ_ij [log σ_ij + (x_ij - μ_ij)² / 2σ_ij²] + λ_1 ‖W‖_1 + (λ_2 / 2) ‖θ‖² + (ρ/2) h² + α h

with h = tr exp(A) - d and A_ij = Σ_k W_jki², which vanishes iff the graph is acyclic (Zheng et al.
2018, 2020). W is the difference of two non-negative parts, so that its l1 norm is a sum and bounds
can hold closed edges at zero.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.linalg import expm
from scipy.optimize import Bounds

from momentdag.baselines.networks import (
    Networks,
    backward,
    bounded,
    bounded_slope,
    forward,
    initial_networks,
)
from momentdag.baselines.one_graph import GraphLimits

__all__ = ["Loss", "Multipliers", "Objective", "Penalties", "acyclicity"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
Loss: TypeAlias = Callable[[FloatArray], tuple[float, FloatArray]]

_SMALL_START = 0.1  # share of the usual initial weights: a start close to the empty, acyclic graph


class Penalties(NamedTuple):
    """λ_1 and λ_2."""

    sparsity: float
    shrinkage: float


class Multipliers(NamedTuple):
    """ρ and α of the augmented Lagrangian: (ρ/2) h² + α h."""

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
    n_hidden : int
        Hidden units of each network.
    penalties : Penalties
    """

    def __init__(
        self, values: FloatArray, limits: GraphLimits, n_hidden: int, penalties: Penalties
    ) -> None:
        self._columns = np.ascontiguousarray(values.T)
        self._precedes = limits.precedes.astype(np.float64)
        self._penalties = penalties
        d, h = limits.n_variables, n_hidden
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
        """Return the networks that a vector encodes."""
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
        networks, penalties = self.networks(vector), self._penalties
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
        penalty = multipliers.penalty * h * h / 2 + multipliers.linear * h
        if not np.isfinite(penalty):  # the step overflows, so the line search must reject it
            return np.inf, np.zeros_like(vector)
        value += penalty
        pull = (multipliers.penalty * h + multipliers.linear) * by_squares
        by_first = slopes.first + 2 * pull.T[:, None, :] * networks.first

        size = float(np.sum(networks.first**2) + np.sum(networks.heads**2))
        l1 = float(vector[: self._ends[1]].sum())
        value += 0.5 * penalties.shrinkage * size + penalties.sparsity * l1
        by_first = by_first + penalties.shrinkage * networks.first
        by_heads = slopes.heads + penalties.shrinkage * networks.heads
        parts = [penalties.sparsity + by_first, penalties.sparsity - by_first, slopes.hidden]
        parts += [by_heads[:, :1], slopes.output[:, :1], by_heads[:, 1:], slopes.output[:, 1:]]
        return value, np.concatenate([part.ravel() for part in parts])

    def scale_loss(self, vector: FloatArray) -> Loss:
        """Return the part of `lagrangian` that depends on the scale head, as a function of it.

        With all else fixed, the hidden units need not be computed again.
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
            value += 0.5 * self._penalties.shrinkage * float(np.sum(head**2))
            by_raw = ((1 - weighted) * bounded_slope(log_scale) / n)[:, None]
            by_head = by_raw @ units.transpose(0, 2, 1) + self._penalties.shrinkage * head
            return value, np.concatenate([by_head.ravel(), by_raw.sum(axis=2).ravel()])

        return loss
