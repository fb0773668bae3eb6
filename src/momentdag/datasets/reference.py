"""The value every loader returns, and the reading of the shipped files."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable

import pandas as pd

from momentdag.errors import DataError
from momentdag.graph import MomentGraph, as_adjacency

__all__ = ["ReferenceData", "read_edges", "read_table", "shipped_file"]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ReferenceData:
    """A table, its known causes, and where both come from.

    Parameters
    ----------
    name : str
    data : DataFrame, shape (n_samples, d)
        float64, in the original units.
    graph : MomentGraph, optional
        True mean graph and variance graph, if both are known.
    union_graph : DataFrame, shape (d, d), optional
        True moment-agnostic graph (index cause, columns effect). Taken from ``graph`` if that is
        given.
    grades : DataFrame, optional
        cause, effect, grade: how well the data support each variance edge.
    evidence : DataFrame, optional
        The measured effects behind the grades, one row for each pair that was looked at.
    regime : Series, shape (n_samples,), optional
        Under which regime each row was taken.
    targets : DataFrame, optional
        regime, variable and what is known: what each regime is meant to act on.
    tiers : tuple of tuples of str, optional
        Groups of variables; none is caused by a variable of a later group.
    description, source, licence, citation : str

    Raises
    ------
    DataError
        If a graph or the tiers do not name exactly the columns of the table.

    Notes
    -----
    Graphs are brought into the order of the columns **by name** when the value is made.

    Examples
    --------
    >>> import pandas as pd
    >>> from momentdag.graph import MomentGraph
    >>> example = ReferenceData(
    ...     name="example",
    ...     data=pd.DataFrame({"y": [1.0, 2.0], "x": [3.0, 5.0]}),
    ...     graph=MomentGraph.from_edges(["x", "y"], mean=[("x", "y")]),
    ...     description="Two columns.", source="made up", licence="CC0", citation="none",
    ... )
    >>> example.graph.names
    ('y', 'x')
    """

    name: str
    data: pd.DataFrame
    graph: MomentGraph | None = None
    union_graph: pd.DataFrame | None = None
    grades: pd.DataFrame | None = None
    evidence: pd.DataFrame | None = None
    regime: pd.Series[str] | None = None
    targets: pd.DataFrame | None = None
    tiers: tuple[tuple[str, ...], ...] | None = None
    description: str
    source: str
    licence: str
    citation: str

    def __post_init__(self) -> None:
        if self.graph is not None:
            self._check_names(self.graph.names, "graph")
            graph = self.graph.reorder(self.names)
            object.__setattr__(self, "graph", graph)
            if self.union_graph is None:
                object.__setattr__(self, "union_graph", graph.union_frame)
        if self.union_graph is not None:
            adjacency, labels = as_adjacency(self.union_graph)
            assert labels is not None  # a DataFrame always carries labels
            self._check_names(labels, "union_graph")
            union = MomentGraph(labels, adjacency, adjacency).reorder(self.names)
            if self.graph is not None and (union.union_graph != self.graph.union_graph).any():
                raise DataError(
                    "Expected union_graph to be the union of the mean and variance graph in graph."
                )
            object.__setattr__(self, "union_graph", union.union_frame)
        if self.regime is not None and len(self.regime) != len(self.data):
            raise DataError(
                f"Expected a regime for each of the {len(self.data)} rows; got {len(self.regime)}."
            )
        if self.tiers is not None:
            self._check_names(tuple(name for tier in self.tiers for name in tier), "tiers")

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of the table."""
        return tuple(str(column) for column in self.data.columns)

    def _check_names(self, names: tuple[str, ...], what: str) -> None:
        if sorted(names) != sorted(self.names):
            raise DataError(
                f"Expected {what} to name each column of the table once, {sorted(self.names)}; "
                f"got {sorted(names)}."
            )

    def __repr__(self) -> str:
        if self.graph is not None:
            known = (
                f"{int(self.graph.mean_graph.sum())} mean edges, "
                f"{int(self.graph.variance_graph.sum())} variance edges"
            )
        elif self.union_graph is not None:
            known = f"{int(self.union_graph.to_numpy().sum())} union edges"
        else:
            known = f"{len(self.tiers or ())} tiers"
        n_samples, n_variables = self.data.shape
        return f"ReferenceData({self.name!r}, {n_samples} rows, {n_variables} variables, {known})"


def shipped_file(file_name: str) -> Traversable:
    """Return a file that is shipped with the package."""
    return files("momentdag.datasets") / "files" / file_name


def read_table(file_name: str) -> pd.DataFrame:
    """Read a shipped table of numbers as float64."""
    with shipped_file(file_name).open("rb") as stream:
        return pd.read_csv(stream).astype("float64")


def read_edges(file_name: str) -> list[tuple[str, str]]:
    """Read a shipped list of edges as (cause, effect) pairs."""
    with shipped_file(file_name).open("rb") as stream:
        table = pd.read_csv(stream)
    return list(zip(table["cause"], table["effect"], strict=True))
