"""Raw tables: columns that keep what they are, whether or not a model can use them.

Nothing that is a table is refused here; what to do with a column is decided by
`momentdag.table.check`.
"""

from __future__ import annotations

import datetime as dt
import numbers
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from typing import Any, Literal, TypeAlias

import narwhals as nw
import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy.sparse

from momentdag.errors import DataError, quote
from momentdag.storage.budget import BUDGET
from momentdag.table.dataset import Dataset
from momentdag.table.tables import FloatArray, Table, as_array
from momentdag.table.texts import (
    MISSING_TEXTS,
    order_levels,
    parse_dates,
    parse_numbers,
    to_seconds,
)

__all__ = ["RawColumn", "RawTable", "RawType", "mend_names", "raw_from_table", "read_objects",
           "read_raw", "read_raw_column", "unusable_column"]  # fmt: skip

RawType: TypeAlias = Literal["number", "boolean", "text", "category", "date", "unusable"]


@dataclass(frozen=True, eq=False)
class RawColumn:
    """One column as it was found.

    Parameters
    ----------
    name : str
    type : {"number", "boolean", "text", "category", "date", "unusable"}
        A category is one that the frame declares.
    values : float array, shape (n,)
        Numbers; 0 and 1 for booleans; codes of levels for text and categories; seconds since 1970
        for dates. NaN for missing cells.
    levels : tuple of str
        What the codes stand for, in a sensible or declared order.
    is_ordered : bool
        Whether the frame declares the order of the levels.
    notes : tuple of str
        What was done to read it, and for an unusable one what it holds.
    """

    name: str
    type: RawType
    values: FloatArray
    levels: tuple[str, ...] = ()
    is_ordered: bool = False
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class RawTable:
    """Columns of one length, with notes on what was done to read them.

    Parameters
    ----------
    columns : tuple of RawColumn
    n_rows : int
    notes, mended : tuple of str
        Whole sentences: on how it was read, and on what was changed for that.
    units : mapping from name to str
        From a row of units under the header.
    """

    columns: tuple[RawColumn, ...]
    n_rows: int
    notes: tuple[str, ...] = ()
    mended: tuple[str, ...] = ()
    units: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The columns, in their order."""
        return tuple(column.name for column in self.columns)


def mend_names(labels: Iterable[Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return a unique name for each column, and sentences on the ones that were mended.

    Examples
    --------
    >>> mend_names(["x", "x", None])[0]
    ('x', 'x_2', 'column_3')
    """
    wanted, unnamed = [], []
    for place, label in enumerate(labels, 1):
        if isinstance(label, tuple):
            label = " ".join(str(part) for part in label if str(part).strip())
        missing = pd.api.types.is_scalar(label) and pd.isna(label)
        text = "" if missing else str(label).encode("utf-8", "replace").decode("utf-8")
        wanted.append(text if text.strip() else f"column_{place}")
        if not text.strip():
            unnamed.append(quote(f"column_{place}"))
    if len(wanted) > BUDGET.columns:
        raise DataError(f"Expected at most {BUDGET.columns} columns; got {len(wanted)}.")
    names: dict[str, int] = {}  # the last number given to a repeated one
    taken = set(wanted)
    repeated = []
    for name in wanted:
        if name in names:
            start = names[name] + 1
            k = next(k for k in range(start, start + len(taken)) if f"{name}_{k}" not in taken)
            names[name] = k
            taken.add(f"{name}_{k}")
            repeated.append(f"{quote(name)} is {quote(f'{name}_{k}')}")
            name = f"{name}_{k}"
        names[name] = 1
    notes = []
    if unnamed:
        notes.append(f"Columns without a name were named {', '.join(unnamed)}.")
    if repeated:
        notes.append(f"Repeated column names were mended: the next {', '.join(repeated)}.")
    return tuple(names), tuple(notes)


