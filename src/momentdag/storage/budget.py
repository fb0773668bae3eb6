"""What reading a file may cost: one stated budget, applied before the content is read.

A small file may claim, or unpack to, very much: a zip, a Parquet file, a sheet with one cell in its
last row. So sizes are taken from headers and held against `BUDGET` first. Whatever is read, in
whatever format, what comes of it stays in proportion to the file or below a quarter of a GiB.
"""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, BinaryIO

__all__ = ["BUDGET", "Budget", "check_zip", "count_values", "parse_json"]


@dataclass(frozen=True)
class Budget:
    """Limits on what is read; each is far above what honest files need.

    Parameters
    ----------
    table_bytes : int
        Of a file with a table, and of the table that it unpacks to; callers may raise it.
    unpacked_floor, unpacked_factor : int
        A table may always unpack to so many bytes; beyond, to so many times its file.
    line_bytes : int
        Of a line of text.
    cell_letters : int
        Of a text in a cell; a column with longer ones is not used.
    loose_text_bytes : int
        Of a text file that has to be read cell by cell, as one with words or dates in it.
    columns : int
        Of a table that is read.
    checked_columns : int
        Of a table that is checked and fitted: all pairs of columns are compared.
    archive_bytes : int
        Of a posterior, fitted model or checkpoint.
    graph_entries : int
        Draws times variables squared, of each of the two kinds of graphs.
    text_bytes : int
        Of a run.json, manifest, recipe or knowledge file.
    values : int
        In such a text: numbers, words and lists.
    zip_directory_bytes : int
        Of the table of contents of a zip.
    parquet_footer_bytes : int
        Of the description of the columns of a Parquet file.
    """

    table_bytes: int = 4 * 2**30
    unpacked_floor: int = 2**28
    unpacked_factor: int = 200
    line_bytes: int = 2**24
    cell_letters: int = 2**17
    loose_text_bytes: int = 2**29
    columns: int = 50_000
    checked_columns: int = 1500
    archive_bytes: int = 2**30
    graph_entries: int = 2**29
    text_bytes: int = 2**24
    values: int = 2**20
    zip_directory_bytes: int = 2**20
    parquet_footer_bytes: int = 2**25

    def unpacked_bytes(self, file_bytes: int, max_bytes: int) -> int:
        """Return the bytes that a table in a file of ``file_bytes`` may unpack to.

        Examples
        --------
        >>> BUDGET.unpacked_bytes(1000, 2**32) == 2**28
        True
        >>> BUDGET.unpacked_bytes(10**7, 2**32)
        2000000000
        """
        return min(max_bytes, max(self.unpacked_floor, self.unpacked_factor * file_bytes))


BUDGET = Budget()

_END, _LOCATOR, _END64 = b"PK\5\6", b"PK\6\7", b"PK\6\6"
_END_BYTES, _LOCATOR_BYTES, _END64_BYTES, _COMMENT_BYTES = 22, 20, 56, 2**16


def check_zip(stream: BinaryIO, refuse: Callable[[str], Exception]) -> None:
    """Refuse a zip whose table of contents is too large, before it is read.

    Parameters
    ----------
    stream : binary file
        Left at its beginning.
    refuse : callable
        Makes the error of a message.

    Examples
    --------
    >>> import io, zipfile
    >>> stream = io.BytesIO()
    >>> with zipfile.ZipFile(stream, "w") as archive:
    ...     archive.writestr("a.txt", "a")
    >>> check_zip(stream, ValueError)
    """
    size = stream.seek(0, os.SEEK_END)
    stream.seek(max(0, size - _END_BYTES - _COMMENT_BYTES - _LOCATOR_BYTES - _END64_BYTES))
    tail = stream.read()
    stream.seek(0)
    at = tail.rfind(_END)
    if at < 0 or len(tail) < at + _END_BYTES:
        return  # no zip, as its reader will say
    claimed = struct.unpack_from("<L", tail, at + 12)[0]
    before = at - _LOCATOR_BYTES - _END64_BYTES
    if before >= 0 and tail[at - _LOCATOR_BYTES :].startswith(_LOCATOR):
        if not tail[before:].startswith(_END64):
            raise refuse("the zip has no plain table of contents")
        claimed = struct.unpack_from("<Q", tail, before + 40)[0]
    if claimed > BUDGET.zip_directory_bytes:
        raise refuse(
            f"the table of contents of the zip has {claimed} bytes, more than "
            f"{BUDGET.zip_directory_bytes}"
        )


def count_values(text: bytes | str) -> int:
    """Return an upper bound on the values that a JSON or TOML text makes.

    Examples
    --------
    >>> count_values('{"a": [1, 2], "b": []}')
    8
    """
    if isinstance(text, str):
        return sum(text.count(mark) for mark in "[{,:=") + 1
    return sum(text.count(mark) for mark in (b"[", b"{", b",", b":", b"=")) + 1


def parse_json(content: bytes) -> Any:
    """Parse UTF-8 JSON within the budget.

    Raises
    ------
    ValueError
        If it is too large or malformed.

    Examples
    --------
    >>> parse_json(b'{"a": [1, 2]}')
    {'a': [1, 2]}
    """
    if len(content) > BUDGET.text_bytes:
        raise ValueError(f"it has more than {BUDGET.text_bytes} bytes")
    n_values = count_values(content)
    if n_values > BUDGET.values:
        raise ValueError(f"it has {n_values} values, more than {BUDGET.values}")
    return json.loads(content.decode("utf-8"))
