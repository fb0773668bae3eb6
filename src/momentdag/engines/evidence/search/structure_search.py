"""The stages of the search: quickly, then with kernels chosen by evidence and from many starts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from momentdag.engines.evidence.local.hyperparameters import (
    Hyperparameters,
    choose_hyperparameters,
    evidence_at,
)
from momentdag.engines.evidence.local.protocol import Evidences, Parents, ScoreCounts
from momentdag.engines.evidence.local.tuning import TUNING as SCORE_TUNING
from momentdag.engines.evidence.problem import Problem
from momentdag.engines.evidence.search.candidates import (
    candidates_of,
    find_candidates,
    symmetrize,
)
from momentdag.engines.evidence.search.orders import OrderResult
from momentdag.engines.evidence.search.parents import ParentSearch
from momentdag.engines.evidence.search.starts import (
    Order,
    SearchResult,
    Tick,
    best_first,
    search_from,
    settle_rates,
    solve_again,
)
from momentdag.engines.evidence.search.tuning import TUNING
from momentdag.parallel import is_serial, run

__all__ = ["search_again", "search_quickly", "search_thoroughly", "tune_kernels"]


def search_quickly(
    problem: Problem, evidences: Evidences, rng: np.random.Generator, n_jobs: int, tick: Tick
) -> SearchResult:
    """Choose candidate parents and climb from the sequential order; of many also from a random one.

    The result serves to choose kernels and to start from, for which some rows are enough.
    """
    whole = problem
    if len(problem.values) > TUNING.rows_at_first:
        problem = problem.with_fewer_rows(rng, TUNING.rows_at_first)
    candidates = _first_candidates(problem, problem.search(evidences), n_jobs)
    problem = replace(problem, candidates=candidates)
    rngs = rng.spawn(2 if problem.is_large and problem.n_starts > 1 else 1)
    starts = [None, *_random_orders(problem, rngs[1:])]
    result = search_from(SearchResult(problem, (), evidences), starts, rngs, 0, n_jobs, tick)
    # Candidates from what the best leaves unexplained.
    search = result.problem.search(result.evidences)
    candidates = find_candidates(search, result.best.parents)
    whole = replace(whole, rates=result.problem.rates, candidates=candidates)
    if len(whole.values) == len(problem.values):
        return replace(result, problem=whole)
    rescored = whole.search()
    optima = [
        optimum._replace(score=sum(map(rescored.score, range(len(optimum.order)), optimum.parents)))
        for optimum in result.optima
    ]
    return SearchResult(whole, best_first(optima), rescored.evidence)


def _first_candidates(problem: Problem, search: ParentSearch, n_jobs: int) -> tuple[int, ...]:
    """Screen for candidates, many variables in blocks that may go to other processes."""
    d = problem.n_variables
    if not problem.is_large or is_serial(n_jobs):
        return find_candidates(search, None)
    blocks = [range(k, d, TUNING.n_blocks) for k in range(TUNING.n_blocks)]
    chosen = [0] * d
    screened = run(_screen_in_worker, [(problem, block) for block in blocks], n_jobs)
    for block, (masks, scored, counts) in zip(blocks, screened, strict=True):
        problem.counts.include(counts)
        for j, mask in zip(block, masks, strict=True):
            chosen[j] = mask
            search.evidence[j].update(scored[j])
    return symmetrize(chosen)


def _screen_in_worker(problem: Problem, block: range) -> tuple[list[int], Evidences, ScoreCounts]:
    with problem.in_worker() as problem:
        search = problem.search()
        masks = [candidates_of(search, j, None) for j in block]
    return masks, search.evidence, problem.counts


def tune_kernels(result: SearchResult, n_jobs: int) -> SearchResult:
    """Choose the hyper-parameters by evidence; scores start afresh.

    Each variable is judged with the best parents it can have among all the others: at the pair
    that was found first, its directions would get kernels made for them, and the opposite ones
    borrow these.
    """
    problem = result.problem
    if problem.options.family == "linear":
        return result
    # An explicit `n_inducing` turns fine features off.
    fine_threshold = np.inf
    if problem.options.n_inducing is None:
        fine_threshold = SCORE_TUNING.fine_is_worth * problem.values.size * problem.n_variables

    search = problem.search(result.evidences)
    parents = tuple(search.best(j, mask).parents for j, mask in enumerate(search.candidates))

    def evidence_of_each(candidates: list[Hyperparameters]) -> list[float]:
        tasks = [(problem, candidate, parents) for candidate in candidates]
        values = []
        for value, counts in run(_evidence_in_worker, tasks, n_jobs):
            problem.counts.include(counts)
            values.append(value)
        return values

    hyperparameters = choose_hyperparameters(evidence_of_each, fine_threshold)
    if hyperparameters == problem.hyperparameters:
        return result
    problem = replace(problem, hyperparameters=hyperparameters)
    return SearchResult(problem, result.optima, problem.no_evidences())


def _evidence_in_worker(
    problem: Problem, hyperparameters: Hyperparameters, parents: tuple[Parents, ...]
) -> tuple[float, ScoreCounts]:
    with problem.in_worker() as problem:
        return evidence_at(problem.scorer(hyperparameters), parents), problem.counts


def search_thoroughly(
    result: SearchResult, rng: np.random.Generator, n_jobs: int, tick: Tick
) -> SearchResult:
    """Climb and kick from the orders found so far and from random ones."""
    problem = result.problem
    rngs = rng.spawn(problem.n_starts)
    known = [optimum.order for optimum in result.optima][: len(rngs)]
    starts = [*known, *_random_orders(problem, rngs[len(known) :])]
    return search_from(result, starts, rngs, problem.options.n_kicks, n_jobs, tick)


def _random_orders(problem: Problem, rngs: list[np.random.Generator]) -> list[Order]:
    return [tuple(problem.knowledge.random_order(rng).tolist()) for rng in rngs]


def search_again(
    result: SearchResult,
    pairs: list[OrderResult],
    rng: np.random.Generator,
    n_jobs: int,
    tick: Tick,
) -> SearchResult:
    """Climb from pairs of which the first turned out better than the optima found."""
    orders = [pair.order for pair in pairs]
    again = search_from(result, orders, rng.spawn(len(orders)), 0, n_jobs, tick)
    # Scores under other edge rates are not comparable, so the earlier optima are solved again; so
    # are the pairs themselves, whose parents a climb along their orders need not find.
    search = again.problem.search(again.evidences)
    others = (solve_again(search, optimum) for optimum in (*pairs, *result.optima))
    return settle_rates(replace(again, optima=best_first((*again.optima, *others))))
