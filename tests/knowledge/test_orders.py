"""Feasible orders: recognised, drawn nearly uniformly, and moved within."""

import itertools
from collections import Counter

import numpy as np
import pytest
from scipy import stats

from momentdag.errors import KnowledgeError
from momentdag.graph import BoolArray, reachability
from momentdag.knowledge import Knowledge
from momentdag.knowledge.orders import feasible_positions, is_feasible_order, random_order


def partial_order(n_variables: int, pairs: list[tuple[int, int]]) -> BoolArray:
    precedes = np.zeros((n_variables, n_variables), dtype=bool)
    for pair in pairs:
        precedes[pair] = True
    return reachability(precedes)


def linear_extensions(precedes: BoolArray) -> list[tuple[int, ...]]:
    pairs = np.argwhere(precedes)
    return [
        order
        for order in itertools.permutations(range(len(precedes)))
        if all(order.index(i) < order.index(j) for i, j in pairs)
    ]


POSETS = {
    "free": partial_order(4, []),
    "chain": partial_order(4, [(2, 0), (0, 3), (3, 1)]),
    "N": partial_order(4, [(0, 2), (1, 2), (1, 3)]),
    # For these two the first, weighted pass alone is not uniform: the swaps must do their part.
    "tiers and a free one": partial_order(5, [(0, 2), (0, 3), (1, 2), (1, 3)]),
    "diamond and a tail": partial_order(5, [(0, 1), (0, 2), (1, 3), (2, 3), (4, 3)]),
}


@pytest.mark.parametrize("precedes", POSETS.values(), ids=POSETS)
def test_every_feasible_order_is_drawn_about_equally_often(precedes: BoolArray) -> None:
    rng = np.random.default_rng(0)
    feasible = linear_extensions(precedes)
    n_orders = 100 * len(feasible)
    drawn = Counter(tuple(random_order(rng, precedes).tolist()) for _ in range(n_orders))
    assert set(drawn) == set(feasible)
    if len(feasible) > 1:
        # A uniform sampler fails for one seed in a thousand. For comparison: without the swaps
        # p is 1e-6 for the last two, and 1e-9 or less for the last three if each next variable is
        # taken uniformly from those that are ready.
        assert stats.chisquare([drawn[order] for order in feasible]).pvalue > 1e-3


def test_the_weighted_pass_alone_is_uniform_for_a_forest() -> None:
    rng = np.random.default_rng(1)
    precedes = partial_order(5, [(0, 1), (1, 2), (3, 4)])
    feasible = linear_extensions(precedes)
    drawn = Counter(
        tuple(random_order(rng, precedes, n_sweeps=0).tolist()) for _ in range(200 * len(feasible))
    )
    # As above: the bound is the share of seeds for which a correct sampler would fail.
    assert stats.chisquare([drawn[order] for order in feasible]).pvalue > 1e-3


def test_the_same_seed_gives_the_same_order() -> None:
    precedes = POSETS["N"]
    first, second = (random_order(np.random.default_rng(3), precedes) for _ in range(2))
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("precedes", POSETS.values(), ids=POSETS)
def test_feasible_means_a_linear_extension(precedes: BoolArray) -> None:
    feasible = set(linear_extensions(precedes))
    for order in itertools.permutations(range(len(precedes))):
        assert is_feasible_order(precedes, order) == (order in feasible)


@pytest.mark.parametrize("order", [[0, 1], [0, 1, 1], [0, 1, 2, 3], [1, 2, 3], [[0, 1, 2]], []])
def test_what_is_no_permutation_is_not_feasible(order: list[int]) -> None:
    assert not is_feasible_order(partial_order(3, []), order)


@pytest.mark.parametrize("precedes", POSETS.values(), ids=POSETS)
def test_positions_are_exactly_the_feasible_moves(precedes: BoolArray) -> None:
    for order in linear_extensions(precedes):
        for variable in order:
            rest = [other for other in order if other != variable]
            moves = [
                place
                for place in range(len(order))
                if is_feasible_order(precedes, [*rest[:place], variable, *rest[place:]])
            ]
            low, high = feasible_positions(precedes, order, variable)
            assert moves == list(range(low, high + 1))


def test_compiled_knowledge_answers_by_index() -> None:
    compiled = Knowledge(tiers=[["c"], ["a", "b"]]).compile(["a", "b", "c"])
    assert compiled.is_feasible_order([2, 1, 0])
    assert compiled.feasible_positions([2, 1, 0], 1) == (1, 2)
    assert compiled.random_order(np.random.default_rng(0))[0] == 2
    with pytest.raises(KnowledgeError, match=r"feasible order of 3 variables; got \[0, 1, 2\]"):
        compiled.feasible_positions([0, 1, 2], 1)


def test_soft_knowledge_leaves_every_order_feasible() -> None:
    compiled = Knowledge(order=[("a", "b")], strength="soft").compile(["a", "b"])
    assert compiled.is_feasible_order([1, 0])


def test_no_variables_is_the_empty_order() -> None:
    compiled = Knowledge().compile([])
    assert compiled.random_order(np.random.default_rng(0)).shape == (0,)
    assert compiled.is_feasible_order([])
