"""Columns as predictors of a residual: numbers by normal scores, categories by their levels."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from momentdag.screening.spread import normal_scores
from momentdag.table import Dataset

__all__ = ["level_indicators", "predictor_columns"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

_MAX_INDICATORS = 20


def level_indicators(column: FloatArray) -> FloatArray:
    """Return 1 where a row has a level, for every level but the most frequent one, (n, K - 1).

    Of many levels only the most frequent ones have a column of their own.

    Examples
    --------
    >>> level_indicators(np.array([0.0, 2.0, 2.0, 1.0])).astype(int).tolist()
    [[1, 0], [0, 0], [0, 0], [0, 1]]
    """
    levels, counts = np.unique(column, return_counts=True)
    order = np.argsort(-counts, kind="stable")[1 : 1 + _MAX_INDICATORS]
    return np.asarray(column[:, None] == levels[order], dtype=np.float64)


def predictor_columns(dataset: Dataset, column: int) -> FloatArray:
    """Return one column of a table as predictors, (n, k): codes of a category have no order."""
    values = dataset.values[:, column]
    if dataset.kinds[column] == "category":
        return level_indicators(values)
    return normal_scores(values[:, None])
