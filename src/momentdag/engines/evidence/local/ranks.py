"""Normal scores: columns as inputs of functions, by rank.

Training and prediction map a value to its score by the same function.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

__all__ = ["RankScale", "normal_scores"]

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


def normal_scores(values: FloatArray, scales: Sequence[RankScale]) -> FloatArray:
    """Map columns (m, k) to normal scores, each on the scale of its training column."""
    return np.column_stack([scale(column) for scale, column in zip(scales, values.T, strict=True)])
