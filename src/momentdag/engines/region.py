"""The region in which a function was learned, and what becomes of inputs outside it.

A function that runs on where no data were is a matter of its prior, and a simulated world that
feeds one such value into the next function can end anywhere. Inputs outside are therefore moved to
the edge of the region, for means and scales alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

__all__ = ["Region"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

_THINNEST = 1e-8
"""Least variance of a direction relative to the largest: below it lies the rounding of
standardised values, and distances would measure that."""
_QUANTILE = 0.99
"""Inputs further from all rows than this quantile of the rows' distances from their own nearest
ones have left the data."""
_FILLED = 1.3
"""Ratio of these distances, at their 90th percentiles, up to which inputs fill their box."""
_N_SHUFFLED = 300
_NEARLY = 0.5
"""The row that is found may be this much further away than the nearest one, which is much faster
to find; a training row still finds itself."""
_SLACK = 0.1
"""Inputs this share of the range beyond it still count as inside: noise has tails."""


@dataclass(frozen=True, eq=False)
class Region:
    """Where the training rows of a parent set lie, jointly.

    Beyond the range of an input a function stays as it is at the edge. Within the ranges, inputs
    whose combination is far from every training row (parents that are nearly functions of each
    other leave most of their box empty) are moved towards the nearest one.

    Parameters
    ----------
    rows : float array, shape (n, k)
        Training inputs.
    is_joint : bool
        Whether combinations count, or only the range of each input.
    """

    rows: FloatArray
    is_joint: bool = True

    @cached_property
    def box(self) -> tuple[FloatArray, FloatArray]:
        """Least and largest value of each input, both (k,)."""
        return self.rows.min(axis=0), self.rows.max(axis=0)

    @cached_property
    def _whitening(self) -> tuple[FloatArray, FloatArray]:
        """The map to coordinates in which the rows have unit covariance, and back, (k, k)."""
        covariance = np.atleast_2d(np.cov(self.rows, rowvar=False))
        variances, axes = np.linalg.eigh(covariance)
        # Copies up to rounding: a direction without any variance is measured by its rounding.
        largest = variances.max() if variances.max() > 0 else 1.0
        sds = np.sqrt(np.maximum(variances, _THINNEST * largest))
        return axes / sds, (axes * sds).T

    @cached_property
    def fills_box(self) -> bool:
        """Whether all combinations of the inputs occur, as of independent ones.

        Then rows whose columns are shuffled are hardly further from the data than the rows
        themselves are from each other, and there is nothing to look up.
        """
        tree, _ = self._tree
        rng = np.random.default_rng(0)
        shuffled = np.column_stack([rng.permutation(column) for column in self.rows.T])
        few = shuffled[: len(shuffled) : max(1, len(shuffled) // _N_SHUFFLED)]
        between, _ = tree.query(few @ self._whitening[0])
        within = tree.query(tree.data[: len(few)], k=2)[0][:, 1] if tree.n > 1 else np.zeros(1)
        return float(np.quantile(between, 0.9)) <= _FILLED * float(np.quantile(within, 0.9))

    @cached_property
    def _tree(self) -> tuple[cKDTree, float]:
        """The whitened rows, and how far from its nearest row an input may be."""
        whitened = self.rows @ self._whitening[0]
        tree = cKDTree(np.unique(whitened, axis=0))
        if tree.n == 1:
            return tree, 0.0
        distances = tree.query(tree.data, k=2)[0][:, 1]
        return tree, float(np.quantile(distances, _QUANTILE))

    def clamp(self, inputs: FloatArray) -> FloatArray:
        """Return the inputs (m, k), those outside moved to the edge of the region."""
        inputs = np.clip(inputs, *self.box)
        if not self.is_joint or inputs.shape[1] < 2 or self.fills_box:
            return inputs
        far, nearest, share = self._far(inputs)
        if far.any():
            to, back = self._whitening
            whitened = inputs[far] @ to
            inputs[far] = (nearest + share[:, None] * (whitened - nearest)) @ back
        return inputs

    def outside(self, inputs: FloatArray) -> npt.NDArray[np.bool_]:
        """Return which inputs (m, k) lie outside, (m,)."""
        low, high = self.box
        slack = _SLACK * (high - low)
        outside = np.asarray(((inputs < low - slack) | (inputs > high + slack)).any(axis=1))
        if self.is_joint and inputs.shape[1] > 1 and not self.fills_box:
            outside |= self._far(np.clip(inputs, low, high))[0]
        return outside

    def _far(self, inputs: FloatArray) -> tuple[npt.NDArray[np.bool_], FloatArray, FloatArray]:
        """Return which inputs are too far from every row, their nearest rows and how far to go."""
        tree, radius = self._tree
        distance, index = tree.query(inputs @ self._whitening[0], eps=_NEARLY)
        far = np.asarray(distance > radius)
        return far, np.asarray(tree.data)[index[far]], radius / distance[far]