def raw_from_table(table: Table) -> RawTable:
    """Return a table of numbers as a raw one."""
    columns = [
        RawColumn(name, "number", column)
        for name, column in zip(table.names, table.values.T, strict=True)
    ]
    return RawTable(tuple(columns), len(table.values))


def read_raw(X: object) -> RawTable:
    """Read a frame, array or list of rows.

    Parameters
    ----------
    X : table, shape (n, d)
        A pandas, polars or pyarrow frame (or any other eager frame narwhals reads), a 2-D array,
        or a list of rows.

    Raises
    ------
    DataError
        If X is no table.

    Examples
    --------
    >>> raw = read_raw([[1, "a", True], [None, "b", False]])
    >>> [(column.name, column.type) for column in raw.columns]
    [('x1', 'number'), ('x2', 'text'), ('x3', 'boolean')]
    """
    if isinstance(X, Dataset):
        return raw_from_table(Table(X.names, X.values))
    if scipy.sparse.issparse(X):
        raise DataError("Expected a dense table; got a sparse matrix. Pass X.toarray().")
    labels: Iterable[Any]
    columns: list[Any]
    if isinstance(X, pd.DataFrame):
        labels, n_rows = X.columns, len(X)
        columns = [X.iloc[:, k] for k in range(X.shape[1])]
    elif isinstance(wrapped := nw.from_native(X, pass_through=True), nw.DataFrame):
        labels, n_rows = wrapped.columns, len(wrapped)
        columns = [wrapped[name] for name in wrapped.columns]
    elif isinstance(wrapped, nw.LazyFrame):
        raise DataError(f"Expected a table in memory; got {type(X).__name__}. Collect it first.")
    else:
        array = as_array(X)
        labels, n_rows = [f"x{k + 1}" for k in range(array.shape[1])], len(array)
        columns = list(array.T)
    names, mended = mend_names(labels)
    read = [read_raw_column(name, column) for name, column in zip(names, columns, strict=True)]
    return RawTable(tuple(read), n_rows, mended=mended)


def read_raw_column(name: str, column: Any) -> RawColumn:
    """Read a column of a frame that narwhals reads, or an array (n,)."""
    if not isinstance(column, np.ndarray | pd.Series):
        column = nw.from_native(column, series_only=True)
    try:
        if isinstance(column, np.ndarray):
            return _read_array(name, column)
        if isinstance(column, pd.Series):
            return _read_series(name, column)
        dtype = column.dtype
        if isinstance(dtype, (nw.Categorical, nw.Enum)):
            is_enum = isinstance(dtype, nw.Enum)
            # Where only the frame's own library knows the order, no categories are given.
            known = list(getattr(dtype, "categories", ())) if is_enum else []
            cells = pd.Categorical(column.to_list(), categories=known if known else None)
            return _read_categories(name, pd.Series(cells), bool(known))
        if isinstance(dtype, (nw.Datetime, nw.Date, nw.Duration)):
            return _read_series(name, pd.Series(column.to_numpy()))
        if dtype.is_nested():
            return unusable_column(name, len(column), f"holds lists or records ({dtype})")
        if dtype.is_numeric() and not dtype.is_decimal():
            return _read_array(name, column.cast(nw.Float64).to_numpy())
        return read_objects(name, np.array([*column.to_list(), None], dtype=object)[:-1])
    except DataError:
        raise
    except Exception as error:  # a foreign column may raise anything; the others can still be read
        return unusable_column(name, len(column), f"cannot be read ({quote(str(error))})")


def unusable_column(name: str, n_rows: int, what: str) -> RawColumn:
    """Return a column that no model can use, with what it holds."""
    return RawColumn(name, "unusable", np.full(n_rows, np.nan), notes=(what,))


def _number(name: str, values: FloatArray, *notes: str) -> RawColumn:
    return RawColumn(name, "number", np.asarray(values, dtype=np.float64), notes=notes)


