"""A layered drawing of a graph: causes to the left of their effects, few crossings, short edges.

The steps of Sugiyama, Tagawa and Toda (1981): layers (networkx's topological generations), way
points where an edge passes a layer, orders within layers by barycentres, and coordinates by
isotonic regression towards the neighbours, with gaps kept between nodes.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import networkx as nx
import numpy as np
from sklearn.isotonic import isotonic_regression

__all__ = ["Layout", "layered_layout"]

Node: TypeAlias = Hashable
Point: TypeAlias = tuple[float, float]
Layers: TypeAlias = list[list[Node]]

_SWEEPS = 12
_ISOLATED_PER_ROW = 6
_ROOM_AT_WAY_POINTS = 0.5
_DISCONNECTED = 0.01  # weight of a node's own position, for nodes without neighbours


class Layout(NamedTuple):
    """Positions of nodes: x counts layers from 0, y is in node heights."""

    nodes: dict[str, Point]
    way_points: dict[tuple[str, str], list[Point]]
    """For edges that pass layers: the points where they do, from cause to effect."""


class _WayPoint(NamedTuple):
    edge: tuple[str, str]
    layer: int


def layered_layout(graph: nx.DiGraph[Any]) -> Layout:
    """Lay out an acyclic graph in layers, from left to right.

    Parameters
    ----------
    graph : networkx.DiGraph
        Acyclic; nodes are names. Edges may carry ``probability=``: the more probable an edge, the
        straighter it is drawn.

    Returns
    -------
    Layout
        Nodes of a layer lie at least 1 apart, and half of that from way points.

    Examples
    --------
    >>> import networkx as nx
    >>> layout = layered_layout(nx.DiGraph([("a", "b"), ("b", "c"), ("a", "c")]))
    >>> [x for x, _ in layout.nodes.values()], len(layout.way_points["a", "c"])
    ([0.0, 1.0, 2.0], 1)
    """
    isolated = list(nx.isolates(graph))
    graph = graph.subgraph([name for name in graph if graph.degree(name)])
    layer_of = _layers(graph)
    proper, layers = _with_way_points(graph, layer_of)
    _reduce_crossings(proper, layers)
    height = _heights(proper, layers)
    nodes = {name: (float(layer_of[name]), height[name]) for name in graph}
    way_points: dict[tuple[str, str], list[Point]] = {}
    for k, layer in enumerate(layers):
        for node in layer:
            if isinstance(node, _WayPoint):
                way_points.setdefault(node.edge, []).append((float(k), height[node]))
    # Variables without edges go into rows below.
    below = 1.0 + max(height.values()) if height else 0.0
    width = max(len(layers), _ISOLATED_PER_ROW)
    for k, name in enumerate(isolated):
        nodes[name] = (float(k % width), below + k // width)
    return Layout(nodes, way_points)


def _layers(graph: nx.DiGraph[Any]) -> dict[str, int]:
    """Assign each variable a layer after its causes, and causes as late as their effects allow."""
    generations = list(nx.topological_generations(graph))
    layer = {name: k for k, generation in enumerate(generations) for name in generation}
    for generation in reversed(generations):
        for name in generation:
            effects = [layer[effect] for effect in graph.successors(name)]
            if effects:
                layer[name] = min(effects) - 1
    return layer


def _with_way_points(
    graph: nx.DiGraph[Any], layer_of: Mapping[str, int]
) -> tuple[nx.Graph[Any], Layers]:
    """Return the graph with every edge split where it passes a layer, and the layers' nodes."""
    proper: nx.Graph[Any] = nx.Graph()
    proper.add_nodes_from(graph)
    layers: Layers = [[] for _ in range(max(layer_of.values(), default=-1) + 1)]
    for name in nx.lexicographical_topological_sort(graph, key=str):
        layers[layer_of[name]].append(name)
    for cause, effect, attributes in graph.edges(data=True):
        passed = range(layer_of[cause] + 1, layer_of[effect])
        chain = [cause, *(_WayPoint((cause, effect), k) for k in passed), effect]
        for way_point in chain[1:-1]:
            layers[way_point.layer].append(way_point)
        # Long edges that bend distract most.
        weight = attributes.get("probability", 1.0) * (1.0 if len(chain) == 2 else 4.0)
        nx.add_path(proper, chain, weight=weight)
    return proper, layers


def _reduce_crossings(proper: nx.Graph[Any], layers: Layers) -> None:
    """Order each layer by the barycentres of its neighbours, sweeping back and forth."""
    best, fewest = [list(layer) for layer in layers], _crossings(proper, layers)
    for sweep in range(_SWEEPS):
        forwards = sweep % 2 == 0
        steps = range(1, len(layers)) if forwards else range(len(layers) - 2, -1, -1)
        for k in steps:
            fixed = {node: at for at, node in enumerate(layers[k - 1 if forwards else k + 1])}
            now = {node: float(at) for at, node in enumerate(layers[k])}
            middle = {}
            for node in layers[k]:
                places = [fixed[near] for near in proper[node] if near in fixed]
                middle[node] = float(np.mean(places)) if places else now[node]
            layers[k].sort(key=middle.__getitem__)
        crossings = _crossings(proper, layers)
        if crossings < fewest:
            best, fewest = [list(layer) for layer in layers], crossings
    layers[:] = best


def _crossings(proper: nx.Graph[Any], layers: Layers) -> int:
    total = 0
    for left, right in pairwise(layers):
        place = {node: at for at, node in enumerate(right)}
        ends = np.array(
            [
                (at, place[near])
                for at, node in enumerate(left)
                for near in proper[node]
                if near in place
            ]
        ).reshape(-1, 2)
        above = ends[:, None, 0] < ends[None, :, 0]
        total += int(np.sum(above & (ends[:, None, 1] > ends[None, :, 1])))
    return total


def _heights(proper: nx.Graph[Any], layers: Layers) -> dict[Node, float]:
    """Move nodes towards their neighbours without changing the order within a layer.

    For one layer, the least-squares heights with gaps of at least g_k are an isotonic regression
    of the wanted heights less the cumulated gaps.
    """
    rooms = [np.array([_room(node) for node in layer]) for layer in layers]
    offsets = [np.cumsum(room) - room / 2 for room in rooms]
    height: dict[Node, float] = {
        node: float(y - offset[-1] / 2)
        for layer, offset in zip(layers, offsets, strict=True)
        for node, y in zip(layer, offset, strict=True)
    }
    for sweep in range(2 * _SWEEPS):
        order = range(len(layers)) if sweep % 2 == 0 else range(len(layers) - 1, -1, -1)
        for k in order:
            wanted, weights = [], []
            for node in layers[k]:
                pulls = [(height[near], proper[node][near]["weight"]) for near in proper[node]]
                pulls.append((height[node], _DISCONNECTED))
                at, weight = np.array(pulls).T
                wanted.append(float(at @ weight / weight.sum()))
                weights.append(float(weight.sum()))
            free = isotonic_regression(np.array(wanted) - offsets[k], sample_weight=weights)
            height.update(zip(layers[k], (free + offsets[k]).tolist(), strict=True))
    top = min(height.values(), default=0.0)
    return {node: y - top for node, y in height.items()}


def _room(node: Node) -> float:
    return _ROOM_AT_WAY_POINTS if isinstance(node, _WayPoint) else 1.0
