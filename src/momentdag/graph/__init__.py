"""Graphs, and the one home of the edge convention: **row causes column**.

``adjacency[i, j]`` is true iff variable ``i`` is a direct cause of variable ``j``. Everything else
in the package takes adjacency matrices from here and never transposes them.
"""

from momentdag.graph.adjacency import (
    BoolArray,
    GraphLike,
    Selection,
    align,
    as_adjacency,
    as_stack,
    find_cycle,
    is_acyclic,
    reachability,
    read_square_frame,
    select_edges,
    topological_order,
)
from momentdag.graph.moment_graph import MomentGraph
from momentdag.graph.targeted import TargetedGraph

__all__ = [
    "BoolArray",
    "GraphLike",
    "MomentGraph",
    "Selection",
    "TargetedGraph",
    "align",
    "as_adjacency",
    "as_stack",
    "find_cycle",
    "is_acyclic",
    "reachability",
    "read_square_frame",
    "select_edges",
    "topological_order",
]
