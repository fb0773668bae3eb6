"""Columns whose values pile up on a point: zeros of rainfall, readings clipped at a limit.

No density has a point mass. One that tries gets ever narrower there, and any parent that lets it do
so a little better looks like a cause. So graphs are judged by a coarser view of such a column: its
piles, and bins of all other values between them, as ordered levels (`cumulative`). What it
leaves out, where in its bin a value lies, is left out for every parent set alike.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["coarse_levels"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

_PILE = 0.05
"""Share of the rows from which one value is a pile."""
_LEAST_ROWS = 8
"""Rows that a pile has at least."""
_BINS = 10
"""Bins of the other values: more say little more about means and spreads."""


def coarse_levels(column: FloatArray) -> npt.NDArray[np.intp] | None:
    """Return the coarse level of each row, rising with its value, (n,), or None without piles.

    Examples
    --------
    >>> column = np.concatenate([np.zeros(10), np.linspace(-1, 1, 40)])
    >>> levels = coarse_levels(column)
    >>> int(levels[0]), len(set(levels[:10])), len(set(levels))
    (5, 1, 11)
    >>> coarse_levels(np.linspace(-1, 1, 40)) is None
    True
    """
    values, which, counts = np.unique(column, return_inverse=True, return_counts=True)
    piled = counts >= max(_PILE * len(column), _LEAST_ROWS)
    if not piled.any() or len(values) == 1:
        return None
    others = np.where(piled, 0, counts)
    n_others = int(others.sum())
    bins = np.minimum((np.cumsum(others) - others) * _BINS // max(n_others, 1), _BINS - 1)
    # A new level begins with a pile, after a pile, and with a new bin.
    begins = np.ones(len(values), dtype=bool)
    begins[1:] = piled[1:] | piled[:-1] | (bins[1:] != bins[:-1])
    return np.asarray((np.cumsum(begins) - 1)[which], dtype=np.intp)
