"""Standardise columns so that nothing depends on the units they were measured in."""

from __future__ import annotations

import numpy as np

from momentdag.table.tables import FloatArray

__all__ = ["standardise_column"]

_NEGLIGIBLE_SPREAD = 10 * float(np.finfo(np.float64).eps)
"""A standard deviation below this share of the largest value is rounding, not variation."""


def standardise_column(column: FloatArray) -> tuple[FloatArray, float, float] | str:
    """Return (values - mean) / sd with the mean and the population sd, or text on why it cannot.

    The column is first divided by a power of two, which is exact: no intermediate result
    overflows or underflows, and columns that differ by a power of two give identical results.

    Parameters
    ----------
    column : float array, shape (n_samples,)
        Finite values.

    Returns
    -------
    standardised : float array, shape (n_samples,)
    location, scale : float

    Examples
    --------
    >>> import numpy as np
    >>> standardised, location, scale = standardise_column(np.array([1e308, -1e308]))
    >>> standardised.tolist(), location, scale
    ([1.0, -1.0], 0.0, 1e+308)
    >>> standardise_column(np.ones(3))
    'is 1.0 in every row; drop it'
    """
    largest = np.abs(column).max()
    if column.min() == column.max():
        return f"is {float(column[0])} in every row; drop it"
    exponent = int(np.frexp(largest)[1])
    unit = np.ldexp(column, -exponent)
    mean = unit.mean()
    mean += (unit - mean).mean()
    centred = unit - mean
    spread_exponent = int(np.frexp(np.abs(centred).max())[1])
    centred = np.ldexp(centred, -spread_exponent)
    # The mean is rounded to the precision of the values; where these hardly vary that matters.
    centred -= centred.mean()
    sd = np.sqrt(np.mean(centred**2))
    if np.ldexp(sd, spread_exponent) <= _NEGLIGIBLE_SPREAD * np.abs(unit).max():
        return f"is {float(column[0])} in every row up to rounding; drop it or subtract an offset"
    scale = float(np.ldexp(sd, exponent + spread_exponent))
    if scale < np.finfo(np.float64).tiny:
        return "varies by less than the smallest normal float, 2.2e-308; use a smaller unit"
    return centred / sd, float(np.ldexp(mean, exponent)), scale
