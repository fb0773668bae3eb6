"""Standardise columns so that nothing depends on the units they were measured in."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from momentdag.errors import DataError, quote
from momentdag.table.tables import FloatArray, enumerate_briefly

__all__ = ["standardise_column", "standardise_columns"]

_NEGLIGIBLE_SPREAD = 10 * float(np.finfo(np.float64).eps)
"""A standard deviation below this share of the largest value is rounding, not variation."""


def standardise_column(column: FloatArray) -> tuple[FloatArray, float, float] | str:
    """Return (values - mean) / sd with the mean and the population sd, or text on why it cannot.

    The column is first divided by a power of two, which is exact: no intermediate result
    overflows or underflows, and columns that differ by a power of two give identical results.

    Parameters
    ----------
    column : float array, shape (n_samples,)
        Finite values, or NaN for missing cells, which stay NaN and enter nothing.

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
    missing = np.isnan(column)
    if missing.any():
        if missing.all():
            return "has no observed cell; drop it"
        present = standardise_column(column[~missing])
        if isinstance(present, str):
            return present
        standardised = np.full(len(column), np.nan)
        standardised[~missing] = present[0]
        return standardised, present[1], present[2]
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


def standardise_columns(
    names: Sequence[str], values: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return means (d,), sds (d,) and standardised columns (n, d), all read-only.

    Raises
    ------
    DataError
        With every column that does not vary.
    """
    location, scale = np.empty((2, len(names)))
    standardised = np.empty_like(values)
    faults = []
    for j, name in enumerate(names):
        column = standardise_column(values[:, j])
        if isinstance(column, str):
            faults.append(f"column {quote(name)} {column}")
        else:
            standardised[:, j], location[j], scale[j] = column
    if faults:
        raise DataError(f"Expected columns that vary; {enumerate_briefly(faults)}.")
    for array in (location, scale, standardised):
        array.setflags(write=False)
    return location, scale, standardised
