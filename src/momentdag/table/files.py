"""Open a file: detect its format, refuse files that cannot be a table, and read the others."""

from __future__ import annotations

import codecs
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import get_args

from momentdag.errors import DataError, OptionError
from momentdag.storage.budget import BUDGET
from momentdag.table.delimited import Delimiter, read_delimited
from momentdag.table.parquet import read_parquet
from momentdag.table.tables import Table, quote

__all__ = [
    "MAX_FILE_BYTES",
    "Delimiter",
    "as_path",
    "check_file",
    "check_lines",
    "read_file",
    "reading",
]

MAX_FILE_BYTES = BUDGET.table_bytes
"""Larger files are refused unless the caller raises the limit: 4 GiB."""

_FOREIGN = {
    b"\x1f\x8b": "gzip-compressed; unpack it first",
    b"BZh": "bzip2-compressed; unpack it first",
    b"\xfd7zXZ": "xz-compressed; unpack it first",
    b"PK\x03\x04": "a zip archive or an Excel workbook; unpack it or export it as CSV",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook; export it as CSV",
    b"\xff\xfe": "UTF-16 text; save it as UTF-8",
    b"\xfe\xff": "UTF-16 text; save it as UTF-8",
}


def read_file(
    path: str | os.PathLike[str],
    delimiter: Delimiter | None = None,
    max_bytes: int = MAX_FILE_BYTES,
) -> Table:
    r"""Read a Parquet file or delimited text with a header line.

    Parameters
    ----------
    path : path-like
        Parquet is recognised by its first bytes or the suffix .parquet or .pq; all else is text.
    delimiter : {",", ";", "\t", "|", " "}, optional
        What separates the columns of a text file. Detected from the first lines by default.
    max_bytes : int
        Refuse larger files, and Parquet files that would unpack to more.

    Raises
    ------
    DataError
        If the file cannot be read as a table of numbers; the message gives line and column.
    OptionError
        If ``delimiter`` is none of the choices.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "cells.tsv"
    ...     _ = path.write_text("raf\tmek\n26.4\t13.2\n35.9\t16.5\n")
    ...     table = read_file(path)
    >>> table.names, table.values.tolist()
    (('raf', 'mek'), [[26.4, 13.2], [35.9, 16.5]])
    """
    if delimiter is not None and delimiter not in get_args(Delimiter):
        choices = list(get_args(Delimiter))
        raise OptionError(f"Expected a delimiter among {choices}; got {quote(delimiter)}.")
    file = as_path(path)
    with reading():
        start = check_file(file, max_bytes)
        if start.startswith(b"PAR1") or file.suffix.lower() in (".parquet", ".pq"):
            return read_parquet(file, max_bytes)
        _check_text(file)
        return read_delimited(file, delimiter)


def as_path(path: str | os.PathLike[str]) -> Path:
    """Return the path of a file.

    Raises
    ------
    DataError
        If it cannot be one.
    """
    try:
        return Path(path).expanduser()
    except (TypeError, RuntimeError) as error:
        raise DataError(f"Expected the name of a file; {error}.") from error


@contextmanager
def reading() -> Iterator[None]:
    """Turn the errors of opening and reading a file into a `DataError`."""
    try:
        yield
    except DataError:
        raise
    except FileNotFoundError:
        raise DataError("There is no file with this name. Check the path.") from None
    except PermissionError:
        raise DataError("Expected a readable file; permission was denied.") from None
    except OSError as error:
        raise DataError(f"Expected a readable file; the system says: {error}.") from error


def check_file(
    file: Path, max_bytes: int, *, any_text: bool = False, any_format: bool = False
) -> bytes:
    """Return the first bytes of a file after checking its type and size.

    Parameters
    ----------
    file : Path
    max_bytes : int
    any_text, any_format : bool
        Accept UTF-16, or any format.

    Raises
    ------
    DataError
        If it is no file, is too large or empty, or is in a format that is not read.
    """
    try:
        status = file.stat()
    except ValueError as error:  # a NUL in the name
        raise DataError(f"Expected the name of a file; {error}.") from error
    if not stat.S_ISREG(status.st_mode):
        kind = "a folder" if stat.S_ISDIR(status.st_mode) else "not a regular file"
        raise DataError(f"Expected a file; this is {kind}.")
    if status.st_size > max_bytes:
        raise DataError(
            f"Expected at most {max_bytes} bytes; the file has {status.st_size}. Pass a larger "
            "max_bytes, or fewer rows or columns."
        )
    if status.st_size == 0:
        raise DataError("Expected a header line and rows; the file is empty.")
    with file.open("rb") as handle:
        start = handle.read(8)
    for magic, meaning in _FOREIGN.items():
        accepted = any_format or (any_text and meaning.startswith("UTF-16"))
        if start.startswith(magic) and not accepted:
            raise DataError(f"Expected UTF-8 text or Parquet; the file looks like {meaning}.")
    return start


def check_lines(chunk: bytes) -> None:
    """Refuse a part of a file that lies within one very long line.

    Raises
    ------
    DataError
        If it holds no end of a line.
    """
    if b"\n" not in chunk and b"\r" not in chunk:
        raise DataError(
            f"Expected lines of at most {BUDGET.line_bytes} bytes; one is longer. Is this a table?"
        )


def _check_text(file: Path) -> None:
    """Refuse files that are not UTF-8 text."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    offset = 0
    with file.open("rb") as handle:
        while True:
            chunk = handle.read(BUDGET.line_bytes)
            if len(chunk) == BUDGET.line_bytes:
                check_lines(chunk)
            if b"\0" in chunk:
                at = offset + chunk.index(b"\0")
                raise DataError(f"Expected text; byte {at} is NUL. Is this a binary file?")
            pending = len(decoder.getstate()[0])
            try:
                decoder.decode(chunk, final=not chunk)
            except UnicodeDecodeError as error:
                raise DataError(
                    f"Expected UTF-8 text; byte {offset - pending + error.start} cannot be decoded "
                    f"({error.reason}). Save the file in the encoding UTF-8, or read it with "
                    "pandas.read_csv(path, encoding=...) and pass the frame."
                ) from None
            if not chunk:
                return
            offset += len(chunk)
