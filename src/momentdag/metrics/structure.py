"""Distance between two graphs: edges (SHD, precision, recall, F1) and interventions (SID)."""

from __future__ import annotations

from typing import Any

import gadjid
import numpy as np
import numpy.typing as npt

from momentdag.errors import GraphError
from momentdag.graph import BoolArray, GraphLike, align, as_adjacency, find_cycle, is_acyclic

__all__ = ["f1", "f1_scores", "hamming_distances", "precision", "recall", "shd", "shd_rate", "sid"]


def hamming_distances(estimates: BoolArray, truth: BoolArray) -> npt.NDArray[np.int64]:
    """Return the SHD of each graph of a stack, shape (..., d, d), to one graph, shape (d, d)."""
    different = estimates != truth
    # An unordered pair counts once, so that a reversed edge (two entries off) costs one.
    pairs = different | np.swapaxes(different, -1, -2)
    return np.asarray(np.count_nonzero(np.triu(pairs, 1), axis=(-2, -1)), dtype=np.int64)


def f1_scores(estimates: BoolArray, truth: BoolArray) -> npt.NDArray[np.float64]:
    """Return the F1 score of each graph of a stack, shape (..., d, d), to one, shape (d, d)."""
    n_both = np.count_nonzero(estimates & truth, axis=(-2, -1))
    n_edges = np.count_nonzero(estimates, axis=(-2, -1)) + np.count_nonzero(truth)
    return np.where(n_edges == 0, 1.0, 2.0 * n_both / np.maximum(n_edges, 1))


def shd(estimate: GraphLike, truth: GraphLike) -> int:
    """Count the missing, extra and reversed edges: the structural Hamming distance.

    The number of unordered pairs of variables that the two graphs join differently (paper,
    appendix D, performance metrics); a reversed edge therefore costs one.

    Parameters
    ----------
    estimate, truth : array, labelled DataFrame or networkx.DiGraph, d variables
        Row is the cause, column the effect. Need not be acyclic.

    Returns
    -------
    int

    Raises
    ------
    GraphError
        If the graphs have different sizes or names.

    Examples
    --------
    >>> truth = [[0, 1, 1], [0, 0, 0], [0, 0, 0]]
    >>> estimate = [[0, 0, 1], [1, 0, 1], [0, 0, 0]]  # 0 -> 1 turned round, 1 -> 2 added
    >>> shd(estimate, truth)
    2
    """
    return int(hamming_distances(*align(estimate, truth)))


def shd_rate(estimate: GraphLike, truth: GraphLike) -> float:
    """Divide the structural Hamming distance by its largest possible value, d (d - 1) / 2.

    Parameters
    ----------
    estimate, truth : array, labelled DataFrame or networkx.DiGraph, d >= 2 variables
        Row is the cause, column the effect.

    Returns
    -------
    float
        Between 0 and 1.

    Raises
    ------
    GraphError
        If the graphs have different sizes or names, or fewer than two variables.

    Examples
    --------
    >>> shd_rate([[0, 1], [0, 0]], [[0, 0], [1, 0]])
    1.0
    """
    a, b = align(estimate, truth)
    if len(a) < 2:
        raise GraphError(f"Expected at least two variables; got {len(a)}.")
    return int(hamming_distances(a, b)) / (len(a) * (len(a) - 1) / 2)


def precision(estimate: GraphLike, truth: GraphLike) -> float:
    """Return the share of the estimated edges that are true, direction included.

    Parameters
    ----------
    estimate, truth : array, labelled DataFrame or networkx.DiGraph, d variables
        Row is the cause, column the effect.

    Returns
    -------
    float
        Between 0 and 1. Two empty graphs agree: 1.0. An empty estimate of a graph that has edges
        found nothing: 0.0.

    Raises
    ------
    GraphError
        If the graphs have different sizes or names.

    Examples
    --------
    >>> precision([[0, 1, 1], [0, 0, 0], [0, 0, 0]], [[0, 1, 0], [0, 0, 1], [0, 0, 0]])
    0.5
    """
    a, b = align(estimate, truth)
    return _share(a & b, of=a, both_empty=not (a.any() or b.any()))


def recall(estimate: GraphLike, truth: GraphLike) -> float:
    """Return the share of the true edges that were estimated, direction included.

    Parameters
    ----------
    estimate, truth : array, labelled DataFrame or networkx.DiGraph, d variables
        Row is the cause, column the effect.

    Returns
    -------
    float
        Between 0 and 1. Two empty graphs agree: 1.0. If only the truth is empty: 0.0, so that
        precision, recall and F1 tell the same story.

    Raises
    ------
    GraphError
        If the graphs have different sizes or names.

    Examples
    --------
    >>> recall([[0, 1, 0], [0, 0, 0], [0, 0, 0]], [[0, 1, 1], [0, 0, 1], [0, 0, 0]])
    0.3333333333333333
    """
    a, b = align(estimate, truth)
    return _share(a & b, of=b, both_empty=not (a.any() or b.any()))


def f1(estimate: GraphLike, truth: GraphLike) -> float:
    """Return the harmonic mean of precision and recall over directed edges.

    ``2 |E & T| / (|E| + |T|)`` for edge sets E and T.

    Parameters
    ----------
    estimate, truth : array, labelled DataFrame or networkx.DiGraph, d variables
        Row is the cause, column the effect.

    Returns
    -------
    float
        Between 0 and 1; 1.0 if both graphs are empty, 0.0 if exactly one is.

    Raises
    ------
    GraphError
        If the graphs have different sizes or names.

    Examples
    --------
    >>> f1([[0, 1, 1], [0, 0, 0], [0, 0, 0]], [[0, 1, 0], [0, 0, 1], [0, 0, 0]])
    0.5
    """
    return float(f1_scores(*align(estimate, truth)))


def sid(estimate: GraphLike, truth: GraphLike) -> int:
    """Count the effects that adjusting for the estimate's parents would get wrong.

    The structural intervention distance (Peters and Bühlmann, 2015): the number of ordered pairs
    (i, j) for which the distribution of j under do(i), computed in the estimate by adjusting for
    the parents of i, is not the one of the truth. Not symmetric: a supergraph of the truth has
    distance 0. Computed by ``gadjid``.

    Parameters
    ----------
    estimate, truth : array, labelled DataFrame or networkx.DiGraph, d variables
        Row is the cause, column the effect. Both must be acyclic.

    Returns
    -------
    int
        Between 0 and d (d - 1).

    Raises
    ------
    GraphError
        If a graph is cyclic, or the graphs have different sizes or names.

    Examples
    --------
    >>> edge, empty = [[0, 1], [0, 0]], [[0, 0], [0, 0]]
    >>> sid(estimate=empty, truth=edge)
    1
    >>> sid(estimate=edge, truth=empty)
    0
    """
    a, b = align(estimate, truth)
    names = as_adjacency(estimate)[1]
    for what, graph in (("estimate", a), ("truth", b)):
        if not is_acyclic(graph):
            raise GraphError(
                f"Expected an acyclic {what}; it has the cycle {find_cycle(graph, names)}. "
                "SID is defined for DAGs only."
            )
    if len(a) < 2:
        return 0  # gadjid panics below two nodes
    count: Any
    _, count = gadjid.sid(b.astype(np.int8), a.astype(np.int8), edge_direction="from row to column")
    return int(count)


def _share(edges: BoolArray, of: BoolArray, both_empty: bool) -> float:
    if both_empty:
        return 1.0
    return int(edges.sum()) / max(int(of.sum()), 1)
