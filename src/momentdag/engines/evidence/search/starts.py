"""The order search from several starts, one after the other or side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from momentdag.engines.evidence.local.protocol import Evidences, ScoreCounts, new_entries
from momentdag.engines.evidence.problem import Problem
from momentdag.engines.evidence.search.orders import (
    OrderResult,
    search_order,
    sequential_order,
    solve_order,
)
from momentdag.engines.evidence.search.parents import ParentSearch
from momentdag.engines.evidence.search.tuning import TUNING
from momentdag.engines.evidence.support.bitmasks import column_mask
from momentdag.engines.evidence.support.shared_cache import SharedCache
from momentdag.parallel import common_folder, is_serial, run, shared

__all__ = [
    "Order",
    "SearchResult",
    "Tick",
    "best_first",
    "search_from",
    "settle_rates",
    "solve_again",
]

Tick = Callable[[int, int], None]
"""Told how many steps of how many are done."""

Order = tuple[int, ...]


@dataclass(frozen=True)
class SearchResult:
    """What a search has settled: the problem as it now stands and the optima, best first."""

    problem: Problem
    optima: tuple[OrderResult, ...]
    evidences: Evidences

    @property
    def best(self) -> OrderResult:
        """The best optimum."""
        return self.optima[0]


def search_from(
    result: SearchResult,
    starts: Sequence[Order | None],
    rngs: list[np.random.Generator],
    n_kicks: int,
    n_jobs: int,
    tick: Tick,
) -> SearchResult:
    """Climb and kick from each start, then solve again under the edge rates of the optimum.

    A start of None is the sequential order. Optima are forgotten between starts, so that a start
    finds the same wherever it runs; evidences are facts about the data and are shared.
    """
    problem, evidences = result.problem, result.evidences
    if is_serial(n_jobs) or len(starts) == 1:
        results = [
            _climb(problem.search(evidences), problem, rng, start, n_kicks, tick)
            for start, rng in zip(starts, rngs, strict=True)
        ]
    else:
        results = []
        with shared(evidences), common_folder() as folder:
            tasks = [
                (problem, evidences, folder, rng, start, n_kicks)
                for start, rng in zip(starts, rngs, strict=True)
            ]
            # Those from random orders are the last and take longest: they begin first.
            ended = list(run(_climb_in_worker, tasks[::-1], n_jobs))[::-1]
        for optimum, scored, counts in ended:
            results.append(optimum)
            problem.counts.include(counts)
            for known, new in zip(evidences, scored, strict=True):
                known.update(new)
    return settle_rates(SearchResult(problem, best_first(results), evidences))


def settle_rates(result: SearchResult) -> SearchResult:
    """Solve the optima again under the edge rates of the best one, until these are its own.

    Each turn goes a part of the way: under the rates of a sparse pair a dense one costs too much.
    """
    problem, optima = result.problem, result.optima
    search: ParentSearch | None = None
    for _ in range(TUNING.rate_turns):
        problem = replace(problem, rates=_edge_counts(optima[0], problem.variables))
        search = problem.search(result.evidences, before=search)
        optima = best_first(solve_again(search, each) for each in optima)
        if _edge_counts(optima[0], problem.variables) == problem.rates:
            break
    return SearchResult(problem, optima, result.evidences)


def best_first(optima: Iterable[OrderResult]) -> tuple[OrderResult, ...]:
    """Return optima by falling score."""
    return tuple(sorted(optima, key=lambda optimum: -optimum.score))


def solve_again(search: ParentSearch, optimum: OrderResult) -> OrderResult:
    """Solve an order under another prior, without losing parents that were found before."""
    solved = solve_order(search, optimum.order)
    score, chosen = 0.0, []
    for j, pair in enumerate(zip(solved.parents, optimum.parents, strict=True)):
        best, parents = max((search.score(j, parents), parents) for parents in pair)
        score += best
        chosen.append(parents)
    return OrderResult(score, optimum.order, tuple(chosen))


def _edge_counts(optimum: OrderResult, among: int) -> tuple[float, float]:
    """Return the numbers of mean and variance edges from variables ``among`` (a bit mask)."""
    mean = sum((parents.mean & among).bit_count() for parents in optimum.parents)
    variance = sum((parents.variance & among).bit_count() for parents in optimum.parents)
    return float(mean), float(variance)


def _climb(
    search: ParentSearch,
    problem: Problem,
    rng: np.random.Generator,
    start: Order | None,
    n_kicks: int,
    tick: Tick,
) -> OrderResult:
    knowledge = problem.knowledge
    if start is None:
        before = [column_mask(knowledge.precedes[:, j]) for j in range(problem.n_variables)]
        start = sequential_order(search, lambda v, placed: before[v] & ~placed == 0)

    def positions_of(order: Order, variable: int) -> range:
        low, high = knowledge.feasible_positions(np.array(order), variable)
        return range(low, high + 1)

    return search_order(search, rng, start, positions_of, n_kicks, tick)


def _climb_in_worker(
    problem: Problem,
    evidences: Evidences,
    folder: Path,
    rng: np.random.Generator,
    start: Order | None,
    n_kicks: int,
) -> tuple[OrderResult, Evidences, ScoreCounts]:
    """Return what a start led to, the evidences it computed, and their counts."""
    # Evidences of its own: others may use these at the same time.
    known = [dict(each) for each in evidences]
    with problem.in_worker() as problem, closing(SharedCache(folder)) as cache:
        search = problem.search(known, cache)
        optimum = _climb(search, problem, rng, start, n_kicks, lambda done, total: None)
    return optimum, new_entries(search.evidence, evidences), problem.counts
