"""`MomentGraph`: a mean graph and a variance graph over the same named variables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np
import pandas as pd

from momentdag.display import html
from momentdag.errors import GraphError, did_you_mean
from momentdag.graph.adjacency import (
    BoolArray,
    Selection,
    align,
    as_adjacency,
    find_cycle,
    is_acyclic,
    reachability,
    select_edges,
    topological_order,
)
from momentdag.readonly import ReadOnlyArrays

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

__all__ = ["MomentGraph"]


@dataclass(frozen=True, eq=False)
class MomentGraph(ReadOnlyArrays):
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
        """Build a pair from (cause, effect) lists.

        Raises
        ------
        GraphError
            If an edge names an unknown variable, and as from `MomentGraph`.
        """
        names = tuple(str(name) for name in names)
        index = {name: i for i, name in enumerate(names)}
        matrices = []
        for edges in (mean, variance):
            adjacency = np.zeros((len(names), len(names)), dtype=bool)
            for cause, effect in edges:
                for name in (cause, effect):
                    if name not in index:
                        raise GraphError(
                            f"Expected one of {list(index)}; got {name!r}."
                            f"{did_you_mean(name, index)}"
                        )
                if cause == effect:
                    raise GraphError(f"Expected no self-loops; variable {cause!r} causes itself.")
                adjacency[index[cause], index[effect]] = True
            matrices.append(adjacency)
        return cls(names, *matrices)

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
                    f"Expected edge {cause!r} -> {effect!r} to have mean= or variance=; it has "
                    f"{sorted(attributes)}."
                )
            for moment, pairs in edges.items():
                if attributes.get(moment, False):
                    pairs.append((str(cause), str(effect)))
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
        if moment == "either":
            return self.union_graph
        return select_edges(self.mean_graph, self.variance_graph, moment)

    def index(self, name: str) -> int:
        """Return the position of a variable."""
        try:
            return self.names.index(name)
        except ValueError:
            raise GraphError(
                f"Expected a variable among {list(self.names)}; got {name!r}."
                f"{did_you_mean(name, self.names)}"
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
        """Yield every directed path from ``cause`` to ``effect``; a path has at least one edge."""
        graph = nx.DiGraph(self.adjacency(moment))
        for path in nx.all_simple_paths(graph, self.index(cause), self.index(effect)):
            if len(path) > 1:  # networkx also yields the path of one node
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
        """Return the same graph with its variables in another order.

        Raises
        ------
        GraphError
            If the names are not those of the graph.
        """
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

    def plot(self) -> Figure:
        """Return a figure of both graphs, causes to the left of their effects."""
        from momentdag.display.graphs import FigureEdge, draw_graphs

        moments: tuple[Selection, ...] = ("mean", "variance")
        edges = [FigureEdge(*edge, moment) for moment in moments for edge in self.edges(moment)]
        return draw_graphs(self.names, edges, "Who moves the mean, who moves the variance")

    def _repr_html_(self) -> str:
        return html.block(repr(self), [html.table(self.edge_table())])

    def __repr__(self) -> str:
        return (
            f"MomentGraph({self.n_variables} variables, {int(self.mean_graph.sum())} mean edges, "
            f"{int(self.variance_graph.sum())} variance edges)"
        )
