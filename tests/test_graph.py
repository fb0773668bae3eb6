import itertools

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from momentdag.errors import GraphError
from momentdag.graph import (
    MomentGraph,
    align,
    as_adjacency,
    find_cycle,
    is_acyclic,
    reachability,
    topological_order,
)

matrices = st.integers(1, 6).flatmap(lambda d: hnp.arrays(bool, (d, d)))


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


@given(matrices)
def test_acyclicity_and_closure_agree_with_networkx(adjacency):
    reference = nx.DiGraph(adjacency)
    assert is_acyclic(adjacency) == nx.is_directed_acyclic_graph(reference)
    closure = nx.to_numpy_array(nx.transitive_closure(reference, reflexive=False)) > 0
    np.testing.assert_array_equal(reachability(adjacency), closure)
    assert bool(find_cycle(adjacency)) != is_acyclic(adjacency)


def test_stacks_are_judged_one_by_one():
    rng = np.random.default_rng(0)
    stack = rng.random((200, 4, 4)) < 0.3
    np.testing.assert_array_equal(is_acyclic(stack), [is_acyclic(one) for one in stack])
    np.testing.assert_array_equal(reachability(stack), [reachability(one) for one in stack])


@given(matrices)
def test_topological_order_puts_causes_first_or_shows_the_cycle(adjacency):
    if not is_acyclic(adjacency):
        with pytest.raises(GraphError, match="->"):
            topological_order(adjacency)
        return
    position = np.argsort(topological_order(adjacency))
    causes, effects = np.nonzero(adjacency)
    assert (position[causes] < position[effects]).all()


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


def test_align_matches_labels_and_refuses_other_names(graph):
    other = graph.mean_frame.loc[::-1, ::-1]
    np.testing.assert_array_equal(*align(graph.mean_frame, other))
    np.testing.assert_array_equal(*align(graph.to_networkx("mean"), other))
    renamed = other.rename(index={"a": "z"}, columns={"a": "z"})
    with pytest.raises(GraphError, match=r"\['a', 'z'\]"):
        align(graph.mean_frame, renamed)


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (np.zeros((2, 3)), "square"),
        (np.eye(2), "self-loops"),
        (np.array([[0, np.nan], [0, 0]]), "NaN"),
        (np.array([["a", "b"], ["c", "d"]]), "numbers or booleans"),
        (nx.Graph([(1, 2)]), "directed"),
        (pd.DataFrame(np.zeros((2, 2)), index=["a", "b"], columns=["a", "c"]), "same unique names"),
        (MomentGraph.from_edges(["a"]), "holds two"),
    ],
)
def test_malformed_graphs_are_refused(graph, message):
    with pytest.raises(GraphError, match=message):
        as_adjacency(graph)


def test_networkx_edges_must_say_their_moment():
    with pytest.raises(GraphError, match="mean= or variance="):
        MomentGraph.from_networkx(nx.DiGraph([("a", "b")]))
