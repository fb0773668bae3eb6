from itertools import product

import numpy as np
import pytest

from momentdag.engines.variational.parent_sets import EdgePrior, pools_of


def prior_of(d, probability=0.1, log_odds=None, free=None):
    free = np.broadcast_to(~np.eye(d, dtype=bool), (2, d, d)) if free is None else free
    odds = np.zeros((2, d, d)) if log_odds is None else log_odds
    everywhere = np.broadcast_to(~np.eye(d, dtype=bool), (2, d, d))
    return EdgePrior(odds, free, everywhere, np.zeros((d, d), dtype=bool), probability)


def test_edges_have_their_stated_probability_and_one_speaks_for_others():
    """All pairs that one order of three variables admits."""
    places = np.argwhere(np.triu(np.ones((3, 3)), 1))
    graphs = np.zeros((2, 64, 3, 3), dtype=bool)
    for k, present in enumerate(product((False, True), repeat=6)):
        for graph in range(2):
            graphs[graph, k, places[:, 0], places[:, 1]] = present[3 * graph : 3 * graph + 3]
    p = np.exp(prior_of(3).log_weight(graphs))
    p /= p.sum()
    np.testing.assert_allclose((p[:, None, None] * graphs[0]).sum(axis=0)[0, 1], 0.1, rtol=1e-10)
    first, second = graphs[0, :, 0, 1], graphs[0, :, 1, 2]
    # Beta(0.1, 0.9) after one success has mean 1.1 / 2.
    assert p[first & second].sum() / p[first].sum() == pytest.approx(0.55)
    # The other graph has a rate of its own.
    other = graphs[1, :, 1, 2]
    assert p[first & other].sum() / p[first].sum() == pytest.approx(0.1)


def test_a_stated_probability_is_obeyed_as_it_is():
    free = np.broadcast_to(~np.eye(2, dtype=bool), (2, 2, 2)).copy()
    free[0, 0, 1] = False
    log_odds = np.where(free, 0.0, 2.0)
    graphs = np.zeros((2, 2, 2, 2), dtype=bool)
    graphs[0, 1, 0, 1] = True
    without, having = prior_of(2, log_odds=log_odds, free=free).log_weight(graphs)
    assert having - without == pytest.approx(2.0)


def test_all_sets_are_found_where_they_are_few():
    asked = []

    def evidence(variables, mean_parents, variance_parents):
        asked.append(len(variables))
        return -3.0 * mean_parents.sum(axis=1) + variance_parents.sum(axis=1)

    nothing = np.zeros((2, 5, 3, 3), dtype=bool)
    pools = pools_of(nothing, evidence, prior_of(3), np.zeros((2, 3, 3)))
    for j, pool in enumerate(pools):
        assert len({own.tobytes() for own in pool.sets.swapaxes(0, 1)}) == 4**2
        assert not pool.sets[:, :, j].any()
        expected = -3.0 * pool.sets[0].sum(axis=1) + pool.sets[1].sum(axis=1)
        np.testing.assert_array_equal(pool.log_evidence, expected)
    assert sum(asked) == 3 * 4**2  # each once


def test_many_sets_are_bounded_and_the_best_are_among_them():
    d = 8

    def evidence(variables, mean_parents, variance_parents):
        return 5.0 * mean_parents[:, :3].sum(axis=1) - 5.0 * variance_parents.sum(axis=1)

    nothing = np.zeros((2, 5, d, d), dtype=bool)
    pool = pools_of(nothing, evidence, prior_of(d), np.full((2, d, d), -1.0))[7]
    assert pool.sets.shape[1] == 128
    best = pool.sets[:, np.argmax(pool.log_evidence + pool.log_odds)]
    np.testing.assert_array_equal(best[0], [1, 1, 1, 0, 0, 0, 0, 0])
    assert not best[1].any()
