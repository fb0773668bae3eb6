"""DDS: a variational posterior over one graph, with additive noise.

Charpentier, Kibler and Günnemann (2022). A graph is an order, drawn by perturbing scores with
Gumbel noise and sorting them, times independent edges; the distribution, its relaxation and the
networks are those of the variational engine with the variance graph left empty. With m_j a network
that reads the parents of j, the loss is

    (1/n) E_q Σ_ij (x_ij - m_j(x_i))² / 2 + (λ/n) E_q KL(edges ‖ prior) + λ_2 ‖θ‖²:

for λ = 1 and λ_2 = 0 the negative evidence bound, per row, of additive noise with unit variance.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt
import optax
from jax import Array

from momentdag.baselines.dds_options import DDSOptions
from momentdag.baselines.one_graph import GraphLimits
from momentdag.baselines.protocol import Estimate
from momentdag.engines.variational.distribution import (
    Limits,
    Noise,
    Parameters,
    Temperatures,
    draw_noise,
    pair_from_noise,
)
from momentdag.engines.variational.likelihood import Networks, initial_networks
from momentdag.engines.variational.objective import edge_kl, squared_error
from momentdag.graph import BoolArray
from momentdag.table import Dataset

__all__ = ["METHOD_VERSION", "learn_dds"]

METHOD_VERSION = 1
"""Raised by hand when drawn graphs change: finished runs of studies carry it."""

FloatArray: TypeAlias = npt.NDArray[np.float64]

_ADAM = optax.scale_by_adam()
_CHUNK = 500  # steps between two looks at the loss
_BLOCK = 500
_DIVERGED = (
    "the loss became infinite or NaN and the last finite state is kept; lower learning_rate and "
    "graph_rate"
)
_UNFINISHED = "training ended at max_steps with the loss still falling; raise max_steps"


class _Weights(NamedTuple):
    networks: Networks
    graph: Parameters


class _Rates(NamedTuple):
    """Learning rate of each part of the weights."""

    networks: float
    graph: float


class _Problem(NamedTuple):
    """What a step needs besides the weights; numbers may change without a new compilation."""

    values: Array  # (n, d)
    limits: Limits
    prior: Parameters
    temperatures: Temperatures
    edge_penalty: float
    shrinkage: float


class _Draw(NamedTuple):
    """The randomness of one step, noise and rows; a leading axis stands for several steps."""

    noise: Noise
    rows: Any


def _loss(problem: _Problem, ordered: bool, weights: _Weights, draw: _Draw) -> Array:
    values = problem.values[draw.rows]

    def of_graph(noise: Noise) -> Array:
        graphs = pair_from_noise(
            weights.graph, noise, problem.temperatures, problem.limits, ordered=ordered
        )
        error = squared_error(weights.networks, graphs, values).sum(axis=1).mean()
        divergence = edge_kl(weights.graph, problem.prior, problem.limits, graphs.precedence)
        return error + problem.edge_penalty * divergence

    size = sum((jnp.sum(part**2) for part in weights.networks), jnp.zeros(()))
    return jax.vmap(of_graph)(draw.noise).mean() + problem.shrinkage * size


@partial(jax.jit, static_argnums=1)
def _train(
    problem: _Problem, ordered: bool, rates: _Rates, weights: _Weights, memory: Any, draws: _Draw
) -> tuple[_Weights, Any, Array]:
    """Take one step for each of ``draws``; also return the mean loss."""

    def step(state: tuple[_Weights, Any], draw: _Draw) -> tuple[tuple[_Weights, Any], Array]:
        weights, memory = state
        value, gradient = jax.value_and_grad(partial(_loss, problem, ordered))(weights, draw)
        direction, memory = _ADAM.update(gradient, memory)
        moved = _Weights(
            *(
                jax.tree.map(lambda w, g, rate=rate: w - rate * g, part, own)
                for part, own, rate in zip(weights, direction, rates, strict=True)
            )
        )
        return (moved, memory), value

    (weights, memory), losses = jax.lax.scan(step, (weights, memory), draws)
    return weights, memory, losses.mean()


@partial(jax.jit, static_argnums=0)
def _graphs(ordered: bool, parameters: Parameters, limits: Limits, noise: Noise) -> Array:
    # Temperatures smooth gradients only; hard draws do not depend on them.
    def one(noise: Noise) -> Array:
        return pair_from_noise(
            parameters, noise, Temperatures(1.0, 1.0), limits, ordered=ordered
        ).mean

    return jax.vmap(one)(noise)


def learn_dds(
    rng: np.random.Generator,
    dataset: Dataset,
    limits: GraphLimits,
    n_draws: int,
    options: DDSOptions,
) -> Estimate:
    """Fit the distribution over graphs and draw from it."""
    problem = _state(dataset.standardised, limits, options)
    ordered = bool(limits.precedes.any())
    step_rng, draw_rng = rng.spawn(2)
    weights, losses, status = _fit(step_rng, problem, ordered, options)
    graphs: list[BoolArray] = []
    # Blocks of one size: any number of draws runs the same compiled program.
    for _ in range(-(-n_draws // _BLOCK)):
        noise = draw_noise(draw_rng, limits.n_variables, (_BLOCK,), ordered=ordered)
        drawn = _graphs(ordered, weights.graph, problem.limits, noise)
        graphs.append(np.asarray(drawn) > 0.5)
    details = {"loss": losses[-1] if losses else None, "n_steps": _CHUNK * len(losses)}
    return Estimate(np.concatenate(graphs)[:n_draws], status, details)


def _state(values: FloatArray, limits: GraphLimits, options: DDSOptions) -> _Problem:
    """Return the arrays of a fit; the variance graph of the shared family has no edges."""
    d = limits.n_variables
    nothing = jnp.zeros((d, d), jnp.float32)
    base = np.log(options.edge_probability) - np.log1p(-options.edge_probability)
    allowed, required, precedes = (
        jnp.asarray(part, jnp.float32)
        for part in (limits.allowed, limits.required, limits.precedes)
    )
    return _Problem(
        jnp.asarray(values, jnp.float32),
        Limits(allowed, nothing, required, nothing, nothing, precedes),
        Parameters(jnp.full((d, d), base, jnp.float32), nothing, jnp.zeros(d, jnp.float32)),
        Temperatures(options.edge_temperature, options.order_temperature),
        options.kl_weight / len(values),
        options.shrinkage,
    )


def _fit(
    rng: np.random.Generator, problem: _Problem, ordered: bool, options: DDSOptions
) -> tuple[_Weights, list[float], str]:
    """Train in chunks until the loss stops falling; return weights, losses and status."""
    n, d = problem.values.shape
    networks = initial_networks(rng, 1, d, options.n_hidden, 0.5)
    first = Parameters(
        jnp.zeros((d, d), jnp.float32),
        jnp.zeros((d, d), jnp.float32),
        jnp.asarray(0.1 * rng.normal(size=d), jnp.float32),
    )
    weights = _Weights(Networks(*(part[0] for part in networks)), first)
    rates = _Rates(options.learning_rate, options.graph_rate)
    memory = _ADAM.init(weights)
    batch_size = min(options.batch_size, n)
    losses: list[float] = []
    for _ in range(-(-options.max_steps // _CHUNK)):
        draws = _Draw(
            draw_noise(rng, d, (_CHUNK, options.n_graphs), ordered=ordered),
            rng.integers(n, size=(_CHUNK, batch_size)),
        )
        following, memory, value = _train(problem, ordered, rates, weights, memory, draws)
        if not np.isfinite(value):
            return weights, losses, _DIVERGED
        weights = following
        losses.append(float(value))
        if len(losses) - int(np.argmin(losses)) > options.patience:
            return weights, losses, "complete"
    return weights, losses, _UNFINISHED
