"""Algorithm 1 as one compiled program: rounds of a mean phase and a variance phase.

The mean phase moves θ^M, φ^M and ψ, the variance phase θ^V and φ^V; joint updates have a single
phase that moves everything. A chunk of rounds runs for all restarts at once, compiled once for each
`Program` and shape; all randomness comes in from outside. Phases have a fixed number of steps, or
at most that number and converge: see `momentdag.engines.variational.inner_loop`.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt
import optax
from jax import Array

from momentdag.engines.variational.distribution import Noise, draw_noise
from momentdag.engines.variational.inner_loop import converge
from momentdag.engines.variational.likelihood import Networks, initial_networks
from momentdag.engines.variational.objective import loss
from momentdag.engines.variational.problem import (
    MeanPart,
    Part,
    Problem,
    Program,
    Rates,
    Settings,
    State,
    VariancePart,
    Weights,
    parts_of,
    projected,
    with_part,
)

__all__ = ["Draw", "State", "draw_steps", "initial_states", "objective_of", "run_chunk"]

_ADAM = optax.scale_by_adam(b1=0.9, b2=0.99)
_LBFGS = optax.lbfgs(
    memory_size=10, linesearch=optax.scale_by_zoom_linesearch(max_linesearch_steps=10)
)
# Starts of the networks: means of about half the data's spread, log standard deviations near zero.
_MEAN_SPREAD, _LOG_SCALE_SPREAD = 0.5, 0.1


class Draw(NamedTuple):
    """The randomness of one step: noise of its graph pairs, and its rows (b,) or None for all."""

    noise: Noise
    rows: npt.NDArray[np.int32] | None


def draw_steps(
    rng: np.random.Generator, program: Program, problem: Problem, n_restarts: int
) -> tuple[Draw, ...]:
    """Draw the randomness of one chunk, one `Draw` a phase, led by (restarts, rounds, steps)."""
    n_samples, d = problem.values.shape
    phases = []
    for n_steps in program.steps:
        shape = (n_restarts, program.n_rounds, n_steps)
        noise = draw_noise(rng, d, (*shape, program.n_graphs), ordered=program.ordered)
        rows = None
        if program.batch_size is not None:
            if program.optimizer == "lbfgs_all":  # the rows of the phase
                shape = (*shape[:-1], 1)
            rows = rng.integers(0, n_samples, (*shape, program.batch_size), dtype=np.int32)
        phases.append(Draw(noise, rows))
    return tuple(phases)


def initial_states(
    rng: np.random.Generator,
    program: Program,
    problem: Problem,
    n_restarts: int,
    n_hidden: int,
    *,
    shifting: bool,
    edge_probability: float = 0.5,
    score_spread: float = 0.1,
) -> State:
    """Return the starts of all restarts, stacked: edges equally probable, nearly uniform orders."""
    d = problem.values.shape[1]
    mean, variance = (
        initial_networks(rng, n_restarts, d, n_hidden, spread, n_told if shifting else 0)
        for n_told, spread in ((1, _MEAN_SPREAD), (2, _LOG_SCALE_SPREAD))
    )
    scores = jnp.asarray(score_spread * rng.normal(size=(n_restarts, d)), jnp.float32)
    log_odds = np.log(edge_probability) - np.log1p(-edge_probability)
    logits = jnp.full((n_restarts, d, d), log_odds, jnp.float32)
    weights = Weights(MeanPart(mean, logits, scores), VariancePart(variance, logits))
    memory: Any = jnp.zeros((n_restarts, len(program.steps)), jnp.int32)
    if program.optimizer != "lbfgs_all":
        memory = tuple(jax.vmap(_ADAM.init)(part) for part in parts_of(program, weights))
    return State(weights, memory, jnp.zeros((n_restarts, d, d), jnp.float32))


@partial(jax.jit, static_argnums=0)
def run_chunk(
    program: Program, problem: Problem, settings: Settings, draws: tuple[Draw, ...], states: State
) -> State:
    """Make the rounds of one chunk for all restarts."""

    def a_round(state: State, draws: tuple[Draw, ...]) -> tuple[State, None]:
        for which, own in enumerate(draws):
            state = _phase(program, problem, settings, which, own, state)
        return state, None

    def one(draws: tuple[Draw, ...], state: State) -> State:
        return jax.lax.scan(a_round, state, draws)[0]

    return jax.vmap(one)(draws, states)


def _phase(
    program: Program, problem: Problem, settings: Settings, which: int, draws: Draw, state: State
) -> State:
    """Make the steps of one phase; the first also projects the order scores."""
    if program.optimizer == "lbfgs_all":
        rows = None if draws.rows is None else draws.rows[0]
        return converge(program, problem, settings, which, draws.noise, rows, state)
    by_error = program.updates == "published" and which == 0

    def loss_of(weights: Weights, part: Part, draw: Draw) -> Array:
        values = problem.values if draw.rows is None else problem.values[draw.rows]
        whole = with_part(weights, part)
        return loss(program, problem, settings, whole, draw.noise, values, by_error=by_error).moved

    def adam_step(state: State, draw: Draw) -> State:
        part = parts_of(program, state.weights)[which]
        gradient = jax.grad(loss_of, argnums=1)(state.weights, part, draw)
        direction, own = _ADAM.update(gradient, state.memory[which])
        rates = _rates(part, settings.rates, with_networks=program.optimizer == "adam")
        part = jax.tree.map(lambda w, g, rate: w - rate * g, part, direction, rates)
        memory = (*state.memory[:which], own, *state.memory[which + 1 :])
        state = state._replace(weights=with_part(state.weights, part), memory=memory)
        return projected(problem, state) if program.projected and which == 0 else state

    if program.optimizer == "adam":
        return jax.lax.scan(lambda now, draw: (adam_step(now, draw), None), state, draws)[0]

    fixed = jax.tree.map(lambda array: array[0], draws)

    def lbfgs_step(now: tuple[State, Any], draw: Draw) -> tuple[tuple[State, Any], None]:
        state, memory = now
        part = parts_of(program, state.weights)[which]
        networks = _networks(part)

        def of_networks(networks: tuple[Networks, ...]) -> Array:
            return loss_of(state.weights, _with_networks(part, networks), fixed)

        value, gradient = jax.value_and_grad(of_networks)(networks)
        move, memory = _LBFGS.update(
            gradient, memory, networks, value=value, grad=gradient, value_fn=of_networks
        )
        part = _with_networks(part, optax.apply_updates(networks, move))
        state = state._replace(weights=with_part(state.weights, part))
        return (adam_step(state, draw), memory), None

    start = _LBFGS.init(_networks(parts_of(program, state.weights)[which]))
    return jax.lax.scan(lbfgs_step, (state, start), draws)[0][0]


def _networks(part: Part) -> tuple[Networks, ...]:
    if isinstance(part, Weights):
        return part.mean.networks, part.variance.networks
    return (part.networks,)


def _with_networks(part: Part, networks: tuple[Networks, ...]) -> Part:
    if isinstance(part, Weights):
        return Weights(
            part.mean._replace(networks=networks[0]), part.variance._replace(networks=networks[1])
        )
    return part._replace(networks=networks[0])


def _rates(part: Part, rates: Rates, *, with_networks: bool) -> Any:
    """Return a tree like ``part`` that holds the learning rate of each leaf."""
    if isinstance(part, Weights):
        return Weights(*(_rates(own, rates, with_networks=with_networks) for own in part))
    of_networks = jnp.asarray(rates.networks if with_networks else 0.0)
    of_edges, of_order = jnp.asarray(rates.edges), jnp.asarray(rates.order)
    networks = Networks(*[of_networks] * len(Networks._fields))
    if isinstance(part, MeanPart):
        return MeanPart(networks, of_edges, of_order)
    return VariancePart(networks, of_edges)


@partial(jax.jit, static_argnums=0)
def objective_of(
    program: Program, problem: Problem, settings: Settings, noise: Noise, weights: Weights
) -> Array:
    """Return the objective of each restart from all rows and the pairs of ``noise``, (r,)."""

    def one(weights: Weights) -> Array:
        def of_pair(noise: Noise) -> Array:
            single = jax.tree.map(lambda part: part[None], noise)
            return loss(
                program, problem, settings, weights, single, problem.values, by_error=False
            ).negative

        return -jnp.mean(jax.lax.map(of_pair, noise))

    return jnp.asarray(jax.lax.map(one, weights))
