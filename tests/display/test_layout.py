import itertools

import networkx as nx
import numpy as np
import pytest

from momentdag.display.layout import layered_layout


def random_dag(seed, d, p):
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((d, d)) < p, 1)
    order = rng.permutation(d)
    graph = nx.DiGraph()
    graph.add_nodes_from(f"x{k}" for k in range(d))
    graph.add_edges_from((f"x{order[i]}", f"x{order[j]}") for i, j in np.argwhere(upper))
    return graph


@pytest.mark.parametrize(("seed", "d", "p"), [(0, 5, 0.4), (1, 12, 0.2), (2, 50, 0.04)])
def test_causes_stand_left_of_effects_and_nothing_overlaps(seed, d, p):
    graph = random_dag(seed, d, p)
    layout = layered_layout(graph)
    assert set(layout.nodes) == set(graph)
    assert all(layout.nodes[cause][0] < layout.nodes[effect][0] for cause, effect in graph.edges)
    for (x, y), (x2, y2) in itertools.combinations(layout.nodes.values(), 2):
        assert x != x2 or abs(y - y2) >= 1 - 1e-9  # rounding only


def test_an_edge_passes_every_layer_between_its_ends_beside_the_variables_there():
    graph = random_dag(3, 10, 0.3)
    layout = layered_layout(graph)
    for cause, effect in graph.edges:
        between = range(int(layout.nodes[cause][0]) + 1, int(layout.nodes[effect][0]))
        points = layout.way_points.get((cause, effect), [])
        assert [x for x, _ in points] == list(between)
        for x, y in points:
            apart = [abs(y - v) for u, v in layout.nodes.values() if u == x]
            assert min(apart, default=1) >= 0.75 - 1e-9  # half a node and half a way point


def test_crossings_that_need_not_be_are_removed():
    graph = nx.DiGraph([("a", "z"), ("b", "y"), ("c", "x")])
    heights = {name: y for name, (_, y) in layered_layout(graph).nodes.items()}
    order = sorted("abc", key=heights.__getitem__)
    ends = sorted("xyz", key=heights.__getitem__)
    assert [dict(list(graph.edges))[cause] for cause in order] == ends


def test_variables_without_edges_stand_in_rows_of_their_own():
    graph = nx.DiGraph()
    graph.add_nodes_from("abcdefgh")
    places = layered_layout(graph).nodes
    assert len(set(places.values())) == 8
    assert max(y for _, y in places.values()) == 1
