"""`TargetedGraph`: a pair of graphs, and which variables each regime changes in which moment."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from momentdag.errors import GraphError
from momentdag.graph.adjacency import BoolArray
from momentdag.graph.moment_graph import MomentGraph

__all__ = ["TargetedGraph"]


@dataclass(frozen=True, eq=False, kw_only=True)
class TargetedGraph(MomentGraph):
    """A `MomentGraph` that also has the edges of regimes, which are roots, into the variables.

    Parameters
    ----------
    names, mean_graph, variance_graph
        As of `MomentGraph`, without the regimes.
    regimes : tuple of str
        What statements of knowledge call the regimes.
    mean_targets, variance_targets : bool array, shape (n_regimes, d)
        Whether a regime (row) changes the mean or the variance of a variable (column).

    Examples
    --------
    >>> edges = [[0, 1], [0, 0]]
    >>> graph = TargetedGraph(
    ...     names=("a", "b"), mean_graph=edges, variance_graph=edges,
    ...     regimes=("month=april",), mean_targets=[[1, 0]], variance_targets=[[0, 0]],
    ... )
    >>> graph.with_regimes.edges("mean")
    [('a', 'b'), ('month=april', 'a')]
    """

    regimes: tuple[str, ...]
    mean_targets: BoolArray
    variance_targets: BoolArray

    def __post_init__(self) -> None:
        super().__post_init__()
        shape = (len(self.regimes), self.n_variables)
        for field in ("mean_targets", "variance_targets"):
            targets = np.array(getattr(self, field), dtype=bool)
            if targets.shape != shape:
                raise GraphError(f"Expected {field} of shape {shape}; got {targets.shape}.")
            targets.setflags(write=False)
            object.__setattr__(self, field, targets)

    @property
    def with_regimes(self) -> MomentGraph:
        """The same with regimes as variables, which stand after the others."""
        d, n = self.n_variables, self.n_variables + len(self.regimes)
        wide = np.zeros((2, n, n), dtype=bool)
        parts = ((self.mean_graph, self.mean_targets), (self.variance_graph, self.variance_targets))
        for graph, (edges, targets) in zip(wide, parts, strict=True):
            graph[:d, :d], graph[d:, :d] = edges, targets
        return MomentGraph((*self.names, *self.regimes), *wide)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TargetedGraph):
            return NotImplemented
        return (
            super().__eq__(other) is True
            and self.regimes == other.regimes
            and np.array_equal(self.mean_targets, other.mean_targets)
            and np.array_equal(self.variance_targets, other.variance_targets)
        )

    def __hash__(self) -> int:
        targets = self.mean_targets.tobytes(), self.variance_targets.tobytes()
        return hash((super().__hash__(), self.regimes, *targets))
