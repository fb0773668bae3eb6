"""Printing: answers to standard output, all else to standard error."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

__all__ = ["console", "plain", "print_json", "print_records", "say"]

_WIDTH_OF_A_FILE = 200


def console(*, stderr: bool = False) -> Console:
    """Return a console; one that is no terminal is wide enough not to break tables."""
    made = Console(stderr=stderr, highlight=False)
    return made if made.is_terminal else Console(stderr=stderr, width=_WIDTH_OF_A_FILE)


def plain(text: str) -> str:
    r"""Return text that can do nothing to a terminal: what cannot be printed is spelt out.

    Examples
    --------
    >>> plain("dose\x1b[31m")
    'dose\\x1b[31m'
    """
    return "".join(
        c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in text
    )


def say(message: str, style: str = "") -> None:
    """Print a sentence on standard error."""
    Console(stderr=True).print(
        plain(f"momentdag: {message}"), style=style, markup=False, highlight=False, soft_wrap=True
    )


def print_json(content: Mapping[str, Any]) -> None:
    """Print one JSON object; numbers that JSON has no name for become null."""
    text = json.dumps(_finite(content), indent=2, ensure_ascii=False, allow_nan=False)
    # A lone surrogate in a column's name cannot be written in any encoding.
    text = text.encode("utf-8", "backslashreplace").decode("utf-8")
    Console().print(text, markup=False, highlight=False, soft_wrap=True)


def print_records(
    records: Iterable[Mapping[str, Any]], columns: Sequence[str] | None = None
) -> None:
    """Print a table with one line for each record, numbers to four digits."""
    rows = list(records)
    shown = list(rows[0]) if columns is None and rows else list(columns or ())
    table = Table()
    for name in shown:
        numeric = all(isinstance(row[name], int | float) for row in rows)
        table.add_column(Text(plain(name)), justify="right" if numeric else "left")
    for row in rows:
        table.add_row(*(Text(plain(_cell(row[name]))) for name in shown))
    console().print(table)


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "-"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _finite(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
