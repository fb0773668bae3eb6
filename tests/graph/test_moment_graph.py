import copy
import itertools
import pickle

import networkx as nx
import numpy as np
import pytest

from momentdag.errors import GraphError
from momentdag.graph import MomentGraph


@pytest.fixture
def graph():
    return MomentGraph.from_edges(
        ["a", "b", "c", "d"],
        mean=[("a", "b"), ("b", "d")],
        variance=[("c", "d"), ("a", "b")],
    )


def test_row_is_the_cause_and_column_the_effect(graph):
    assert graph.mean_graph[0, 1]
    assert not graph.mean_graph[1, 0]
    assert graph.mean_frame.loc["a", "b"]
    assert list(graph.to_networkx("mean").edges) == [("a", "b"), ("b", "d")]


def test_union_must_be_acyclic_and_the_cycle_is_named():
    with pytest.raises(GraphError, match=r"a -> b -> a|b -> a -> b"):
        MomentGraph.from_edges(["a", "b"], mean=[("a", "b")], variance=[("b", "a")])


def test_frozen(graph):
    with pytest.raises(ValueError, match="read-only"):
        graph.mean_graph[0, 0] = True
    with pytest.raises(AttributeError):
        graph.names = ("x",)


def test_building_a_pair_does_not_freeze_the_callers_arrays():
    mean = np.zeros((2, 2), dtype=bool)
    MomentGraph(("a", "b"), mean, mean)
    mean[0, 1] = True
    assert mean[0, 1]


def test_relations(graph):
    assert graph.parents("d") == ("b", "c")
    assert graph.parents("d", "variance") == ("c",)
    assert graph.children("a") == ("b",)
    assert graph.ancestors("d") == ("a", "b", "c")
    assert graph.ancestors("d", "variance") == ("c",)
    assert graph.descendants("a", "mean") == ("b", "d")
    assert graph.edges("both") == [("a", "b")]
    assert graph.has_path("a", "d", "mean")
    assert not graph.has_path("a", "d", "variance")
    assert list(graph.paths("a", "d")) == [("a", "b", "d")]
    with pytest.raises(GraphError, match="'zzz'"):
        graph.parents("zzz")
    with pytest.raises(GraphError, match="moment"):
        graph.adjacency("skewness")


def test_orders_are_exactly_the_linear_extensions(graph):
    expected = {
        order
        for order in itertools.permutations(graph.names)
        if all(order.index(cause) < order.index(effect) for cause, effect in graph.edges())
    }
    assert set(graph.orders()) == expected
    assert graph.order in expected


def test_round_trips(graph):
    assert MomentGraph.from_networkx(graph.to_networkx()) == graph
    assert MomentGraph.from_frames(graph.mean_frame, graph.variance_frame) == graph
    table = graph.edge_table()
    again = MomentGraph.from_edges(
        graph.names,
        mean=table.loc[table["mean"], ["cause", "effect"]].itertuples(index=False),
        variance=table.loc[table["variance"], ["cause", "effect"]].itertuples(index=False),
    )
    assert again == graph
    assert hash(again) == hash(graph)
    assert graph.reorder(["d", "c", "b", "a"]).reorder(graph.names) == graph
    assert graph.reorder(["d", "c", "b", "a"]) != graph


def test_empty_graph_has_an_empty_but_well_formed_edge_table():
    table = MomentGraph.from_edges(["a", "b"]).edge_table()
    assert list(table.columns) == ["cause", "effect", "mean", "variance"]
    assert len(table) == 0


def test_frames_are_matched_by_name(graph):
    shuffled = graph.variance_frame.loc[["d", "b", "a", "c"], ["c", "a", "d", "b"]]
    assert MomentGraph.from_frames(graph.mean_frame, shuffled) == graph


def test_networkx_edges_must_say_their_moment():
    with pytest.raises(GraphError, match="mean= or variance="):
        MomentGraph.from_networkx(nx.DiGraph([("a", "b")]))


def test_stays_read_only_where_it_is_sent(graph):
    for sent in (copy.deepcopy(graph), pickle.loads(pickle.dumps(graph))):
        assert sent == graph
        assert sent.order == graph.order
        for array in (sent.mean_graph, sent.variance_graph, sent.union_graph):
            with pytest.raises(ValueError, match="read-only"):
                array[0, 0] = True


def test_a_path_has_at_least_one_edge(graph):
    assert list(graph.paths("a", "a")) == []
    assert not graph.has_path("a", "a")


@pytest.mark.parametrize(
    ("names", "edges", "message"),
    [
        (["a", "a", "b"], [], r"unique variable names; got \['a', 'a', 'b'\]"),
        (["a", "b"], [("a", "a")], "'a' causes itself"),
        (["a", "b"], [("a", "z")], "got 'z'"),
    ],
)
def test_malformed_edge_lists_are_refused(names, edges, message):
    with pytest.raises(GraphError, match=message):
        MomentGraph.from_edges(names, variance=edges)
