"""Check whether a table of numbers is usable, and note what needs attention.

Each check raises a `DataError` that names the columns concerned; rows count from 0.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from momentdag.errors import DataError
from momentdag.storage.budget import BUDGET
from momentdag.table.observed import correlate
from momentdag.table.tables import FloatArray, enumerate_briefly, quote

__all__ = [
    "EXTREME_SD",
    "MAX_SD",
    "MIN_SAMPLES",
    "SAMPLES_PER_VARIABLE",
    "check_finite",
    "check_no_copies",
    "check_numbers",
    "check_shape",
    "check_variances",
    "check_width",
    "find_copies",
    "take_notes",
]

MIN_SAMPLES = 10
"""Fewer rows than this are refused: they contain almost no information on conditional variances."""

SAMPLES_PER_VARIABLE = 10
"""Fewer rows than this for each variable are worth a warning."""

EXTREME_SD = 10.0
"""A cell further than this many standard deviations from its column's mean is extreme."""

MAX_SD = 1e140
"""A fit refuses columns with a larger sd, or one below its inverse: squares must stay finite, also
those of values far out in a tail."""

_EPS = float(np.finfo(np.float64).eps)

_COPY_TOLERANCE = 1e-6
"""How far linear copies may disagree, in quartile ranges: enough for single precision."""


def check_shape(shape: tuple[int, ...], min_variables: int) -> None:
    """Refuse tables with too few columns or rows.

    Raises
    ------
    DataError
        If there are fewer than ``min_variables`` columns or `MIN_SAMPLES` rows.
    """
    n_samples, n_variables = shape
    # The wording "k feature(s) (shape=...)" is the one scikit-learn's estimator checks look for.
    if n_variables < min_variables:
        raise DataError(
            f"Expected a table with more variables; got {n_variables} feature(s) "
            f"(shape={(n_samples, n_variables)}) while a minimum of {min_variables} is required."
        )
    if n_samples < MIN_SAMPLES:
        raise DataError(
            f"Expected at least {MIN_SAMPLES} rows; got n_samples={n_samples}. Collect more."
        )


def check_width(n_columns: int) -> None:
    """Refuse more columns than can all be compared with one another.

    Raises
    ------
    DataError
        If there are more than the budget allows.
    """
    if n_columns > BUDGET.checked_columns:
        raise DataError(
            f"Expected at most {BUDGET.checked_columns} columns; got {n_columns}. Name those to "
            "use with the option `columns`."
        )


def check_finite(names: Sequence[str], values: FloatArray, *, allow_missing: bool = False) -> None:
    """Refuse infinite cells and, unless they are allowed, missing ones (NaN).

    Parameters
    ----------
    names : sequence of str
    values : float array, shape (n_samples, n_variables)
    allow_missing : bool

    Raises
    ------
    DataError
        With the columns, the number of such cells in each, and the first row.
    """
    missing: list[str] = []
    infinite: list[str] = []
    for j, name in enumerate(names):
        bad = np.flatnonzero(~np.isfinite(values[:, j]))
        is_nan = np.isnan(values[bad, j])
        for rows, found in ((bad[is_nan], missing), (bad[~is_nan], infinite)):
            if len(rows):
                found.append(f"column {quote(name)} has {len(rows)} (first at row {rows[0]})")
    if missing and not allow_missing:
        raise DataError(
            f"Expected no missing values (NaN); {enumerate_briefly(missing)}. Drop or impute them "
            "first. Rows count from 0."
        )
    if infinite:
        raise DataError(
            f"Expected no infinite values (inf); {enumerate_briefly(infinite)}. Drop or replace "
            "them first. Rows count from 0."
        )


def check_no_copies(
    names: Sequence[str], values: FloatArray, standardised: FloatArray, scale: FloatArray
) -> None:
    """Refuse columns that are linear functions of another within rounding.

    Parameters
    ----------
    names : sequence of str
    values, standardised : float array, shape (n_samples, n_variables)
        Columns with missing cells (NaN) are compared in the rows that both have.
    scale : float array, shape (n_variables,)

    Raises
    ------
    DataError
        With both columns of each such pair.
    """
    pairs = [
        f"{quote(names[j])} repeats {quote(names[i])}"
        for i, j in find_copies(values, standardised, scale)
    ]
    if pairs:
        raise DataError(
            "Expected no column that is a linear copy of another (|correlation| 1 within "
            f"rounding); {enumerate_briefly(pairs)}. Drop one of the two."
        )


