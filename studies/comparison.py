"""Where our numbers differ from those that the paper prints."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from scipy.stats import t as student_t

from momentdag.errors import OptionError
from studies.store import Store
from studies.study import Metric, Study, View
from studies.tables import Row, Summary, Table, rows

__all__ = [
    "Compared",
    "Printed",
    "compare",
    "comparison_table",
    "read_printed",
    "verdict",
    "verdict_tables",
]

_N_PAPER = 20  # runs behind each printed number
_CONFIDENCE = 0.95
_UNCLEAR, _TOO_FEW = "no clear difference", "too few sets to say"
_VERDICTS = (
    "ours is better",
    "the paper's is better",
    "ours is larger",
    "ours is smaller",
    _UNCLEAR,
    _TOO_FEW,
)


class Printed(NamedTuple):
    """A number of the paper, and how far rounding may have moved its mean."""

    mean: float
    sd: float
    rounding: float


def read_printed(cell: str) -> Printed:
    """Read "mean ± sd".

    Examples
    --------
    >>> read_printed("22.6 ± 1.1")
    Printed(mean=22.6, sd=1.1, rounding=0.05)
    """
    mean, _, sd = cell.partition(" ± ")
    n_digits = len(mean.partition(".")[2])
    try:
        return Printed(float(mean), float(sd), 0.5 / 10**n_digits)
    except ValueError:
        raise OptionError(f"Expected a printed number as 'mean ± sd'; got {cell!r}.") from None


def verdict(ours: Summary, paper: Printed, better: str) -> str:
    """Say whether two means differ, by Welch's test at 5 %, allowing for rounding.

    Examples
    --------
    >>> verdict(Summary(1.0, 0.2, 20), Printed(2.0, 0.2, 0.05), better="lower")
    'ours is better'
    >>> verdict(Summary(2.1, 0.5, 20), Printed(2.0, 0.2, 0.05), better="lower")
    'no clear difference'
    """
    if ours.n < 2:
        return _TOO_FEW
    difference = ours.mean - paper.mean
    if abs(difference) <= _margin(ours, paper) + paper.rounding:
        return _UNCLEAR
    if better == "neither":
        return "ours is larger" if difference > 0 else "ours is smaller"
    wins = (difference < 0) == (better == "lower")
    return "ours is better" if wins else "the paper's is better"


def _margin(ours: Summary, paper: Printed) -> float:
    """Return half the confidence interval of a difference of means (Welch 1947)."""
    parts = (ours.sd**2 / ours.n, ours.n - 1), (paper.sd**2 / _N_PAPER, _N_PAPER - 1)
    variance = sum(part for part, _ in parts)
    if variance == 0:
        return 0.0
    freedom = variance**2 / sum(part**2 / n for part, n in parts)
    return float(student_t.ppf((1 + _CONFIDENCE) / 2, freedom) * math.sqrt(variance))


class Compared(NamedTuple):
    """A number that both the paper and a run of ours have."""

    study: str
    view: str
    quantity: str
    method: str
    ours: str
    paper: str
    verdict: str
    ratio: float  # of the larger to the smaller mean

    @property
    def differs(self) -> bool:
        """Whether the means differ significantly."""
        return self.verdict not in (_UNCLEAR, _TOO_FEW)


def compare(studies: Sequence[Study], store: Store) -> list[Compared]:
    """Return every number that both the paper and a run of ours have."""
    return [
        _compared(study, view, *match)
        for study in studies
        for view in study.views
        for match in _matches(study, view, store)
    ]


def _compared(
    study: Study,
    view: View,
    row: Row,
    cell: Summary,
    group: str,
    metric: Metric,
    paper: str,
) -> Compared:
    printed = read_printed(paper)
    small, large = sorted((abs(cell.mean), abs(printed.mean)))
    return Compared(
        study.name,
        view.title,
        ", ".join(part for part in (metric.title, group) if part),
        row.title,
        cell.shown(metric.digits),
        paper,
        verdict(cell, printed, metric.better),
        large / max(small, printed.rounding),
    )


def _matches(
    study: Study, view: View, store: Store
) -> Iterator[tuple[Row, Summary, str, Metric, str]]:
    for row in rows(study, view, store):
        printed = view.printed.get(row.paper) if row.paper else None
        if printed is not None:
            for cell, (group, metric), paper in zip(row.cells, view.columns, printed, strict=True):
                if cell.n:
                    yield row, cell, group, metric, paper


def comparison_table(compared: Sequence[Compared]) -> Table:
    """Return all of them side by side."""
    columns = ("study", "table", "quantity", "method", "ours", "paper", "verdict")
    return Table("Ours beside the paper's", columns, tuple(each[:7] for each in compared), 4)


def verdict_tables(compared: Sequence[Compared]) -> list[Table]:
    """Return, for each table of the paper, the number of each verdict for a method."""
    tables: dict[tuple[str, str], dict[str, list[Compared]]] = {}
    for each in compared:
        methods = tables.setdefault((each.study, each.view), {})
        methods.setdefault(each.method, []).append(each)
    return [_verdict_table(", ".join(key), methods) for key, methods in tables.items()]


def _verdict_table(title: str, methods: dict[str, list[Compared]]) -> Table:
    reached = {each.verdict for members in methods.values() for each in members}
    shown = [kind for kind in _VERDICTS if kind in reached]
    lines = []
    for method, members in methods.items():
        counts = [sum(each.verdict == kind for each in members) for kind in shown]
        lines.append((method, *(str(n) if n else "" for n in counts), _furthest(members)))
    return Table(title, ("method", *shown, "furthest apart"), tuple(lines))


def _furthest(members: Sequence[Compared]) -> str:
    differing = [each for each in members if each.differs]
    if not differing:
        return ""
    most = max(differing, key=lambda each: each.ratio)
    return f"{most.quantity}: {most.ours}, paper {most.paper}"
