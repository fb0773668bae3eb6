"""What a study is: cases, methods, metrics, and what the paper printed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from momentdag.errors import OptionError
from studies.case import Case

if TYPE_CHECKING:
    from studies.store import Store
    from studies.tables import Table

__all__ = ["Metric", "Study", "View", "case_method_pairs"]


@dataclass(frozen=True)
class Metric:
    """A measure and how it is shown: as mean ± sd over data sets, or by another summary."""

    key: str  # its name in the results; "seconds" is the run time
    title: str
    better: Literal["lower", "higher", "neither"] = "neither"
    digits: int = 2  # after the point
    summary: Literal["mean", "median", "largest", "smallest", "share"] = "mean"


@dataclass(frozen=True)
class View:
    """A table of a study, which is also a row of panels in its figure.

    ``printed`` is what the paper prints, by row: one "mean ± sd" for each group and, within it, for
    each metric. ``make`` makes a table of another form; ``metrics`` then only list what a run must
    have measured.
    """

    title: str
    cases: tuple[Case, ...]
    metrics: tuple[Metric, ...] = ()
    printed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    methods: tuple[str, ...] = ()  # if not all of the study's
    rows: Literal["methods", "cases", "metrics"] = "methods"  # what a row stands for
    note: str = ""  # one paragraph below the table
    make: Callable[[View, Store], Table | None] | None = None

    def __post_init__(self) -> None:
        for row, cells in self.printed.items():
            if len(cells) != len(self.columns):
                raise OptionError(
                    f"Expected {len(self.columns)} printed cells in row {row!r} of "
                    f"{self.title!r}; got {len(cells)}."
                )

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups of the cases, each once, in their order."""
        return tuple(dict.fromkeys(case.group for case in self.cases))

    @property
    def variants(self) -> tuple[str, ...]:
        """The variants of the cases, each once, in their order."""
        return tuple(dict.fromkeys(case.variant for case in self.cases))

    @property
    def columns(self) -> tuple[tuple[str, Metric], ...]:
        """Group and metric of each column where rows are methods."""
        return tuple((group, metric) for group in self.groups for metric in self.metrics)

    def has(self, case: Case) -> bool:
        """Whether the case is one of the view's."""
        return any(case.name == each.name for each in self.cases)

    def case(self, group: str, variant: str = "") -> Case | None:
        """Return the case in a group and a variant, or None."""
        wanted = (group, variant)
        return next((case for case in self.cases if (case.group, case.variant) == wanted), None)


@dataclass(frozen=True)
class Study:
    """A table or a figure of the paper, or a benchmark of the library.

    ``about`` says how it is measured, or what the paper does not state and was chosen here. A
    "look" at this machine is measured anew each time and is on no page.
    """

    name: str  # as on the command line
    title: str
    shows: str  # one line: which table or figure of the paper it stands for, or what it measures
    views: tuple[View, ...]
    methods: tuple[str, ...]
    about: str
    quick: tuple[str, ...]  # names of the cases that a quick run has
    informed: tuple[str, ...] = ()  # those of the methods that also run where orderings are given
    on_request: tuple[str, ...] = ()  # cases and methods that only run if they are asked for
    kind: Literal["paper", "benchmark", "look"] = "benchmark"
    n_sets: int = 20  # for each case, as in the paper
    n_quick_sets: int = 1

    def __post_init__(self) -> None:
        known = [case.name for case in self.cases]
        for name in self.quick:
            if name not in known:
                raise OptionError(f"Expected quick cases among {known}; got {name!r}.")

    @property
    def is_figure(self) -> bool:
        """Whether it is drawn."""
        return self.name.startswith("fig-")

    @property
    def cases(self) -> tuple[Case, ...]:
        """The cases of all views, each once."""
        return tuple({case.name: case for view in self.views for case in view.cases}.values())

    def methods_for(self, case: Case) -> tuple[str, ...]:
        """Return the methods that run on a case."""
        if case.variant and self.informed:
            return self.informed
        views = [view for view in self.views if view.has(case)]
        return tuple(dict.fromkeys(name for v in views for name in v.methods or self.methods))

    def keys_for(self, case: Case, method: str) -> tuple[str, ...]:
        """Return what a run must have measured: one that lacks a measure is repeated."""
        return tuple(
            metric.key
            for view in self.views
            if view.has(case) and method in (view.methods or self.methods)
            for metric in view.metrics
            if metric.key != "seconds"
        )


def case_method_pairs(studies: Iterable[Study], *, quick: bool) -> list[tuple[Case, str]]:
    """Return every case, or those of quick runs, with every method that it is for, once.

    Examples
    --------
    >>> from studies.registry import STUDIES
    >>> sparse, varsort = STUDIES["fig-sparse"], STUDIES["table-varsort"]
    >>> len(case_method_pairs([sparse], quick=True))
    18
    >>> len(case_method_pairs([sparse, varsort], quick=True))
    18
    """
    pairs = {
        (case.name, method): (case, method)
        for study in studies
        for case in study.cases
        if not quick or case.name in study.quick
        for method in study.methods_for(case)
    }
    return list(pairs.values())
