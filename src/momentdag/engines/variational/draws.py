"""Posterior draws: hard graph pairs from all restarts, and their log joint."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt
from jax import Array
from scipy.special import logsumexp

from momentdag.engines.variational.distribution import (
    Graphs,
    Limits,
    Noise,
    Parameters,
    Temperatures,
    draw_noise,
    log_probability_of_order,
    pair_from_noise,
)
from momentdag.engines.variational.fitting import Trained
from momentdag.engines.variational.knowledge_arrays import Stated
from momentdag.engines.variational.last_layer import log_evidences
from momentdag.engines.variational.model import WITNESS_ROWS
from momentdag.engines.variational.objective import log_likelihood
from momentdag.engines.variational.options import VariationalOptions
from momentdag.engines.variational.parent_sets import EdgePrior
from momentdag.engines.variational.problem import Problem, Weights
from momentdag.engines.variational.resampling import Proposals, resample, systematic
from momentdag.graph import BoolArray

__all__ = ["Drawn", "draw_pairs", "log_joint"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

_BLOCK = 500
_PROPOSALS = 4  # pairs drawn for each that is kept
# With more, ratios of orders are far apart.
_RESAMPLED_VARIABLES = 20


class Drawn(NamedTuple):
    """Graph pairs, each (n_draws, d, d), and what came with them.

    Parameters
    ----------
    mean_graphs, variance_graphs : bool array, shape (n_draws, d, d)
    log_joint : float array, shape (n_draws,)
        log p(A, D) up to a constant.
    used : bool array, shape (n_restarts,)
        The restarts that draws and networks come from.
    efficiency : float or None
        How even the ratios were that resampled the draws, at most 1.
    """

    mean_graphs: BoolArray
    variance_graphs: BoolArray
    log_joint: FloatArray
    used: BoolArray
    efficiency: float | None


@partial(jax.jit, static_argnums=(0, 1))
def _pairs(
    ordered: bool, ranks: bool, parameters: Parameters, limits: Limits, noise: Noise
) -> Graphs:
    # Temperatures smooth gradients only; hard draws do not depend on them.
    def one(noise: Noise) -> Graphs:
        temperatures = Temperatures(1.0, 1.0)
        return pair_from_noise(
            parameters, noise, temperatures, limits, ordered=ordered, ranks=ranks
        )

    return jax.vmap(one)(noise)


@partial(jax.jit, static_argnums=0)
def _log_orders(ordered: bool, weights: Weights, limits: Limits, orders: Array) -> Array:
    """Return log q(order) of each restart, (n_restarts, k)."""
    precedes = limits.precedes if ordered else None

    def one(scores: Array) -> Array:
        return jax.vmap(lambda order: log_probability_of_order(scores, order, precedes))(orders)

    return jax.vmap(one)(weights.mean.scores)


def draw_pairs(
    rng: np.random.Generator,
    trained: Trained,
    problem: Problem,
    stated: Stated,
    options: VariationalOptions,
    n_draws: int,
) -> Drawn:
    """Draw graph pairs from the restarts by their shares, resampled if the options say so.

    Resampled pairs follow the evidence of each variable's parents: see
    `momentdag.engines.variational.resampling`.
    """
    d = problem.values.shape[1]
    # A restart that hardly gives a draw gives no networks either.
    used = trained.shares >= min(0.5 / n_draws, trained.shares.max())
    resampled = (
        options.resampling
        and options.order_prior == "uniform"  # else nothing says how orders compare
        and not stated.projected  # soft orderings bind q, not the ratio
        and len(problem.values) <= WITNESS_ROWS
        and d <= _RESAMPLED_VARIABLES
    )
    shares = np.where(used, trained.shares, 0.0) / trained.shares[used].sum()
    ranks = options.edge_space == "ranks"
    n_proposals = n_draws * (_PROPOSALS if resampled else 1)
    proposals = _propose(rng, trained.weights, shares, stated, n_proposals, d, ranks=ranks)
    if not resampled:
        mean_graphs, variance_graphs = proposals.graphs
        joint = log_joint(trained.weights, used, problem, mean_graphs, variance_graphs)
        return Drawn(mean_graphs, variance_graphs, joint, used, None)
    evidence = partial(log_evidences, trained.weights, used, problem.values)
    prior = _edge_prior(problem, options.edge_probability)
    precedes = np.asarray(problem.limits.precedes) > 0.5
    found = resample(rng, proposals, evidence, prior, precedes, n_draws)
    mean_graphs, variance_graphs = found.graphs
    return Drawn(mean_graphs, variance_graphs, found.log_joint, used, found.efficiency)


def _propose(
    rng: np.random.Generator,
    weights: Weights,
    shares: FloatArray,
    stated: Stated,
    n_wanted: int,
    d: int,
    *,
    ranks: bool,
) -> Proposals:
    """Draw from the mixture of the restarts, each with its share of the draws to within one."""
    which = systematic(rng, shares, n_wanted)
    rng.shuffle(which)
    graphs = np.empty((2, n_wanted, d, d), dtype=bool)
    orders = np.empty((n_wanted, d), dtype=np.int64)
    for restart in np.unique(which):
        places = np.flatnonzero(which == restart)
        own = jax.tree.map(lambda part, k=restart: np.asarray(part)[k], weights.parameters)
        # Blocks of one size: any number of draws runs the same compiled program.
        for at in range(0, len(places), _BLOCK):
            noise = draw_noise(rng, d, (_BLOCK,), ordered=stated.ordered)
            drawn = _pairs(stated.ordered, ranks, own, stated.limits, noise)
            here = places[at : at + _BLOCK]
            graphs[:, here] = (np.stack([drawn.mean, drawn.variance]) > 0.5)[:, : len(here)]
            orders[here] = np.asarray(drawn.order)[: len(here)]
    padded = np.resize(orders, (-(-n_wanted // _BLOCK) * _BLOCK, d)).astype(np.int32)
    log_q = np.concatenate(
        [
            np.asarray(_log_orders(stated.ordered, weights, stated.limits, block))
            for block in padded.reshape(-1, _BLOCK, d)
        ],
        axis=1,
    )[:, :n_wanted].astype(np.float64)
    return Proposals(orders, logsumexp(log_q, axis=0, b=shares[:, None]), graphs)


def _edge_prior(problem: Problem, edge_probability: float) -> EdgePrior:
    """Return the prior in which edges that nothing is stated of share an unknown rate."""
    logits, limits = problem.prior, problem.limits
    log_odds = np.stack([logits.mean_logits, logits.variance_logits]).astype(np.float64)
    allowed = np.stack([limits.allowed_mean, limits.allowed_variance]) > 0.5
    required = np.stack([limits.required_mean, limits.required_variance]) > 0.5
    unstated = np.isclose(log_odds, np.log(edge_probability) - np.log1p(-edge_probability))
    changeable = allowed & ~required
    return EdgePrior(
        np.where(required, 0.0, log_odds),
        unstated & changeable,
        changeable,
        np.asarray(limits.required_either) > 0.5,
        edge_probability,
    )


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
