"""Printing: answers to standard output, all else to standard error."""

from __future__ import annotations

import json
import math
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from momentdag.progress import ProgressBar

__all__ = ["as_flags", "fit_progress", "plain", "print_json", "print_line", "print_records", "say"]

_FILE_WIDTH = 200  # width in characters if the output is not a terminal: no table breaks
_FLAGS = {"n_draws": "--draws", "n_jobs": "--jobs", "random_state": "--seed"}


def as_flags(arguments: Mapping[str, Any]) -> str:
    """Write arguments of `momentdag.MomentDAG` as options of `momentdag fit`.

    Examples
    --------
    >>> as_flags({"n_draws": ..., "engine_options": {"family": "gp", "n_starts": 8}})
    '--draws ... --option family=gp --option n_starts=8'
    """
    flags = []
    for name, value in arguments.items():
        if name == "engine_options":
            flags += [f"--option {key}={_argument(entry)}" for key, entry in value.items()]
        else:
            flags.append(f"{_FLAGS.get(name, f'--{name}')} {_argument(value)}")
    return " ".join(flags)


def plain(text: str) -> str:
    r"""Return text with unprintable characters spelt out, so that it cannot control a terminal.

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


def print_line(*sentences: str, style: str = "") -> None:
    """Print sentences on standard output, leaving out empty ones."""
    text = " ".join(sentence for sentence in sentences if sentence)
    _output().print(plain(text), style=style, markup=False, highlight=False)


@contextmanager
def fit_progress() -> Iterator[ProgressBar]:
    """Show the stages of a fit on a terminal.

    Warnings about the draws are dropped, as every fit prints its own check of the draws.
    """
    from sklearn.exceptions import ConvergenceWarning

    from momentdag.progress import ProgressBar

    with warnings.catch_warnings(), ProgressBar(disable=not sys.stderr.isatty()) as bar:
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield bar


def print_json(content: Mapping[str, Any]) -> None:
    """Print one JSON object; numbers that JSON cannot write become null."""
    text = json.dumps(_finite(content), indent=2, ensure_ascii=False, allow_nan=False)
    # A lone surrogate in a column's name cannot be written in any encoding.
    text = text.encode("utf-8", "backslashreplace").decode("utf-8")
    Console().print(text, markup=False, highlight=False, soft_wrap=True)


def print_records(
    records: Iterable[Mapping[str, Any]], columns: Sequence[str] | None = None
) -> None:
    """Print a table with one line for each record, numbers to four digits.

    Parameters
    ----------
    records : iterable of mappings
    columns : sequence of str, optional
        By default the keys of the first record; needed if there may be no record.
    """
    rows = list(records)
    names = list(rows[0] if columns is None else columns)
    table = Table()
    for name in names:
        numeric = all(isinstance(row[name], int | float) for row in rows)
        table.add_column(Text(plain(name)), justify="right" if numeric else "left")
    for row in rows:
        table.add_row(*(Text(plain(_cell(row[name]))) for name in names))
    _output().print(table)


def _output() -> Console:
    terminal = Console()
    return terminal if terminal.is_terminal else Console(width=_FILE_WIDTH)


def _argument(value: object) -> str:
    return "..." if value is ... else str(value)


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
