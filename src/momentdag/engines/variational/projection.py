"""Ordering knowledge: the projection of order scores onto ψ_i + c_ij <= ψ_j (section 4.4).

    min ‖ρ - ψ‖²   subject to   ρ_i + c_ij <= ρ_j  for all stated pairs (i, j)

The dual has one multiplier for each pair, by which j is pushed up and i down. It is climbed by
accelerated projected gradients with restarts, which take all pairs at once and run inside a
compiled program; a last sweep in topological order removes what infeasibility is left.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt
from jax import Array

from momentdag.graph import BoolArray, reachability, topological_order

__all__ = ["OrderConstraints", "order_constraints", "project"]

FloatArray: TypeAlias = npt.NDArray[np.float64]


class OrderConstraints(NamedTuple):
    """Pairs "row before column" with their margins.

    Parameters
    ----------
    active : array, shape (d, d)
        One for each pair that is not implied by others, else zero.
    margins : array, shape (d, d)
        c_ij; not read where ``active`` is zero.
    order : int array, shape (d,)
        An order of the variables that obeys all pairs.
    step : array, shape ()
        Step of the dual ascent: one over the largest eigenvalue of the pairs' graph Laplacian.
    """

    active: Array
    margins: Array
    order: Array
    step: Array


def order_constraints(before: BoolArray, margins: FloatArray) -> OrderConstraints:
    """Prepare the pairs ``before`` (d, d), which must be acyclic, with margins >= 0 (d, d).

    A pair i before k that a chain of other pairs implies with at least its own margin is left out.
    """
    longest = np.where(before, margins, -np.inf)
    order = topological_order(before)
    for via in order:
        longest = np.maximum(longest, longest[:, via, None] + longest[None, via, :])
    through = np.full(before.shape, -np.inf)
    for via in order:
        through = np.maximum(through, longest[:, via, None] + longest[None, via, :])
    active = before & ~(reachability(before) & (through >= margins))
    symmetric = (active | active.T).astype(np.float64)
    laplacian = np.diag(symmetric.sum(axis=1)) - symmetric
    largest = max(float(np.linalg.eigvalsh(laplacian)[-1]), 1.0)
    return OrderConstraints(
        jnp.asarray(active, jnp.float32),
        jnp.asarray(margins, jnp.float32),
        jnp.asarray(order, jnp.int32),
        jnp.asarray(1.0 / largest, jnp.float32),
    )


class _Ascent(NamedTuple):
    multipliers: Array
    ahead: Array
    momentum: Array
    error: Array
    n_steps: Array


def project(
    scores: Array,
    constraints: OrderConstraints,
    multipliers: Array,
    tolerance: float = 1e-3,
    max_steps: int = 20_000,
) -> tuple[Array, Array]:
    """Return the feasible scores nearest to ``scores`` (d,), and the dual solution.

    Parameters
    ----------
    scores : array, shape (d,)
        Its precision is that of the result.
    constraints : OrderConstraints
    multipliers : array, shape (d, d)
        Where the ascent starts: zeros, or the dual solution of a problem close by.
    tolerance : float
        Largest residual of the optimality conditions. The result is feasible to rounding whatever
        it is.
    max_steps : int
        Steps of the ascent, at most.

    Returns
    -------
    projected : array, shape (d,)
    multipliers : array, shape (d, d)

    Examples
    --------
    >>> before = np.array([[False, True], [False, False]])
    >>> pair = order_constraints(before, np.full((2, 2), 1.5))
    >>> projected, _ = project(jnp.array([1.0, 0.0]), pair, jnp.zeros((2, 2)), tolerance=1e-6)
    >>> projected.round(4).tolist()
    [-0.25, 1.25]
    """
    dtype = scores.dtype
    active = constraints.active.astype(dtype)
    margins = constraints.margins.astype(dtype)
    step = constraints.step.astype(dtype)

    def primal(held: Array) -> Array:
        return scores + held.sum(axis=0) - held.sum(axis=1)

    def raised(held: Array) -> Array:
        rho = primal(held)
        return active * jnp.maximum(held + step * (margins - rho[None, :] + rho[:, None]), 0.0)

    def unfinished(now: _Ascent) -> Array:
        return (now.error > tolerance) & (now.n_steps < max_steps)

    def climb(now: _Ascent) -> _Ascent:
        following = raised(now.ahead)
        move = following - now.multipliers
        # Momentum that no longer points uphill is dropped.
        uphill = jnp.sum((now.ahead - following) * move) <= 0
        grown = 0.5 * (1.0 + jnp.sqrt(1.0 + 4.0 * now.momentum**2))
        momentum = jnp.where(uphill, grown, 1.0)
        pull = jnp.where(uphill, (now.momentum - 1.0) / grown, 0.0)
        error = jnp.max(jnp.abs(now.ahead - following)) / step
        return _Ascent(following, following + pull * move, momentum, error, now.n_steps + 1)

    start = active * multipliers.astype(dtype)
    one = jnp.ones((), dtype)
    infinite = jnp.full((), jnp.inf, dtype)
    first = _Ascent(start, start, one, infinite, jnp.zeros((), jnp.int32))
    last = jax.lax.while_loop(unfinished, climb, first)

    def lift(k: Array, rho: Array) -> Array:
        j = constraints.order[k]
        bound = jnp.where(active[:, j] > 0, rho + margins[:, j], -jnp.inf)
        return rho.at[j].max(bound.max())

    projected = jax.lax.fori_loop(0, len(scores), lift, primal(last.multipliers))
    return projected, last.multipliers
