"""Read Parquet by column and row group: the table is filled in place, never held twice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from momentdag.errors import DataError, require
from momentdag.table.tables import (
    FloatArray,
    Table,
    check_names,
    enumerate_briefly,
    quote,
    read_column,
)

__all__ = ["index_columns", "read_parquet"]

_ROWS_AT_A_TIME = 2**17
"""Small row groups are read together up to this many rows: each read has a fixed cost."""


def read_parquet(file: Path, max_bytes: int) -> Table:
    """Read a Parquet file; besides the table, one column of a few row groups is in memory.

    Raises
    ------
    DataError
        If the file is damaged or unpacks to more than ``max_bytes``, or a column is not numeric.
    MissingExtraError
        If pyarrow is not installed.
    """
    require("pyarrow", extra="parquet", purpose="Reading Parquet")
    import pyarrow.parquet

    try:
        with pyarrow.parquet.ParquetFile(file) as source:
            stored = check_names(source.schema_arrow.names)
            index = index_columns(source.schema_arrow.pandas_metadata, stored)
            names = tuple(name for name in stored if name not in index)
            shape = (source.metadata.num_rows, len(names))
            n_bytes = 8 * shape[0] * shape[1]
            if n_bytes > max_bytes:
                raise DataError(
                    f"Expected at most {max_bytes} bytes; the file unpacks to {n_bytes}. Pass a "
                    "larger max_bytes, or fewer rows or columns."
                )
            values = np.empty(shape, dtype=np.float64, order="F")
            _fill(values, names, source)
    except DataError:
        raise
    except Exception as error:  # pyarrow raises many types for a damaged file
        raise DataError(
            f"Expected an intact Parquet file; pyarrow says: {quote(str(error))}. Write it again."
        ) from error
    values.setflags(write=False)
    return Table(names, values)


def _fill(values: FloatArray, names: tuple[str, ...], source: Any) -> None:
    faults: dict[str, str] = {}
    for start, stop, groups in _spans(source.metadata):
        for place, name in enumerate(names):
            if name in faults:
                continue
            column = source.read_row_groups(groups, columns=[name])[name]
            numeric = read_column(column, first_row=start)
            if isinstance(numeric, str):
                faults[name] = f"column {quote(name)} {numeric}"
            else:
                values[start:stop, place] = numeric
    if faults:
        raise DataError(
            f"Expected numeric columns; {enumerate_briefly(list(faults.values()))}. Drop them or "
            "turn them into numbers first (rows count from 0)."
        )


def _spans(metadata: Any) -> Iterator[tuple[int, int, list[int]]]:
    """Yield the rows from start to stop that neighbouring row groups hold."""
    start = stop = 0
    groups: list[int] = []
    for group in range(metadata.num_row_groups):
        groups.append(group)
        stop += metadata.row_group(group).num_rows
        if stop - start >= _ROWS_AT_A_TIME or group == metadata.num_row_groups - 1:
            yield start, stop, groups
            start, groups = stop, []
    if stop != metadata.num_rows:
        raise DataError(
            f"Expected an intact Parquet file; it claims {metadata.num_rows} rows and holds {stop}."
        )


def index_columns(metadata: Any, names: Sequence[str]) -> frozenset[str]:
    """Return the columns that hold the row labels of the pandas frame that was stored."""
    labels = metadata.get("index_columns", []) if isinstance(metadata, dict) else []
    return frozenset(label for label in labels if isinstance(label, str) and label in names)
