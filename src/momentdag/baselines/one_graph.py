"""Knowledge for methods that learn one graph and use it for both moments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from momentdag.errors import KnowledgeError
from momentdag.graph import BoolArray, is_acyclic, reachability
from momentdag.knowledge import Knowledge

__all__ = ["GraphLimits"]

FloatArray: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class GraphLimits:
    """What hard knowledge leaves open to one graph; all arrays are bool, shape (d, d).

    Parameters
    ----------
    allowed : bool array
        Edges that at least one moment may have; the diagonal is false.
    required : bool array
        Edges that some moment must have.
    precedes : bool array
        Row stands before column in every order, transitively closed.
    forbidden_mean, forbidden_variance : bool array
        Edges that one moment must not have: `pair` leaves them out there.
    """

    allowed: BoolArray
    required: BoolArray
    precedes: BoolArray
    forbidden_mean: BoolArray
    forbidden_variance: BoolArray

    @classmethod
    def of(cls, knowledge: Knowledge, names: tuple[str, ...]) -> GraphLimits:
        """Read knowledge about the named variables.

        Raises
        ------
        KnowledgeError
            If it is soft or states edge priors, which the baselines cannot use; or as from
            `Knowledge.check`.
        """
        if knowledge.edge_priors:
            raise KnowledgeError(
                "Expected knowledge without edge priors, which the baselines cannot use; got "
                f"{len(knowledge.edge_priors)}. State required and forbidden edges instead, or "
                "use MomentDAG."
            )
        if knowledge and knowledge.strength == "soft":
            raise KnowledgeError(
                "Expected hard knowledge; got soft, which the baselines cannot use. Pass "
                "strength='hard', or use MomentDAG."
            )
        known = knowledge.compile(names)
        off_diagonal = ~np.eye(len(names), dtype=bool)
        return cls(
            off_diagonal & ~(known.forbidden_mean & known.forbidden_variance),
            known.required_mean | known.required_variance | known.required_either,
            known.precedes,
            known.forbidden_mean,
            known.forbidden_variance,
        )

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return len(self.allowed)

    def permits(self, graph: BoolArray) -> bool:
        """Tell whether a graph (d, d) obeys all hard statements."""
        return bool(
            not (graph & ~self.allowed).any()
            and not (self.required & ~graph).any()
            and is_acyclic(graph | self.precedes)
        )

    def may_come_next(self, placed: list[int]) -> list[int]:
        """Return the variables, not yet placed, all of whose known predecessors are."""
        waiting = [j for j in range(self.n_variables) if j not in placed]
        return [j for j in waiting if not self.precedes[waiting, j].any()]

    def may_come_last(self, waiting: list[int]) -> list[int]:
        """Return which of the waiting variables precede no other of them."""
        return [j for j in waiting if not self.precedes[j, waiting].any()]

    def strongest(self, weights: FloatArray, threshold: float) -> BoolArray:
        """Return the edges heavier than ``threshold`` that the limits permit, shape (d, d).

        Required edges are always included. While there is a cycle, the lightest edge on it that is
        not required is dropped.

        Parameters
        ----------
        weights : float array, shape (d, d)
            Non-negative strength of each edge.
        threshold : float
        """
        graph = (self.allowed & (weights > threshold)) | self.required
        while not is_acyclic(graph | self.precedes):
            reached = reachability(graph | self.precedes)
            on_a_cycle = graph & reached.T & ~self.required
            lightest = np.argmin(np.where(on_a_cycle, weights, np.inf))
            graph[np.unravel_index(lightest, graph.shape)] = False
        return graph

    def pair(self, graphs: BoolArray) -> tuple[BoolArray, BoolArray]:
        """Return mean and variance graphs (..., d, d), each without the edges forbidden in it.

        Examples
        --------
        >>> limits = GraphLimits.of(Knowledge(forbidden=[("a", "b", "variance")]), ("a", "b"))
        >>> mean_graph, variance_graph = limits.pair(np.array([[False, True], [False, False]]))
        >>> bool(mean_graph[0, 1]), bool(variance_graph[0, 1])
        (True, False)
        """
        return graphs & ~self.forbidden_mean, graphs & ~self.forbidden_variance
