"""Order search against all orders."""

import itertools

import numpy as np
import pytest

from momentdag.engines.evidence.local.linear import LinearScorer
from momentdag.engines.evidence.prior import GraphPrior
from momentdag.engines.evidence.search.orders import (
    best_insertion,
    order_score,
    search_order,
    sequential_order,
)
from momentdag.engines.evidence.search.parents import ParentSearch
from momentdag.knowledge import Knowledge
from momentdag.simulate import linear_anm

D = 5


@pytest.fixture(params=range(3))
def search(request):
    simulation = linear_anm(np.random.default_rng(request.param), D, 2, 200)
    values = simulation.data.to_numpy()
    values = (values - values.mean(axis=0)) / values.std(axis=0)
    prior = GraphPrior(Knowledge().compile(simulation.data.columns), False)
    return ParentSearch(LinearScorer(values), prior.modular(D, 0))


def anywhere(order, variable):
    return range(len(order))


def ignore(done, total):
    pass


def test_finds_the_best_of_all_orders(search):
    best = max(order_score(search, order) for order in itertools.permutations(range(D)))
    rng = np.random.default_rng(0)
    found = search_order(search, rng, tuple(range(D)), anywhere, 12, ignore)
    assert found.score == pytest.approx(best, abs=1e-9)
    assert order_score(search, found.order) == pytest.approx(found.score, abs=1e-9)


def test_an_insertion_is_the_best_of_its_positions(search):
    order = (3, 1, 4, 0, 2)
    others = [v for v in order if v != 4]
    tried = [(*others[:at], 4, *others[at:]) for at in range(D)]
    score, moved = best_insertion(search, order, 4, range(D))
    assert score == pytest.approx(max(order_score(search, o) for o in tried), abs=1e-9)
    assert moved in tried


def test_knowledge_keeps_positions_closed(search):
    def zero_stays_last(order, variable):
        return range(D - 1, D) if variable == 0 else range(D - 1)

    rng = np.random.default_rng(1)
    found = search_order(search, rng, (1, 2, 3, 4, 0), zero_stays_last, 3, ignore)
    assert found.order[-1] == 0


def test_the_sequential_order_obeys_who_may_follow(search):
    order = sequential_order(search, lambda v, placed: v != 2 or placed.bit_count() == D - 1)
    assert sorted(order) == list(range(D))
    assert order[-1] == 2
