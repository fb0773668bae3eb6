"""Reading the table and the knowledge that a command is given."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from momentdag.cli.parsing import parse_names
from momentdag.data import Dataset
from momentdag.data.files import read_file
from momentdag.errors import DataError, OptionError
from momentdag.knowledge import Knowledge

__all__ = ["EVERYTHING", "read_data", "read_knowledge"]

EVERYTHING = "all"


def read_data(path: Path, log_scale: str | None) -> tuple[Dataset, tuple[str, ...]]:
    """Read a table and take natural logarithms of the columns that ``log_scale`` lists.

    Returns
    -------
    Dataset, tuple of str
        The table and the columns that are logarithms now.

    Raises
    ------
    DataError
        If the table cannot be used or a column to be logged is not positive.
    OptionError
        If ``log_scale`` names an unknown column.
    """
    if log_scale is None:
        return Dataset.from_file(path, min_variables=2), ()
    try:
        table = read_file(path)
    except DataError as error:
        raise DataError(f"{path}: {error}") from error
    columns = table.names if log_scale == EVERYTHING else tuple(parse_names(log_scale))
    values = np.array(table.values)
    for name in columns:
        if name not in table.names:
            raise OptionError(
                f"Expected --log-scale to name columns among {list(table.names)}, or to be "
                f"{EVERYTHING!r}; got {name!r}."
            )
        column = table.names.index(name)
        low = np.flatnonzero(values[:, column] <= 0)
        if len(low):
            raise DataError(
                f"{path}: expected positive values for --log-scale; column {name!r} has {len(low)} "
                f"that are not (first at row {low[0]}). Rows count from 0."
            )
        values[:, column] = np.log(values[:, column])
    try:
        return Dataset.from_table(values, table.names, min_variables=2), columns
    except DataError as error:
        raise DataError(f"{path}: {error}") from error


def read_knowledge(path: Path | None) -> Knowledge | None:
    """Read a knowledge file, if there is one.

    Raises
    ------
    KnowledgeError
        If it is malformed.
    """
    return None if path is None else Knowledge.from_file(path)
