import numpy as np
import pytest

from momentdag.baselines.one_graph import GraphLimits
from momentdag.errors import KnowledgeError
from momentdag.graph import is_acyclic
from momentdag.knowledge import Knowledge

NAMES = ("a", "b", "c", "d")


def limits_of(**statements):
    return GraphLimits.of(Knowledge(**statements), NAMES)


def graph_of(*edges):
    graph = np.zeros((4, 4), dtype=bool)
    for cause, effect in edges:
        graph[NAMES.index(cause), NAMES.index(effect)] = True
    return graph


def test_without_knowledge_everything_but_self_edges_is_open():
    limits = limits_of()
    assert np.array_equal(limits.allowed, ~np.eye(4, dtype=bool))
    assert not limits.required.any()
    assert not limits.precedes.any()


def test_an_edge_is_closed_when_both_moments_forbid_it():
    limits = limits_of(forbidden=[("a", "b"), ("a", "c", "mean"), ("a", "d", "variance")])
    assert limits.allowed[0].tolist() == [False, False, True, True]


def test_a_moment_leaves_out_what_it_must_not_have():
    limits = limits_of(forbidden=[("a", "c", "mean"), ("a", "d", "variance")])
    graphs = np.stack([graph_of(("a", "c"), ("a", "d")), graph_of(("b", "c"))])
    mean_graphs, variance_graphs = limits.pair(graphs)
    assert np.array_equal(mean_graphs, [graph_of(("a", "d")), graph_of(("b", "c"))])
    assert np.array_equal(variance_graphs, [graph_of(("a", "c")), graph_of(("b", "c"))])


@pytest.mark.parametrize("moment", ["mean", "variance", "either", "both"])
def test_an_edge_required_in_any_way_is_required_of_the_graph(moment):
    limits = limits_of(required=[("a", "b", moment)])
    assert np.array_equal(limits.required, graph_of(("a", "b")))
    assert not limits.allowed[1, 0]
    mean_graph, variance_graph = limits.pair(limits.required)
    known = Knowledge(required=[("a", "b", moment)]).compile(NAMES)
    assert known.allows(mean_graph, variance_graph)


def test_places_are_open_to_those_whose_predecessors_are_placed():
    limits = limits_of(tiers=[["b"], ["a", "c"]])
    assert limits.may_come_next([]) == [1, 3]
    assert limits.may_come_next([3]) == [1]
    assert limits.may_come_next([1, 3]) == [0, 2]


def test_permits_agrees_with_knowledge():
    limits = limits_of(order=[("a", "c")], forbidden=[("b", "d")], required=[("a", "b")])
    assert limits.permits(graph_of(("a", "b"), ("b", "c")))
    assert not limits.permits(graph_of(("b", "c")))  # lacks what is required
    assert not limits.permits(graph_of(("a", "b"), ("b", "d")))
    assert not limits.permits(graph_of(("a", "b"), ("c", "d"), ("d", "a")))  # c before a


def test_strongest_cuts_cycles_at_their_lightest_edge():
    weights = np.zeros((4, 4))
    for (i, j), weight in {(0, 1): 0.9, (1, 2): 0.5, (2, 0): 0.7, (0, 3): 0.3, (3, 1): 0.1}.items():
        weights[i, j] = weight
    found = limits_of().strongest(weights, 0.2)
    assert np.array_equal(found, graph_of(("a", "b"), ("c", "a"), ("a", "d")))


def test_strongest_keeps_required_edges_and_orders_whatever_the_weights():
    rng = np.random.default_rng(0)
    limits = limits_of(required=[("d", "a")], order=[("c", "b")], forbidden=[("a", "b")])
    for _ in range(50):
        found = limits.strongest(rng.random((4, 4)), 0.0)
        assert limits.permits(found)
        assert is_acyclic(found)


def test_soft_knowledge_and_edge_priors_are_refused():
    with pytest.raises(KnowledgeError, match="Expected hard knowledge"):
        limits_of(order=[("a", "b")], strength="soft")
    with pytest.raises(KnowledgeError, match="without edge priors"):
        limits_of(edge_priors={("a", "b"): 0.3})
    assert limits_of(strength="soft").allowed.any()  # nothing is stated
