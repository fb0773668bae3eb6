"""Cut delimited text into a header and rows of cells, whatever the cells hold."""

from __future__ import annotations

import csv
import io
from typing import Any, NamedTuple

from momentdag.errors import DataError, quote
from momentdag.table.delimited import Delimiter, sniff
from momentdag.table.texts import MISSING_TEXTS, parse_numbers

__all__ = ["Records", "cut_records"]

_SNIFFED_CHARACTERS = 2**20


class Records(NamedTuple):
    """A header and rows of cells, all of one length."""

    header: list[str]
    rows: list[list[Any]]
    decimal_comma: bool
    """Whether a comma in a number more likely is a decimal comma: it does not cut the columns."""
    notes: tuple[str, ...]


def cut_records(text: str, delimiter: Delimiter | None) -> Records:
    r"""Cut text with a header line; comment lines (#) and blank ones are left out.

    Raises
    ------
    DataError
        If there is no header or row, or a line has too many or too few fields.

    Examples
    --------
    >>> cut_records("# a note\nsite;dose\nnorth;1,5\n", None)[:2]
    (['site', 'dose'], [['north', '1,5']])
    """
    # Fields are read before comments are dropped: a quoted cell may hold a line that begins with #.
    sample = _without_comments(text[:_SNIFFED_CHARACTERS])
    if not sample.strip():
        raise DataError("Expected a header line and rows; the file holds only blank lines.")
    chosen = sniff(sample) if delimiter is None else delimiter
    if delimiter is None and _is_spaced(sample, chosen):
        chosen = " "
    comments: list[str] = []
    lines = []
    reader = csv.reader(
        io.StringIO(text, newline=""), delimiter=chosen, skipinitialspace=True, strict=False
    )
    line = 1
    try:
        for record in reader:
            start, line = line, reader.line_num + 1
            if record and record[0].lstrip().startswith("#"):
                comments.append(chosen.join(record))
            elif any(cell.strip() for cell in record):
                cells = [cell.strip() for cell in record]
                lines.append((start, _trimmed(cells) if chosen == " " else cells))
    except csv.Error as error:
        raise DataError(f"Expected delimited text; line {line}: {error}.") from error
    notes = []
    header, rows = _split_header(lines, comments, chosen)
    if len(rows) == 0:
        raise DataError("Expected rows below the header; the file holds only a header.")
    if comments and header is lines[0][1]:
        notes.append(f"{len(comments)} comment lines (#) were left out.")
    width = len(header)
    if all(len(row) == width + 1 for _, row in rows):
        if all(row[-1] == "" for _, row in rows):
            rows = [(at, row[:-1]) for at, row in rows]
        else:  # as R writes them: row labels without a name
            header = ["", *header]
            width += 1
    for at, row in rows:
        if len(row) != width:
            hint = ""
            if len(row) == 2 * width:
                hint = " Numbers with a decimal comma need another delimiter."
            raise DataError(
                f"Expected {width} fields in every line, as in the header; line {at} has "
                f"{len(row)}. Correct that line, or pass another delimiter.{hint}"
            )
    return Records(header, [row for _, row in rows], chosen != ",", tuple(notes))


def _without_comments(sample: str) -> str:
    return "".join(
        line for line in io.StringIO(sample, newline="") if not line.lstrip().startswith("#")
    ) or sample.replace("#", "")


def _is_spaced(sample: str, chosen: str) -> bool:
    """Tell whether runs of spaces cut the lines, where nothing else does."""
    lines = [line.strip() for line in sample.splitlines()[:50] if line.strip()]
    if len(sample) == _SNIFFED_CHARACTERS:
        lines = lines[:-1]
    if not lines or any(chosen in line for line in lines):
        return False
    try:
        cut = [_trimmed(row) for row in csv.reader(lines, delimiter=" ", skipinitialspace=True)]
    except csv.Error:
        return False
    body = {len(row) for row in cut[1:]}
    return len(body) == 1 and max(body) > 1 and max(body) - len(cut[0]) in (0, 1)


def _trimmed(cells: list[str]) -> list[str]:
    while cells and not cells[-1]:
        cells = cells[:-1]
    while cells and not cells[0]:
        cells = cells[1:]
    return cells


def _split_header(
    lines: list[tuple[int, list[str]]], comments: list[str], delimiter: str
) -> tuple[list[str], list[tuple[int, list[str]]]]:
    if not lines:
        raise DataError("Expected a header line and rows; the file holds only comments.")
    first = lines[0][1]
    numbered = [str(k) for k in range(len(first))]
    cells = [cell for cell in first if cell.lower() not in MISSING_TEXTS]
    if first != numbered and first[0] and cells and all(parse_numbers([c], [1]) for c in cells):
        for comment in reversed(comments):  # "# time value", then numbers
            bare = comment.lstrip("# \t").split(delimiter)
            names = [name.strip() for name in bare if delimiter != " " or name.strip()]
            if len(names) == len(first) > 1:
                return names, lines
        raise DataError(
            "Expected names in the first line; it holds only numbers, beginning with "
            f"{quote(first[0])}. Add a header line."
        )
    return first, lines[1:]
