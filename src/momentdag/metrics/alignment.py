"""Bring a true graph and what is scored against it into one variable order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from momentdag.errors import DataError
from momentdag.graph import BoolArray, GraphLike, align, read_square_frame

__all__ = ["FloatArray", "in_order_of", "pooled_pairs"]

FloatArray: TypeAlias = npt.NDArray[np.float64]


def in_order_of(names: Sequence[str] | None, n_variables: int, graph: GraphLike) -> BoolArray:
    """Return a graph as a matrix whose variables stand in the order of ``names``.

    Raises
    ------
    GraphError
        If the graph has another size, or labels that are not the given names.
    """
    empty = np.zeros((n_variables, n_variables), dtype=bool)
    if names is None:
        return align(empty, graph)[1]
    return align(pd.DataFrame(empty, index=list(names), columns=list(names)), graph)[1]


def pooled_pairs(
    scores: npt.ArrayLike | pd.DataFrame, truth: GraphLike
) -> tuple[FloatArray, BoolArray]:
    """Return the score and the truth of every ordered pair of different variables.

    Parameters
    ----------
    scores : array or labelled DataFrame, shape (d, d), or array, shape (n_pairs,)
        One number for each possible edge. The diagonal of a matrix is not looked at.
    truth : graph, or array of 0 and 1, shape (n_pairs,)
        Must be a vector iff ``scores`` is one; vectors pool pairs from several graphs.

    Returns
    -------
    scores : float array, shape (n_pairs,)
    truth : bool array, shape (n_pairs,)

    Raises
    ------
    DataError
        If the scores have a wrong shape, are not numbers, or are missing.
    GraphError
        If truth and scores, or index and columns of the scores, have different sizes or names.
    """
    names: tuple[str, ...] | None = None
    if isinstance(scores, pd.DataFrame):
        values, names = read_square_frame(scores)
    else:
        values = np.asarray(scores)
    if values.dtype.kind not in "biuf":
        raise DataError(f"Expected numbers as scores; got dtype {values.dtype}.")
    if values.ndim == 1:
        flags = _vector_of_flags(truth, len(values))
        values = values.astype(np.float64)
    elif values.ndim == 2 and values.shape[0] == values.shape[1]:
        off_diagonal = ~np.eye(len(values), dtype=bool)
        flags = in_order_of(names, len(values), truth)[off_diagonal]
        values = values[off_diagonal].astype(np.float64)
    else:
        raise DataError(
            f"Expected scores of shape (d, d) or (n_pairs,); got {values.shape}. "
            "Concatenate the pairs of several graphs into one vector to pool them."
        )
    if len(values) == 0:
        raise DataError("Expected at least one pair of variables; got none.")
    if not np.isfinite(values).all():
        raise DataError(
            f"Expected finite scores off the diagonal; {int((~np.isfinite(values)).sum())} are "
            "missing or infinite."
        )
    return values, flags


def _vector_of_flags(truth: GraphLike, n_pairs: int) -> BoolArray:
    flags = np.asarray(truth)
    if flags.shape != (n_pairs,):
        raise DataError(
            f"Expected a truth of shape ({n_pairs},) for a vector of scores; got {flags.shape}."
        )
    if not np.isin(flags, (0, 1)).all():
        raise DataError("Expected a truth of 0 and 1 (or booleans); it has other values.")
    return flags.astype(bool)
