"""Read frames, arrays and nested lists into a labelled table of floats.

This module checks *types*: which columns are numeric, and their names. Whether the numbers are
usable (finite, varying, enough rows) is checked in `momentdag.table.checks`.
"""

from __future__ import annotations

import numbers
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeAlias

import narwhals as nw
import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy.sparse

from momentdag.errors import DataError, quote
from momentdag.storage.budget import BUDGET

__all__ = [
    "FloatArray",
    "Table",
    "as_array",
    "check_names",
    "enumerate_briefly",
    "quote",
    "read_column",
    "read_table",
]

FloatArray: TypeAlias = npt.NDArray[np.float64]

_MAX_LISTED = 5


@dataclass(frozen=True, eq=False)
class Table:
    """Named columns of floats; missing cells are NaN, nothing else is checked.

    Parameters
    ----------
    names : tuple of str
    values : float array, shape (n_samples, n_variables)
        Read-only, and not shared with other code.
    """

    names: tuple[str, ...]
    values: FloatArray


def enumerate_briefly(parts: Sequence[str]) -> str:
    """Join the first few parts with semicolons and count the rest."""
    more = len(parts) - _MAX_LISTED
    listed = "; ".join(parts[:_MAX_LISTED])
    return f"{listed}; and {more} more" if more > 0 else listed


def check_names(labels: Iterable[Any]) -> tuple[str, ...]:
    """Return column labels as text after checking that each is there and unique.

    Raises
    ------
    DataError
        If a label is missing, empty or not plain, or two are the same.
    """
    names: list[str] = []
    for position, label in enumerate(labels):
        if position >= BUDGET.columns:
            raise DataError(f"Expected at most {BUDGET.columns} columns; there are more.")
        if not pd.api.types.is_scalar(label):
            raise DataError(
                f"Expected one name for each column; column {position} (counting from 0) has the "
                f"label {quote(label)}. If the header has several levels, join them first."
            )
        if pd.isna(label) or not str(label).strip():
            raise DataError(
                f"Expected a name for each column; column {position} (counting from 0) is named "
                f"{quote(label)}. Rename or drop it."
            )
        name = str(label)
        if not name.isascii() and name.encode("utf-8", "replace").decode("utf-8") != name:
            raise DataError(
                f"Expected names that can be written as UTF-8; column {position} (counting from "
                f"0) is named {quote(name)}. Rename it."
            )
        names.append(name)
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        at = [
            f"{quote(name)} names columns {[i for i, n in enumerate(names) if n == name]}"
            for name in repeated
        ]
        raise DataError(f"Expected unique column names; {enumerate_briefly(at)}. Rename them.")
    return tuple(names)


def read_table(X: object, names: Sequence[str] | None = None) -> Table:
    """Read a frame, array or nested list as named columns of floats.

    Parameters
    ----------
    X : table, shape (n_samples, n_variables)
        A pandas, polars or pyarrow frame (or any other eager frame narwhals reads), a 2-D array,
        or a list of rows. Columns hold integers, floats or decimals.
    names : sequence of str, optional
        New names for the columns. By default the frame's own, and x1, x2, ... for arrays.

    Raises
    ------
    DataError
        If X is no table, a column is not numeric, or names are missing, repeated or too many.

    Examples
    --------
    >>> table = read_table([[1, 2.5], [3, None]])
    >>> table.names, table.values.tolist()
    (('x1', 'x2'), [[1.0, 2.5], [3.0, nan]])
    """
    if scipy.sparse.issparse(X):
        raise DataError("Expected a dense table; got a sparse matrix. Pass X.toarray().")
    labels: Iterable[Any]
    columns: Iterable[Any]
    if isinstance(X, pd.DataFrame):
        # Labels may be numbers or repeated, which narwhals refuses; it sees positions instead.
        labels, shape = X.columns, X.shape
        frame = nw.from_native(X.set_axis([str(i) for i in range(shape[1])], axis=1))
        columns = (frame[name] for name in frame.columns)
    elif isinstance(wrapped := nw.from_native(X, pass_through=True), nw.DataFrame):
        labels, shape = wrapped.columns, wrapped.shape
        columns = (wrapped[name] for name in wrapped.columns)
    elif isinstance(wrapped, nw.LazyFrame):
        raise DataError(f"Expected a table in memory; got {type(X).__name__}. Collect it first.")
    else:
        array = as_array(X)
        labels, shape = [f"x{i + 1}" for i in range(array.shape[1])], array.shape
        columns = array.T
    labelled = check_names(labels if names is None else _as_list(names, shape[1]))
    if type(X) is np.ndarray and _is_settled(X):
        return Table(labelled, X)
    values = np.empty(shape, dtype=np.float64, order="F")
    faults = []
    for position, column in enumerate(columns):
        numeric = read_column(column)
        if isinstance(numeric, str):
            faults.append(f"column {quote(labelled[position])} {numeric}")
        else:
            values[:, position] = numeric
    if faults:
        raise DataError(
            f"Expected numeric columns; {enumerate_briefly(faults)}. Drop them or turn them into "
            "numbers first (rows count from 0)."
        )
    values.setflags(write=False)
    return Table(labelled, values)


