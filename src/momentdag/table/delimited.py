"""Read CSV, TSV and other delimited text into a labelled table of floats.

The fast path hands the file to pandas. Only when that fails is the text read again line by line, to
find the faulty line and column. Lines count from 1.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal, TextIO, TypeAlias

import numpy as np
import pandas as pd

from momentdag.errors import DataError
from momentdag.table.tables import Table, check_names, quote, read_table

__all__ = ["Delimiter", "read_delimited", "sniff"]

Delimiter: TypeAlias = Literal[",", ";", "\t", "|", " "]

_ENCODING = "utf-8-sig"  # plain UTF-8, or after the byte order mark that Excel writes
_SNIFFED: tuple[Delimiter, ...] = (",", ";", "\t", "|")
_SNIFFED_CHARACTERS = 2**20
_SNIFFED_LINES = 50

_BLANK: tuple[list[str], ...] = ([], [""])
"""How a line without content is cut; pandas skips such lines as well."""

_MISSING = frozenset(
    ["", "NA", "N/A", "#N/A", "<NA>", "n/a", "NaN", "nan", "-NaN", "-nan", "NULL", "null", "None"]
)
_BOOLEANS = frozenset(["True", "TRUE", "true", "False", "FALSE", "false"])
_NUMBER = re.compile(r"[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|inf(?:inity)?)", re.A | re.I)
_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+(?:e[+-]?\d+)?", re.A | re.I)

# Before 3.1 pandas rounded decimals inexactly unless asked; since then it warns if asked.
_EXACT_BY_DEFAULT = tuple(int(part) for part in pd.__version__.split(".")[:2]) >= (3, 1)
_read_csv: Callable[..., pd.DataFrame] = (
    pd.read_csv if _EXACT_BY_DEFAULT else partial(pd.read_csv, float_precision="round_trip")
)


def read_delimited(file: Path, delimiter: Delimiter | None = None) -> Table:
    """Read UTF-8 text with a header line; detect the delimiter if none is given.

    Raises
    ------
    DataError
        If the text is not a rectangular table of numbers; the message gives line and column.
    """
    try:
        with _open(file) as handle:
            sample = handle.read(_SNIFFED_CHARACTERS)
        if not sample.strip():
            raise DataError("Expected a header line and rows; the file holds only blank lines.")
        chosen = sniff(sample) if delimiter is None else delimiter
        header, n_read = _read_header(file, chosen)
        names = _check_header(header, chosen)
    except csv.Error as error:
        raise DataError(f"Expected delimited text; the parser says: {error}.") from error
    try:
        frame = _read_csv(
            file,  # pandas reads a path several times as fast as an open file
            sep=chosen,
            encoding=_ENCODING,
            compression=None,
            skiprows=n_read,
            header=None,
            dtype=np.float64,
            engine="c",
            skipinitialspace=True,
            keep_default_na=False,
            # pandas would read a column of booleans as 0 and 1; as missing cells they are noticed.
            na_values=[*_MISSING, *_BOOLEANS],
        )
    except pd.errors.EmptyDataError:
        raise DataError("Expected rows below the header; the file holds only a header.") from None
    except Exception as error:  # the parser raises many types; the scan names the place
        _raise_first_fault(file, chosen, names)
        raise DataError(
            f"Expected a table of numbers; the parser says: {quote(str(error))}."
        ) from error
    # A row that is too short shows up as missing cells too.
    if frame.shape[1] != len(names) or any(frame[column].isna().any() for column in frame):
        _raise_first_fault(file, chosen, names)
    return read_table(frame, names)


def sniff(sample: str) -> Delimiter:
    """Return the delimiter that best cuts the first lines into equally many numbers each."""
    lines = [line for line in io.StringIO(sample, newline="") if line.strip()]
    if len(sample) == _SNIFFED_CHARACTERS:
        lines = lines[:-1] or lines  # the last one may be cut off
    scores: dict[Delimiter, tuple[bool, float, int]] = {}
    for candidate in _SNIFFED:
        try:
            records = list(_records(lines[:_SNIFFED_LINES], candidate))
        except csv.Error:  # a field is too long, as a wide header is when it is not cut
            continue
        width = len(records[0])
        regular = width > 1 and all(len(record) == width for record in records)
        cells = [cell.strip() for record in records[1:] for cell in record]
        numeric = sum(bool(_NUMBER.fullmatch(c) or _DECIMAL_COMMA.fullmatch(c)) for c in cells)
        scores[candidate] = (regular, numeric / max(len(cells), 1) if regular else 0.0, width)
    return max(scores, key=lambda candidate: scores[candidate], default=",")


def _read_header(file: Path, delimiter: str) -> tuple[list[str], int]:
    """Return the names, and the number of records (a quoted name may span lines) up to them."""
    with _open(file) as handle:
        for n_before, record in enumerate(_records(handle, delimiter)):
            if record not in _BLANK:
                return [field.strip() for field in record], n_before + 1
    raise DataError("Expected a header line and rows; the file holds only blank lines.")


def _check_header(header: list[str], delimiter: Delimiter) -> tuple[str, ...]:
    if len(header) == 1:
        for other in _SNIFFED:
            if other != delimiter and other in header[0]:
                raise DataError(
                    f"Expected columns separated by {delimiter!r}; the header has the one column "
                    f"{quote(header[0])}. Pass delimiter={other!r}, or leave it out to detect it."
                )
    if header[0] == "":
        raise DataError(
            "Expected a name for each column; the first has none. If it holds row labels, drop it "
            "or write the file with index=False."
        )
    # 0, 1, 2, ... is what pandas writes for a frame without names.
    numbered = [str(i) for i in range(len(header))]
    if header != numbered and all(_NUMBER.fullmatch(name) for name in header):
        raise DataError(
            "Expected names in the first line; it holds only numbers, beginning with "
            f"{quote(header[0])}. Add a header line."
        )
    return check_names(header)


def _raise_first_fault(file: Path, delimiter: str, names: Sequence[str]) -> None:
    """Read line by line and raise an error at the first faulty line or cell, if there is one."""
    with _open(file) as handle:
        reader = _records(handle, delimiter)
        seen_header = False
        while True:
            line = reader.line_num + 1
            try:
                record = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                raise DataError(f"Expected delimited text; line {line}: {error}.") from error
            if record in _BLANK:
                continue
            if seen_header:
                _check_record(record, line, names)
            seen_header = True


def _check_record(record: list[str], line: int, names: Sequence[str]) -> None:
    if len(record) != len(names):
        hint = ""
        if len(record) == 2 * len(names):
            hint = " Numbers with a decimal comma need another delimiter, and decimal points."
        elif len(record) == len(names) + 1:
            hint = " If the lines begin with row labels, as R writes them, remove these."
        raise DataError(
            f"Expected {len(names)} fields in every line, as in the header; line {line} has "
            f"{len(record)}. Correct that line, or pass another delimiter.{hint}"
        )
    for name, field in zip(names, record, strict=True):
        cell = field.strip(" \t")
        if _NUMBER.fullmatch(cell) or field in _MISSING:
            continue
        if cell in _MISSING:
            remedy = "Drop or impute missing cells first."
        elif _DECIMAL_COMMA.fullmatch(cell):
            remedy = (
                "Write decimal points, or read it with pandas.read_csv(path, sep=..., decimal=',') "
                "and pass the frame."
            )
        elif len(names) == 1 and len(cell.split()) == len(names[0].split()) > 1:
            remedy = "If spaces separate the columns, pass delimiter=' '."
        else:
            remedy = "Drop the column or turn it into numbers first."
        raise DataError(
            f"Expected numbers; column {quote(name)} has {quote(cell)} in line {line}. {remedy}"
        )


def _open(file: Path) -> TextIO:
    return file.open(encoding=_ENCODING, newline="")


def _records(handle: Iterable[str], delimiter: str) -> Any:
    return csv.reader(handle, delimiter=delimiter, skipinitialspace=True)
