"""Read any ordinary file as a raw table: text in several encodings, Excel, Parquet.

Clean tables of numbers take the fast way of `momentdag.table.files`; only what that refuses is
read again here, cell by cell. Lines count from 1.
"""

from __future__ import annotations

import codecs
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from momentdag.errors import DataError, MissingExtraError, OptionError, quote
from momentdag.storage.budget import BUDGET
from momentdag.table.delimited import Delimiter
from momentdag.table.excel import is_workbook, read_sheet
from momentdag.table.files import (
    MAX_FILE_BYTES,
    as_path,
    check_file,
    check_lines,
    read_file,
    reading,
)
from momentdag.table.loose_text import Records, cut_records
from momentdag.table.parquet_raw import read_parquet_raw
from momentdag.table.raw import (
    RawColumn,
    RawTable,
    mend_names,
    raw_from_table,
    read_objects,
)
from momentdag.table.texts import MISSING_TEXTS, parse_numbers

__all__ = ["read_raw_file"]

_MAX_UNIT = 16
_MAX_CONTROL_SHARE = 0.001


def read_raw_file(
    path: str | os.PathLike[str],
    delimiter: Delimiter | None = None,
    *,
    sheet: str | None = None,
    max_bytes: int = MAX_FILE_BYTES,
) -> RawTable:
    r"""Read delimited text, an Excel workbook or a Parquet file, whatever its columns hold.

    Parameters
    ----------
    path : path-like
    delimiter : {",", ";", "\t", "|", " "}, optional
        What separates the columns of a text file. Detected from the first lines by default.
    sheet : str, optional
        Of a workbook; the first by default.
    max_bytes : int
        Refuse larger files, and those that would unpack to more.

    Raises
    ------
    DataError
        If the file is no table; the message gives the line.
    MissingExtraError
        If the package that reads this format is not installed.
    OptionError
        If there is no such sheet, or the file is no workbook.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "sites.csv"
    ...     _ = path.write_text("site;dose\nnorth;1,5\nsouth;2,25\n")
    ...     raw = read_raw_file(path)
    >>> [(column.name, column.type) for column in raw.columns]
    [('site', 'text'), ('dose', 'number')]
    """
    file = as_path(path)
    with reading():
        start = check_file(file, max_bytes, any_format=True)
        if start.startswith(b"PK\x03\x04") and is_workbook(file):
            return _from_rows(_as_records(read_sheet(file, sheet, max_bytes)))
        if sheet is not None:
            raise OptionError(
                f"Expected an Excel workbook for sheet {quote(sheet)}; {path} is not."
            )
        try:
            return raw_from_table(read_file(file, delimiter, max_bytes))
        except MissingExtraError:
            raise
        except DataError as error:
            strict = error
        if start.startswith(b"PAR1") or file.suffix.lower() in (".parquet", ".pq"):
            try:
                return read_parquet_raw(file, max_bytes)
            except DataError:  # damaged or too large, as the strict reader has said already
                raise strict from None
        check_file(file, max_bytes, any_text=True)
        text, encoding = _decode(file)
        records = cut_records(text, delimiter)
    if encoding is not None:
        records = records._replace(notes=(*records.notes, f"The file was read as {encoding}."))
    return _from_rows(records)


def _decode(file: Path) -> tuple[str, str | None]:
    """Return the text of a file, and its encoding if that is not UTF-8."""
    n_bytes = file.stat().st_size
    if n_bytes > BUDGET.loose_text_bytes:
        raise DataError(
            f"Expected at most {BUDGET.loose_text_bytes} bytes of text that is not only numbers; "
            f"the file has {n_bytes}. Turn it into Parquet, or leave out rows or columns."
        )
    content = file.read_bytes()
    for start in range(0, n_bytes - BUDGET.line_bytes, BUDGET.line_bytes):
        check_lines(content[start : start + BUDGET.line_bytes])
    if content.startswith(codecs.BOM_UTF8):
        content = content[3:]
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return _decode_as(content, "utf-16"), "UTF-16"
    if b"\0" in content[:1000]:
        for name, first in (("utf-16-le", 1), ("utf-16-be", 0)):
            zeros = content[first:1000:2].count(0)
            if zeros > 0.8 * len(content[first:1000:2]):
                return _decode_as(content, name), "UTF-16"
    if b"\0" in content:
        at = content.index(b"\0")
        raise DataError(f"Expected text; byte {at} is NUL. Is this a binary file?")
    try:
        return content.decode("utf-8"), None
    except UnicodeDecodeError as error:
        fault = error
    try:
        text, name = content.decode("cp1252"), "Windows-1252 (western European)"
    except UnicodeDecodeError:
        text, name = content.decode("latin-1"), "Latin-1 (western European)"
    control = sum(ord(letter) < 32 and letter not in "\t\r\n\f" for letter in text[:100_000])
    if control > _MAX_CONTROL_SHARE * min(len(text), 100_000):
        raise DataError(
            f"Expected text; byte {fault.start} is neither UTF-8 nor part of a text in another "
            "encoding. Is this a binary file?"
        )
    return text, name


