"""Metrics averaged over draws of a posterior."""

from __future__ import annotations

from typing import Protocol, TypeAlias, TypeGuard, get_args

import numpy as np
import numpy.typing as npt

from momentdag.errors import GraphError, OptionError
from momentdag.graph import (
    BoolArray,
    GraphLike,
    MomentGraph,
    Selection,
    as_stack,
    select_edges,
)
from momentdag.metrics.alignment import in_order_of
from momentdag.metrics.structure import f1_scores, hamming_distances

__all__ = [
    "DrawsLike",
    "PairDraws",
    "are_pairs",
    "expected_f1",
    "expected_shd",
    "graph_stack",
    "pair_stack",
]


class PairDraws(Protocol):
    """Draws of (mean graph, variance graph) pairs over named variables, such as a `Posterior`."""

    @property
    def names(self) -> tuple[str, ...]:
        """One name for each variable."""

    @property
    def mean_graphs(self) -> BoolArray:
        """Drawn mean graphs, shape (n_draws, d, d)."""

    @property
    def variance_graphs(self) -> BoolArray:
        """Drawn variance graphs, shape (n_draws, d, d)."""


DrawsLike: TypeAlias = npt.ArrayLike | PairDraws


def expected_shd(
    draws: DrawsLike, truth: GraphLike | MomentGraph, *, moment: Selection | None = None
) -> float:
    """Return the structural Hamming distance to the truth, averaged over draws.

    ``1 / n_draws * sum_i SHD(A_i, A_true)`` (paper, appendix D, equation of E-SHD).

    Parameters
    ----------
    draws : bool array, shape (n_draws, d, d), or a posterior of graph pairs
        A posterior has ``names``, ``mean_graphs`` and ``variance_graphs``.
    truth : array, labelled DataFrame or networkx.DiGraph, or MomentGraph
        Matched by name to the variables of a posterior. Of a `MomentGraph` the edges that
        ``moment`` selects are taken.
    moment : {"mean", "variance", "either", "both"}, optional
        Which edges of a posterior are compared; required for one, refused for an array.

    Returns
    -------
    float

    Raises
    ------
    GraphError
        If the draws are malformed, or sizes or names differ.
    OptionError
        If ``moment`` is missing, unknown, or given with an array.

    Examples
    --------
    >>> import numpy as np
    >>> draws = np.array([[[0, 1], [0, 0]], [[0, 0], [0, 0]]], dtype=bool)
    >>> expected_shd(draws, [[0, 1], [0, 0]])
    0.5
    """
    return float(hamming_distances(*_with_truth(draws, truth, moment)).mean())


def expected_f1(
    draws: DrawsLike, truth: GraphLike | MomentGraph, *, moment: Selection | None = None
) -> float:
    """Return the F1 score against the truth, averaged over draws.

    Parameters
    ----------
    draws : bool array, shape (n_draws, d, d), or a posterior of graph pairs
        A posterior has ``names``, ``mean_graphs`` and ``variance_graphs``.
    truth : array, labelled DataFrame or networkx.DiGraph, or MomentGraph
        Matched by name to the variables of a posterior. Of a `MomentGraph` the edges that
        ``moment`` selects are taken.
    moment : {"mean", "variance", "either", "both"}, optional
        Which edges of a posterior are compared; required for one, refused for an array.

    Returns
    -------
    float
        An empty draw scores 1.0 against an empty truth, 0.0 against any other (see `f1`).

    Raises
    ------
    GraphError
        If the draws are malformed, or sizes or names differ.
    OptionError
        If ``moment`` is missing, unknown, or given with an array.

    Examples
    --------
    >>> import numpy as np
    >>> draws = np.array([[[0, 1], [0, 0]], [[0, 0], [0, 0]]], dtype=bool)
    >>> expected_f1(draws, [[0, 1], [0, 0]])
    0.5
    """
    return float(f1_scores(*_with_truth(draws, truth, moment)).mean())


def are_pairs(draws: DrawsLike) -> TypeGuard[PairDraws]:
    """Tell a posterior from an array: only the former names its variables."""
    return hasattr(draws, "names")


def graph_stack(
    draws: DrawsLike, moment: Selection | None
) -> tuple[BoolArray, tuple[str, ...] | None]:
    """Return drawn graphs, shape (n_draws, d, d), and their names if they carry any."""
    if not are_pairs(draws):
        if moment is not None:
            raise OptionError(
                f"Expected no moment for an array of graphs; got {moment!r}. Leave it out, or pass "
                "a posterior."
            )
        return as_stack(draws), None
    if moment is None or moment not in get_args(Selection):
        raise OptionError(
            f"Expected moment, one of {get_args(Selection)}, since each draw holds two graphs; "
            f"got {moment!r}."
        )
    pairs, names = pair_stack(draws)
    return select_edges(pairs[:, 0], pairs[:, 1], moment), names


def pair_stack(draws: PairDraws) -> tuple[BoolArray, tuple[str, ...]]:
    """Return drawn pairs, shape (n_draws, 2, d, d), mean graphs first, and their names."""
    names = tuple(str(name) for name in draws.names)
    if not (hasattr(draws, "mean_graphs") and hasattr(draws, "variance_graphs")):
        raise GraphError(
            "Expected an array of graphs or a posterior with names, mean_graphs and "
            f"variance_graphs; got {type(draws).__name__}."
        )
    both = (
        as_stack(draws.mean_graphs, what="mean_graphs"),
        as_stack(draws.variance_graphs, what="variance_graphs"),
    )
    for graphs in both:
        if graphs.shape != (len(both[0]), len(names), len(names)):
            raise GraphError(
                f"Expected as many mean as variance graphs over {len(names)} variables; got "
                f"shapes {both[0].shape} and {both[1].shape}."
            )
    return np.stack(both, axis=1), names


def _with_truth(
    draws: DrawsLike, truth: GraphLike | MomentGraph, moment: Selection | None
) -> tuple[BoolArray, BoolArray]:
    stack, names = graph_stack(draws, moment)
    if isinstance(truth, MomentGraph) and moment is not None:
        truth = truth.to_frame(moment)
    return stack, in_order_of(names, stack.shape[-1], truth)
