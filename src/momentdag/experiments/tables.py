"""Tables of results: mean ± sd over data sets, with the paper's printed numbers below."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import rich.table

from momentdag.experiments.experiment import Experiment, Metric, View
from momentdag.experiments.methods import METHODS
from momentdag.experiments.store import Record, Store

__all__ = ["Row", "Summary", "Table", "rows", "summarise", "view_table"]

_NOT_RUN = "·"


@dataclass(frozen=True)
class Table:
    """A titled table of text.

    Parameters
    ----------
    title : str
    columns : tuple of str
    rows : tuple of tuple of str
    n_labels : int
        Columns that name what the others give numbers of.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    n_labels: int = 1

    def to_markdown(self) -> str:
        """Return the table as Markdown, without its title."""
        n_numbers = len(self.columns) - self.n_labels
        ruler = (*["---"] * self.n_labels, *["---:"] * n_numbers)
        return "\n".join(f"| {' | '.join(row)} |" for row in (self.columns, ruler, *self.rows))

    def to_rich(self) -> rich.table.Table:
        """Return the table for the terminal."""
        shown = rich.table.Table(title=self.title, title_justify="left")
        for k, column in enumerate(self.columns):
            shown.add_column(
                column, justify="left" if k < self.n_labels else "right", no_wrap=k == 0
            )
        for row in self.rows:
            shown.add_row(*row)
        return shown


class Summary(NamedTuple):
    """Mean and sd of a measure over n data sets, NaN where there are too few, and failures."""

    mean: float
    sd: float
    n: int
    n_failed: int = 0

    def shown(self, digits: int, n_usual: int | None = None) -> str:
        """Return "mean ± sd", the mean alone for one data set, or a dot for none.

        The number of sets follows in brackets where it is not ``n_usual``.
        """
        parts = [] if self.n or self.n_failed else [_NOT_RUN]
        if self.n:
            mean = f"{self.mean:.{digits}f}"
            parts.append(mean if self.n == 1 else f"{mean} ± {self.sd:.{digits}f}")
            if n_usual not in (None, self.n):
                parts.append(f"[{self.n}]")
        if self.n_failed:
            parts.append(f"({self.n_failed} failed)")
        return " ".join(parts)


class Row(NamedTuple):
    """A method, with or without orderings told, and its results column by column."""

    method: str
    variant: str
    cells: tuple[Summary, ...]

    @property
    def title(self) -> str:
        """What the row is called."""
        return f"{METHODS[self.method].title} {self.variant}".strip()

    @property
    def paper(self) -> str | None:
        """The row of the paper that it stands for, if any."""
        name = METHODS[self.method].paper
        return None if name is None else f"{name} {self.variant}".strip()


def summarise(records: Sequence[Record], metric: Metric) -> Summary:
    """Return mean and sample sd of a measure over the runs that did not fail.

    Examples
    --------
    >>> records = [Record("a", "mc3", k, measures={"x": float(k)}) for k in range(3)]
    >>> summarise(records, Metric("x", "X", "lower")).shown(1)
    '1.0 ± 1.0'
    """
    values = [value for run in records if (value := run.value(metric.key)) is not None]
    mean = float(np.mean(values)) if values else float("nan")
    sd = float(np.std(values, ddof=1)) if len(values) > 1 else float("nan")
    return Summary(mean, sd, len(values), sum(run.failed for run in records))


def rows(experiment: Experiment, view: View, store: Store) -> list[Row]:
    """Return the results of every method in a view of which anything is kept."""
    found = []
    for variant in view.variants:
        for method in experiment.informed if variant else experiment.methods:
            cells = []
            for group, metric in view.columns:
                case = view.case(group, variant)
                records = [] if case is None else store.records(case, method)
                cells.append(summarise(records, metric))
            if any(cell.n or cell.n_failed for cell in cells):
                found.append(Row(method, variant, tuple(cells)))
    return found


def view_table(experiment: Experiment, view: View, store: Store) -> Table:
    """Return a view as a table: our methods, then the paper's rows."""
    columns = [" ".join(part for part in (m.title, group) if part) for group, m in view.columns]
    lines = []
    for row in rows(experiment, view, store):
        n_usual = max(cell.n for cell in row.cells)
        pairs = zip(row.cells, view.columns, strict=True)
        cells = [cell.shown(metric.digits, n_usual) for cell, (_, metric) in pairs]
        lines.append((row.title, *cells, str(n_usual)))
    lines += [(f"paper: {name}", *cells, "20") for name, cells in view.printed.items()]
    return Table(f"{experiment.title}: {view.title}", ("", *columns, "sets"), tuple(lines))
