"""A = Pᵀ U P with U indexed by rank (`eq-DAG`), against enumeration of orders and edges."""

from itertools import permutations, product

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from momentdag.engines.variational.distribution import (
    Limits,
    Parameters,
    Temperatures,
    draw_noise,
    in_variables,
    log_probability_of_order,
    order_of,
    pair_from_noise,
)
from momentdag.engines.variational.objective import bernoulli_kl, rank_kl
from momentdag.engines.variational.relaxation import permutation_of
from momentdag.graph import is_acyclic

N = 20_000
WARM = Temperatures(1.0, 1.0)


def random_parameters(seed, d):
    rng = np.random.default_rng(seed)
    arrays = (rng.normal(size=(d, d)), rng.normal(size=(d, d)), rng.normal(size=d))
    return Parameters(*(jnp.asarray(array, jnp.float32) for array in arrays))


def draw(parameters, limits, n=N, *, ordered=False):
    noise = draw_noise(np.random.default_rng(0), len(parameters.scores), (n,), ordered=ordered)
    one = jax.vmap(
        lambda own: pair_from_noise(parameters, own, WARM, limits, ordered=ordered, ranks=True)
    )
    return jax.tree.map(np.asarray, jax.jit(one)(noise))


def sigmoid(x):
    return 1 / (1 + np.exp(-np.asarray(x, dtype=float)))


def exact_pairs(parameters, d):
    """Return the probability of every pair: all orders with all U^M and U^V."""
    phi = sigmoid(parameters.mean_logits), sigmoid(parameters.variance_logits)
    places = [(a, b) for a in range(d) for b in range(a + 1, d)]
    found = {}
    orders = list(permutations(range(d)))
    log_q = jax.jit(jax.vmap(lambda order: log_probability_of_order(parameters.scores, order)))
    for order, q in zip(orders, np.exp(log_q(jnp.array(orders))).tolist(), strict=True):
        P = np.eye(d)[list(order)]  # row is the place
        for bits in product((0, 1), repeat=2 * len(places)):
            weight, U = q, np.zeros((2, d, d))
            for on, (which, (a, b)) in zip(bits, product((0, 1), places), strict=True):
                weight *= phi[which][a, b] if on else 1 - phi[which][a, b]
                U[which, a, b] = on
            key = (P.T @ U @ P > 0.5).tobytes()
            found[key] = found.get(key, 0.0) + weight
    return found


@pytest.mark.parametrize("d", [2, 3])
def test_pairs_are_drawn_by_rank(d):
    parameters = random_parameters(d, d)
    drawn = draw(parameters, Limits.none(d))
    exact = exact_pairs(parameters, d)
    counts = dict.fromkeys(exact, 0)
    for pair in np.stack([drawn.mean, drawn.variance], axis=1) > 0.5:
        counts[pair.tobytes()] += 1  # a pair that cannot be is a KeyError
    z = [(counts[key] / N - p) / np.sqrt(p * (1 - p) / N) for key, p in exact.items() if p > 20 / N]
    # Standard scores of a few hundred frequencies: beyond 4.5 once in a thousand seeds.
    assert np.abs(z).max() < 4.5
    assert np.std(z) < 1.3


def test_every_draw_obeys_hard_limits():
    d = 3
    flags = np.zeros((5, d, d), dtype=bool)
    forbidden, mean, variance, either, precedes = flags
    forbidden[0, 1] = mean[2, 1] = either[0, 2] = precedes[0, 2] = precedes[2, 1] = True
    precedes[0, 1] = True
    possible = ~np.eye(d, dtype=bool)
    parts = (possible & ~forbidden, possible, mean, variance, either, precedes)
    limits = Limits(*(jnp.asarray(part, jnp.float32) for part in parts))
    parameters = random_parameters(3, d)._replace(scores=jnp.array([3.0, -3.0, 0.0]))
    drawn = draw(parameters, limits, n=2000, ordered=True)
    mean_graphs, variance_graphs = drawn.mean > 0.5, drawn.variance > 0.5
    assert is_acyclic(mean_graphs | variance_graphs | precedes).all()
    assert not mean_graphs[:, 0, 1].any()
    assert variance_graphs[:, 0, 1].any()
    assert mean_graphs[:, 2, 1].all()
    assert (mean_graphs | variance_graphs)[:, 0, 2].all()
    assert 0 < mean_graphs[:, 0, 2].mean() < 1


