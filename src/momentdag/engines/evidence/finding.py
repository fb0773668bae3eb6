"""Finding the best graph pairs: quickly, then with tuned kernels and from many starts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from momentdag.engines.evidence.candidates import candidates_of, either_way, find_candidates
from momentdag.engines.evidence.family import Parents
from momentdag.engines.evidence.orders import (
    OrderResult,
    search_order,
    sequential_order,
    solve_order,
)
from momentdag.engines.evidence.parents import ParentSearch
from momentdag.engines.evidence.prior import column_mask
from momentdag.engines.evidence.problem import Evidences, Problem, beyond
from momentdag.engines.evidence.scoring import (
    Hyperparameters,
    choose_hyperparameters,
    evidence_at,
)
from momentdag.parallel import common_folder, run, shared, stays_here

__all__ = ["Found", "find_again", "find_quickly", "find_thoroughly", "tune"]

Tick = Callable[[int, int], None]

_ROWS_AT_FIRST = 1000  # that the first search looks at
_N_BLOCKS = 8
# Fine features are worth their time, which grows with rows and pairs of variables, if they gain
# this many nats for each row and pair. Simulated data with usual noise give them less than 0.002,
# data with next to none up to 0.06.
_FINE_IS_WORTH = 0.002


@dataclass(frozen=True)
class Found:
    """What a search has settled: the problem as it now stands and the optima, best first."""

    problem: Problem
    optima: tuple[OrderResult, ...]
    evidences: Evidences

    @property
    def best(self) -> OrderResult:
        """The best optimum."""
        return self.optima[0]


def find_quickly(
    problem: Problem, evidences: Evidences, rng: np.random.Generator, n_jobs: int, tick: Tick
) -> Found:
    """Choose candidate parents and climb from the sequential order; of many also from a random one.

    What is found serves to choose kernels and to start from, for which some rows are enough.
    """
    whole = problem
    if len(problem.values) > _ROWS_AT_FIRST:
        problem = problem.with_fewer_rows(rng, _ROWS_AT_FIRST)
    candidates = _first_candidates(problem, problem.search(evidences), n_jobs)
    problem = replace(problem, candidates=candidates)
    rngs = rng.spawn(2 if problem.is_large and problem.n_starts > 1 else 1)
    starts = [None, *_random_orders(problem, rngs[1:])]
    found = _from_starts(Found(problem, (), evidences), starts, rngs, 0, n_jobs, tick)
    # Candidates from what the best leaves unexplained.
    search = found.problem.search(found.evidences)
    candidates = find_candidates(search, found.best.parents)
    whole = replace(whole, rates=found.problem.rates, candidates=candidates)
    if len(whole.values) == len(problem.values):
        return replace(found, problem=whole)
    again = whole.search()
    optima = (
        result._replace(score=sum(again.score(j, own) for j, own in enumerate(result.parents)))
        for result in found.optima
    )
    return Found(whole, _best_first(optima), again.evidence)


def _first_candidates(problem: Problem, search: ParentSearch, n_jobs: int) -> tuple[int, ...]:
    """Screen for candidates, many variables in blocks that may go to other processes."""
    d = problem.n_variables
    if not problem.is_large or stays_here(n_jobs):
        return find_candidates(search, None)
    blocks = [range(k, d, _N_BLOCKS) for k in range(_N_BLOCKS)]
    chosen = [0] * d
    screened = run(_screen_in_worker, [(problem, block) for block in blocks], n_jobs)
    for block, (masks, scored) in zip(blocks, screened, strict=True):
        for j, mask in zip(block, masks, strict=True):
            chosen[j] = mask
            search.evidence[j].update(scored[j])
    return either_way(chosen)


def _screen_in_worker(problem: Problem, block: range) -> tuple[list[int], Evidences]:
    with threadpool_limits(1):
        search = problem.search()
        return [candidates_of(search, j, None) for j in block], search.evidence


def tune(found: Found, n_jobs: int) -> Found:
    """Choose the hyper-parameters by evidence at the best pair; scores start afresh."""
    problem = found.problem
    if problem.options.family == "linear":
        return found
    parents = found.best.parents
    # Who asked for a number of inducing rows gets that number.
    worth = np.inf
    if problem.options.n_inducing is None:
        worth = _FINE_IS_WORTH * problem.targets.size * problem.n_variables
    hyperparameters = choose_hyperparameters(
        lambda each: run(_evidence_in_worker, [(problem, one, parents) for one in each], n_jobs),
        worth,
    )
    if hyperparameters == problem.hyperparameters:
        return found
    problem = replace(problem, hyperparameters=hyperparameters)
    return Found(problem, found.optima, [{} for _ in range(problem.n_variables)])


def _evidence_in_worker(
    problem: Problem, hyperparameters: Hyperparameters, parents: tuple[Parents, ...]
) -> float:
    with threadpool_limits(1):
        return evidence_at(problem.scorer(hyperparameters), parents)


def find_thoroughly(found: Found, rng: np.random.Generator, n_jobs: int, tick: Tick) -> Found:
    """Climb and kick from the orders found so far and from random ones."""
    problem = found.problem
    rngs = rng.spawn(problem.n_starts)
    found_so_far = [result.order for result in found.optima][: len(rngs)]
    starts = [*found_so_far, *_random_orders(problem, rngs[len(found_so_far) :])]
    return _from_starts(found, starts, rngs, problem.options.n_kicks, n_jobs, tick)


def _random_orders(problem: Problem, rngs: list[np.random.Generator]) -> list[tuple[int, ...]]:
    return [tuple(problem.knowledge.random_order(rng).tolist()) for rng in rngs]


def find_again(
    found: Found, orders: list[tuple[int, ...]], rng: np.random.Generator, n_jobs: int, tick: Tick
) -> Found:
    """Climb from orders of which the first turned out better than the optima found."""
    again = _from_starts(found, orders, rng.spawn(len(orders)), 0, n_jobs, tick)
    # Scores under other edge rates are not comparable, so the earlier optima are solved again.
    search = again.problem.search(again.evidences)
    earlier = (_solve_again(search, result) for result in found.optima)
    return replace(again, optima=_best_first((*again.optima, *earlier)))


def _from_starts(
    found: Found,
    starts: Sequence[tuple[int, ...] | None],
    rngs: list[np.random.Generator],
    n_kicks: int,
    n_jobs: int,
    tick: Tick,
) -> Found:
    problem, evidences = found.problem, found.evidences
    results: list[OrderResult] = []
    if stays_here(n_jobs) or len(starts) == 1:
        for start, rng in zip(starts, rngs, strict=True):
            # Optima are forgotten between starts, so that a start finds the same wherever it
            # runs; evidences are facts about the data and may be shared.
            search = problem.search(evidences)
            results.append(_search(search, problem, rng, start, n_kicks, tick))
    else:
        with shared(evidences), common_folder() as folder:
            tasks = [
                (problem, evidences, folder, rng, start, n_kicks)
                for start, rng in zip(starts, rngs, strict=True)
            ]
            # Those from random orders are the last and take longest: they begin first.
            ended = list(run(_search_in_worker, tasks[::-1], n_jobs))[::-1]
        for result, scored in ended:
            results.append(result)
            for known, new in zip(evidences, scored, strict=True):
                known.update(new)
    best = max(results, key=lambda result: result.score)
    # Solve again under the edge rates that the optimum itself suggests.
    problem = replace(problem, rates=_rates(best))
    search = problem.search(evidences)
    solved = (_solve_again(search, result) for result in results)
    return Found(problem, _best_first(solved), evidences)


def _best_first(optima: Iterable[OrderResult]) -> tuple[OrderResult, ...]:
    return tuple(sorted(optima, key=lambda result: -result.score))


def _solve_again(search: ParentSearch, result: OrderResult) -> OrderResult:
    """Solve an order under another prior, without losing parents that were found before."""
    solved = solve_order(search, result.order)
    score, kept = 0.0, []
    for j, pair in enumerate(zip(solved.parents, result.parents, strict=True)):
        best, own = max((search.score(j, own), own) for own in pair)
        score += best
        kept.append(own)
    return OrderResult(score, result.order, tuple(kept))


def _rates(result: OrderResult) -> tuple[float, float]:
    mean = sum(own.mean.bit_count() for own in result.parents)
    variance = sum(own.variance.bit_count() for own in result.parents)
    return float(mean), float(variance)


def _search(
    search: ParentSearch,
    problem: Problem,
    rng: np.random.Generator,
    start: tuple[int, ...] | None,
    n_kicks: int,
    tick: Tick,
) -> OrderResult:
    """Climb and kick from an order, from the sequential one if None."""
    if start is None:
        precedes = problem.knowledge.precedes
        before = [column_mask(precedes[:, j]) for j in range(problem.n_variables)]
        start = sequential_order(search, lambda v, placed: before[v] & ~placed == 0)

    def positions_of(order: tuple[int, ...], variable: int) -> range:
        low, high = problem.knowledge.feasible_positions(np.array(order), variable)
        return range(low, high + 1)

    return search_order(search, rng, start, positions_of, n_kicks, tick)


def _search_in_worker(
    problem: Problem,
    evidences: Evidences,
    folder: Path,
    rng: np.random.Generator,
    start: tuple[int, ...] | None,
    n_kicks: int,
) -> tuple[OrderResult, Evidences]:
    """Return what a start led to, and the evidences it had to ask for."""
    with problem.worker_search(evidences, folder) as search:
        result = _search(search, problem, rng, start, n_kicks, lambda done, total: None)
    return result, beyond(search.evidence, evidences)