def read_column(column: Any, first_row: int = 0) -> FloatArray | str:
    """Return one column as floats with NaN for missing, or text on what it contains instead.

    Parameters
    ----------
    column : 1-D array, or a column of a frame that narwhals reads
    first_row : int
        Number of its first row, for the message.
    """
    if not isinstance(column, np.ndarray):
        column = nw.from_native(column, series_only=True)
    # A float too wide for float64 becomes infinite here and is reported as such later.
    with np.errstate(all="ignore"):
        if isinstance(column, nw.Series):
            return _series_numbers(column, first_row)
        return _numbers(column, first_row)


def _as_list(names: Sequence[str], n_variables: int) -> Sequence[str]:
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise DataError(f"Expected names as a list of text; got {quote(names)}.")
    names = list(names)
    if len(names) != n_variables:
        raise DataError(
            f"Expected one name for each of the {n_variables} columns; got {len(names)} names."
        )
    return names


def _is_settled(array: npt.NDArray[Any]) -> bool:
    """Tell whether an array was made here, so that it can be kept without a copy."""
    flags = array.flags
    return (
        array.dtype == np.float64 and flags.owndata and flags.f_contiguous and not flags.writeable
    )


def as_array(X: object) -> npt.NDArray[Any]:
    """Return anything that is not a frame as a 2-D array.

    Raises
    ------
    DataError
        If it has no rows and columns.
    """
    kind = type(X).__name__
    if isinstance(X, str):
        raise DataError("Expected a table; got text. Read a file with Dataset.from_file.")
    if X is None or isinstance(X, (bytes, dict, set, frozenset)):
        raise DataError(f"Expected a table; got {kind}. Try wrapping it in pandas.DataFrame.")
    try:
        if isinstance(X, (list, tuple)):
            # Numbers, booleans and text in one list must not be coerced to a common type.
            array = np.array(X, dtype=object)
        elif isinstance(X, np.ma.MaskedArray):
            array = np.array(X.data, dtype=object)
            array[np.ma.getmaskarray(X)] = None
        else:
            array = np.asarray(X)
    except Exception as error:  # a foreign __array__ may raise anything
        raise DataError(
            f"Expected a table of numbers; {kind} cannot be read as an array ({quote(str(error))})."
        ) from error
    if array.dtype.names is not None:
        raise DataError(
            f"Expected a plain 2-D array; got a structured one with fields "
            f"{list(array.dtype.names)}. Wrap it in pandas.DataFrame."
        )
    if array.ndim != 2:
        lengths = _row_lengths(X)
        if len(lengths) > 1:
            raise DataError(f"Expected rows of one length; got lengths {sorted(lengths)}.")
        raise DataError(
            f"Expected a 2-D table (rows are samples, columns variables); got {kind} of shape "
            f"{array.shape}. Reshape your data, for example X.reshape(-1, 1) for a single variable."
        )
    return array


def _row_lengths(X: object) -> set[int]:
    if not isinstance(X, (list, tuple)):
        return set()
    return {len(row) for row in X if isinstance(row, (list, tuple))}


def _series_numbers(series: Any, first_row: int) -> FloatArray | str:
    """Return one column of a frame as floats, or text on what it contains instead."""
    dtype = series.dtype
    native = series.to_native()
    declared = f"(dtype {getattr(native, 'dtype', getattr(native, 'type', dtype))})"
    if isinstance(dtype, nw.Boolean):
        return f"holds booleans {declared}"
    if isinstance(dtype, (nw.Categorical, nw.Enum)):
        return f"is categorical {declared}"
    if dtype.is_temporal():
        return f"holds dates or times {declared}"
    if dtype.is_nested():
        return f"holds lists or records {declared}"
    try:
        column = series.to_numpy()
    except Exception:  # for instance 128-bit integers; the way through Python objects always exists
        column = np.array([*series.to_list(), None], dtype=object)[:-1]
    return _numbers(column, first_row)


def _numbers(column: npt.NDArray[Any], first_row: int) -> FloatArray | str:
    """Return a 1-D array as floats with NaN for missing, or text on what it contains instead."""
    match column.dtype.kind:
        case "i" | "u" | "f":
            return column.astype(np.float64, copy=False)
        case "b":
            return "holds booleans"
        case "c":
            return "holds complex numbers (Complex data not supported)"
        case "M" | "m":
            return "holds dates or times"
        case "O" | "U" | "S" | "T":
            return _object_numbers(column.astype(object), first_row)
    return f"has dtype {column.dtype}"


def _object_numbers(column: npt.NDArray[np.object_], first_row: int) -> FloatArray | str:
    values = np.full(len(column), np.nan)
    for row, cell in enumerate(column, first_row):
        if cell is None or cell is pd.NA or cell is pd.NaT:
            continue
        if isinstance(cell, (bool, np.bool_)):
            return f"holds booleans ({cell} at row {row})"
        if isinstance(cell, (str, bytes)):
            return f"holds text ({quote(cell)} at row {row}{_conversion_hint(cell)})"
        if not isinstance(cell, (numbers.Real, Decimal)):
            return f"holds objects of type {type(cell).__name__} (first at row {row})"
        try:
            values[row - first_row] = float(cell)
        except OverflowError:
            return f"holds a number too large for a float (at row {row})"
        except (ArithmeticError, TypeError, ValueError):
            return f"holds a number that cannot be a float ({quote(cell)} at row {row})"
    return values


def _conversion_hint(cell: str | bytes) -> str:
    try:
        float(cell)
    except ValueError:
        return ""
    return "; convert numbers written as text with pandas.to_numeric or polars' cast"