def _read_array(name: str, column: npt.NDArray[Any]) -> RawColumn:
    with np.errstate(all="ignore"):
        match column.dtype.kind:
            case "i" | "u" | "f":
                return _number(name, column.astype(np.float64, copy=False))
            case "b":
                return RawColumn(name, "boolean", column.astype(np.float64), ("false", "true"))
            case "c":
                return unusable_column(
                    name, len(column), "holds complex numbers (Complex data not supported)"
                )
            case "M" | "m":
                return _read_series(name, pd.Series(column))
            case "O" | "U" | "S" | "T":
                return read_objects(name, column.astype(object))
    return unusable_column(name, len(column), f"has dtype {column.dtype}")


def _read_series(name: str, series: pd.Series) -> RawColumn:
    dtype = series.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return _read_categories(name, series, bool(dtype.ordered))
    if isinstance(dtype, pd.PeriodDtype):
        return RawColumn(name, "date", to_seconds(series.dt.start_time))
    if pd.api.types.is_bool_dtype(dtype):
        values = series.astype("boolean").to_numpy(dtype=np.float64, na_value=np.nan)
        return RawColumn(name, "boolean", values, ("false", "true"))
    if pd.api.types.is_datetime64_any_dtype(dtype):
        return RawColumn(name, "date", to_seconds(series))
    if pd.api.types.is_timedelta64_dtype(dtype):
        days = series.to_numpy(dtype="timedelta64[us]")
        values = np.where(np.isnat(days), np.nan, days.astype(np.int64) / 86_400e6)
        return _number(name, values, "durations are in days")
    if pd.api.types.is_complex_dtype(dtype):
        return _read_array(name, series.to_numpy())
    if pd.api.types.is_numeric_dtype(dtype):
        with np.errstate(all="ignore"):
            return _number(name, series.to_numpy(dtype=np.float64, na_value=np.nan))
    return read_objects(name, series.to_numpy(dtype=object))


def _read_categories(name: str, series: pd.Series, ordered: bool) -> RawColumn:
    counts = series.value_counts(sort=False)
    present = [level for level in series.cat.categories if counts.get(level, 0) > 0]
    texts = [str(level) for level in present]
    if len(set(texts)) < len(texts):  # 1 and "1"
        return read_objects(name, series.astype(object).to_numpy())
    levels = tuple(texts) if ordered else order_levels(texts)
    place = {level: levels.index(text) for level, text in zip(present, texts, strict=True)}
    codes = series.astype(object).map(place).to_numpy(dtype=np.float64)
    return RawColumn(name, "category", codes, levels, is_ordered=ordered)


def read_objects(
    name: str, cells: npt.NDArray[np.object_], *, decimal_comma: bool = False
) -> RawColumn:
    """Read a column of Python objects (n,): numbers, booleans, dates or text, or a mixture.

    ``decimal_comma`` says how to read a comma in a number where both readings are possible.
    """
    if any(isinstance(cell, str | bytes) and len(cell) > BUDGET.cell_letters for cell in cells):
        what = f"holds texts of more than {BUDGET.cell_letters} letters"
        return unusable_column(name, len(cells), what)
    if len(cells) and all(type(cell) is str for cell in cells):  # of a file: look at each text once
        return _read_texts(name, cells, decimal_comma)
    missing = np.array([_is_missing(cell) for cell in cells], dtype=bool)
    present = cells[~missing]
    if not len(present):
        return _number(name, np.full(len(cells), np.nan))
    kinds = {_kind_of(cell) for cell in present}
    if "other" in kinds:
        odd = next(cell for cell in present if _kind_of(cell) == "other")
        what = f"holds objects of type {type(odd).__name__}"
        if isinstance(odd, complex | np.complexfloating):
            what = "holds complex numbers (Complex data not supported)"
        return unusable_column(name, len(cells), what)
    values = np.full(len(cells), np.nan)
    if kinds == {"boolean"}:
        values[~missing] = present.astype(bool)
        return RawColumn(name, "boolean", values, ("false", "true"))
    if kinds <= {"number", "boolean"}:
        values[~missing] = [_as_float(cell) for cell in present]
        return _number(name, values)
    if kinds == {"date"}:
        naive = [pd.Timestamp(cell).tz_localize(None) for cell in present]
        stamps = pd.Series(pd.to_datetime(naive))
        values[~missing] = to_seconds(stamps)
        return RawColumn(name, "date", values)
    if kinds == {"duration"}:
        values[~missing] = [pd.Timedelta(cell) / pd.Timedelta(days=1) for cell in present]
        return _number(name, values, "durations are in days")
    texts = np.full(len(cells), None, dtype=object)
    texts[~missing] = [_as_text(cell) for cell in present]
    return _read_texts(name, texts, decimal_comma)


