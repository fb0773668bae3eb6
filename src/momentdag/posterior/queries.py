"""Probabilities of edges, paths, subgraphs and any predicate of a graph pair.

A probability is the share of draws in which something holds. What depends on whole graphs is
computed once for each distinct drawn pair.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
import numpy.typing as npt
import pandas as pd

from momentdag.errors import GraphError, OptionError
from momentdag.graph import BoolArray, MomentGraph, reachability

if TYPE_CHECKING:
    from momentdag.posterior.container import Posterior

__all__ = [
    "Distinct",
    "EdgeChoice",
    "Moment",
    "ancestor_probabilities",
    "distinct_pairs",
    "distinct_rows",
    "drawn_edges",
    "edge_probabilities",
    "edge_probability",
    "holds",
    "influence_probability",
    "path_probability",
    "subgraph_probability",
]

Moment: TypeAlias = Literal["mean", "variance"]
EdgeChoice: TypeAlias = Literal["mean", "variance", "either", "both", "mean_only", "variance_only"]
"""Which edges count: those of `Selection`, or those of one graph that the other lacks."""
Edge: TypeAlias = tuple[str, str] | tuple[str, str, EdgeChoice]

_BLOCK = 2**22  # entries of a stack of graphs processed at a time


class Distinct(NamedTuple):
    """The distinct rows of a table: first position, count, and the index of each row among them."""

    first: npt.NDArray[np.intp]
    counts: npt.NDArray[np.intp]
    which: npt.NDArray[np.intp]


def drawn_edges(posterior: Posterior, moment: EdgeChoice) -> BoolArray:
    """Return, for each draw, the edges that ``moment`` selects, shape (n_draws, d, d).

    Raises
    ------
    GraphError
        If ``moment`` is none of the choices.
    """
    if moment not in get_args(EdgeChoice):
        raise GraphError(f"Expected a moment among {get_args(EdgeChoice)}; got {moment!r}.")
    if moment == "mean_only":
        return posterior.graphs("mean") & ~posterior.graphs("variance")
    if moment == "variance_only":
        return posterior.graphs("variance") & ~posterior.graphs("mean")
    return posterior.graphs(moment)


def edge_probabilities(posterior: Posterior, moment: EdgeChoice) -> pd.DataFrame:
    """Return the probability of every edge (index cause, columns effect).

    Examples
    --------
    >>> from momentdag.posterior import Posterior, Provenance
    >>> edge, none = [[0, 1], [0, 0]], [[0, 0], [0, 0]]
    >>> graphs = [edge, edge, edge, none], [edge, edge, none, none]
    >>> posterior = Posterior("ab", *graphs, Provenance("by hand"))
    >>> float(edge_probabilities(posterior, "mean_only").loc["a", "b"])
    0.25
    """
    return _labelled(posterior, drawn_edges(posterior, moment).mean(axis=0))


def edge_probability(
    posterior: Posterior, cause: str, effect: str, moment: EdgeChoice = "either"
) -> float:
    """Return the probability of one edge.

    Examples
    --------
    >>> from momentdag.posterior import Posterior, Provenance
    >>> edge, none = [[0, 1], [0, 0]], [[0, 0], [0, 0]]
    >>> graphs = [edge, edge, edge, none], [edge, edge, none, none]
    >>> posterior = Posterior("ab", *graphs, Provenance("by hand"))
    >>> edge_probability(posterior, "a", "b", "variance")
    0.5
    """
    at = posterior.index(cause), posterior.index(effect)
    return float(drawn_edges(posterior, moment)[:, *at].mean())


def path_probability(
    posterior: Posterior, cause: str, effect: str, moment: EdgeChoice = "either"
) -> float:
    """Return the probability that a directed path of edges of ``moment`` leads to ``effect``.

    Examples
    --------
    >>> from momentdag.graph import MomentGraph
    >>> from momentdag.posterior import Posterior, Provenance
    >>> chain = MomentGraph.from_edges("abc", mean=[("a", "b")], variance=[("b", "c")])
    >>> draws = [[chain.mean_graph], [chain.variance_graph]]
    >>> posterior = Posterior("abc", *draws, Provenance("by hand"))
    >>> [path_probability(posterior, "a", "c", moment) for moment in ("mean", "either")]
    [0.0, 1.0]
    """
    pairs = distinct_pairs(posterior)
    start, end = posterior.index(cause), posterior.index(effect)
    graphs = drawn_edges(posterior, moment)[pairs.first]
    return _share(pairs, _reached(graphs, graphs[:, start])[:, end])


def ancestor_probabilities(posterior: Posterior, moment: EdgeChoice = "either") -> pd.DataFrame:
    """Return, for every pair of variables, the probability that a path leads from one to the other.

    Index is the cause, columns the effect; see `path_probability`.

    Examples
    --------
    >>> from momentdag.posterior import Posterior, Provenance
    >>> edge, none = [[0, 1], [0, 0]], [[0, 0], [0, 0]]
    >>> graphs = [edge, edge, edge, none], [edge, edge, none, none]
    >>> posterior = Posterior("ab", *graphs, Provenance("by hand"))
    >>> float(ancestor_probabilities(posterior, "mean").loc["a", "b"])
    0.75
    """
    pairs = distinct_pairs(posterior)
    graphs = drawn_edges(posterior, moment)[pairs.first]
    counts = np.zeros(graphs.shape[1:])
    n_blocks = -(-graphs.size // _BLOCK)
    for part, weights in zip(
        np.array_split(graphs, n_blocks), np.array_split(pairs.counts, n_blocks), strict=True
    ):
        counts += np.tensordot(weights, reachability(part), axes=1)
    return _labelled(posterior, counts / posterior.n_draws)


def influence_probability(posterior: Posterior, cause: str, effect: str, on: Moment) -> float:
    """Return the probability that ``cause`` influences the mean, or the variance, of ``effect``.

    ``on="variance"``: the cause is a variance parent of the effect, or has a path to one in the
    union. Then, and only then, setting the cause can change the distribution of ``v_j(X_paV(j))``,
    the scale of the effect's own noise. ``on="mean"``: the same for the mean parents and
    ``m_j(X_paM(j))``. A cause may influence both. As the variance of ``m_j`` adds to the effect's
    total variance, this says nothing about the latter, for which
    ``path_probability(cause, effect, "either")`` is an upper bound.

    Raises
    ------
    OptionError
        If ``on`` is neither "mean" nor "variance".

    Examples
    --------
    >>> from momentdag.graph import MomentGraph
    >>> from momentdag.posterior import Posterior, Provenance
    >>> chain = MomentGraph.from_edges("abc", mean=[("a", "b")], variance=[("b", "c")])
    >>> draws = [[chain.mean_graph], [chain.variance_graph]]
    >>> posterior = Posterior("abc", *draws, Provenance("by hand"))
    >>> [influence_probability(posterior, "a", "c", on) for on in ("mean", "variance")]
    [0.0, 1.0]
    """
    if on not in get_args(Moment):
        raise OptionError(f"Expected on among {get_args(Moment)}; got {on!r}.")
    pairs = distinct_pairs(posterior)
    start, end = posterior.index(cause), posterior.index(effect)
    union = posterior.graphs("either")[pairs.first]
    reached = _reached(union, union[:, start])
    reached[:, start] = True
    parents = posterior.graphs(on)[pairs.first][:, :, end]
    return _share(pairs, np.any(reached & parents, axis=1))


def subgraph_probability(posterior: Posterior, edges: Iterable[Edge]) -> float:
    """Return the probability that all these edges are present at once.

    Parameters
    ----------
    posterior : Posterior
    edges : iterable of (cause, effect) or (cause, effect, moment)
        Without a moment: in either graph.

    Raises
    ------
    GraphError
        If an edge is not of that form or names an unknown variable.

    Examples
    --------
    >>> from momentdag.posterior import Posterior, Provenance
    >>> edge, none = [[0, 1], [0, 0]], [[0, 0], [0, 0]]
    >>> graphs = [edge, edge, edge, none], [edge, edge, none, none]
    >>> posterior = Posterior("ab", *graphs, Provenance("by hand"))
    >>> subgraph_probability(posterior, [("a", "b", "mean"), ("a", "b", "variance")])
    0.5
    """
    present = np.ones(posterior.n_draws, dtype=bool)
    drawn: dict[str, BoolArray] = {}
    for edge in edges:
        if isinstance(edge, str) or len(edge) not in (2, 3):
            raise GraphError(
                f"Expected edges as (cause, effect) or (cause, effect, moment); got {edge!r}."
            )
        moment: EdgeChoice = edge[2] if len(edge) == 3 else "either"
        if moment not in drawn:
            drawn[moment] = drawn_edges(posterior, moment)
        present &= drawn[moment][:, posterior.index(edge[0]), posterior.index(edge[1])]
    return float(present.mean())


def holds(posterior: Posterior, predicate: Callable[[MomentGraph], bool]) -> BoolArray:
    """Return for each draw whether a predicate holds, evaluated once for each distinct pair.

    Returns
    -------
    bool array, shape (n_draws,)

    Raises
    ------
    OptionError
        If the predicate returns anything other than True or False.

    Examples
    --------
    >>> from momentdag.posterior import Posterior, Provenance
    >>> edge, none = [[0, 1], [0, 0]], [[0, 0], [0, 0]]
    >>> graphs = [edge, edge, edge, none], [edge, edge, none, none]
    >>> posterior = Posterior("ab", *graphs, Provenance("by hand"))
    >>> holds(posterior, lambda graph: graph.has_edge("a", "b", "both")).tolist()
    [True, True, False, False]
    """
    pairs = distinct_pairs(posterior)
    answers = np.empty(len(pairs.first), dtype=bool)
    for k, row in enumerate(pairs.first):
        answer = predicate(posterior.draw(int(row)))
        if not isinstance(answer, bool | np.bool_):
            raise OptionError(
                f"Expected a predicate that returns True or False; it returned {answer!r}."
            )
        answers[k] = answer
    return answers[pairs.which]


def distinct_pairs(posterior: Posterior) -> Distinct:
    """Return the distinct drawn pairs; with regimes, also by what these change."""
    parts = [posterior._mean_bits, posterior._variance_bits]
    if posterior.target_draws is not None:
        parts.append(posterior.target_draws.bits)
    return distinct_rows(np.hstack(parts))


def distinct_rows(packed: npt.NDArray[np.uint8]) -> Distinct:
    """Return the distinct rows of a table of bytes."""
    # Viewed as one opaque value each, rows sort without a comparison per column.
    keys = np.ascontiguousarray(packed).view(np.dtype((np.void, packed.shape[1])))[:, 0]
    _, first, which, counts = np.unique(
        keys, return_index=True, return_inverse=True, return_counts=True
    )
    return Distinct(first, counts, which)


def _share(distinct: Distinct, which: BoolArray) -> float:
    return float(distinct.counts[which].sum() / distinct.counts.sum())


def _reached(graphs: BoolArray, start: BoolArray) -> BoolArray:
    """Return the variables ``start``, shape (n, d), and all they reach, in each graph."""
    reached = start.copy()
    while True:
        further = reached | (graphs & reached[:, :, None]).any(axis=1)
        if np.array_equal(further, reached):
            return reached
        reached = further


def _labelled(posterior: Posterior, values: npt.NDArray[np.float64]) -> pd.DataFrame:
    return pd.DataFrame(
        values,
        index=pd.Index(posterior.names, name="cause"),
        columns=pd.Index(posterior.names, name="effect"),
    )
