"""What an experiment of the paper is: cases, methods, metrics, and what the paper printed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from momentdag.errors import OptionError
from momentdag.experiments.case import Case

__all__ = ["Experiment", "Metric", "View", "pairs"]


@dataclass(frozen=True)
class Metric:
    """A measure and how it is shown.

    Parameters
    ----------
    key : str
        Its name in the results.
    title : str
    better : {"lower", "higher", "neither"}
    digits : int
        After the point.
    """

    key: str
    title: str
    better: Literal["lower", "higher", "neither"]
    digits: int = 2


@dataclass(frozen=True)
class View:
    """A table of an experiment, which is also a row of panels in its figure.

    Parameters
    ----------
    title : str
    cases : tuple of Case
    metrics : tuple of Metric
    printed : mapping from row to cells
        What the paper prints: one "mean ± sd" for each group and, within it, for each metric.

    Raises
    ------
    OptionError
        If a printed row has not one cell for each group and metric.
    """

    title: str
    cases: tuple[Case, ...]
    metrics: tuple[Metric, ...]
    printed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

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
        """Group and metric of each column."""
        return tuple((group, metric) for group in self.groups for metric in self.metrics)

    def case(self, group: str, variant: str = "") -> Case | None:
        """Return the case in a group and a variant, or None."""
        wanted = (group, variant)
        return next((case for case in self.cases if (case.group, case.variant) == wanted), None)


@dataclass(frozen=True)
class Experiment:
    """A table or a figure of the paper.

    Parameters
    ----------
    name : str
        As on the command line.
    title : str
    shows : str
        Which table or figure of the paper it stands for.
    views : tuple of View
    methods : tuple of str
        Names in `momentdag.experiments.methods.METHODS`.
    left_open : str
        What the paper does not state, and what was chosen.
    quick : tuple of str
        Names of the cases that a quick run has.
    informed : tuple of str
        Those of the methods that also run where orderings are told.
    is_figure : bool
        Whether it is drawn.
    n_sets : int
        Data sets for each case; the paper has 20.
    n_quick_sets : int
        Data sets for each case of a quick run.

    Raises
    ------
    OptionError
        If a quick case is none of the experiment's.
    """

    name: str
    title: str
    shows: str
    views: tuple[View, ...]
    methods: tuple[str, ...]
    left_open: str
    quick: tuple[str, ...]
    informed: tuple[str, ...] = ()
    is_figure: bool = False
    n_sets: int = 20
    n_quick_sets: int = 1

    def __post_init__(self) -> None:
        known = [case.name for case in self.cases]
        for name in self.quick:
            if name not in known:
                raise OptionError(f"Expected quick cases among {known}; got {name!r}.")

    @property
    def cases(self) -> tuple[Case, ...]:
        """The cases of all views, each once."""
        return tuple({case.name: case for view in self.views for case in view.cases}.values())

    def methods_for(self, case: Case) -> tuple[str, ...]:
        """Return the methods that run on a case."""
        return self.informed if case.variant else self.methods


def pairs(experiments: Iterable[Experiment], *, quick: bool) -> list[tuple[Case, str]]:
    """Return every case, or those of quick runs, with every method that it is for, once.

    Examples
    --------
    >>> from momentdag.experiments import EXPERIMENTS
    >>> sparse, varsort = EXPERIMENTS["fig-sparse"], EXPERIMENTS["table-varsort"]
    >>> len(pairs([sparse], quick=True)), len(pairs([sparse, varsort], quick=True))
    (18, 18)
    """
    found = {
        (case.name, method): (case, method)
        for experiment in experiments
        for case in experiment.cases
        if not quick or case.name in experiment.quick
        for method in experiment.methods_for(case)
    }
    return list(found.values())
