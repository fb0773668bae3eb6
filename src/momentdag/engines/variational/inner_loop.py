"""An inner loop of algorithm 1: L-BFGS moves all that a phase moves until it has converged.

Each step draws a pair, as lines 4 and 12 have it; the rows are those of the phase. Both gradients
behind a curvature pair are taken under the draw of the present step, without which their difference
would be that of two draws. Straight-through draws have values and gradients that do not belong
together, so the step length is searched on what the step's gradient is the gradient of: the loss of
the drawn pair plus what the relaxed pair has moved since the step began.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt
import optax
from jax import Array
from jax.flatten_util import ravel_pytree

from momentdag.engines.variational.distribution import Noise
from momentdag.engines.variational.objective import loss
from momentdag.engines.variational.problem import (
    Problem,
    Program,
    Settings,
    State,
    Weights,
    parts_of,
    projected,
    with_part,
)

__all__ = ["METHOD_VERSION", "converge"]

METHOD_VERSION = 2
"""Raised by hand when graphs drawn with the published setting change; the engine's own version
stands for all other settings."""

Rows: TypeAlias = "npt.NDArray[np.int32] | Array | None"

_DIRECTION = optax.scale_by_lbfgs(memory_size=10)
_LENGTH = optax.scale_by_backtracking_linesearch(
    max_backtracking_steps=10, decrease_factor=0.5, max_learning_rate=1.0
)
_SMOOTHING = 0.1  # weight of a new draw in the running mean of the loss


class _Progress(NamedTuple):
    """An inner loop under way; ``mean`` and ``best`` are of the running mean of its loss."""

    state: State
    here: Array
    direction: Any
    length: Any
    n_steps: Array
    mean: Array
    best: Array
    waited: Array


def converge(
    program: Program,
    problem: Problem,
    settings: Settings,
    which: int,
    noise: Noise,
    rows: Rows,
    state: State,
) -> State:
    """Make the steps of one phase; the mean phase also projects the order scores.

    Parameters
    ----------
    program, problem, settings
    which : int
        The phase.
    noise : Noise
        Led by (n_steps, n_graphs): of every step that there may be.
    rows : int array, shape (b,), or None
        The rows of the phase; None takes all.
    state : State
        Its ``memory`` (n_phases,) counts steps.
    """
    by_error = program.updates == "published" and which == 0
    values = problem.values if rows is None else problem.values[rows]
    n_steps = program.steps[which]
    # One vector instead of a tree of arrays: a fraction of the compile time.
    start, unravel = ravel_pytree(parts_of(program, state.weights)[which])

    def with_vector(weights: Weights, vector: Array) -> Weights:
        return with_part(weights, unravel(vector))

    def unfinished(now: _Progress) -> Array:
        return (now.n_steps < n_steps) & (now.waited < settings.patience)

    def step(now: _Progress) -> _Progress:
        weights, here, before = now.state.weights, now.here, now.direction.params
        own = jax.tree.map(lambda array: jnp.asarray(array)[now.n_steps], noise)

        def of_step(vector: Array) -> Array:
            whole = with_vector(weights, vector)
            return loss(
                program, problem, settings, whole, own, values, by_error=by_error, anchor=weights
            ).moved

        both, slopes = jax.vmap(jax.value_and_grad(of_step))(jnp.stack([here, before]))
        value, (gradient, former) = both[0], slopes
        # Without positive curvature the pair is left out: a difference of zero has no weight.
        curved = jnp.vdot(gradient - former, here - before) > 0
        memory = now.direction._replace(updates=jnp.where(curved, former, gradient))
        direction, memory = _DIRECTION.update(gradient, memory, here)
        move, length = _LENGTH.update(
            -direction, now.length, here, value=value, grad=gradient, value_fn=of_step
        )
        state = now.state._replace(weights=with_vector(weights, here + move))
        if program.projected and which == 0:
            state = projected(problem, state)
        first = now.n_steps == 0
        mean = jnp.where(first, value, (1.0 - _SMOOTHING) * now.mean + _SMOOTHING * value)
        improved = first | (mean < now.best - settings.tolerance)
        return _Progress(
            state,
            ravel_pytree(parts_of(program, state.weights)[which])[0],
            memory,
            length,
            now.n_steps + 1,
            mean,
            jnp.where(improved, mean, now.best),
            jnp.where(improved, 0, now.waited + 1),
        )

    zero, none = jnp.zeros(()), jnp.zeros((), jnp.int32)
    first = _Progress(
        state, start, _DIRECTION.init(start), _LENGTH.init(start), none, zero, zero, none
    )
    last = jax.lax.while_loop(unfinished, step, first)
    return last.state._replace(memory=last.state.memory.at[which].add(last.n_steps))
