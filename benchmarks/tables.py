"""Tables for the terminal, for Markdown, and as JSON."""

from __future__ import annotations

import json
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import rich.table
import scipy
from rich.console import Console

from momentdag import __version__
from momentdag.atomic import write_atomically

__all__ = ["Table", "mean_sd", "publish", "write_json"]


@dataclass(frozen=True)
class Table:
    """A titled table of text.

    Parameters
    ----------
    title : str
    columns : tuple of str
    rows : list of tuple of str
    note : str
        One paragraph below the table.
    """

    title: str
    columns: tuple[str, ...]
    rows: list[tuple[str, ...]]
    note: str = ""

    def to_markdown(self) -> str:
        """Return the table as Markdown."""
        lines = [f"## {self.title}", "", _line(self.columns)]
        lines += [_line(("---", *["---:"] * (len(self.columns) - 1))), *map(_line, self.rows)]
        return "\n".join([*lines, *(["", self.note] if self.note else []), ""])

    def to_rich(self) -> rich.table.Table:
        """Return the table for the terminal."""
        shown = rich.table.Table(title=self.title, caption=self.note or None, title_justify="left")
        for k, column in enumerate(self.columns):
            shown.add_column(column, justify="right" if k else "left", no_wrap=k == 0)
        for row in self.rows:
            shown.add_row(*row)
        return shown


def mean_sd(values: Sequence[float], digits: int = 2) -> str:
    """Return "mean ± sd" of finite values; sd is that of the sample."""
    if not len(values):
        return "-"
    spread = float(np.std(values, ddof=1)) if len(values) > 1 else float("nan")
    shown = f"{np.mean(values):.{digits}f}"
    return shown if np.isnan(spread) else f"{shown} ± {spread:.{digits}f}"


def publish(
    console: Console, folder: Path, name: str, tables: list[Table], content: dict[str, Any]
) -> None:
    """Print the tables and write them to ``folder`` as ``name``.md and ``name``.json."""
    folder.mkdir(parents=True, exist_ok=True)
    for table in tables:
        console.print(table.to_rich())
    about = {
        "momentdag": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
    }
    text = "\n".join([f"# Benchmark: {name}", "", *(table.to_markdown() for table in tables)])
    text += f"\nMeasured with {', '.join(f'{what} {is_}' for what, is_ in about.items())}.\n"
    write_atomically(folder / f"{name}.md", text.encode())
    write_json(folder / f"{name}.json", {"about": about, **content})
    console.print(f"Written to {folder / name}.md and .json", markup=False, highlight=False)


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Write strict JSON atomically."""
    write_atomically(path, json.dumps(content, indent=1, allow_nan=False).encode())


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
