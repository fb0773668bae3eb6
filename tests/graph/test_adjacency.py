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
    as_stack,
    find_cycle,
    is_acyclic,
    reachability,
    select_edges,
    topological_order,
)

matrices = st.integers(1, 6).flatmap(lambda d: hnp.arrays(bool, (d, d)))


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


def test_align_matches_labels_and_refuses_other_names():
    graph = MomentGraph.from_edges(["a", "b", "c", "d"], mean=[("a", "b"), ("b", "d")])
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
        (nx.DiGraph([(1, "1")]), "differ as text"),
    ],
)
def test_malformed_graphs_are_refused(graph, message):
    with pytest.raises(GraphError, match=message):
        as_adjacency(graph)


def test_names_of_a_frame_decide_whatever_the_order_of_its_rows():
    frame = pd.DataFrame([[0, 0], [0, 1]], index=["b", "a"], columns=["a", "b"])
    adjacency, names = as_adjacency(frame)
    assert names == ("a", "b")
    assert adjacency.tolist() == [[False, True], [False, False]]


@pytest.mark.parametrize("dtype", [bool, int, float])
def test_stacks_of_zeros_and_ones_are_read(dtype):
    stack = np.triu(np.random.default_rng(0).random((20, 4, 4)) < 0.5, k=1)
    found = as_stack(stack.astype(dtype))
    assert found.dtype == bool
    np.testing.assert_array_equal(found, stack)


@pytest.mark.parametrize(
    ("graphs", "message"),
    [
        (np.zeros((2, 2)), r"shape \(n_draws, d, d\)"),
        (np.zeros((0, 2, 2)), "at least one draw"),
        (np.zeros((5, 2, 3)), "shape"),
        (np.full((1, 2, 2), 0.5), "0 and 1"),
        (np.full((1, 2, 2), np.nan), "0 and 1"),
        (np.full((1, 2, 2), "x"), "0 and 1"),
        (np.eye(2)[None], "self-loops"),
    ],
)
def test_malformed_stacks_are_refused(graphs, message):
    with pytest.raises(GraphError, match=f"Expected draws.*{message}"):
        as_stack(graphs)


@given(hnp.arrays(bool, (3, 2, 2)), hnp.arrays(bool, (3, 2, 2)))
def test_selections_are_those_of_sets(mean, variance):
    assert select_edges(mean, variance, "mean") is mean
    assert select_edges(mean, variance, "variance") is variance
    np.testing.assert_array_equal(select_edges(mean, variance, "either"), mean | variance)
    np.testing.assert_array_equal(select_edges(mean, variance, "both"), mean & variance)
    with pytest.raises(GraphError, match="moment among"):
        select_edges(mean, variance, "skewness")
