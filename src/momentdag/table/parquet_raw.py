"""Read a Parquet file whose columns are not all numbers, one column after the other."""

from __future__ import annotations

from pathlib import Path

from momentdag.table.parquet import index_columns, is_nested, open_parquet, read_groups
from momentdag.table.raw import RawColumn, RawTable, mend_names, read_raw_column, unusable_column

__all__ = ["read_parquet_raw"]


def read_parquet_raw(file: Path, max_bytes: int) -> RawTable:
    """Read a Parquet file with columns of any type, one after the other.

    Raises
    ------
    DataError
        As from `read_parquet`, except of columns that are not numeric.
    """
    with open_parquet(file, max_bytes) as source:
        schema, metadata = source.file.schema_arrow, source.file.metadata
        index = index_columns(schema.pandas_metadata, schema.names)
        stored = [name for name in schema.names if name not in index]
        names, mended = mend_names(stored)
        groups = list(range(metadata.num_row_groups))
        columns: list[RawColumn] = []
        for name, title in zip(stored, names, strict=True):
            if is_nested(schema.field(name).type):
                what = f"holds lists or records ({schema.field(name).type})"
                columns.append(unusable_column(title, metadata.num_rows, what))
            else:
                columns.append(read_raw_column(title, read_groups(source, groups, name)))
    return RawTable(tuple(columns), metadata.num_rows, mended=mended)
