"""A case: numbered data sets of one kind, and the measures that apply to them."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import pandas as pd

from momentdag.graph import MomentGraph
from momentdag.knowledge import Knowledge
from momentdag.simulate import Simulation
from studies.fits import Fitted, Request
from studies.methods import Method
from studies.timing import peak_megabytes, timed, timed_in_grams

__all__ = ["FIRST_SEED", "N_DRAWS", "Case", "FitCase", "Measures", "Outcome", "Task", "fit_task"]

FIRST_SEED = 20260
N_DRAWS = 2000

Measures: TypeAlias = dict[str, float]


class Task(NamedTuple):
    """One data set: the input of a method, and the truth its result is compared with.

    Truths and the simulation are never shown to a method.
    """

    data: pd.DataFrame  # (n_samples, n_variables)
    truths: Mapping[str, MomentGraph]
    orderings: tuple[tuple[str, str], ...] = ()  # given to the method: first comes before second
    knowledge: Knowledge | None = None  # given instead of orderings
    simulation: Simulation | None = None  # what the data were drawn from
    number: int = 0  # of the data set


class Outcome(NamedTuple):
    """The result of a run: measures, and rows of measures where one has several values."""

    measures: Measures
    seconds: float
    status: str = "complete"
    warnings: tuple[str, ...] = ()
    parts: tuple[Measures, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Case(ABC):
    """A family of data sets, numbered from 0. Studies that have the case share its runs."""

    name: str
    group: str  # column of a table or tick of a figure, such as "d = 5"
    n_variables: int
    table: str = "runs"  # file that keeps its runs
    variant: str = ""  # follows the method's name in a row of a table, such as "+ 25 %"
    n_draws: int = N_DRAWS  # of a Bayesian method
    max_sets: int | None = None  # how many data sets there are, if not any number
    version: int = 1  # raise it when data or measures change: earlier runs then no longer count

    @abstractmethod
    def run(self, method: Method, number: int, n_draws: int, options: Mapping[str, Any]) -> Outcome:
        """Run a method once; ``number`` is that of the data set and the seed of the method."""


def _no_measures(task: Task, fitted: Fitted) -> Measures:
    return {}


def _no_parts(task: Task, fitted: Fitted) -> list[Measures]:
    return []


@dataclass(frozen=True, kw_only=True)
class FitCase(Case):
    """Data sets that are fitted, and measures of the fit."""

    draw: Callable[[int], Task]
    measure: Callable[[Task, Fitted], Measures] = _no_measures
    measure_parts: Callable[[Task, Fitted], list[Measures]] = _no_parts
    in_grams: bool = False  # time on one thread, also in Gram products, and note the peak memory

    def run(self, method: Method, number: int, n_draws: int, options: Mapping[str, Any]) -> Outcome:
        """Draw a data set, fit it, and measure the fit."""
        task = self.draw(number)
        fitted, outcome = fit_task(
            method, task, number, n_draws=n_draws, options=options, in_grams=self.in_grams
        )
        measures = {**outcome.measures, **self.measure(task, fitted)}
        return outcome._replace(measures=measures, parts=tuple(self.measure_parts(task, fitted)))


def fit_task(
    method: Method,
    task: Task,
    seed: int,
    *,
    n_draws: int,
    options: Mapping[str, Any],
    in_grams: bool = False,
) -> tuple[Fitted, Outcome]:
    """Fit a data set with a method; return the fit, and its time, status and warnings."""
    knowledge = task.knowledge
    if task.orderings:
        knowledge = Knowledge(order=list(task.orderings), strength=method.knowledge)
    request = Request(task.data, knowledge, seed, n_draws, options)
    measures: Measures = {}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if in_grams:
            fitted, timing, measures = timed_in_grams(lambda: method.fit(request))
            measures["peak_megabytes"] = peak_megabytes()
        else:
            fitted, timing = timed(lambda: method.fit(request))
    messages = dict.fromkeys(f"{w.category.__name__}: {w.message}" for w in caught)
    measures |= fitted.measures
    return fitted, Outcome(measures, timing.seconds, fitted.status, tuple(messages))
