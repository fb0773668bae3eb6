"""Columns as inputs of functions: values, normal scores of ranks, or levels of a category.

Training and prediction map a value to its input by the same function.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

__all__ = ["InputScale", "LevelScale", "RankScale", "as_features", "input_places"]

FloatArray: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RankScale:
    """The normal scores of one training column.

    Parameters
    ----------
    levels : float array, shape (k,)
        The distinct values, sorted.
    scores : float array, shape (k,)
        Normal quantiles of their mean ranks.
    """

    levels: FloatArray
    scores: FloatArray

    @classmethod
    def of(cls, column: FloatArray) -> RankScale:
        """Return the scale of a training column (n,)."""
        levels, counts = np.unique(column, return_counts=True)
        n = len(column)
        ranks = np.cumsum(counts) - 0.5 * counts
        return cls(levels, np.asarray(ndtri(np.clip(ranks, 0.5, n - 0.5) / n)))

    def __call__(self, values: FloatArray) -> FloatArray:
        """Map values of the column to scores, straight lines between the levels."""
        return np.asarray(np.interp(values, self.levels, self.scores))


@dataclass(frozen=True, eq=False)
class LevelScale:
    """The levels of a category as corners of a simplex, all equally far from each other.

    One grouped variable: under any kernel of distances the covariance of two rows is one number
    where they share a level and another where they do not, so a function has a part that all
    levels share and a part of each level's own.

    Parameters
    ----------
    levels : float array, shape (K,)
        The distinct values, sorted.
    """

    levels: FloatArray

    @classmethod
    def of(cls, column: FloatArray) -> LevelScale:
        """Return the scale of a training column (n,)."""
        return cls(np.unique(column))

    def codes(self, values: FloatArray) -> npt.NDArray[np.intp]:
        """Return the number of the level nearest to each value."""
        return np.searchsorted(0.5 * (self.levels[1:] + self.levels[:-1]), values)

    def __call__(self, values: FloatArray) -> FloatArray:
        """Map values of the column to corners, (m, K)."""
        # As far from each other as the two values of a balanced binary column.
        corners = np.sqrt(2.0) * (np.eye(len(self.levels)) - 1 / len(self.levels))
        return np.asarray(corners[self.codes(values)])


InputScale: TypeAlias = RankScale | LevelScale | None
"""How a column enters: by rank, by level, or as it is."""


def as_features(values: FloatArray, scales: Sequence[InputScale] | None) -> FloatArray:
    """Map columns (m, k) to inputs, each on the scale of its training column."""
    if scales is None:
        return values
    parts = [
        column if scale is None else scale(column)
        for scale, column in zip(scales, values.T, strict=True)
    ]
    return np.column_stack(parts)


def input_places(scales: Sequence[InputScale] | None, n_columns: int) -> list[list[int]]:
    """Return at which places of the inputs each column stands."""
    places: list[list[int]] = []
    first = 0
    for j in range(n_columns):
        scale = None if scales is None else scales[j]
        width = len(scale.levels) if isinstance(scale, LevelScale) else 1
        places.append(list(range(first, first + width)))
        first += width
    return places
