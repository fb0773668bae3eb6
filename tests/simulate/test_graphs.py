from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from momentdag.errors import OptionError
from momentdag.simulate.graphs import erdos_renyi, random_moment_graph, scale_free, uniform


@given(d=st.integers(1, 12), k=st.integers(0, 5), seed=st.integers(0, 2**32 - 1))
def test_erdos_renyi_has_exactly_k_d_edges_in_both_graphs(d: int, k: int, seed: int) -> None:
    graph, order = random_moment_graph(np.random.default_rng(seed), d, k)
    expected = min(k * d, d * (d - 1) // 2)
    assert graph.mean_graph.sum() == expected
    assert graph.variance_graph.sum() == expected
    assert sorted(order.tolist()) == list(range(d))


@given(
    d=st.integers(1, 12),
    k=st.integers(0, 3),
    seed=st.integers(0, 2**32 - 1),
    scale=st.booleans(),
    shared=st.booleans(),
)
def test_both_graphs_respect_the_returned_order(
    d: int, k: int, seed: int, scale: bool, shared: bool
) -> None:
    graph, order = random_moment_graph(
        np.random.default_rng(seed),
        d,
        k,
        graph_kind="scale-free" if scale else "erdos-renyi",
        shared_graph=shared,
    )
    in_order = graph.union_graph[np.ix_(order, order)]
    assert not np.tril(in_order).any()
    if shared:
        assert np.array_equal(graph.mean_graph, graph.variance_graph)


def test_erdos_renyi_places_edges_uniformly() -> None:
    rng = np.random.default_rng(0)
    n_draws = 6000
    counts = np.sum([erdos_renyi(rng, 4, 2) for _ in range(n_draws)], axis=0)
    forward = counts[np.triu_indices(4, k=1)]
    assert counts.sum() == forward.sum() == 2 * n_draws
    # Two of six places without replacement: each is taken in a third of the draws. The counts'
    # variance is below multinomial, so the chi-square test is conservative.
    assert stats.chisquare(forward).pvalue > 1e-3


def test_separate_graphs_differ_and_the_index_does_not_follow_the_order() -> None:
    rng = np.random.default_rng(1)
    draws = [random_moment_graph(rng, 10, 2)[0] for _ in range(200)]
    assert all(not np.array_equal(g.mean_graph, g.variance_graph) for g in draws)
    forward = sum(int(np.triu(g.mean_graph).sum()) for g in draws)
    # 4000 edges in 200 orders: sd of the share is below 0.5 / sqrt(200) = 0.035 even if all
    # edges of one order went the same way.
    assert abs(forward / 4000 - 0.5) < 0.1


def test_scale_free_has_expected_degree_two_and_hubs_that_are_causes() -> None:
    rng = np.random.default_rng(2)
    d = 50
    graphs = [scale_free(rng, d) for _ in range(40)]
    for adjacency in graphs:
        assert adjacency.sum() == d - 1
        assert not np.tril(adjacency).any()
        assert adjacency.sum(axis=0)[1:].tolist() == [1] * (d - 1)
    largest = np.mean([adjacency.sum(axis=1).max() for adjacency in graphs])
    # Uniform attachment would give a largest out-degree of about log2(50) + 1 < 7; preferential
    # attachment grows like sqrt(50) times a constant, about 14.
    assert largest > 9


def test_scale_free_prefers_by_degree() -> None:
    rng = np.random.default_rng(3)
    n_draws = 4000
    # Fourth variable after the chain or star of three: the attachment probabilities are
    # degree / 4, so a variable of degree two is chosen half of the time.
    hub_chosen = 0
    for _ in range(n_draws):
        adjacency = scale_free(rng, 4)
        first_three = adjacency[:3, :3]
        hub = int(np.argmax(first_three.sum(axis=0) + first_three.sum(axis=1)))
        hub_chosen += int(adjacency[hub, 3])
    # Binomial sd is 0.5 / sqrt(4000) = 0.008; four of them.
    assert abs(hub_chosen / n_draws - 0.5) < 0.032


def test_more_attachments() -> None:
    adjacency = scale_free(np.random.default_rng(0), 7, n_attachments=2)
    assert adjacency.sum(axis=0).tolist() == [0, 1, 2, 2, 2, 2, 2]


def test_no_edges_per_node_means_a_fair_coin() -> None:
    rng = np.random.default_rng(4)
    total = sum(int(uniform(rng, 5).sum()) for _ in range(1000))
    # 10 000 coins: sd of the share 0.005; four of them.
    assert abs(total / 10_000 - 0.5) < 0.02
    graph, _ = random_moment_graph(rng, 3, None, shared_graph=True)
    assert np.array_equal(graph.mean_graph, graph.variance_graph)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_variables": 0, "edges_per_node": 1}, "n_variables"),
        ({"n_variables": 3, "edges_per_node": -1}, "edges_per_node"),
        ({"n_variables": 3, "edges_per_node": 1.5}, "edges_per_node"),
        ({"n_variables": 3, "edges_per_node": 1, "graph_kind": "lattice"}, "graph_kind"),
        ({"n_variables": 3, "edges_per_node": None, "graph_kind": "scale-free"}, "edges_per_node"),
    ],
)
def test_refuses(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        random_moment_graph(np.random.default_rng(0), **options)
