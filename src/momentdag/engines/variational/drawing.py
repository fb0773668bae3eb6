"""Posterior draws: hard graph pairs from all restarts, and their log joint."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt
from jax import Array

from momentdag.engines.variational.distribution import (
    Graphs,
    Limits,
    Noise,
    Parameters,
    Temperatures,
    draw_noise,
    log_probability_of_edges,
    log_probability_of_order,
    pair_from_noise,
)
from momentdag.engines.variational.fitting import Trained
from momentdag.engines.variational.model import WITNESS_ROWS
from momentdag.engines.variational.objective import log_likelihood
from momentdag.engines.variational.options import VariationalOptions
from momentdag.engines.variational.problem import Problem, Weights
from momentdag.engines.variational.stated import Stated
from momentdag.graph import BoolArray

__all__ = ["Drawn", "draw_pairs", "log_joint"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.intp]

_BLOCK = 500
_PROPOSALS = 4  # pairs drawn for each that is kept
# With more, ratios over so many edges are far apart, and cost more than training does.
_RESAMPLED_VARIABLES = 20


class Drawn(NamedTuple):
    """Graph pairs, each (n_draws, d, d), and how even the ratios were that resampled them."""

    mean_graphs: BoolArray
    variance_graphs: BoolArray
    efficiency: float | None


@partial(jax.jit, static_argnums=0)
def _pairs(ordered: bool, parameters: Parameters, limits: Limits, noise: Noise) -> Graphs:
    # Temperatures smooth gradients only; hard draws do not depend on them.
    def one(noise: Noise) -> Graphs:
        temperatures = Temperatures(1.0, 1.0)
        return pair_from_noise(parameters, noise, temperatures, limits, ordered=ordered)

    return jax.vmap(one)(noise)


@partial(jax.jit, static_argnums=0)
def _log_weights(
    ordered: bool, weights: Weights, problem: Problem, kl_weight: float, drawn: Graphs
) -> Array:
    """Return log p(order, edges) p(D | A)^(1/λ) / q(order, edges) up to a constant, (k,)."""
    parameters, limits = weights.parameters, problem.limits
    networks = weights.mean.networks, weights.variance.networks
    precedes = limits.precedes if ordered else None

    def one(graphs: Graphs) -> Array:
        fit = log_likelihood(*networks, graphs, problem.values).sum()
        log_order = log_probability_of_order(parameters.scores, graphs.order, precedes)
        log_edges = sum(log_probability_of_edges(parameters, graphs, limits), jnp.zeros(()))
        log_prior = sum(log_probability_of_edges(problem.prior, graphs, limits), jnp.zeros(()))
        return fit / kl_weight + jnp.sum(log_prior - log_edges) - log_order

    return jnp.asarray(jax.lax.map(one, drawn))


def draw_pairs(
    rng: np.random.Generator,
    trained: Trained,
    problem: Problem,
    stated: Stated,
    options: VariationalOptions,
    n_draws: int,
) -> Drawn:
    """Draw graph pairs from the restarts by their shares, resampled if the options say so.

    Given its networks, the distribution of largest objective is ∝ p(A) p(D | A)^(1/λ); q is the
    family's nearest to it. Pairs drawn from q and resampled by the ratio of the two come closer
    than q. Ratios are truncated at √k times their mean (k the number drawn), which bounds what a
    few may do where the two are far apart.
    """
    d = problem.values.shape[1]
    resampled = (
        options.resampling
        and options.order_prior == "uniform"  # else the objective names no such distribution
        and options.kl_weight > 0
        and not stated.projected  # soft orderings bind q, not the ratio
        and len(problem.values) <= WITNESS_ROWS
        and d <= _RESAMPLED_VARIABLES
    )
    # Systematic: each restart has its share of the draws to within one.
    which = _systematic(rng, trained.shares, n_draws)
    rng.shuffle(which)
    graphs = np.empty((2, n_draws, d, d), dtype=bool)
    efficiencies = []
    for restart in np.unique(which):
        places = np.flatnonzero(which == restart)
        weights = jax.tree.map(lambda part, k=restart: np.asarray(part)[k], trained.weights)
        n_wanted = len(places) * (_PROPOSALS if resampled else 1)
        pairs, log_weights = [], []
        # Blocks of one size: any number of draws runs the same compiled program.
        for _ in range(-(-n_wanted // _BLOCK)):
            noise = draw_noise(rng, d, (_BLOCK,), ordered=stated.ordered)
            drawn = _pairs(stated.ordered, weights.parameters, stated.limits, noise)
            pairs.append(np.stack([drawn.mean, drawn.variance]) > 0.5)
            if resampled:
                log_weights.append(
                    _log_weights(stated.ordered, weights, problem, options.kl_weight, drawn)
                )
        found = np.concatenate(pairs, axis=1)
        chosen = np.arange(len(places))
        if resampled:
            ratios = _truncated(np.concatenate(log_weights).astype(np.float64))
            chosen = _systematic(rng, ratios, len(places))
            rng.shuffle(chosen)
            efficiencies.append(float(1.0 / (ratios**2).sum() / len(ratios)))
        graphs[:, places] = found[:, chosen]
    return Drawn(graphs[0], graphs[1], float(np.mean(efficiencies)) if resampled else None)


def _systematic(rng: np.random.Generator, shares: FloatArray, n_draws: int) -> IntArray:
    """Return indices in proportion to ``shares``, each as often as it should to within one."""
    points = (np.arange(n_draws) + rng.uniform()) / n_draws
    return np.searchsorted(np.cumsum(shares)[:-1], points)


def _truncated(log_weights: FloatArray) -> FloatArray:
    weights = np.exp(log_weights - log_weights.max())
    weights = np.minimum(weights, np.sqrt(len(weights)) * weights.mean())
    return np.asarray(weights / weights.sum())


@jax.jit
def _log_likelihoods(
    weights: Weights, used: Array, values: Array, mean_graphs: Array, variance_graphs: Array
) -> Array:
    def one(pair: tuple[Array, Array]) -> Array:
        mean, variance = (graph.astype(jnp.float32) for graph in pair)
        graphs = Graphs(mean, variance, mean, jnp.zeros(0, jnp.int32), mean, variance)

        def of_restart(weights: Weights) -> Array:
            networks = weights.mean.networks, weights.variance.networks
            return log_likelihood(*networks, graphs, values).mean(axis=0)

        found = jnp.where(used[:, None], jax.lax.map(of_restart, weights), -jnp.inf)
        return found.max(axis=0).sum()

    return jnp.asarray(jax.lax.map(one, (mean_graphs, variance_graphs)))


def log_joint(
    weights: Weights,
    used: BoolArray,
    problem: Problem,
    mean_graphs: BoolArray,
    variance_graphs: BoolArray,
) -> FloatArray:
    """Return log p(D, A | θ) of each pair up to a constant, (n_draws,).

    Each variable has the networks of the ``used`` (n_restarts,) restart that fit it best, as in
    `momentdag.engines.variational.model.VariationalModel`. Of large tables the likelihood of the
    first rows stands for that of all.
    """
    n_samples = problem.values.shape[0]
    values = problem.values[:WITNESS_ROWS]
    # Each distinct pair once, in blocks of one size, of which the last is filled up.
    both = np.concatenate([mean_graphs, variance_graphs], axis=1)
    distinct, which = np.unique(both, axis=0, return_inverse=True)
    d = both.shape[2]
    padded = np.zeros((-(-len(distinct) // _BLOCK) * _BLOCK, 2 * d, d), dtype=bool)
    padded[: len(distinct)] = distinct
    means = [
        np.asarray(_log_likelihoods(weights, used, values, block[:, :d], block[:, d:]))
        for block in padded.reshape(-1, _BLOCK, 2 * d, d)
    ]
    likelihood = n_samples * np.concatenate(means)[which.ravel()].astype(np.float64)
    for graphs, logits in (
        (mean_graphs, problem.prior.mean_logits),
        (variance_graphs, problem.prior.variance_logits),
    ):
        likelihood += (graphs * np.asarray(logits, dtype=np.float64)).sum(axis=(1, 2))
    return np.asarray(likelihood)
