"""Cells of a grid: what a rounded value stands for.

A value y on a grid says that Y* = m + v E lies in the cell (a, b) around it, so that its likelihood
is a probability,

    P(y) = F((b - m) / v) - F((a - m) / v),

and no density can be made arbitrarily large at values that repeat. Inside a cell Y* is taken to be
spread evenly, which adds its variance (b - a)²/12 to every squared residual (Sheppard).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from momentdag.engines.evidence.local.noise.density import NoiseDensity

__all__ = ["Cells", "find_cells"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

_GOLDEN = 0.6180339887498949
_PILE = 0.03  # share of the rows at the end of a range that makes its cell an open one
_NEARLY_ALL = 0.99  # share of the rows that must fit on a regular grid
_CLOSE = 0.02  # how far from it, in steps


@dataclass(frozen=True, eq=False)
class Cells:
    """The cell of each row of one variable.

    Parameters
    ----------
    lower, upper : float array, shape (n,)
        Edges, in the units of the variable; infinite where values pile up at the end of a range.
    width : float array, shape (n,)
        Finite, also where an edge is not.
    """

    lower: FloatArray
    upper: FloatArray
    width: FloatArray

    @cached_property
    def variance(self) -> FloatArray:
        """That of Y* within its cell, (n,)."""
        return np.asarray(self.width**2 / 12)

    def spread(self, y: FloatArray, mean: FloatArray) -> FloatArray:
        """Return the values spread over their cells, the rows of a level evenly, (n,).

        Which row goes where depends on its mean alone, so not on the order of the rows, and hardly
        goes along with it.
        """
        order = np.lexsort((mean, y))
        levels, first = np.unique(y[order], return_index=True)
        rank = np.arange(len(y)) - first[np.searchsorted(levels, y[order])]
        offsets = np.empty(len(y))
        offsets[order] = (0.5 + _GOLDEN * rank) % 1.0 - 0.5
        return np.asarray(y + offsets * self.width)

    def log_masses(
        self, mean: FloatArray, log_std: FloatArray, y: FloatArray, noise: NoiseDensity
    ) -> FloatArray:
        """Return log P(y) of each row, (n,)."""
        inverse = np.exp(-log_std)
        high = noise.distribution((self.upper - mean) * inverse)
        mass = high - noise.distribution((self.lower - mean) * inverse)
        # In far tails the difference is lost in rounding; the cell is then narrow for the density.
        middle = noise.log_density((y - mean) * inverse) - log_std + np.log(self.width)
        return np.where(mass > 1e-9, np.log(np.maximum(mass, 1e-300)), np.minimum(middle, 0.0))


def find_cells(column: FloatArray) -> Cells:
    """Return the cells of a column on a grid.

    Where the values are multiples of a step, cells are one step wide; elsewhere a cell reaches half
    way to the nearer neighbour.

    Parameters
    ----------
    column : float array, shape (n,)

    Examples
    --------
    >>> cells = find_cells(np.array([1.0, 2.0, 2.0, 4.0, 4.0] * 4))
    >>> cells.lower[:4].tolist(), cells.upper[:4].tolist()
    ([-inf, 1.5, 1.5, 3.5], [1.5, 2.5, 2.5, inf])
    """
    levels, which, counts = np.unique(column, return_inverse=True, return_counts=True)
    gaps = np.diff(levels)
    step = float(gaps.min())
    places = (levels - levels[0]) / step
    regular = counts[np.abs(places - np.round(places)) < _CLOSE].sum() >= _NEARLY_ALL * len(column)
    if regular:
        half = np.full(len(levels), 0.5 * step)
    else:
        half = 0.5 * np.minimum(np.append(gaps[0], gaps), np.append(gaps, gaps[-1]))
    lower, upper = levels - half, levels + half
    piled = counts >= _PILE * len(column)
    if piled[0]:
        lower[0] = -np.inf
    if piled[-1]:
        upper[-1] = np.inf
    return Cells(lower[which], upper[which], 2 * half[which])
