"""Read the inputs of a command: tables, knowledge files, and the texts of its options."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from momentdag.errors import DataError, OptionError, quote
from momentdag.knowledge import Knowledge
from momentdag.table import Dataset
from momentdag.table.files import read_file

__all__ = [
    "parse_costs",
    "parse_limits",
    "parse_names",
    "parse_options",
    "parse_settings",
    "read_data",
    "read_knowledge",
]

_ALL_COLUMNS = "all"
_MAX_SETTINGS = 10_000


def read_data(path: Path, log_scale: str | None) -> tuple[Dataset, tuple[str, ...]]:
    """Read a table and take natural logarithms of the columns that ``log_scale`` lists.

    Returns
    -------
    Dataset, tuple of str
        The table, and the columns that are logarithms now.

    Raises
    ------
    DataError
        If the table cannot be used or a column to be logged is not positive.
    OptionError
        If ``log_scale`` names an unknown column.
    """
    try:
        table = read_file(path)
        columns = _log_columns(table.names, log_scale)
        values = _with_logs(table.values, table.names, columns) if columns else table.values
        return Dataset.from_table(values, table.names, min_variables=2), columns
    except DataError as error:
        raise DataError(f"{path}: {error}") from error.__cause__


def read_knowledge(path: Path | None) -> Knowledge | None:
    """Read a knowledge file, if there is one.

    Raises
    ------
    KnowledgeError
        If it is malformed.
    """
    return None if path is None else Knowledge.from_file(path)


def _log_columns(names: tuple[str, ...], log_scale: str | None) -> tuple[str, ...]:
    if log_scale is None:
        return ()
    if log_scale == _ALL_COLUMNS:
        return names
    columns = tuple(parse_names(log_scale))
    for name in columns:
        if name not in names:
            raise OptionError(
                f"Expected --log-scale to name columns among {list(names)}, or to be "
                f"{_ALL_COLUMNS!r}; got {name!r}."
            )
    return columns


def _with_logs(
    values: npt.NDArray[np.float64], names: tuple[str, ...], columns: tuple[str, ...]
) -> npt.NDArray[np.float64]:
    logged = np.array(values)
    for name in columns:
        column = names.index(name)
        not_positive = np.flatnonzero(values[:, column] <= 0)
        if len(not_positive):
            raise DataError(
                f"expected positive values for --log-scale; column {name!r} has "
                f"{len(not_positive)} that are not (first at row {not_positive[0]}). Rows count "
                "from 0."
            )
        logged[:, column] = np.log(values[:, column])
    return logged


def parse_settings(texts: Sequence[str]) -> dict[str, list[float]]:
    """Read ``name=3``, ``name=1,2,3`` and ``name=0:10:5`` (five values from 0 to 10).

    Raises
    ------
    OptionError
        If a text is not of that form or a name is repeated.

    Examples
    --------
    >>> parse_settings(["pkc=3", "mek=0:1:3"])
    {'pkc': [3.0], 'mek': [0.0, 0.5, 1.0]}
    """
    settings: dict[str, list[float]] = {}
    for text in texts:
        name, values = _assignment(text, "--do")
        if name in settings:
            raise OptionError(f"Expected --do once for each variable; {quote(name)} is repeated.")
        if ":" in values:
            parts = values.split(":")
            if len(parts) != 3 or not parts[2].strip().isdecimal():
                raise OptionError(f"Expected --do NAME=LOW:HIGH:COUNT; got {quote(text)}.")
            low, high, count = _number(parts[0], text), _number(parts[1], text), int(parts[2])
            if not 1 <= count <= _MAX_SETTINGS:
                raise OptionError(f"Expected 1 to {_MAX_SETTINGS} values; got {quote(text)}.")
            settings[name] = np.linspace(low, high, count).tolist()
        else:
            settings[name] = [_number(value, text) for value in values.split(",")]
    return settings


def parse_limits(texts: Sequence[str]) -> dict[str, tuple[float | None, float | None]] | None:
    """Read ``name=low:high``, either side of which may be left open; None if there are none.

    Raises
    ------
    OptionError
        If a text is not of that form, or low is not below high.

    Examples
    --------
    >>> parse_limits(["erk=15:25", "akt=:3"])
    {'erk': (15.0, 25.0), 'akt': (None, 3.0)}
    """
    limits = {}
    for text in texts:
        name, values = _assignment(text, "--limits")
        sides = values.split(":")
        if len(sides) != 2:
            raise OptionError(f"Expected --limits NAME=LOW:HIGH; got {quote(text)}.")
        low, high = (_number(side, text) if side.strip() else None for side in sides)
        if low is not None and high is not None and low >= high:
            raise OptionError(f"Expected --limits with low < high; got {quote(text)}.")
        limits[name] = (low, high)
    return limits if limits else None


def parse_costs(texts: Sequence[str]) -> dict[str, float] | None:
    """Read ``name=number``; None if there are none.

    Raises
    ------
    OptionError
        If a text is not of that form.

    Examples
    --------
    >>> parse_costs(["oven=3", "belt=0.5"])
    {'oven': 3.0, 'belt': 0.5}
    """
    costs = {}
    for text in texts:
        name, value = _assignment(text, "--cost")
        costs[name] = _number(value, text)
    return costs if costs else None


def parse_names(text: str) -> list[str]:
    """Read names separated by commas.

    Examples
    --------
    >>> parse_names("raf, mek")
    ['raf', 'mek']
    """
    return [name for part in text.split(",") if (name := part.strip())]


def parse_options(texts: Sequence[str]) -> dict[str, Any]:
    """Read ``name=value``; a value that is not JSON is taken as text.

    Raises
    ------
    OptionError
        If a text has no equals sign.

    Examples
    --------
    >>> parse_options(["n_starts=3", "noise=gaussian", "n_inducing=null"])
    {'n_starts': 3, 'noise': 'gaussian', 'n_inducing': None}
    """
    options: dict[str, Any] = {}
    for text in texts:
        name, value = _assignment(text, "--option")
        try:
            options[name] = json.loads(value)
        except (ValueError, RecursionError):
            options[name] = value
    return options


def _assignment(text: str, option: str) -> tuple[str, str]:
    # The last equals sign: numbers have none, names may.
    name, equals, value = text.rpartition("=")
    if not equals or not name.strip() or not value.strip():
        raise OptionError(f"Expected {option} NAME=VALUE; got {quote(text)}.")
    return name.strip(), value.strip()


def _number(text: str, whole: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise OptionError(f"Expected a number; got {quote(text)} in {quote(whole)}.")
    return number
