"""Graphs, and the one home of the edge convention: **row causes column**.

``adjacency[i, j]`` is true iff variable ``i`` is a direct cause of variable ``j``. Everything else
in the package takes adjacency matrices from here and never transposes them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias, get_args

import networkx as nx
import numpy as np
import numpy.typing as npt
import pandas as pd

from momentdag.errors import GraphError

__all__ = [
    "BoolArray",
    "GraphLike",
    "MomentGraph",
    "Selection",
    "align",
    "as_adjacency",
    "find_cycle",
    "is_acyclic",
    "reachability",
    "topological_order",
]

BoolArray: TypeAlias = npt.NDArray[np.bool_]
GraphLike: TypeAlias = "npt.ArrayLike | pd.DataFrame | nx.DiGraph[Any]"
Selection: TypeAlias = Literal["mean", "variance", "either", "both"]
"""Which edges are meant: of the mean graph, of the variance graph, of their union, in both."""


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
    """
    closure = adjacency.copy()
    for _ in range(max(adjacency.shape[-1] - 1, 1).bit_length()):
        steps = closure.astype(np.float32)
        closure = closure | (steps @ steps > 0)
    return closure


def topological_order(adjacency: BoolArray) -> npt.NDArray[np.intp]:
    """Return the smallest (in index) order in which every cause stands before its effects.

    Raises
    ------
    GraphError
        If the graph has a cycle.
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
    """Return one directed cycle as readable text, or an empty string if there is none."""
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
    """
    names: tuple[str, ...] | None = None
    if isinstance(graph, MomentGraph):
        raise GraphError(
            "Expected one graph; a MomentGraph holds two. Pass .mean_frame, .variance_frame or "
            ".union_frame."
        )
    if isinstance(graph, nx.Graph):
        if not graph.is_directed():
            raise GraphError("Expected a directed graph; got an undirected networkx graph.")
        names = tuple(str(node) for node in graph)
        values = nx.to_numpy_array(graph, weight=None)
    elif isinstance(graph, pd.DataFrame):
        names = tuple(str(column) for column in graph.columns)
        rows = tuple(str(label) for label in graph.index)
        if len(set(names)) < len(names) or sorted(rows) != sorted(names):
            raise GraphError(
                "Expected a square table whose index (causes) and columns (effects) hold the same "
                f"unique names; got index {list(rows)} and columns {list(names)}."
            )
        values = graph.set_axis(rows, axis=0).loc[list(names)].to_numpy()
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


def align(first: GraphLike, second: GraphLike) -> tuple[BoolArray, BoolArray]:
    """Return both graphs as matrices in the variable order of the first.

    Two labelled graphs are matched by name; if one carries no labels, position counts.

    Raises
    ------
    GraphError
        If the names or the sizes differ.
    """
    a, a_names = as_adjacency(first)
    b, b_names = as_adjacency(second)
    if a.shape != b.shape:
        raise GraphError(f"Expected two graphs of one size; got {len(a)} and {len(b)} variables.")
    if a_names is not None and b_names is not None and a_names != b_names:
        if set(a_names) != set(b_names):
            only = sorted(set(a_names) ^ set(b_names))
            raise GraphError(f"Expected the same variables in both graphs; not shared: {only}.")
        to_first = [b_names.index(name) for name in a_names]
        b = b[np.ix_(to_first, to_first)]
    return a, b