def _read_texts(name: str, cells: npt.NDArray[np.object_], decimal_comma: bool) -> RawColumn:
    """Read texts (n,), None for missing ones, by their distinct values."""
    stored, found = pd.factorize(cells)
    texts = [None if _is_missing(text) else _as_text(text) for text in found]
    levels = list(dict.fromkeys(text for text in texts if text is not None))
    if not levels:
        return _number(name, np.full(len(cells), np.nan))
    place = {level: k for k, level in enumerate(levels)}
    places = np.array([*(-1 if text is None else place[text] for text in texts), -1])
    every = places[stored]  # -1 is the last place
    present = every >= 0
    codes = every[present]
    counts = np.bincount(codes, minlength=len(levels)).tolist()
    values = np.full(len(present), np.nan)
    numeric = parse_numbers(levels, counts, decimal_comma=decimal_comma)
    if numeric is not None:
        values[present] = numeric.values[codes]
        notes = [f"numbers are written with {numeric.how}"] if numeric.how else []
        if numeric.odd:
            odd = ", ".join(quote(text) for text in numeric.odd)
            n_odd = sum(counts[levels.index(text)] for text in numeric.odd)
            notes.append(f"{odd} among numbers taken as missing ({n_odd} cells)")
        return _number(name, values, *notes)
    dates = parse_dates(levels)
    if dates is not None:
        seconds, pattern = dates
        values[present] = seconds[codes]
        swapped = parse_dates([_swap(x) for x in levels]) if pattern.startswith("%m/%d") else None
        both = swapped is not None and swapped[1] == pattern
        note = ("dates are read as month/day, though day/month is possible too",) if both else ()
        return RawColumn(name, "date", values, notes=note)
    ordered = order_levels(levels)
    rank = {level: k for k, level in enumerate(ordered)}
    values[present] = np.array([rank[level] for level in levels], dtype=np.float64)[codes]
    return RawColumn(name, "text", values, ordered)


def _swap(date: str) -> str:
    """Exchange month and day."""
    first, second, rest = date.split("/", 2)
    return f"{second}/{first}/{rest}"


def _is_missing(cell: Any) -> bool:
    if cell is None or cell is pd.NA or cell is pd.NaT:
        return True
    if isinstance(cell, str):
        return cell.strip().lower() in MISSING_TEXTS
    return bool(isinstance(cell, float | np.floating | Decimal) and cell != cell)


def _kind_of(cell: Any) -> str:
    if isinstance(cell, bool | np.bool_):
        return "boolean"
    if isinstance(cell, str | bytes):
        return "text"
    if isinstance(cell, numbers.Real | Decimal):
        return "number"
    if isinstance(cell, dt.date | np.datetime64):
        return "date"
    return "duration" if isinstance(cell, dt.timedelta | np.timedelta64) else "other"


def _as_float(cell: Any) -> float:
    try:
        return float(cell)
    except OverflowError:
        return float("inf") if cell > 0 else float("-inf")


def _as_text(cell: Any) -> str:
    if isinstance(cell, bytes):
        cell = cell.decode("utf-8", "replace")
    if isinstance(cell, bool | np.bool_):
        return "true" if cell else "false"
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 1e15:
        return str(int(cell))
    return str(cell).strip().encode("utf-8", "replace").decode("utf-8")
