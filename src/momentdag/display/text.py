"""Tables and sentences as plain text for consoles, in lines of 100 characters where it can be."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from momentdag.display.tables import first_rows, number

__all__ = [
    "WIDTH",
    "block",
    "count",
    "interval",
    "number",
    "sentence",
    "settings",
    "summary",
    "table",
]

WIDTH = 100
"""Characters of a line."""

_MAX_SUMMARY = 180
_MAX_CELL = 60
_GAP = "  "


def sentence(text: str) -> str:
    """Return a paragraph.

    Examples
    --------
    >>> print(sentence("word " * 21))
    word word word word word word word word word word word word word word word word word word word word
    word
    """  # noqa: E501 - the width is what the example shows
    words = " ".join(_printable(word) for word in text.split())
    return textwrap.fill(words, WIDTH, break_long_words=False, break_on_hyphens=False)


def table(frame: pd.DataFrame, *, index: bool = False, full: str = "to_frame()") -> str:
    """Return a table with short numbers; of a long one, its first rows.

    Of a wide one the columns that do not fit follow below, after the names of the rows again.

    Examples
    --------
    >>> print(table(pd.DataFrame({"part": ["own noise", "mean"], "share": [1 / 6, 5 / 6]})))
    part        share
    own noise  0.1667
    mean       0.8333
    """
    shown, note = first_rows(frame.reset_index() if index else frame, full)
    columns = [_Column(name, shown.iloc[:, k]) for k, name in enumerate(shown.columns)]
    if not columns:
        return note
    parts = ["\n".join(_lines(panel)) for panel in _panels(columns)]
    if frame.empty:
        note = "(no rows)"
    return "\n\n".join(parts) + (f"\n{note}" if note else "")


def block(title: str, parts: Sequence[str]) -> str:
    """Return parts, which are laid out already, under a title.

    Examples
    --------
    >>> print(block("Levers of y", ["Set z to -1.6.", ""]))
    Levers of y
    <BLANKLINE>
    Set z to -1.6.
    """
    return "\n\n".join([sentence(title), *(part for part in parts if part)])


def summary(name: str, content: str) -> str:
    """Return an answer in one short line, as `repr` shows it.

    Examples
    --------
    >>> summary("Contrast", "do z = 1 against nothing set")
    'Contrast(do z = 1 against nothing set)'
    >>> len(summary("Contrast", "z" * 5000))
    180
    """
    return f"{name}({_shorten(_printable(content), _MAX_SUMMARY - len(name) - 2)})"


def count(n: int, what: str) -> str:
    """Return a number of things.

    Examples
    --------
    >>> count(1, "row"), count(3, "row")
    ('1 row', '3 rows')
    """
    return f"{n} {what}{'' if n == 1 else 's'}"


def settings(values: Mapping[Any, Any]) -> str:
    """Return what variables are set to.

    Examples
    --------
    >>> settings({"z": -1.6180339, "machine": "M2"}), settings({})
    ('z = -1.618, machine = M2', 'nothing set')
    """
    said = ", ".join(f"{name} = {number(value)}" for name, value in values.items())
    return said or "nothing set"


def interval(values: Iterable[float]) -> str:
    """Return an estimate with the low and the high end of its interval.

    Examples
    --------
    >>> interval([0.52345, 0.4, 0.65])
    '0.5234 (0.4 to 0.65)'
    """
    middle, low, high = (number(float(value)) for value in values)
    return f"{middle} ({low} to {high})"


class _Column:
    """A column as text, its cells padded to one width."""

    def __init__(self, name: object, values: pd.Series[Any]) -> None:
        cells = [_cell(value) for value in values]
        kinds = bool, np.bool_, int, np.integer, float, np.floating
        self.is_float = values.dtype.kind == "f"
        is_number = any(cells) and all(
            isinstance(value, kinds) or not cell for value, cell in zip(values, cells, strict=True)
        )
        self.name = str(name)
        texts = [_shorten(_printable(self.name), _MAX_CELL), *cells]
        self.width = max(len(text) for text in texts)
        pad = str.rjust if is_number else str.ljust
        self.lines = [pad(text, self.width) for text in texts]


def _panels(columns: list[_Column]) -> list[list[_Column]]:
    """Share columns out to panels that fit; each begins with the names of the rows."""
    n_names = _count_names(columns)
    names = columns[:n_names]
    panels = [list(names)]
    for group in _with_intervals(columns[n_names:]):
        fits = _width([*names, *group]) <= WIDTH
        for part in [group] if fits else [[column] for column in group]:
            if _width([*panels[-1], *part]) > WIDTH and len(panels[-1]) > n_names:
                panels.append(list(names))
            panels[-1] += part
    return panels


def _count_names(columns: Sequence[_Column]) -> int:
    """Return how many columns say what a row is: those before the first estimate."""
    bounds = {column.name for column in columns}
    ends = [k for k, column in enumerate(columns) if f"{column.name}_low" in bounds]
    ends += [k for k, column in enumerate(columns) if column.is_float] if not ends else []
    n_names = max(min(ends, default=1), 1)
    return n_names if _width(columns[:n_names]) <= WIDTH // 2 else 1


def _with_intervals(columns: Sequence[_Column]) -> list[list[_Column]]:
    """Return each column together with its low and high ends, which stay in one panel."""
    groups: list[list[_Column]] = []
    for column in columns:
        if groups and column.name.rpartition("_")[2] in ("low", "high"):
            groups[-1].append(column)
        else:
            groups.append([column])
    return groups


def _width(columns: Sequence[_Column]) -> int:
    return sum(column.width for column in columns) + len(_GAP) * (len(columns) - 1)


def _lines(columns: Sequence[_Column]) -> list[str]:
    rows = zip(*(column.lines for column in columns), strict=True)
    return [_GAP.join(row).rstrip() for row in rows]


def _cell(value: Any) -> str:
    if value is None or value is pd.NaT or value is pd.NA:
        return ""
    if isinstance(value, float | np.floating) and np.isnan(value):
        return ""
    return _shorten(_printable(number(value)), _MAX_CELL)


def _shorten(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 3]}..."


def _printable(text: str) -> str:
    """Write line breaks and control characters, which may stand in a name, as escapes."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
