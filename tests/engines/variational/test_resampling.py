from collections import Counter
from itertools import permutations

import numpy as np
import pytest

from momentdag.engines.evidence.sampling.exact import enumerate_pairs
from momentdag.engines.variational import resampling
from momentdag.engines.variational.parent_sets import EdgePrior
from momentdag.engines.variational.resampling import Proposals, resample, systematic
from momentdag.metrics import total_variation

D = 3
POWERS = 1 << np.arange(D)
TABLE = np.random.default_rng(0).normal(scale=2.0, size=(D, 2**D, 2**D))
ANYTHING = ~np.eye(D, dtype=bool)


def evidence(variables, mean_parents, variance_parents):
    return TABLE[variables, mean_parents @ POWERS, variance_parents @ POWERS]


def prior_of(*, open_edges=None, required_either=None):
    open_edges = np.stack([ANYTHING, ANYTHING]) if open_edges is None else open_edges
    either = np.zeros((D, D), dtype=bool) if required_either is None else required_either
    return EdgePrior(np.zeros((2, D, D)), open_edges, open_edges, either, 0.2)


def exact(precedes):
    """Return the posterior of every pair, from the sum over orders that admit it."""
    mean, variance = enumerate_pairs(D, True)
    log_p = prior_of().log_weight(np.stack([mean, variance]))
    for j in range(D):
        log_p += evidence(np.full(len(mean), j), mean[:, :, j], variance[:, :, j])
    union = mean | variance | precedes
    n_orders = np.zeros(len(mean))
    for order in map(list, permutations(range(D))):
        n_orders += ~np.tril(union[:, order][:, :, order]).any(axis=(1, 2))
    p = np.exp(log_p - log_p.max()) * n_orders
    both = np.concatenate([mean, variance], axis=1)
    return dict(zip((pair.tobytes() for pair in both), p / p.sum(), strict=True))


def shares_of(graphs):
    counts = Counter(pair.tobytes() for pair in np.concatenate(list(graphs), axis=1))
    return {pair: count / graphs.shape[1] for pair, count in counts.items()}


@pytest.mark.parametrize("known", [False, True])
def test_draws_follow_the_posterior_even_if_q_proposes_one_pair(known):
    precedes = np.zeros((D, D), dtype=bool)
    precedes[2, 0] = known
    k = 20_000
    orders = np.tile([2, 0, 1], (k, 1))
    poor = Proposals(orders, np.zeros(k), np.zeros((2, k, D, D), dtype=bool))
    rng = np.random.default_rng(1)
    found = resample(rng, poor, evidence, prior_of(), precedes, k)
    # Two hundred pairs of 20 000 draws: sampling alone gives about 0.03.
    assert total_variation(shares_of(found.graphs), exact(precedes)) < 0.06
    assert found.efficiency == pytest.approx(1)  # one order: equal ratios
    if known:
        # The other law is elsewhere: the test can fail.
        other = exact(np.zeros((D, D), dtype=bool))
        assert total_variation(shares_of(found.graphs), other) > 0.12
    # The joint is that of each pair, whatever its order.
    joint = prior_of().log_weight(found.graphs)
    for j in range(D):
        joint += evidence(np.full(k, j), found.graphs[0, :, :, j], found.graphs[1, :, :, j])
    np.testing.assert_allclose(found.log_joint, joint)


def test_limits_hold_in_every_draw():
    open_edges = np.stack([ANYTHING, ANYTHING])
    open_edges[0, 0, 1] = False  # never in the mean graph
    open_edges[1, 1, 2] = False  # required in the variance graph
    either = np.zeros((D, D), dtype=bool)
    either[0, 2] = True
    start = np.zeros((2, 500, D, D), dtype=bool)
    start[1, :, 1, 2] = start[0, :, 0, 2] = True
    proposals = Proposals(np.tile([0, 1, 2], (500, 1)), np.zeros(500), start)
    prior = prior_of(open_edges=open_edges, required_either=either)
    nothing = np.zeros((D, D), dtype=bool)
    mean, variance = resample(
        np.random.default_rng(2), proposals, evidence, prior, nothing, 400
    ).graphs
    assert not mean[:, 0, 1].any()
    assert variance[:, 1, 2].all()
    assert (mean | variance)[:, 0, 2].all()
    assert variance[:, 0, 2].any()  # it may move to the other graph
    assert variance[:, 0, 1].any()


def test_systematic_draws_keep_shares_to_within_one():
    found = systematic(np.random.default_rng(0), np.array([0.2, 0.5, 0.3]), 101)
    assert (np.abs(np.bincount(found) - np.array([20.2, 50.5, 30.3])) <= 1).all()


def test_sums_over_parent_sets_are_right_whichever_masks_came_before():
    rng = np.random.default_rng(5)
    members = rng.integers(2**6, size=30)
    log_p = rng.normal(size=30)
    choice = resampling._Choice(log_p, members)
    for _ in range(20):
        before = rng.integers(2**6, size=7)
        within = members & ~before[:, None] == 0
        direct = [np.logaddexp.reduce(log_p[row], initial=-np.inf) for row in within]
        np.testing.assert_allclose(choice.log_sum(before), direct, rtol=1e-12)