@dataclass(frozen=True, eq=False)
class MomentGraph:
    """A mean graph and a variance graph over the same variables, with one shared order.

    Parameters
    ----------
    names : sequence of str
        One name for each variable.
    mean_graph, variance_graph : bool array, shape (d, d)
        Row is the cause, column the effect. Their union must be acyclic.

    Raises
    ------
    GraphError
        If shapes and names disagree or the union has a cycle (which is shown).

    Examples
    --------
    >>> graph = MomentGraph.from_edges(
    ...     ["dose", "stress", "response"],
    ...     mean=[("dose", "response")],
    ...     variance=[("stress", "response")],
    ... )
    >>> graph.parents("response", "variance")
    ('stress',)
    >>> graph.order
    ('dose', 'stress', 'response')
    """

    names: tuple[str, ...]
    mean_graph: BoolArray
    variance_graph: BoolArray

    def __post_init__(self) -> None:
        names = tuple(str(name) for name in self.names)
        if len(set(names)) < len(names):
            raise GraphError(f"Expected unique variable names; got {list(names)}.")
        object.__setattr__(self, "names", names)
        for field in ("mean_graph", "variance_graph"):
            adjacency, labels = as_adjacency(getattr(self, field))
            if labels is not None and labels != names:
                raise GraphError(
                    f"Expected {field} labelled {list(names)}; got {list(labels)}. "
                    "Use MomentGraph.from_frames to match by name."
                )
            if len(adjacency) != len(names):
                raise GraphError(
                    f"Expected {field} of shape {(len(names),) * 2}; got {adjacency.shape}."
                )
            adjacency.setflags(write=False)
            object.__setattr__(self, field, adjacency)
        if not is_acyclic(self.union_graph):
            cycle = find_cycle(self.union_graph, names)
            raise GraphError(f"Expected an acyclic union of both graphs; it has {cycle}.")

    @classmethod
    def from_edges(
        cls,
        names: Sequence[str],
        mean: Iterable[tuple[str, str]] = (),
        variance: Iterable[tuple[str, str]] = (),
    ) -> MomentGraph:
        """Build a pair from (cause, effect) lists."""
        index = {str(name): i for i, name in enumerate(names)}
        matrices = []
        for edges in (mean, variance):
            adjacency = np.zeros((len(names), len(names)), dtype=bool)
            for cause, effect in edges:
                for name in (cause, effect):
                    if name not in index:
                        raise GraphError(f"Expected one of {list(index)}; got {name!r}.")
                adjacency[index[cause], index[effect]] = True
            matrices.append(adjacency)
        return cls(tuple(index), *matrices)

    @classmethod
    def from_frames(cls, mean_graph: pd.DataFrame, variance_graph: pd.DataFrame) -> MomentGraph:
        """Build a pair from two labelled tables, matched by name."""
        names = tuple(str(column) for column in mean_graph.columns)
        return cls(names, *align(mean_graph, variance_graph))

    @classmethod
    def from_networkx(cls, graph: nx.DiGraph[Any]) -> MomentGraph:
        """Build a pair from one graph whose edges carry ``mean=`` and ``variance=`` booleans."""
        edges: dict[str, list[tuple[str, str]]] = {"mean": [], "variance": []}
        for cause, effect, attributes in graph.edges(data=True):
            if not {"mean", "variance"} & set(attributes):
                raise GraphError(
                    f"Expected edge {cause!r} -> {effect!r} to say mean= or variance=; it has "
                    f"{sorted(attributes)}."
                )
            for moment, found in edges.items():
                if attributes.get(moment, False):
                    found.append((str(cause), str(effect)))
        return cls.from_edges([str(node) for node in graph], **edges)

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return len(self.names)

    @cached_property
    def union_graph(self) -> BoolArray:
        """Edges of either graph: the moment-agnostic graph, shape (d, d)."""
        union = self.mean_graph | self.variance_graph
        union.setflags(write=False)
        return union

    @property
    def mean_frame(self) -> pd.DataFrame:
        """The mean graph as a labelled table (index cause, columns effect)."""
        return self.to_frame("mean")

    @property
    def variance_frame(self) -> pd.DataFrame:
        """The variance graph as a labelled table (index cause, columns effect)."""
        return self.to_frame("variance")

    @property
    def union_frame(self) -> pd.DataFrame:
        """The union as a labelled table (index cause, columns effect)."""
        return self.to_frame("either")

    @cached_property
    def order(self) -> tuple[str, ...]:
        """One order of the variables that both graphs respect."""
        return tuple(self.names[i] for i in topological_order(self.union_graph))

    def orders(self) -> Iterator[tuple[str, ...]]:
        """Yield every order that both graphs respect."""
        for order in nx.all_topological_sorts(nx.DiGraph(self.union_graph)):
            yield tuple(self.names[i] for i in order)

    def adjacency(self, moment: Selection = "either") -> BoolArray:
        """Return the matrix of the edges that ``moment`` selects, shape (d, d)."""
        match moment:
            case "mean":
                return self.mean_graph
            case "variance":
                return self.variance_graph
            case "either":
                return self.union_graph
            case "both":
                return self.mean_graph & self.variance_graph
        raise GraphError(f"Expected a moment among {get_args(Selection)}; got {moment!r}.")

    def index(self, name: str) -> int:
        """Return the position of a variable."""
        try:
            return self.names.index(name)
        except ValueError:
            raise GraphError(
                f"Expected a variable among {list(self.names)}; got {name!r}."
            ) from None

    def _named(self, mask: BoolArray) -> tuple[str, ...]:
        return tuple(self.names[i] for i in np.flatnonzero(mask))

    def has_edge(self, cause: str, effect: str, moment: Selection = "either") -> bool:
        """Tell whether ``cause -> effect`` is an edge."""
        return bool(self.adjacency(moment)[self.index(cause), self.index(effect)])

    def has_path(self, cause: str, effect: str, moment: Selection = "either") -> bool:
        """Tell whether a directed path leads from ``cause`` to ``effect``."""
        return bool(reachability(self.adjacency(moment))[self.index(cause), self.index(effect)])

    def parents(self, name: str, moment: Selection = "either") -> tuple[str, ...]:
        """Return the direct causes of a variable."""
        return self._named(self.adjacency(moment)[:, self.index(name)])

    def children(self, name: str, moment: Selection = "either") -> tuple[str, ...]:
        """Return the direct effects of a variable."""
        return self._named(self.adjacency(moment)[self.index(name)])

    def ancestors(self, name: str, moment: Selection = "either") -> tuple[str, ...]:
        """Return all direct and indirect causes of a variable."""
        return self._named(reachability(self.adjacency(moment))[:, self.index(name)])

    def descendants(self, name: str, moment: Selection = "either") -> tuple[str, ...]:
        """Return all direct and indirect effects of a variable."""
        return self._named(reachability(self.adjacency(moment))[self.index(name)])

    def paths(
        self, cause: str, effect: str, moment: Selection = "either"
    ) -> Iterator[tuple[str, ...]]:
        """Yield every directed path from ``cause`` to ``effect``."""
        graph = nx.DiGraph(self.adjacency(moment))
        for path in nx.all_simple_paths(graph, self.index(cause), self.index(effect)):
            yield tuple(self.names[i] for i in path)

    def edges(self, moment: Selection = "either") -> list[tuple[str, str]]:
        """Return the selected edges as (cause, effect) pairs."""
        causes, effects = np.nonzero(self.adjacency(moment))
        return [(self.names[i], self.names[j]) for i, j in zip(causes, effects, strict=True)]

    def edge_table(self) -> pd.DataFrame:
        """Return one row for each edge: cause, effect, mean, variance."""
        pairs = self.edges()
        table = pd.DataFrame(pairs, columns=["cause", "effect"])
        for moment, adjacency in (("mean", self.mean_graph), ("variance", self.variance_graph)):
            table[moment] = np.array(
                [adjacency[self.index(c), self.index(e)] for c, e in pairs], dtype=bool
            )
        return table

    def to_frame(self, moment: Selection = "either") -> pd.DataFrame:
        """Return the selected edges as a labelled table (index cause, columns effect)."""
        return pd.DataFrame(
            self.adjacency(moment).copy(),
            index=pd.Index(self.names, name="cause"),
            columns=pd.Index(self.names, name="effect"),
        )

    def to_networkx(self, moment: Selection = "either") -> nx.DiGraph[Any]:
        """Return the selected edges as a networkx graph; edges carry ``mean=``, ``variance=``."""
        graph: nx.DiGraph[Any] = nx.DiGraph()
        graph.add_nodes_from(self.names)
        for cause, effect in self.edges(moment):
            graph.add_edge(
                cause,
                effect,
                mean=self.has_edge(cause, effect, "mean"),
                variance=self.has_edge(cause, effect, "variance"),
            )
        return graph

    def reorder(self, names: Sequence[str]) -> MomentGraph:
        """Return the same graph with its variables in another order."""
        if sorted(names) != sorted(self.names):
            raise GraphError(f"Expected the names {sorted(self.names)}; got {sorted(names)}.")
        to = np.ix_(*([[self.index(name) for name in names]] * 2))
        return MomentGraph(tuple(names), self.mean_graph[to], self.variance_graph[to])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MomentGraph):
            return NotImplemented
        return (
            self.names == other.names
            and np.array_equal(self.mean_graph, other.mean_graph)
            and np.array_equal(self.variance_graph, other.variance_graph)
        )

    def __hash__(self) -> int:
        return hash((self.names, self.mean_graph.tobytes(), self.variance_graph.tobytes()))

    def __repr__(self) -> str:
        return (
            f"MomentGraph({self.n_variables} variables, {int(self.mean_graph.sum())} mean edges, "
            f"{int(self.variance_graph.sum())} variance edges)"
        )