def _decode_as(content: bytes, encoding: str) -> str:
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        raise DataError(
            f"Expected UTF-16 text; byte {error.start} cannot be decoded ({error.reason}). Save "
            "the file in the encoding UTF-8."
        ) from None


def _as_records(rows: list[list[Any]]) -> Records:
    if len(rows) < 2:
        raise DataError("Expected a header line and rows; the sheet holds fewer than two rows.")
    header = ["" if cell is None else str(cell).strip() for cell in rows[0]]
    return Records(header, rows[1:], False, ())


def _from_rows(records: Records) -> RawTable:
    """Read columns from cut lines: without row labels, a row of units and empty columns."""
    header, rows = records.header, records.rows
    notes, changes = list(records.notes), []
    columns = [np.array([*column, None], dtype=object)[:-1] for column in zip(*rows, strict=True)]
    comma = records.decimal_comma
    read = [read_objects("", column, decimal_comma=comma) for column in columns]
    units = _find_units(rows[0], columns, read, comma) if len(rows) > 2 else None
    if units is not None:
        columns = [column[1:] for column in columns]
        read = [read_objects("", column, decimal_comma=comma) for column in columns]
    kept = list(range(len(columns)))
    if header[0] == "" and len(kept) > 1 and _are_row_labels(read[0]):
        kept.remove(0)
        notes.append("The first column has no name and holds row labels; it was left out.")
    empty = [k for k in kept if header[k] == "" and np.isnan(read[k].values).all()]
    kept = [k for k in kept if k not in empty]
    names, mended = mend_names([header[k] for k in kept])
    named = tuple(
        RawColumn(name, read[k].type, read[k].values, read[k].levels, notes=read[k].notes)
        for name, k in zip(names, kept, strict=True)
    )
    by_name: dict[str, str] = {}
    if units is not None:
        by_name = {name: units[k] for name, k in zip(names, kept, strict=True) if units[k]}
        said = ", ".join(f"{quote(name)} in {unit}" for name, unit in by_name.items())
        changes.append(f"The row under the header holds units and was left out: {said}.")
    n_rows = len(columns[0]) if columns else 0
    return RawTable(named, n_rows, tuple(notes), (*changes, *mended), by_name)


def _find_units(
    first: Sequence[Any],
    columns: list[Any],
    read: Sequence[RawColumn],
    decimal_comma: bool,
) -> list[str] | None:
    """Return the first row if it holds units: short texts above columns that are all numbers."""
    texts = ["" if cell is None else str(cell).strip() for cell in first]
    n_numeric = n_units = 0
    for text, column, whole in zip(texts, columns, read, strict=True):
        below = read_objects("", column[1:], decimal_comma=decimal_comma)
        if below.type != "number" or np.isnan(below.values).all():
            continue
        is_number = parse_numbers([text], [1]) is not None
        if is_number or len(text) > _MAX_UNIT or (whole.type == "number" and text == ""):
            if is_number or text:
                return None
            n_numeric += 1
            continue
        n_numeric += 1
        n_units += text.lower() not in MISSING_TEXTS
    return texts if n_units and 2 * n_units >= n_numeric else None


def _are_row_labels(column: RawColumn) -> bool:
    present = column.values[~np.isnan(column.values)]
    return len(np.unique(present)) == len(present)
