"""Where our numbers differ from those that the paper prints."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from momentdag.errors import OptionError
from momentdag.experiments.experiment import Experiment, Metric, View
from momentdag.experiments.store import Store
from momentdag.experiments.tables import Row, Summary, Table, rows

__all__ = ["Printed", "comparison_table", "read_printed", "verdict", "verdict_table"]

_N_PAPER = 20  # runs behind each printed number
_STANDARD_ERRORS = 2.0
_VERDICTS = (
    "ours is better",
    "the paper's is better",
    "no clear difference",
    "ours is larger",
    "ours is smaller",
    "too few sets to say",
)


class Printed(NamedTuple):
    """A number of the paper."""

    mean: float
    sd: float


def read_printed(cell: str) -> Printed:
    """Read "mean ± sd".

    Raises
    ------
    OptionError
        If it is not of this form.

    Examples
    --------
    >>> read_printed("22.6 ± 1.1")
    Printed(mean=22.6, sd=1.1)
    """
    mean, sign, sd = cell.partition(" ± ")
    try:
        return Printed(float(mean), float(sd if sign else "nan"))
    except ValueError:
        raise OptionError(f"Expected a printed number as 'mean ± sd'; got {cell!r}.") from None


def verdict(ours: Summary, paper: Printed, better: str) -> str:
    """Say whether two means differ by more than two standard errors of their difference.

    Examples
    --------
    >>> verdict(Summary(1.0, 0.2, 20), Printed(2.0, 0.2), better="lower")
    'ours is better'
    >>> verdict(Summary(2.1, 0.5, 20), Printed(2.0, 0.2), better="lower")
    'no clear difference'
    """
    if ours.n < 2:
        return "too few sets to say"
    error = math.sqrt(ours.sd**2 / ours.n + paper.sd**2 / _N_PAPER)
    difference = ours.mean - paper.mean
    if abs(difference) <= _STANDARD_ERRORS * error:
        return "no clear difference"
    if better == "neither":
        return "ours is larger" if difference > 0 else "ours is smaller"
    wins = (difference < 0) == (better == "lower")
    return "ours is better" if wins else "the paper's is better"


def comparison_table(experiments: tuple[Experiment, ...], store: Store) -> Table:
    """Return every number that both the paper and a run of ours have, side by side."""
    lines = []
    for experiment in experiments:
        for view in experiment.views:
            for row, cell, (group, metric), paper in _matches(experiment, view, store):
                what = ", ".join(part for part in (view.title, metric.title, group) if part)
                lines.append(
                    (
                        experiment.name,
                        what,
                        row.title,
                        cell.shown(metric.digits),
                        paper,
                        verdict(cell, read_printed(paper), metric.better),
                    )
                )
    columns = ("experiment", "quantity", "method", "ours", "paper", "verdict")
    return Table("Ours beside the paper's", columns, tuple(lines))


def verdict_table(comparison: Table) -> Table:
    """Return how many numbers of a `comparison_table` end in which verdict, method by method."""
    verdicts: dict[tuple[str, str], list[str]] = {}
    for experiment, _, method, _, _, said in comparison.rows:
        verdicts.setdefault((experiment, method), []).append(said)
    shown = [what for what in _VERDICTS if any(what in said for said in verdicts.values())]
    lines = [(*key, *(str(said.count(what)) for what in shown)) for key, said in verdicts.items()]
    return Table("Verdicts", ("experiment", "method", *shown), tuple(lines))


def _matches(
    experiment: Experiment, view: View, store: Store
) -> Iterator[tuple[Row, Summary, tuple[str, Metric], str]]:
    for row in rows(experiment, view, store):
        printed = view.printed.get(row.paper) if row.paper else None
        if printed is not None:
            for cell, column, paper in zip(row.cells, view.columns, printed, strict=True):
                if cell.n:
                    yield row, cell, column, paper
