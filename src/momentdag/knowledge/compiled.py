"""Knowledge as arrays in column order, for engines: row causes (or precedes) column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from itertools import combinations
from math import log
from typing import Any

import numpy as np
import numpy.typing as npt

from momentdag.errors import KnowledgeError
from momentdag.graph import BoolArray, is_acyclic, reachability
from momentdag.knowledge import orders
from momentdag.knowledge.entries import graphs_of
from momentdag.knowledge.orders import IndexArray
from momentdag.knowledge.statements import Statement
from momentdag.readonly import ReadOnlyArrays

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class CompiledKnowledge(ReadOnlyArrays):
    """What engines need to obey a `Knowledge`; all arrays have shape (d, d) and are read-only.

    The hard part is all false for soft knowledge, the soft part all zero for hard knowledge.

    Parameters
    ----------
    names : tuple of str
        The variables, in the order of rows and columns.
    precedes : bool array
        Row stands before column in the shared order: the transitive closure of the tiers, the
        order statements and the required edges.
    required_mean, required_variance, required_either : bool array
        Edges that the mean graph, the variance graph, at least one of them must have.
    forbidden_mean, forbidden_variance : bool array
        Edges that a graph must not have, including all that run against `precedes`. The diagonal
        is left false: no graph has self-edges anyway.
    log_odds_mean, log_odds_variance : float array
        Prior log-odds log(p / (1 - p)) of each edge with a stated prior; NaN where the engine's
        own base rate holds.
    order_penalty : float array
        Log-weight (<= 0) lost when the *column* is an ancestor of the *row* in the union.
    absence_penalty_mean, absence_penalty_variance, absence_penalty_either : float array
        Log-weight (<= 0) lost when the edge is missing from that graph or from both.
    presence_penalty_mean, presence_penalty_variance : float array
        Log-weight (<= 0) lost when that graph has the edge.

    Examples
    --------
    >>> import numpy as np
    >>> from momentdag.knowledge import Knowledge
    >>> compiled = Knowledge(tiers=[["a"], ["b", "c"]]).compile(["a", "b", "c"])
    >>> compiled.is_feasible_order([0, 2, 1]), compiled.is_feasible_order([1, 0, 2])
    (True, False)
    >>> int(compiled.random_order(np.random.default_rng(0))[0])
    0
    """

    names: tuple[str, ...]
    precedes: BoolArray
    required_mean: BoolArray
    required_variance: BoolArray
    required_either: BoolArray
    forbidden_mean: BoolArray
    forbidden_variance: BoolArray
    log_odds_mean: FloatArray
    log_odds_variance: FloatArray
    order_penalty: FloatArray
    absence_penalty_mean: FloatArray
    absence_penalty_variance: FloatArray
    absence_penalty_either: FloatArray
    presence_penalty_mean: FloatArray
    presence_penalty_variance: FloatArray

    def __post_init__(self) -> None:
        for item in fields(self):
            if item.name != "names":
                getattr(self, item.name).setflags(write=False)

    def reordered(self, columns: npt.NDArray[np.intp]) -> CompiledKnowledge:
        """Return the same knowledge with the variables in another order, given by their places.

        Examples
        --------
        >>> from momentdag.knowledge import Knowledge
        >>> compiled = Knowledge(order=[("a", "b")]).compile(["a", "b"])
        >>> swapped = compiled.reordered(np.array([1, 0]))
        >>> swapped.names, swapped.precedes.astype(int).tolist()
        (('b', 'a'), [[0, 0], [1, 0]])
        """
        arrays = {
            item.name: getattr(self, item.name)[np.ix_(columns, columns)]
            for item in fields(self)
            if item.name != "names"
        }
        return CompiledKnowledge(tuple(self.names[i] for i in columns), **arrays)

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return len(self.names)

    @property
    def is_soft(self) -> bool:
        """Whether any soft statement affects the prior (edge priors aside)."""
        return any(
            bool(getattr(self, item.name).any()) for item in fields(self) if "penalty" in item.name
        )

    def allows(self, mean_graph: BoolArray, variance_graph: BoolArray) -> Any:
        """Tell which graph pairs obey every hard statement.

        A pair does so iff it has the required edges, has no forbidden ones, and some order of the
        variables satisfies its union and all order statements at once, that is iff the union
        together with `precedes` is acyclic.

        Parameters
        ----------
        mean_graph, variance_graph : bool array, shape (..., d, d)

        Returns
        -------
        bool or bool array, shape (...)

        Examples
        --------
        >>> import numpy as np
        >>> from momentdag.knowledge import Knowledge
        >>> compiled = Knowledge(order=[("a", "b")]).compile(["a", "b"])
        >>> forwards = np.array([[0, 1], [0, 0]], dtype=bool)
        >>> compiled.allows(forwards, forwards), compiled.allows(forwards.T, forwards.T)
        (True, False)
        """
        mean_graph, variance_graph = self._pairs(mean_graph, variance_graph)
        union = mean_graph | variance_graph
        broken = (
            (self.required_mean & ~mean_graph)
            | (self.required_variance & ~variance_graph)
            | (self.required_either & ~union)
            | (self.forbidden_mean & mean_graph)
            | (self.forbidden_variance & variance_graph)
        )
        allowed = ~broken.any(axis=(-2, -1)) & is_acyclic(union | self.precedes)
        return bool(allowed) if np.ndim(allowed) == 0 else allowed

    def soft_log_weight(self, mean_graph: BoolArray, variance_graph: BoolArray) -> Any:
        """Return the log-weight that graph pairs lose by violating soft statements.

        Each violation costs log(c / (1 - c)), where c is the confidence. Counted are: every
        missing required edge and every forbidden edge present, once for each graph ("either" once
        in all); every edge into a root, out of a sink or within a tier where that is ruled out,
        once for each graph; and every pair (a, b) with b an ancestor of a in the union though
        tiers or order put a before b, once however many statements say so.

        Parameters
        ----------
        mean_graph, variance_graph : bool array, shape (..., d, d)

        Returns
        -------
        float or float array, shape (...)
            At most 0; 0 for hard knowledge. Add it to the log prior.

        Examples
        --------
        >>> import numpy as np
        >>> from momentdag.knowledge import Knowledge
        >>> soft = Knowledge(order=[("a", "b")], strength="soft").compile(["a", "b"])
        >>> backwards, none = np.array([[0, 0], [1, 0]], dtype=bool), np.zeros((2, 2), dtype=bool)
        >>> round(soft.soft_log_weight(backwards, none), 3)  # log(0.1 / 0.9)
        -2.197
        """
        mean_graph, variance_graph = self._pairs(mean_graph, variance_graph)
        union = mean_graph | variance_graph
        lost = (
            self.absence_penalty_mean * ~mean_graph
            + self.absence_penalty_variance * ~variance_graph
            + self.absence_penalty_either * ~union
            + self.presence_penalty_mean * mean_graph
            + self.presence_penalty_variance * variance_graph
        )
        if self.order_penalty.any():
            lost = lost + self.order_penalty * np.swapaxes(reachability(union), -2, -1)
        weight = lost.sum(axis=(-2, -1))
        return float(weight) if np.ndim(weight) == 0 else weight

    def is_feasible_order(self, order: Sequence[int] | IndexArray) -> bool:
        """Tell whether a sequence of variable indices obeys every hard statement of order.

        Anything but a permutation of 0, ..., d - 1 is not feasible.
        """
        return orders.is_feasible_order(self.precedes, order)

    def random_order(self, rng: np.random.Generator) -> IndexArray:
        """Draw a nearly uniform feasible order, shape (d,); see `orders.random_order`."""
        return orders.random_order(rng, self.precedes)

    def feasible_positions(
        self, order: Sequence[int] | IndexArray, variable: int
    ) -> tuple[int, int]:
        """Return the first and last place to which one variable of a feasible order may be moved.

        Both are included; a place is the index in the new order, in which the others keep their
        relative order.

        Raises
        ------
        KnowledgeError
            If the order is not feasible.

        Examples
        --------
        >>> from momentdag.knowledge import Knowledge
        >>> compiled = Knowledge(order=[("a", "c")]).compile(["a", "b", "c"])
        >>> compiled.feasible_positions([0, 1, 2], 2)
        (1, 2)
        """
        if not self.is_feasible_order(order):
            raise KnowledgeError(
                f"Expected a feasible order of {self.n_variables} variables; got {list(order)}."
            )
        return orders.feasible_positions(self.precedes, order, variable)

    def _pairs(
        self, mean_graph: BoolArray, variance_graph: BoolArray
    ) -> tuple[BoolArray, BoolArray]:
        pair = np.asarray(mean_graph, dtype=bool), np.asarray(variance_graph, dtype=bool)
        expected = (self.n_variables,) * 2
        if pair[0].shape != pair[1].shape or pair[0].shape[-2:] != expected:
            raise KnowledgeError(
                f"Expected two graphs of shape (..., {expected[0]}, {expected[1]}); got "
                f"{pair[0].shape} and {pair[1].shape}."
            )
        return pair


def compile_statements(
    statements: Sequence[Statement], names: Sequence[str], confidence: float | None
) -> CompiledKnowledge:
    """Turn checked statements into arrays; ``confidence`` is None for hard knowledge."""
    at = {name: i for i, name in enumerate(names)}
    shape = (len(names), len(names))
    keys = ("mean", "variance", "either")
    required = {key: np.zeros(shape, dtype=bool) for key in keys}
    forbidden = {key: np.zeros(shape, dtype=bool) for key in keys[:2]}
    log_odds = {key: np.full(shape, np.nan) for key in keys[:2]}
    before = np.zeros(shape, dtype=bool)
    for first, second in combinations([s for s in statements if s.kind == "tier"], 2):
        before[np.ix_([at[n] for n in first.variables], [at[n] for n in second.variables])] = True
    for statement in statements:
        where = [at[name] for name in statement.variables]
        edge = (where[0], where[-1])
        graphs = graphs_of(statement.moment)
        match statement.kind:
            case "order":
                before[edge] = True
            case "required":
                for key in ("either",) if statement.moment == "either" else graphs:
                    required[key][edge] = True
            case "forbidden":
                for graph in graphs:
                    forbidden[graph][edge] = True
            case "within":
                for matrix in forbidden.values():
                    matrix[np.ix_(where, where)] = True
            case "root":
                for graph in graphs:
                    forbidden[graph][:, where[0]] = True
            case "sink":
                for graph in graphs:
                    forbidden[graph][where[0], :] = True
            case "prior" if statement.probability is not None:
                for graph in graphs:
                    # log1p keeps the precision of probabilities close to zero.
                    log_odds[graph][edge] = log(statement.probability) - np.log1p(
                        -statement.probability
                    )
    for matrix in forbidden.values():
        np.fill_diagonal(matrix, False)
    penalty = 0.0 if confidence is None else log((1.0 - confidence) / confidence)
    if confidence is None:
        before = reachability(before | required["mean"] | required["variance"] | required["either"])
        for matrix in forbidden.values():
            matrix |= before.T
    hard = confidence is None
    return CompiledKnowledge(
        names=tuple(names),
        precedes=before & hard,
        required_mean=required["mean"] & hard,
        required_variance=required["variance"] & hard,
        required_either=required["either"] & hard,
        forbidden_mean=forbidden["mean"] & hard,
        forbidden_variance=forbidden["variance"] & hard,
        log_odds_mean=log_odds["mean"],
        log_odds_variance=log_odds["variance"],
        order_penalty=penalty * before,
        absence_penalty_mean=penalty * required["mean"],
        absence_penalty_variance=penalty * required["variance"],
        absence_penalty_either=penalty * required["either"],
        presence_penalty_mean=penalty * forbidden["mean"],
        presence_penalty_variance=penalty * forbidden["variance"],
    )
