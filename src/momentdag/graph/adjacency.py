"""Adjacency matrices, single or stacked: reading and checking them, following their paths.

``adjacency[i, j]`` is true iff variable ``i`` is a direct cause of variable ``j``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias, get_args

import networkx as nx
import numpy as np
import numpy.typing as npt
import pandas as pd

from momentdag.errors import GraphError

__all__ = [
    "BoolArray",
    "GraphLike",
    "Selection",
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

BoolArray: TypeAlias = npt.NDArray[np.bool_]
GraphLike: TypeAlias = "npt.ArrayLike | pd.DataFrame | nx.DiGraph[Any]"
Selection: TypeAlias = Literal["mean", "variance", "either", "both"]
"""Which edges: of the mean graph, the variance graph, either of them, or both."""


def is_acyclic(adjacency: BoolArray) -> Any:
    """Tell which graphs of a stack have no directed cycle.

    Parameters
    ----------
    adjacency : bool array, shape (..., d, d)

    Returns
    -------
    bool or bool array, shape (...)

    Examples
    --------
    >>> import numpy as np
    >>> is_acyclic(np.array([[[0, 1], [0, 0]], [[0, 1], [1, 0]]], dtype=bool)).tolist()
    [True, False]
    """
    remaining = np.ones(adjacency.shape[:-1], dtype=bool)
    for _ in range(adjacency.shape[-1]):
        # A variable survives the round while some remaining variable causes it.
        caused = np.any(adjacency & remaining[..., :, None], axis=-2)
        updated = remaining & caused
        if np.array_equal(updated, remaining):
            break
        remaining = updated
    answer = ~remaining.any(axis=-1)
    return bool(answer) if answer.ndim == 0 else answer


def reachability(adjacency: BoolArray) -> BoolArray:
    """Return the transitive closure: entry (i, j) is true iff a directed path leads from i to j.

    Parameters
    ----------
    adjacency : bool array, shape (..., d, d)

    Returns
    -------
    bool array, shape (..., d, d)

    Examples
    --------
    >>> import numpy as np
    >>> reachability(np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], dtype=bool))[0].tolist()
    [False, True, True]
    """
    closure = adjacency.copy()
    for _ in range(max(adjacency.shape[-1] - 1, 1).bit_length()):
        steps = closure.astype(np.float32)
        closure = closure | (steps @ steps > 0)
    return closure


def topological_order(adjacency: BoolArray) -> npt.NDArray[np.intp]:
    """Return the lexicographically smallest order with every cause before its effects.

    Raises
    ------
    GraphError
        If the graph has a cycle.

    Examples
    --------
    >>> import numpy as np
    >>> topological_order(np.array([[0, 0, 0], [1, 0, 0], [0, 0, 0]], dtype=bool)).tolist()
    [1, 0, 2]
    """
    n_causes = adjacency.sum(axis=0)
    ready = sorted(np.flatnonzero(n_causes == 0).tolist(), reverse=True)
    order: list[int] = []
    while ready:
        cause = ready.pop()
        order.append(cause)
        for effect in np.flatnonzero(adjacency[cause]):
            n_causes[effect] -= 1
            if n_causes[effect] == 0:
                ready = sorted([*ready, int(effect)], reverse=True)
    if len(order) < len(adjacency):
        raise GraphError(f"Expected an acyclic graph; it has the cycle {find_cycle(adjacency)}.")
    return np.array(order, dtype=np.intp)


def find_cycle(adjacency: BoolArray, names: Sequence[str] | None = None) -> str:
    """Return one directed cycle as readable text, or an empty string if there is none.

    Examples
    --------
    >>> import numpy as np
    >>> find_cycle(np.array([[0, 1], [1, 0]], dtype=bool), ["a", "b"])
    'a -> b -> a'
    """
    try:
        cycle = nx.find_cycle(nx.DiGraph(adjacency))
    except nx.NetworkXNoCycle:
        return ""
    labels = [str(i) if names is None else names[i] for i in (cycle[0][0], *(e[1] for e in cycle))]
    return " -> ".join(labels)


def as_adjacency(graph: GraphLike) -> tuple[BoolArray, tuple[str, ...] | None]:
    """Read an array, labelled DataFrame or networkx graph as a square bool matrix and its names.

    An entry is an edge iff it is not zero. Arrays carry no names.

    Raises
    ------
    GraphError
        If the matrix is not square, has missing values or self-loops, or labels disagree.

    Examples
    --------
    >>> import networkx as nx
    >>> adjacency, names = as_adjacency(nx.DiGraph([("dose", "response")]))
    >>> names, adjacency.astype(int).tolist()
    (('dose', 'response'), [[0, 1], [0, 0]])
    """
    names: tuple[str, ...] | None = None
    if hasattr(graph, "mean_graph") and hasattr(graph, "variance_graph"):
        raise GraphError(
            "Expected one graph; a MomentGraph holds two. Pass .mean_frame, .variance_frame or "
            ".union_frame."
        )
    if isinstance(graph, nx.Graph):
        if not graph.is_directed():
            raise GraphError("Expected a directed graph; got an undirected networkx graph.")
        names = tuple(str(node) for node in graph)
        if len(set(names)) < len(names):
            raise GraphError(
                f"Expected nodes whose names differ as text; got {list(names)}. Relabel them."
            )
        values = nx.to_numpy_array(graph, weight=None)
    elif isinstance(graph, pd.DataFrame):
        values, names = read_square_frame(graph)
    else:
        values = np.asarray(graph)
    if values.ndim != 2 or values.shape[0] != values.shape[1]:
        raise GraphError(f"Expected a square adjacency matrix; got shape {values.shape}.")
    if values.dtype.kind not in "biuf":
        raise GraphError(f"Expected numbers or booleans as entries; got dtype {values.dtype}.")
    if values.dtype.kind == "f" and np.isnan(values).any():
        raise GraphError("Expected an adjacency matrix without missing values; it has NaN.")
    adjacency = values != 0
    if adjacency.diagonal().any():
        at = int(np.flatnonzero(adjacency.diagonal())[0])
        label = at if names is None else names[at]
        raise GraphError(f"Expected no self-loops; variable {label!r} causes itself.")
    return adjacency, names


def read_square_frame(frame: pd.DataFrame) -> tuple[npt.NDArray[Any], tuple[str, ...]]:
    """Return the entries of a labelled square table, rows in the order of its columns, and names.

    Raises
    ------
    GraphError
        If index and columns do not hold the same unique names.

    Examples
    --------
    >>> import pandas as pd
    >>> read_square_frame(pd.DataFrame({"a": [1, 2], "b": [3, 4]}, index=["b", "a"]))[0].tolist()
    [[2, 4], [1, 3]]
    """
    names = tuple(str(column) for column in frame.columns)
    rows = tuple(str(label) for label in frame.index)
    if len(set(names)) < len(names) or sorted(rows) != sorted(names):
        raise GraphError(
            "Expected a square table whose index (causes) and columns (effects) hold the same "
            f"unique names; got index {list(rows)} and columns {list(names)}."
        )
    return frame.set_axis(rows, axis=0).loc[list(names)].to_numpy(), names


def as_stack(graphs: object, ndim: int = 3, what: str = "draws") -> BoolArray:
    """Read a stack of square matrices of 0 and 1 without self-loops.

    Parameters
    ----------
    graphs : array, shape (n_draws, ..., d, d)
    ndim : int
        Number of axes expected.
    what : str
        Its name in error messages.

    Returns
    -------
    bool array, shape (n_draws, ..., d, d)

    Raises
    ------
    GraphError
        If the shape is wrong, there is no draw, an entry is neither 0 nor 1 or a variable causes
        itself.

    Examples
    --------
    >>> as_stack([[[0, 0.7], [0, 0]]])
    Traceback (most recent call last):
    momentdag.errors.GraphError: Expected draws of 0 and 1 (or booleans); got other values.
    """
    array = np.asarray(graphs)
    if array.ndim != ndim or array.shape[-1] != array.shape[-2] or len(array) == 0:
        raise GraphError(
            f"Expected {what} of shape (n_draws, {'2, ' * (ndim - 3)}d, d) with at least one "
            f"draw; got {array.shape}."
        )
    # If every non-zero entry were accepted, probabilities would silently pass as edges.
    if array.dtype.kind not in "biuf" or (array.dtype != bool and not np.isin(array, (0, 1)).all()):
        raise GraphError(f"Expected {what} of 0 and 1 (or booleans); got other values.")
    array = array.astype(bool, copy=False)
    if np.diagonal(array, axis1=-2, axis2=-1).any():
        raise GraphError(f"Expected {what} without self-loops; a diagonal entry is set.")
    return array


def select_edges(
    mean_graph: npt.NDArray[Any], variance_graph: npt.NDArray[Any], moment: Selection
) -> npt.NDArray[Any]:
    """Return the edges of a pair that ``moment`` selects; stacks and packed bits work as well.

    Raises
    ------
    GraphError
        If ``moment`` is none of the choices.

    Examples
    --------
    >>> import numpy as np
    >>> select_edges(np.array([True, True, False]), np.array([True, False, False]), "both").tolist()
    [True, False, False]
    """
    match moment:
        case "mean":
            return mean_graph
        case "variance":
            return variance_graph
        case "either":
            return np.asarray(mean_graph | variance_graph)
        case "both":
            return np.asarray(mean_graph & variance_graph)
    raise GraphError(f"Expected a moment among {get_args(Selection)}; got {moment!r}.")


def align(first: GraphLike, second: GraphLike) -> tuple[BoolArray, BoolArray]:
    """Return both graphs as matrices in the variable order of the first.

    Two labelled graphs are matched by name; if one has no labels, by position.

    Raises
    ------
    GraphError
        If the names or the sizes differ.

    Examples
    --------
    >>> import pandas as pd
    >>> first = pd.DataFrame([[0, 1], [0, 0]], index=["a", "b"], columns=["a", "b"])
    >>> second = first.loc[["b", "a"], ["b", "a"]]  # the same edge, in another order
    >>> [graph.astype(int).tolist() for graph in align(first, second)]
    [[[0, 1], [0, 0]], [[0, 1], [0, 0]]]
    """
    a, a_names = as_adjacency(first)
    b, b_names = as_adjacency(second)
    if a.shape != b.shape:
        raise GraphError(
            f"Expected two graphs of the same size; got {len(a)} and {len(b)} variables."
        )
    if a_names is not None and b_names is not None and a_names != b_names:
        if set(a_names) != set(b_names):
            only = sorted(set(a_names) ^ set(b_names))
            raise GraphError(f"Expected the same variables in both graphs; not shared: {only}.")
        to_first = [b_names.index(name) for name in a_names]
        b = b[np.ix_(to_first, to_first)]
    return a, b
