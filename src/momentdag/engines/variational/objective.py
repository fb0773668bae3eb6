"""The objective: evidence lower bound with a Bernoulli KL, and l2 terms (section 4.2).

Everything is per row: nats of the whole sample divided by n. For one drawn pair,

    (1/n) log p(D | A^M, A^V) - (λ/n) [KL(edges) + KL(order)] - λ_M ‖θ^M‖² - λ_V ‖θ^V‖².

The edges' KL is Σ KL(Bernoulli(sigmoid φ_ij) ‖ Bernoulli(p_ij)) over the pairs i before j of the
drawn order: its expectation is the exact divergence of q(edges | order) from the prior. With λ = 1,
a uniform prior on orders and no l2 terms the mean over draws is a lower bound on the log evidence
over n. Where edges belong to ranks, the divergence is that of U from its prior, and the prior of a
pair of ranks is that of the variables which the drawn order puts there.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from momentdag.engines.variational.distribution import (
    Graphs,
    Limits,
    Noise,
    Parameters,
    in_variables,
    log_probability_of_edges,
    log_probability_of_order,
    pair_from_noise,
)
from momentdag.engines.variational.likelihood import Networks, evaluate, log_scale_of
from momentdag.engines.variational.problem import Problem, Program, Settings, Weights

__all__ = [
    "Loss",
    "bernoulli_kl",
    "edge_kl",
    "log_likelihood",
    "loss",
    "rank_kl",
    "squared_error",
]

_HALF_LOG_TAU = 0.9189385332046727  # log(2π) / 2


def log_likelihood(
    mean_networks: Networks, variance_networks: Networks, graphs: Graphs, values: Array
) -> Array:
    """Return log p(x_ij | parents) for each row and variable, shape (n, d)."""
    mean = evaluate(mean_networks, graphs.mean, values, (graphs.mean,))
    log_scale = log_scale_of(variance_networks, graphs.mean, graphs.variance, values)
    noise = (values - mean) * jnp.exp(-log_scale)
    return -(0.5 * noise**2 + log_scale + _HALF_LOG_TAU)


def squared_error(mean_networks: Networks, graphs: Graphs, values: Array) -> Array:
    """Return (x_ij - m_j)² / 2, shape (n, d): -log p with its gradient scaled by v²."""
    mean = evaluate(mean_networks, graphs.mean, values, (graphs.mean,))
    return 0.5 * (values - mean) ** 2


def bernoulli_kl(logits: Array, prior_logits: Array) -> Array:
    """Return KL(Bernoulli(sigmoid logits) ‖ Bernoulli(sigmoid prior_logits)), elementwise."""
    present = jax.nn.sigmoid(logits)
    gain = jax.nn.log_sigmoid(logits) - jax.nn.log_sigmoid(prior_logits)
    loss = jax.nn.log_sigmoid(-logits) - jax.nn.log_sigmoid(-prior_logits)
    return present * gain + (1.0 - present) * loss


def edge_kl(parameters: Parameters, prior: Parameters, limits: Limits, precedence: Array) -> Array:
    """Return the divergence of the edges that ``precedence`` (d, d) admits, in nats."""
    of_mean = bernoulli_kl(parameters.mean_logits, prior.mean_logits)
    of_variance = bernoulli_kl(parameters.variance_logits, prior.variance_logits)
    free_mean = limits.allowed_mean * (1.0 - limits.required_mean)
    free_variance = limits.allowed_variance * (1.0 - limits.required_variance)
    return jnp.sum(precedence * (free_mean * of_mean + free_variance * of_variance))


def rank_kl(parameters: Parameters, prior: Parameters, limits: Limits, permutation: Array) -> Array:
    """Return KL(q(U) ‖ p(U)) (`eq-reg`) in nats, where logits belong to ranks.

    The prior, of variables, is brought to ranks by ``permutation`` (d, d). A prior that is the same
    for all edges moves no order score.
    """
    total = jnp.zeros(())
    order = jnp.argmax(permutation, axis=1)
    for logits, of_prior, allowed, required in (
        (parameters.mean_logits, prior.mean_logits, limits.allowed_mean, limits.required_mean),
        (
            parameters.variance_logits,
            prior.variance_logits,
            limits.allowed_variance,
            limits.required_variance,
        ),
    ):
        # Linear in log p, so that what is relaxed is P and not the prior.
        log_p, log_not_p = (
            permutation @ jax.nn.log_sigmoid(sign * of_prior) @ permutation.T for sign in (1, -1)
        )
        present = jax.nn.sigmoid(logits)
        gain = jax.nn.log_sigmoid(logits) - log_p
        loss = jax.nn.log_sigmoid(-logits) - log_not_p
        free = jnp.triu((allowed * (1.0 - required))[order[:, None], order[None, :]], 1)
        total += jnp.sum(free * (present * gain + (1.0 - present) * loss))
    return total


def _squared_norm(networks: Networks) -> Array:
    return sum((jnp.sum(part**2) for part in networks), jnp.zeros(()))


class Loss(NamedTuple):
    """What one step sees, averaged over its drawn pairs.

    Parameters
    ----------
    moved : array, shape ()
        Its gradient is what a phase follows; its value is the phase's own loss.
    negative : array, shape ()
        The negative objective.
    """

    moved: Array
    negative: Array


class _Cost(NamedTuple):
    """One drawn pair: losses by effect (d,), divergence, log q of order () and edges (d,)."""

    moved: Array
    fit: Array
    divergence: Array
    log_order: Array
    log_edges: Array


def loss(
    program: Program,
    problem: Problem,
    settings: Settings,
    weights: Weights,
    noise: Noise,
    values: Array,
    *,
    by_error: bool,
    anchor: Weights | None = None,
) -> Loss:
    """Return the loss of some rows under the pairs that ``noise`` (k, ...) draws.

    Parameters
    ----------
    program, problem, settings, weights
    noise : Noise
        Of k graph pairs.
    values : array, shape (b, d)
        The rows.
    by_error : bool
        Replace the likelihood by the squared error, as the published mean phase does.
    anchor : Weights, optional
        Weights at which the pairs are drawn; those of ``weights`` then only add what the relaxed
        pairs differ by. At the anchor, value and gradient are those without it.
    """
    penalties, parameters, limits = settings.penalties, weights.parameters, problem.limits
    n_samples = problem.values.shape[0]

    def of_pair(noise: Noise) -> _Cost:
        graphs = pair_from_noise(
            parameters,
            noise,
            settings.temperatures,
            limits,
            ordered=program.ordered,
            ranks=program.ranks,
            anchor=None if anchor is None else anchor.parameters,
        )
        if program.gradient == "score":
            graphs = jax.lax.stop_gradient(graphs)
        networks = weights.mean.networks, weights.variance.networks
        fit = -log_likelihood(*networks, graphs, values).mean(axis=0)
        moved = squared_error(networks[0], graphs, values).mean(axis=0) if by_error else fit
        precedes = limits.precedes if program.ordered else None
        log_order = log_probability_of_order(parameters.scores, graphs.order, precedes)
        of_pairs = parameters
        if graphs.permutation is None:
            divergence = edge_kl(parameters, problem.prior, limits, graphs.precedence)
        else:
            divergence = rank_kl(parameters, problem.prior, limits, graphs.permutation)
            of_pairs = in_variables(parameters, graphs.order)
        divergence = penalties.edges * divergence
        # Its own gradient vanishes in the mean; what does not is added below.
        constant = jax.lax.lgamma(jnp.asarray(len(graphs.order) + 1.0, log_order.dtype))
        divergence += penalties.order * (jax.lax.stop_gradient(log_order) + constant)
        log_edges = sum(log_probability_of_edges(of_pairs, graphs, limits), jnp.zeros(()))
        return _Cost(moved, fit, divergence / n_samples, log_order, log_edges)

    cost = jax.vmap(of_pair)(noise)
    moved = cost.moved.sum(axis=1) + cost.divergence
    if program.gradient == "score":
        # An edge bears on the loss of its effect only: the others' would be noise to it.
        moved = moved + _score(moved, cost.log_order)
        moved = moved + _score(cost.moved, cost.log_edges).sum(axis=1)
    else:
        moved = moved + _score(penalties.order / n_samples * cost.log_order, cost.log_order)
    shrinkage = penalties.mean * _squared_norm(weights.mean.networks)
    shrinkage += penalties.variance * _squared_norm(weights.variance.networks)
    negative = cost.fit.sum(axis=1) + cost.divergence
    return Loss(moved.mean() + shrinkage, negative.mean() + shrinkage)


def _score(costs: Array, log_q: Array) -> Array:
    """Return zeros (k, ...) with the gradient (cost - mean of the others' costs) ∇ log q.

    The others' costs are a baseline that keeps the gradient of the expected cost unbiased; a
    single pair has none.
    """
    k = costs.shape[0]
    surplus = held = jax.lax.stop_gradient(costs)
    if k > 1:
        surplus = (held - held.mean(axis=0)) * (k / (k - 1))
    return surplus * (log_q - jax.lax.stop_gradient(log_q))
