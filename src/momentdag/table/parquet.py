"""Read Parquet by column and row group: the table is filled in place, never held twice.

What the file says of itself (its footer: rows, columns, unpacked sizes) is held against the budget
before a page of it is unpacked. Texts are read as codes and dictionaries: as plain texts, a
dictionary of one long word and a thousand rows would make a thousand long words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from momentdag.errors import DataError, require
from momentdag.storage.budget import BUDGET
from momentdag.table.tables import (
    FloatArray,
    Table,
    check_names,
    enumerate_briefly,
    quote,
    read_column,
)

__all__ = [
    "ParquetSource",
    "index_columns",
    "is_nested",
    "open_parquet",
    "read_groups",
    "read_parquet",
]

_ROWS_AT_A_TIME = 2**17
"""Small row groups are read together up to this many rows: each read has a fixed cost."""


def read_parquet(file: Path, max_bytes: int) -> Table:
    """Read a Parquet file of numbers; besides the table, one column of a few row groups is held.

    Raises
    ------
    DataError
        If the file is damaged or unpacks to more than the budget allows, or a column is not
        numeric.
    MissingExtraError
        If pyarrow is not installed.
    """
    with open_parquet(file, max_bytes) as source:
        schema = source.file.schema_arrow
        stored = check_names(schema.names)
        index = index_columns(schema.pandas_metadata, stored)
        names = tuple(name for name in stored if name not in index)
        values = np.empty((source.file.metadata.num_rows, len(names)), dtype=np.float64, order="F")
        _fill(values, names, source)
    values.setflags(write=False)
    return Table(names, values)


class ParquetSource(NamedTuple):
    """An open file, and its columns of plain texts, which it reads as dictionaries."""

    file: Any
    texts: frozenset[str]


@contextmanager
def open_parquet(file: Path, max_bytes: int) -> Iterator[ParquetSource]:
    """Yield an open file whose footer is within the budget."""
    require("pyarrow", extra="parquet", purpose="Reading Parquet")
    import pyarrow.parquet

    try:
        _check_footer(file)
        with pyarrow.parquet.ParquetFile(file) as source:
            metadata, schema = source.metadata, source.schema_arrow
        _check_sizes(metadata, file.stat().st_size, max_bytes)
        texts = frozenset(field.name for field in schema if _is_text(field.type))
        with pyarrow.parquet.ParquetFile(
            file, metadata=metadata, read_dictionary=sorted(texts)
        ) as source:
            yield ParquetSource(source, texts)
    except DataError:
        raise
    except Exception as error:  # pyarrow raises many types for a damaged file
        raise DataError(
            f"Expected an intact Parquet file; pyarrow says: {quote(str(error))}. Write it again."
        ) from error


def _check_footer(file: Path) -> None:
    """Refuse a description of the columns that is itself too large."""
    with file.open("rb") as stream:
        size = stream.seek(0, 2)
        if size < 12:
            return  # no Parquet, as its reader will say
        stream.seek(size - 8)
        n_bytes = int.from_bytes(stream.read(4), "little")
    if size > n_bytes > BUDGET.parquet_footer_bytes:
        raise DataError(
            f"Expected at most {BUDGET.parquet_footer_bytes} bytes that describe the columns of a "
            f"Parquet file; this one has {n_bytes}. Write it with fewer columns or row groups."
        )


def _check_sizes(metadata: Any, file_bytes: int, max_bytes: int) -> None:
    """Refuse a file that unpacks to more than it may."""
    if metadata.num_columns > BUDGET.columns:
        raise DataError(
            f"Expected at most {BUDGET.columns} columns; the file has {metadata.num_columns}."
        )
    # A value of fixed length has one; others are numbers, or codes of texts.
    lengths = (metadata.schema.column(k).length or 0 for k in range(metadata.num_columns))
    n_bytes = metadata.num_rows * sum(max(8, length) for length in lengths)
    groups = (metadata.row_group(k).total_byte_size for k in range(metadata.num_row_groups))
    n_bytes = max(n_bytes, sum(groups))
    if n_bytes > max_bytes:
        raise DataError(
            f"Expected at most {max_bytes} bytes; the file unpacks to {n_bytes}. Pass a "
            "larger max_bytes, or fewer rows or columns."
        )
    limit = BUDGET.unpacked_bytes(file_bytes, max_bytes)
    if n_bytes > limit:
        raise DataError(
            f"Expected a file of {file_bytes} bytes to unpack to at most {limit}; it unpacks to "
            f"{n_bytes}. Write it with less compression, if it is honest."
        )


def _fill(values: FloatArray, names: tuple[str, ...], source: ParquetSource) -> None:
    faults: dict[str, str] = {}
    for start, stop, groups in _spans(source.file.metadata):
        for place, name in enumerate(names):
            if name in faults:
                continue
            if is_nested(source.file.schema_arrow.field(name).type):
                numeric: FloatArray | str = "holds lists or records"
            else:
                numeric = read_column(read_groups(source, groups, name), first_row=start)
            if isinstance(numeric, str):
                faults[name] = f"column {quote(name)} {numeric}"
            else:
                values[start:stop, place] = numeric
    if faults:
        raise DataError(
            f"Expected numeric columns; {enumerate_briefly(list(faults.values()))}. Drop them or "
            "turn them into numbers first (rows count from 0)."
        )


def read_groups(source: ParquetSource, groups: list[int], name: str) -> Any:
    """Return a column of some row groups; rows of the same text share one object."""
    column = source.file.read_row_groups(groups, columns=[name])[name]
    if name not in source.texts:
        return column
    pieces = [np.empty(0, dtype=object)]
    for chunk in column.chunks:
        words = np.array([*chunk.dictionary.to_pylist(), None], dtype=object)
        pieces.append(words[chunk.indices.fill_null(-1).to_numpy(zero_copy_only=False)])
    return np.concatenate(pieces)


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


def _is_text(kind: Any) -> bool:
    from pyarrow import types

    tests = (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary)
    return any(test(kind) for test in tests)


def is_nested(kind: Any) -> bool:
    """Tell whether a column holds lists or records."""
    from pyarrow import types

    return bool(types.is_nested(kind))


def index_columns(metadata: Any, names: Sequence[str]) -> frozenset[str]:
    """Return the columns that hold the row labels of the pandas frame that was stored."""
    labels = metadata.get("index_columns", []) if isinstance(metadata, dict) else []
    return frozenset(label for label in labels if isinstance(label, str) and label in names)