@pytest.mark.parametrize("d", [2, 3])
def test_the_divergence_of_u_is_that_of_enumeration(d):
    """KL(q(U) ‖ p(U)) of `eq-reg`, with a prior that differs between variables."""
    parameters, prior = random_parameters(4, d), random_parameters(5, d)
    order = np.random.default_rng(6).permutation(d)
    P = np.eye(d)[order]
    places = [(a, b) for a in range(d) for b in range(a + 1, d)]
    expected = 0.0
    for logits, of_prior in zip(parameters[:2], prior[:2], strict=True):
        phi, p = sigmoid(logits), P @ sigmoid(of_prior) @ P.T
        for bits in product((0, 1), repeat=len(places)):
            log_q, log_p = (
                sum(
                    np.log(own[place] if on else 1 - own[place])
                    for on, place in zip(bits, places, strict=True)
                )
                for own in (phi, p)
            )
            expected += np.exp(log_q) * (log_q - log_p)
    found = jax.jit(rank_kl)(parameters, prior, Limits.none(d), jnp.asarray(P, jnp.float32))
    assert float(found) == pytest.approx(expected, rel=1e-4)  # float32


def test_a_prior_that_is_the_same_for_all_edges_moves_no_order_score():
    d = 3
    parameters = random_parameters(7, d)
    prior = Parameters(jnp.full((d, d), -2.0), jnp.full((d, d), -2.0), jnp.zeros(d))
    noise = draw_noise(np.random.default_rng(8), d)

    @jax.jit
    @jax.value_and_grad
    def divergence(scores):
        order, perturbed = order_of(scores, noise.order)
        permutation = permutation_of(perturbed, order, 1.0)
        return rank_kl(parameters, prior, Limits.none(d), permutation)

    value, slope = divergence(parameters.scores)
    elementwise = jax.jit(lambda logits: jnp.triu(bernoulli_kl(logits, jnp.array(-2.0)), 1).sum())
    expected = sum(float(elementwise(logits)) for logits in parameters[:2])
    assert float(value) == pytest.approx(expected, rel=1e-5)  # float32
    np.testing.assert_allclose(slope, 0.0, atol=1e-5)


def test_logits_of_ranks_stand_at_the_variables_of_the_order():
    parameters = random_parameters(9, 3)
    order = jnp.array([2, 0, 1])
    found = in_variables(parameters, order).mean_logits
    for a in range(3):
        for b in range(3):
            assert found[order[a], order[b]] == parameters.mean_logits[a, b]


@pytest.mark.parametrize("d", [pytest.param(2, marks=pytest.mark.slow), 3])
def test_gradients_are_those_of_the_relaxed_pair_around_the_draw(d):
    """At the anchor: the straight-through draw and gradient; around it, finite differences."""
    single = random_parameters(d, d)
    single = single._replace(mean_logits=3.0 + single.mean_logits)  # drawn edges show the order
    flat = np.concatenate([np.asarray(part, dtype=float).ravel() for part in single])
    weights = np.random.default_rng(11).normal(size=(2, d, d))
    with jax.enable_x64(True):
        noise = draw_noise(np.random.default_rng(10), d)
        limits = Limits(*(np.asarray(part, dtype=float) for part in Limits.none(d)))

        def unravel(vector):
            mean, variance, scores = jnp.split(vector, [d * d, 2 * d * d])
            return Parameters(mean.reshape(d, d), variance.reshape(d, d), scores)

        def total(vector, anchor):
            held = None if anchor is None else unravel(anchor)
            graphs = pair_from_noise(unravel(vector), noise, WARM, limits, ranks=True, anchor=held)
            pair = jnp.stack([graphs.mean, graphs.variance])
            return jnp.sum(weights * pair), pair

        (plain, pair), slope = jax.jit(
            jax.value_and_grad(lambda vector: total(vector, None), has_aux=True)
        )(flat)
        # Straight through: the value is that of a hard pair.
        exact = float(np.sum(weights * np.round(np.asarray(pair))))
        assert float(plain) == pytest.approx(exact, abs=1e-9)
        step = 1e-5
        moves = np.concatenate([step * np.eye(len(flat)), -step * np.eye(len(flat))])
        points = np.vstack([flat, flat + moves])
        found = np.asarray(jax.jit(jax.vmap(lambda vector: total(vector, flat)[0]))(points))
        assert found[0] == pytest.approx(exact, abs=1e-9)
        ahead, behind = np.split(found[1:], 2)
        # Central differences in double precision.
        np.testing.assert_allclose(slope, (ahead - behind) / (2 * step), rtol=1e-6, atol=1e-8)
        # Edges above the diagonal and the order scores; nothing below it.
    of_mean = np.asarray(slope)[: d * d].reshape(d, d)
    assert not np.tril(of_mean).any()
    assert np.count_nonzero(of_mean) == d * (d - 1) / 2
    assert np.count_nonzero(np.asarray(slope)[2 * d * d :]) == d
