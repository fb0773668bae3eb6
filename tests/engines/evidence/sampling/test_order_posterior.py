"""Orders, parents and order counts against enumeration."""

import itertools

import numpy as np
import pytest

from momentdag.engines.evidence.sampling import order_posterior
from momentdag.engines.evidence.sampling.order_posterior import (
    OrderPool,
    draw_orders,
    draw_parents,
    log_order_count,
)
from momentdag.engines.evidence.support.bitmasks import to_words

D = 4


def random_pools(seed):
    """Return every union of parents of each variable, with random weights."""
    rng = np.random.default_rng(seed)
    pools = []
    for j in range(D):
        unions = [mask for mask in range(1 << D) if not mask >> j & 1]
        pools.append(OrderPool(to_words(unions, D), rng.normal(scale=2, size=len(unions))))
    return pools


def order_weights(pools, before):
    """Return the weight of every order by its definition."""
    weights = {}
    for order in itertools.permutations(range(D)):
        weight, placed = 1.0, 0
        for j in order:
            open_entries = (pools[j].unions[:, 0] & ~np.uint64(placed)) == 0
            weight *= np.exp(pools[j].log_weight[open_entries]).sum()
            weight *= before[j] & ~placed == 0
            placed |= 1 << j
        weights[order] = weight
    total = sum(weights.values())
    return {order: weight / total for order, weight in weights.items()}


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("before", [[0, 0, 0, 0], [0, 0b1000, 0, 0]])
def test_orders_follow_their_weights(exact, before, monkeypatch):
    monkeypatch.setattr(order_posterior, "MAX_EXACT", 12 if exact else 0)
    pools = random_pools(3)
    n = 4000
    orders = draw_orders(np.random.default_rng(0), pools, before, n, (0, 2, 3, 1))
    expected = order_weights(pools, before)
    found = dict.fromkeys(expected, 0.0)
    for order in map(tuple, orders.tolist()):
        found[order] += 1 / n
    distance = 0.5 * sum(abs(found[order] - expected[order]) for order in expected)
    # 24 orders, 4 000 draws: some 0.03 by chance, a little more along a chain.
    assert distance < 0.06
    assert all(found[order] == 0 for order in expected if expected[order] == 0)


def test_parents_follow_their_weights_within_the_order():
    pools = random_pools(5)
    orders = np.tile([2, 0, 3, 1], (4000, 1))
    chosen = draw_parents(np.random.default_rng(0), pools, orders)
    unions = pools[3].unions[chosen[:, 3], 0]
    assert not np.any(unions & ~np.uint64(0b0101))
    open_entries = (pools[3].unions[:, 0] & ~np.uint64(0b0101)) == 0
    weights = np.where(open_entries, np.exp(pools[3].log_weight), 0)
    shares = np.bincount(chosen[:, 3], minlength=len(weights)) / 4000
    np.testing.assert_allclose(shares, weights / weights.sum(), atol=0.04)
    assert set(pools[2].unions[chosen[:, 2], 0].tolist()) == {0}


@pytest.mark.parametrize("seed", range(5))
def test_orders_are_counted(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    graph = np.triu(rng.random((6, 6)) < 0.3, 1)
    parents = tuple(int(sum(1 << i for i in np.flatnonzero(graph[:, j]))) for j in range(6))
    count = sum(
        all(not graph[b, a] for k, a in enumerate(order) for b in order[k + 1 :])
        for order in itertools.permutations(range(6))
    )
    assert np.exp(log_order_count(parents)) == pytest.approx(count)
    monkeypatch.setattr(order_posterior, "_MOST_SETS", 1)
    # 400 random orders estimate the number to a few percent.
    assert np.exp(log_order_count(parents)) == pytest.approx(count, rel=0.2)
