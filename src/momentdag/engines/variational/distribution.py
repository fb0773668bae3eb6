"""The distribution over graph pairs: Gumbel-softmax edges under one SoftSort order.

A pair is drawn as A = E ∘ (Pᵀ U P): edges E, one Bernoulli variable for each ordered pair of
variables and each graph; a permutation P shared by both graphs; U strictly upper triangular. Edge
logits live in the space of variables: ``logits[i, j]`` is about i -> j whatever the order.

As printed (``ranks``), A = Pᵀ U P where U itself is drawn (`eq-DAG` of the paper): ``logits[a, b]``
is about an edge from place a to place b of the order, a < b, whichever variables stand there.

The sign of the order scores ψ is fixed here and nowhere else: **small scores come first**.
Variables are sorted by ψ + Gumbel noise in ascending order, so P(i before j) = sigmoid(ψ_j - ψ_i),
and the constraint ψ_i + c <= ψ_j of the paper says that i precedes j.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import ArrayLike

from momentdag.engines.variational.relaxation import permutation_of, precedence, soft_edges

__all__ = [
    "Graphs",
    "Limits",
    "Noise",
    "Parameters",
    "Temperatures",
    "draw_noise",
    "in_variables",
    "log_probability_of_edges",
    "log_probability_of_order",
    "order_of",
    "pair_from_noise",
]

Scalar: TypeAlias = "Array | float"


class Parameters(NamedTuple):
    """Φ: logits (d, d) of the mean and the variance edges, and order scores ψ (d,)."""

    mean_logits: Array
    variance_logits: Array
    scores: Array


class Temperatures(NamedTuple):
    """Smoothness of the relaxed mean edges (τ^M), order, and variance edges (None: τ^V = τ^M)."""

    edges: Scalar
    order: Scalar
    variance_edges: Scalar | None = None


class Limits(NamedTuple):
    """What hard knowledge leaves open, float arrays of zeros and ones, each (d, d).

    ``allowed_*`` has a zero diagonal; ``precedes`` is transitively closed; ``required_either``
    marks edges of which at least one graph must have one.
    """

    allowed_mean: Array
    allowed_variance: Array
    required_mean: Array
    required_variance: Array
    required_either: Array
    precedes: Array

    @classmethod
    def none(cls, n_variables: int) -> Limits:
        """Return limits that exclude self-edges only."""
        nothing = jnp.zeros((n_variables, n_variables), jnp.float32)
        allowed = 1.0 - jnp.eye(n_variables, dtype=jnp.float32)
        return cls(allowed, allowed, nothing, nothing, nothing, nothing)


class Noise(NamedTuple):
    """What one draw of a graph pair is made from: logistic (d, d) twice, Gumbel (1 or d, d)."""

    mean: ArrayLike
    variance: ArrayLike
    order: ArrayLike


class Graphs(NamedTuple):
    """One drawn pair: zeros and ones whose gradient is that of the relaxed values.

    Parameters
    ----------
    mean, variance : array, shape (d, d)
        The graphs.
    precedence : array, shape (d, d)
        1 where row stands before column in the drawn order.
    order : int array, shape (d,)
        The variables, causes first.
    mean_edges, variance_edges : array, shape (d, d)
        The Bernoulli draws from which limits and order made the graphs.
    permutation : array, shape (d, d), or None
        P, if edges belong to ranks: row is the place, column the variable that stands there.
    """

    mean: Array
    variance: Array
    precedence: Array
    order: Array
    mean_edges: Array
    variance_edges: Array
    permutation: Array | None = None


def draw_noise(
    rng: np.random.Generator,
    n_variables: int,
    shape: tuple[int, ...] = (),
    *,
    ordered: bool = False,
) -> Noise:
    """Draw the noise of graph pairs; ``shape`` leads every array.

    The difference of the two Gumbel variables of a binary Gumbel-softmax is logistic. Orders under
    hard knowledge (``ordered``) need a row of noise for each place.
    """
    edges = (*shape, n_variables, n_variables)
    rows = n_variables if ordered else 1
    return Noise(
        rng.logistic(size=edges).astype(np.float32),
        rng.logistic(size=edges).astype(np.float32),
        rng.gumbel(size=(*shape, rows, n_variables)).astype(np.float32),
    )


def order_of(scores: Array, noise: ArrayLike, precedes: Array | None = None) -> tuple[Array, Array]:
    """Draw an order, causes first: indices (d,), and the perturbed scores (d,) it sorts.

    Without ``precedes`` (d, d) it is the ascending sort of scores plus one row of Gumbel noise.
    With it the places are filled from the last one backwards, each by the largest perturbed score
    among the variables all of whose successors are placed: a linear extension. Every place has a
    row of noise of its own, as a variable that becomes available late must not bring along noise
    that was compared with nothing.
    """
    perturbed = scores + jnp.asarray(noise)
    if precedes is None:
        return jnp.argsort(perturbed[0]), perturbed[0]

    def fill(waiting: Array, own: Array) -> tuple[Array, tuple[Array, Array]]:
        blocked = (precedes @ waiting > 0) | (waiting == 0)
        chosen = jnp.argmax(jnp.where(blocked, -jnp.inf, own))
        return waiting.at[chosen].set(0.0), (chosen, own[chosen])

    _, (backwards, values) = jax.lax.scan(fill, jnp.ones_like(scores), perturbed)
    # Made descending, so that the relaxed sort has the drawn order.
    return backwards[::-1], jnp.zeros_like(scores).at[backwards].set(jax.lax.cummin(values))


def pair_from_noise(
    parameters: Parameters,
    noise: Noise,
    temperatures: Temperatures,
    limits: Limits,
    *,
    ordered: bool = False,
    straight: bool = True,
    ranks: bool = False,
    anchor: Parameters | None = None,
) -> Graphs:
    """Turn noise into a graph pair.

    Parameters
    ----------
    parameters : Parameters
    noise : Noise
    temperatures : Temperatures
    limits : Limits
    ordered : bool
        Whether ``limits.precedes`` holds anything; false saves the constrained sort.
    straight : bool
        Hard draws with soft gradients; false returns the relaxed values, for tests of gradients.
    ranks : bool
        Whether edge logits, and the noise of edges, belong to pairs of ranks.
    anchor : Parameters, optional
        Where the pair is drawn, for a smooth function of ``parameters`` around it: hard draws of
        the anchor plus what the relaxed ones differ by.
    """
    precedes = limits.precedes if ordered else None
    order, perturbed = order_of((anchor or parameters).scores, noise.order, precedes)
    at = None
    if anchor is not None:
        at = jax.lax.stop_gradient(perturbed)
        perturbed = at + (parameters.scores - anchor.scores)
    permutation = permutation_of(perturbed, order, temperatures.order, straight=straight, anchor=at)
    before = precedence(permutation)
    tau = temperatures.edges
    tau_variance = tau if temperatures.variance_edges is None else temperatures.variance_edges
    mean_edges = soft_edges(
        parameters.mean_logits,
        noise.mean,
        tau,
        straight=straight,
        anchor=None if anchor is None else anchor.mean_logits,
    )
    variance_edges = soft_edges(
        parameters.variance_logits,
        noise.variance,
        tau_variance,
        straight=straight,
        anchor=None if anchor is None else anchor.variance_logits,
    )
    if ranks:
        return _from_ranks(
            parameters, noise, limits, order, permutation, (mean_edges, variance_edges)
        )
    mean = limits.allowed_mean * _at_least(limits.required_mean, mean_edges)
    variance = limits.allowed_variance * _at_least(limits.required_variance, variance_edges)
    # Where an edge must be in some graph and is in none, the likelier graph takes it.
    missing = limits.required_either * (1.0 - mean) * (1.0 - variance)
    to_mean = parameters.mean_logits + noise.mean >= parameters.variance_logits + noise.variance
    return Graphs(
        before * (mean + missing * to_mean),
        before * (variance + missing * ~to_mean),
        before,
        order,
        mean_edges,
        variance_edges,
    )


def _from_ranks(
    parameters: Parameters,
    noise: Noise,
    limits: Limits,
    order: Array,
    permutation: Array,
    edges: tuple[Array, Array],
) -> Graphs:
    """Return the pair A = Pᵀ U P of drawn ``edges`` between ranks, within the limits.

    A required edge that U lacks is put in where the order admits it.
    """
    before = precedence(permutation)
    found = []
    for own, allowed, required in (
        (edges[0], limits.allowed_mean, limits.required_mean),
        (edges[1], limits.allowed_variance, limits.required_variance),
    ):
        drawn = permutation.T @ jnp.triu(own, 1) @ permutation
        found.append((drawn, allowed * (required * before + (1.0 - required) * drawn)))
    (mean_edges, mean), (variance_edges, variance) = found
    missing = limits.required_either * before * (1.0 - mean) * (1.0 - variance)
    perturbed = parameters._replace(
        mean_logits=parameters.mean_logits + noise.mean,
        variance_logits=parameters.variance_logits + noise.variance,
    )
    of_mean, of_variance, _ = in_variables(perturbed, order)
    to_mean = of_mean >= of_variance
    return Graphs(
        mean + missing * to_mean,
        variance + missing * ~to_mean,
        before,
        order,
        mean_edges,
        variance_edges,
        permutation,
    )


def in_variables(parameters: Parameters, order: Array) -> Parameters:
    """Return parameters whose logits, of pairs of ranks, stand at the variables of an order."""
    place = jnp.argsort(order)
    pairs = place[:, None], place[None, :]
    return parameters._replace(
        mean_logits=parameters.mean_logits[pairs],
        variance_logits=parameters.variance_logits[pairs],
    )


def _at_least(required: Array, drawn: Array) -> Array:
    return required + (1.0 - required) * drawn


def log_probability_of_order(scores: Array, order: Array, precedes: Array | None = None) -> Array:
    """Return log q(order): a Plackett-Luce law that fills the places from the last backwards.

    q(order) = ∏_k exp ψ_{order k} / Σ_{l available for place k} exp ψ_l. Without ``precedes`` the
    variables of places 1, ..., k are available for place k; with it, those of them that no other
    of them must follow.
    """
    if precedes is None:
        placed = scores[order]
        return jnp.sum(placed - jax.lax.cumlogsumexp(placed))

    def step(waiting: Array, chosen: Array) -> tuple[Array, Array]:
        blocked = (precedes @ waiting > 0) | (waiting == 0)
        available = jnp.where(blocked, -jnp.inf, scores)
        return waiting.at[chosen].set(0.0), scores[chosen] - jax.nn.logsumexp(available)

    _, terms = jax.lax.scan(step, jnp.ones_like(scores), order[::-1])
    return jnp.sum(terms)


def log_probability_of_edges(
    parameters: Parameters, graphs: Graphs, limits: Limits
) -> tuple[Array, Array]:
    """Return log q of the drawn mean and variance edges that can matter, by effect, each (d,).

    Edges against the drawn order, excluded or required ones change nothing and are left out.
    """
    found = []
    for logits, edges, allowed, required in (
        (parameters.mean_logits, graphs.mean_edges, limits.allowed_mean, limits.required_mean),
        (
            parameters.variance_logits,
            graphs.variance_edges,
            limits.allowed_variance,
            limits.required_variance,
        ),
    ):
        log_q = jax.nn.log_sigmoid(jnp.where(edges > 0.5, logits, -logits))
        found.append(jnp.sum(graphs.precedence * allowed * (1.0 - required) * log_q, axis=0))
    return found[0], found[1]