def find_copies(
    values: FloatArray, standardised: FloatArray, scale: FloatArray
) -> list[tuple[int, int]]:
    """Return pairs of columns, the later of which is a linear function of the earlier.

    Parameters
    ----------
    values, standardised : float array, shape (n_samples, n_variables)
    scale : float array, shape (n_variables,)
    """
    n_variables = values.shape[1]
    correlations = correlate(standardised)
    pairs: list[tuple[int, int]] = []
    copied: set[int] = set()
    for i in range(n_variables - 1):
        if i in copied:
            continue
        for j in (i + 1 + np.flatnonzero(np.abs(correlations[i, i + 1 :]) > 1 - 1e-9)).tolist():
            sign = float(np.sign(correlations[i, j]))
            z = standardised[:, [i, j]] * [1.0, sign]
            x = values[:, [i, j]] * [0.5, 0.5 * sign]
            both = ~np.isnan(z).any(axis=1)
            if not both.all():
                if both.sum() < MIN_SAMPLES:
                    continue
                # Means and sds of the common rows only, or exact copies would differ.
                x = x[both]
                z = (x - x.mean(axis=0)) / x.std(axis=0)
            if _agree_up_to_rounding(x, z, scale[[i, j]]) or _agree_robustly(x):
                copied.add(j)
                pairs.append((i, j))
    return pairs


def _agree_up_to_rounding(halves: FloatArray, z: FloatArray, scale: FloatArray) -> bool:
    # Each value was rounded once when it was stored and a few times while it was standardised.
    rounding = 32 * _EPS * np.sum(np.abs(halves).max(axis=0) / scale)
    return bool(np.abs(z[:, 0] - z[:, 1]).max() <= rounding)


def _agree_robustly(halves: FloatArray) -> bool:
    """Compare in quartile ranges: the sd may come from one enormous cell that both columns share.

    The columns arrive halved, so that no difference of finite values overflows.
    """
    low, middle, high = np.percentile(halves, [25, 50, 75], axis=0)
    if not np.all(high > low):
        return False
    with np.errstate(all="ignore"):  # an enormous cell may overflow here; then they disagree
        robust = (halves - middle) / (high - low)
        difference = np.abs(robust[:, 0] - robust[:, 1])
        return bool(np.all(difference <= _COPY_TOLERANCE * (1 + np.abs(robust[:, 0]))))


def check_variances(names: Sequence[str], scale: FloatArray) -> None:
    """Refuse columns whose variance is too large or too small for a float.

    Parameters
    ----------
    names : sequence of str
    scale : float array, shape (n_variables,)
        Their standard deviations.

    Raises
    ------
    DataError
        With the columns and their standard deviations.

    Examples
    --------
    >>> check_variances(["light"], np.array([1e-200]))
    Traceback (most recent call last):
    ...
    momentdag.errors.DataError: Expected standard deviations between 1e-140 and 1e+140; column
    'light' has 1e-200. Use another unit.
    """
    faults = [
        f"column {quote(name)} has {sd:.3g}"
        for name, sd in zip(names, scale, strict=True)
        if not 1 / MAX_SD <= sd <= MAX_SD
    ]
    if faults:
        raise DataError(
            f"Expected standard deviations between {1 / MAX_SD:g} and {MAX_SD:g}; "
            f"{enumerate_briefly(faults)}. Use another unit."
        )


def take_notes(
    names: Sequence[str], values: FloatArray, standardised: FloatArray
) -> tuple[str, ...]:
    """Return notes on what needs attention: extreme cells, few rows.

    Parameters
    ----------
    names : sequence of str
    values, standardised : float array, shape (n_samples, n_variables)
        Missing cells are NaN.
    """
    n_samples, n_variables = values.shape
    extreme: list[tuple[float, str]] = []
    for j, name in enumerate(names):
        row = int(np.nanargmax(np.abs(standardised[:, j])))
        z = float(standardised[row, j])
        if abs(z) > EXTREME_SD:
            extreme.append((-abs(z), f"column {quote(name)} at row {row} (z = {z:.1f})"))
    notes: list[str] = []
    if extreme:
        notes.append(
            f"Cells more than {EXTREME_SD:g} standard deviations from the mean: "
            f"{enumerate_briefly([text for _, text in sorted(extreme)])}. Check them: one such "
            "cell can make or hide a variance edge. Rows count from 0."
        )
    if n_samples < SAMPLES_PER_VARIABLE * n_variables:
        notes.append(
            f"Few rows: {n_samples} for {n_variables} variables, fewer than "
            f"{SAMPLES_PER_VARIABLE} for each. Expect an uncertain posterior; more rows or fewer "
            "variables help."
        )
    return tuple(notes)


def check_numbers(names: Sequence[str], kinds: Sequence[str], who: str) -> None:
    """Refuse categories, whose codes are no numbers.

    Raises
    ------
    DataError
        With the columns, and ``who`` needs numbers.
    """
    faults = [quote(name) for name, kind in zip(names, kinds, strict=True) if kind == "category"]
    if faults:
        raise DataError(
            f"{who} takes numbers only; categories: {enumerate_briefly(faults)}. Leave them out, "
            "or use the evidence engine with its usual family."
        )
