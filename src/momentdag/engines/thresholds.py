"""Where one level of a variable on a grid gives way to the next.

A mechanism describes a variable on a grid (0/1, whole numbers) by a continuous Y* = m + v E.
Between levels l_k and l_k+1 lies the threshold t_k for which the levels are as frequent in the
model as in the rows it was fitted to,

    1/n Σ_i F((t_k - m_i) / v_i) = share of rows with y_i <= l_k,

so that what the noise cannot describe (a rare 1, many zeros) does not change how often it happens.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["MAX_LEVELS", "find_thresholds"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

MAX_LEVELS = 60
"""On a finer grid thresholds are the midpoints: there is little between two levels."""
_MAX_ROWS = 400
_REACH = 30.0  # sds beyond all means between which a threshold is looked for
_STEPS = 40  # halvings of that range: to 1e-10 of it
_NODES = np.sinh(np.linspace(-4.8, 4.8, 601))  # out to 60 standard deviations


def find_thresholds(
    levels: FloatArray,
    column: FloatArray,
    mean: FloatArray,
    sd: FloatArray,
    distribution: Callable[[FloatArray], FloatArray],
) -> FloatArray:
    """Return the thresholds between levels, rising, (K - 1,).

    Parameters
    ----------
    levels : float array, shape (K,)
    column, mean, sd : float array, shape (n,)
        The observed variable and its fitted moments, row by row, in the units of the levels.
    distribution : function
        Of the standardised noise.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.special import ndtr
    >>> column, zeros = np.repeat([0.0, 1.0], [90, 10]), np.zeros(100)
    >>> find_thresholds(np.array([0.0, 1.0]), column, zeros, zeros + 1, ndtr).round(2).tolist()
    [1.28]
    """
    midpoints = 0.5 * (levels[1:] + levels[:-1])
    if len(levels) > MAX_LEVELS:
        return np.asarray(midpoints)
    shares = np.searchsorted(np.sort(column), midpoints) / len(column)
    step = max(1, len(mean) // _MAX_ROWS)
    m, v = mean[::step], sd[::step]
    at_nodes = distribution(_NODES)
    low = np.full(len(midpoints), float(np.min(m - _REACH * v)))
    high = np.full(len(midpoints), float(np.max(m + _REACH * v)))
    for _ in range(_STEPS):
        middle = 0.5 * (low + high)
        passed = np.interp((middle[:, None] - m) / v, _NODES, at_nodes).mean(axis=1)
        is_low = passed < shares
        low, high = np.where(is_low, middle, low), np.where(is_low, high, middle)
    return np.asarray(np.maximum.accumulate(0.5 * (low + high)))
