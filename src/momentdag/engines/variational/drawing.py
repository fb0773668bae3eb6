"""Posterior draws: hard graph pairs from the learned distribution, and their log joint."""

from __future__ import annotations

from functools import partial
from typing import TypeAlias

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
    pair_from_noise,
)
from momentdag.engines.variational.objective import log_likelihood
from momentdag.engines.variational.problem import Problem, Weights
from momentdag.engines.variational.stated import Stated
from momentdag.graph import BoolArray

__all__ = ["draw_pairs", "log_joint"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

_BLOCK = 500
_MAX_ROWS = 2000


@partial(jax.jit, static_argnums=0)
def _pairs(ordered: bool, parameters: Parameters, limits: Limits, noise: Noise) -> Graphs:
    # Temperatures smooth gradients only; hard draws do not depend on them.
    def one(noise: Noise) -> Graphs:
        temperatures = Temperatures(1.0, 1.0)
        return pair_from_noise(parameters, noise, temperatures, limits, ordered=ordered)

    return jax.vmap(one)(noise)


def draw_pairs(
    rng: np.random.Generator, weights: Weights, problem: Problem, stated: Stated, n_draws: int
) -> tuple[BoolArray, BoolArray]:
    """Draw graph pairs, each (n_draws, d, d)."""
    d = problem.values.shape[1]
    mean_graphs, variance_graphs = [], []
    # Blocks of one size: any number of draws runs the same compiled program.
    for _ in range(-(-n_draws // _BLOCK)):
        noise = draw_noise(rng, d, (_BLOCK,), ordered=stated.ordered)
        drawn = _pairs(stated.ordered, weights.parameters, stated.limits, noise)
        mean_graphs.append(np.asarray(drawn.mean) > 0.5)
        variance_graphs.append(np.asarray(drawn.variance) > 0.5)
    return np.concatenate(mean_graphs)[:n_draws], np.concatenate(variance_graphs)[:n_draws]


@jax.jit
def _log_likelihoods(
    weights: Weights, values: Array, mean_graphs: Array, variance_graphs: Array
) -> Array:
    def one(pair: tuple[Array, Array]) -> Array:
        mean, variance = (graph.astype(jnp.float32) for graph in pair)
        graphs = Graphs(mean, variance, mean, jnp.zeros(0, jnp.int32), mean, variance)
        networks = weights.mean.networks, weights.variance.networks
        return log_likelihood(*networks, graphs, values).mean(axis=0).sum()

    return jnp.asarray(jax.lax.map(one, (mean_graphs, variance_graphs)))


def log_joint(
    weights: Weights, problem: Problem, mean_graphs: BoolArray, variance_graphs: BoolArray
) -> FloatArray:
    """Return log p(D, A | θ) of each pair up to a constant, (n_draws,).

    Of large tables the likelihood of the first rows stands for that of all.
    """
    n_samples = problem.values.shape[0]
    values = problem.values[:_MAX_ROWS]
    # Each distinct pair once, in blocks of one size, of which the last is filled up.
    both = np.concatenate([mean_graphs, variance_graphs], axis=1)
    distinct, which = np.unique(both, axis=0, return_inverse=True)
    d = both.shape[2]
    padded = np.zeros((-(-len(distinct) // _BLOCK) * _BLOCK, 2 * d, d), dtype=bool)
    padded[: len(distinct)] = distinct
    means = [
        np.asarray(_log_likelihoods(weights, values, block[:, :d], block[:, d:]))
        for block in padded.reshape(-1, _BLOCK, 2 * d, d)
    ]
    likelihood = n_samples * np.concatenate(means)[which.ravel()].astype(np.float64)
    for graphs, logits in (
        (mean_graphs, problem.prior.mean_logits),
        (variance_graphs, problem.prior.variance_logits),
    ):
        likelihood += (graphs * np.asarray(logits, dtype=np.float64)).sum(axis=(1, 2))
    return np.asarray(likelihood)
