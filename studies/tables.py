"""Tables of results: mean ± sd over data sets, with the paper's printed numbers below."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import rich.table

from studies.methods import METHODS
from studies.store import Record, Store
from studies.study import Metric, Study, View

__all__ = ["Row", "Summary", "Table", "mean_sd", "rows", "summarise", "view_table"]

_NOT_RUN = "·"


@dataclass(frozen=True)
class Table:
    """A titled table of text."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    n_labels: int = 1  # columns with labels; the others have numbers
    note: str = ""  # one paragraph below the table

    def to_markdown(self) -> str:
        """Return the table as Markdown, without its title."""
        n_numbers = len(self.columns) - self.n_labels
        ruler = (*["---"] * self.n_labels, *["---:"] * n_numbers)
        lines = [f"| {' | '.join(row)} |" for row in (self.columns, ruler, *self.rows)]
        lines = [line.replace(" ± ", "\u00a0±\u00a0") for line in lines]  # on one line
        return "\n".join([*lines, *(["", self.note] if self.note else [])])

    def to_rich(self) -> rich.table.Table:
        """Return the table for the terminal."""
        table = rich.table.Table(title=self.title, title_justify="left", caption=self.note or None)
        for k, column in enumerate(self.columns):
            table.add_column(
                column, justify="left" if k < self.n_labels else "right", no_wrap=k == 0
            )
        for row in self.rows:
            table.add_row(*row)
        return table


class Summary(NamedTuple):
    """A measure over n data sets: mean and sd, NaN where there are too few, and failures.

    ``text`` is shown instead of mean and sd where the metric has another summary.
    """

    mean: float
    sd: float
    n: int
    n_failed: int = 0
    text: str = ""

    def shown(self, digits: int, n_usual: int | None = None) -> str:
        """Return "mean ± sd", the mean alone for one data set, or a dot for none.

        The number of sets follows in brackets where it is not ``n_usual``.
        """
        parts = [] if self.n or self.n_failed else [_NOT_RUN]
        if self.n:
            mean = f"{self.mean:.{digits}f}"
            parts.append(self.text or (mean if self.n == 1 else f"{mean} ± {self.sd:.{digits}f}"))
            if n_usual not in (None, self.n):
                parts.append(f"[{self.n}]")
        if self.n_failed:
            parts.append(f"({self.n_failed} failed)")
        return " ".join(parts)


class Row(NamedTuple):
    """A method, with or without orderings given, and its results column by column."""

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
    """Summarise a measure over the runs that did not fail.

    Examples
    --------
    >>> records = [Record("a", "mc3", k, "", 1, {"x": float(k)}) for k in range(3)]
    >>> summarise(records, Metric("x", "X")).shown(1)
    '1.0 ± 1.0'
    >>> summarise(records, Metric("x", "X", summary="share")).shown(1)
    '2 of 3'
    """
    values = [value for run in records if (value := run.value(metric.key)) is not None]
    n_failed = sum(run.failed for run in records)
    if not values:
        return Summary(float("nan"), float("nan"), 0, n_failed)
    sd = float(np.std(values, ddof=1)) if len(values) > 1 else float("nan")
    text = ""
    if metric.summary == "share":
        text = f"{np.count_nonzero(values)} of {len(values)}"
    elif metric.summary != "mean":
        level = {"smallest": 0.0, "median": 0.5, "largest": 1.0}[metric.summary]
        text = f"{np.quantile(values, level):.{metric.digits}f}"
    return Summary(float(np.mean(values)), sd, len(values), n_failed, text)


def mean_sd(values: Sequence[float], digits: int = 2) -> str:
    """Return "mean ± sd" of values.

    Examples
    --------
    >>> mean_sd([1.0, 2.0, 3.0], 1)
    '2.0 ± 1.0'
    """
    sd = float(np.std(values, ddof=1)) if len(values) > 1 else float("nan")
    mean = float(np.mean(values)) if len(values) else float("nan")
    return Summary(mean, sd, len(values)).shown(digits)


def rows(study: Study, view: View, store: Store) -> list[Row]:
    """Return the results of every method in a view that has any stored run."""
    lines = []
    for variant in view.variants:
        for method in study.informed if variant and study.informed else _methods(study, view):
            cells = []
            for group, metric in view.columns:
                case = view.case(group, variant)
                records = [] if case is None else store.records(case, method)
                cells.append(summarise(records, metric))
            if any(cell.n or cell.n_failed for cell in cells):
                lines.append(Row(method, variant, tuple(cells)))
    return lines


def _methods(study: Study, view: View) -> tuple[str, ...]:
    return view.methods or study.methods


def view_table(study: Study, view: View, store: Store) -> Table | None:
    """Return a view as a table, or None if there is nothing to show."""
    if view.make is not None:
        return view.make(view, store)
    if view.rows == "methods":
        return _table_of_methods(study, view, store)
    if view.rows == "cases":
        return _table_of_cases(study, view, store)
    return _turned(_table_of_cases(study, view, store))


def _table_of_methods(study: Study, view: View, store: Store) -> Table:
    """Return a row for each method, then the paper's rows."""
    columns = [" ".join(part for part in (m.title, group) if part) for group, m in view.columns]
    lines = []
    for row in rows(study, view, store):
        n_usual = max(cell.n for cell in row.cells)
        pairs = zip(row.cells, view.columns, strict=True)
        cells = [cell.shown(metric.digits, n_usual) for cell, (_, metric) in pairs]
        lines.append((row.title, *cells, str(n_usual)))
    lines += [(f"paper: {name}", *cells, "20") for name, cells in view.printed.items()]
    return Table(view.title, ("", *columns, "sets"), tuple(lines), note=view.note)


def _table_of_cases(study: Study, view: View, store: Store) -> Table | None:
    """Return a row for each case and method that has any stored run."""
    kept = [
        (case, method, records)
        for case in view.cases
        for method in _methods(study, view)
        if (records := store.records(case, method))
    ]
    several = len({method for _, method, _ in kept}) > 1
    lines = []
    for case, method, records in kept:
        parts = (case.group, case.variant, METHODS[method].title if several else "")
        n_sets = sum(not run.failed for run in records)
        cells = [summarise(records, metric).shown(metric.digits, n_sets) for metric in view.metrics]
        lines.append((", ".join(filter(None, parts)), str(n_sets), *cells))
    columns = ("", "sets", *(metric.title for metric in view.metrics))
    return Table(view.title, columns, tuple(lines), note=view.note) if lines else None


def _turned(table: Table | None) -> Table | None:
    """Return a table with rows for columns."""
    if table is None:
        return None
    head, *lines = zip(table.columns, *table.rows, strict=True)
    return Table(table.title, head, tuple(lines), table.n_labels, table.note)
