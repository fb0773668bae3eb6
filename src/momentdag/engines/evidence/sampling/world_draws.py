"""Draws of graph pairs from worlds: pools that serve all of them, then orders and parents in each.

Worlds are independent, so the spread between them is an honest Monte Carlo error, and each is a
task of its own for another process.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from momentdag.engines.evidence.local.protocol import Parents
from momentdag.engines.evidence.prior import GraphPrior, ModularPrior, adjacency
from momentdag.engines.evidence.problem import Problem
from momentdag.engines.evidence.sampling.draws import Draws
from momentdag.engines.evidence.sampling.exact import ExactPosterior, enumerate_scores
from momentdag.engines.evidence.sampling.order_posterior import (
    OrderPool,
    draw_orders,
    draw_parents,
    log_order_count,
)
from momentdag.engines.evidence.sampling.worlds import Worlds, WorldSearch
from momentdag.engines.evidence.search.orders import OrderResult, search_order
from momentdag.engines.evidence.search.parents import ParentSearch
from momentdag.engines.evidence.search.starts import SearchResult, Tick
from momentdag.engines.evidence.search.tuning import TUNING
from momentdag.engines.evidence.support.bitmasks import Words, column_mask, members, to_words
from momentdag.parallel import run, shared

__all__ = [
    "Completion",
    "WorldPool",
    "complete_pools",
    "draw_in_worlds",
    "enumerate_worlds",
    "make_world_pools",
    "score_neighbours",
]

FloatArray: TypeAlias = npt.NDArray[np.float64]

_GOLDEN = (5**0.5 - 1) / 2


class WorldPool(NamedTuple):
    """Candidate parents of one variable, with their weights in every world."""

    parents: list[Parents]
    unions: Words  # (E, W)
    log_weight: FloatArray  # (E, K) evidence in each world plus modular prior
    log_prior: FloatArray  # (E,) the modular prior
    plain: FloatArray  # (E,) as `log_weight`, for the rows as they are and without prices
    plain_prior: FloatArray  # (E,) the modular prior without prices


class Completion(NamedTuple):
    """What searching in worlds came to."""

    n_searched: int
    n_outside: int  # of these, worlds whose optimum the pools did not hold yet
    recent_outside: float  # their share among the last few


def complete_pools(
    result: SearchResult, worlds: Worlds, search: ParentSearch, tick: Tick
) -> Completion:
    """Search in one world after the other until their optima are no news; scores stay in memory."""
    problem = result.problem
    rng = np.random.default_rng(0)
    outside: list[bool] = []
    n_most = min(TUNING.most_world_searches, worlds.n_worlds)
    for world in range(n_most):
        known = [set(each) for each in search.evidence]
        optimum = _climb(WorldSearch(search, worlds, world), problem, rng, result.best.order)
        outside.append(any(own not in known[j] for j, own in enumerate(optimum.parents)))
        tick(world + 1, n_most)
        if len(outside) >= TUNING.least_world_searches and not any(
            outside[-TUNING.quiet_world_searches :]
        ):
            break
    recent = outside[-TUNING.quiet_world_searches :]
    return Completion(len(outside), sum(outside), float(np.mean(recent)))


def score_neighbours(search: ParentSearch, optimum: tuple[Parents, ...]) -> None:
    """Score every single change of the best parents: what is unlikely must be possible, too."""
    for j, own in enumerate(optimum):
        everyone = search.candidates[j]
        for mean, variance in {own, search.best(j, everyone).parents}:
            for i in members(everyone):
                bit = 1 << i
                for changed in (Parents(mean ^ bit, variance), Parents(mean, variance ^ bit)):
                    if search.prior.permits(j, changed):
                        search.log_evidence(j, changed)


def _climb(
    search: ParentSearch, problem: Problem, rng: np.random.Generator, start: tuple[int, ...]
) -> OrderResult:
    def positions_of(order: tuple[int, ...], variable: int) -> range:
        low, high = problem.knowledge.feasible_positions(np.array(order), variable)
        return range(low, high + 1)

    return search_order(search, rng, start, positions_of, 0, lambda done, total: None)


def make_world_pools(
    search: ParentSearch, worlds: Worlds, plain_prior: ModularPrior
) -> list[WorldPool]:
    """Collect, for each variable, the scored parents that matter in some world.

    Regimes, which come last and have no parents, have no pool.
    """
    return [_make_pool(search, worlds, plain_prior, j) for j in range(search.prior.n_variables)]


def _make_pool(
    search: ParentSearch, worlds: Worlds, plain_prior: ModularPrior, variable: int
) -> WorldPool:
    prior, d = search.prior, len(search.candidates)
    scored = [
        (value + prior.log_weight(variable, parents), parents)
        for parents, value in search.evidence[variable].items()
        if np.isfinite(value) and prior.permits(variable, parents)
    ]
    # Ties cannot depend on the order in which scores were made.
    scored.sort(key=lambda entry: (-entry[0], entry[1]))
    values = np.array([value for value, _ in scored])
    # Regimes come before everything: no order is closed to their effects.
    variables = (1 << search.prior.n_variables) - 1
    unions = to_words((parents.union & variables for _, parents in scored), d)

    def deviation(k: int, dominator: int) -> FloatArray:
        return worlds.balanced(search, variable, scored[k][1], scored[dominator][1])

    kept: list[int] = []
    deviations: list[FloatArray] = []
    for k in range(len(scored)):
        # Entries before k score higher; one inside k's union is open wherever k is.
        inside = ~np.any(unions[: k + 1] & ~unions[k], axis=1)
        first = int(np.argmax(inside))
        gap = values[first] - values[k]
        if gap > TUNING.world_pool_depth:
            continue
        own = deviation(k, first)
        if gap > TUNING.pool_depth:
            gains = own - deviation(first, first)
            if gains.max() < gap - TUNING.pool_depth / 2:
                continue
        kept.append(k)
        deviations.append(own)
        if len(kept) == TUNING.pool_size:
            break
    # Whoever comes first must be able to have no parents but those that knowledge requires.
    smallest = [entry for _, entry in scored].index(prior.smallest(variable))
    if smallest not in kept:
        kept.append(smallest)
        deviations.append(deviation(smallest, smallest))
    parents = [scored[k][1] for k in kept]
    log_prior = np.array([prior.log_weight(variable, own) for own in parents])
    without_prices = np.array([plain_prior.log_weight(variable, own) for own in parents])
    log_weight = values[kept, None] + np.stack(deviations)
    plain = values[kept] + without_prices - log_prior
    return WorldPool(parents, unions[kept], log_weight, log_prior, plain, without_prices)


def draw_in_worlds(
    rng: np.random.Generator,
    result: SearchResult,
    pools: list[WorldPool],
    n_draws: int,
    n_jobs: int,
    tick: Tick,
) -> tuple[Draws, FloatArray]:
    """Draw graph pairs, as many in each world; also the effective share of draws in each world."""
    problem = result.problem
    n_worlds = min(pools[0].log_weight.shape[1], n_draws)
    shares = [len(part) for part in np.array_split(np.arange(n_draws), n_worlds)]
    rngs = rng.spawn(n_worlds)
    order = result.best.order
    blocks = np.array_split(np.arange(n_worlds), max(1, n_worlds // TUNING.worlds_per_task))
    parts: list[Draws] = []
    effective: list[float] = []
    with shared(pools):
        tasks = [
            (problem.prior, pools, order, [(int(k), shares[k], rngs[k]) for k in block])
            for block in blocks
        ]
        for done, found in enumerate(run(_draw_block, tasks, n_jobs), start=1):
            for draws, share in found:
                parts.append(draws)
                effective.append(share)
            tick(done, len(tasks))
    return Draws.joined(parts).in_one_chain(), np.array(effective)


def _draw_block(
    prior: GraphPrior,
    pools: list[WorldPool],
    order: tuple[int, ...],
    block: list[tuple[int, int, np.random.Generator]],
) -> list[tuple[Draws, float]]:
    return [
        draw_in_world(rng, prior, pools, world, n_draws, order) for world, n_draws, rng in block
    ]


def draw_in_world(
    rng: np.random.Generator,
    prior: GraphPrior,
    pools: list[WorldPool],
    world: int | None,
    n_draws: int,
    order: tuple[int, ...],
) -> tuple[Draws, float]:
    """Draw graph pairs in one world; orders first, then parents, corrected by resampling.

    Without a world, they are drawn given the rows as they are.
    """
    d = len(pools)
    no_parents = (Parents(0, 0),) * prior.n_regimes
    precedes = prior.knowledge.precedes
    before = [column_mask(precedes[:d, j]) for j in range(d)]
    order = tuple(j for j in order if j < d)
    here = [
        OrderPool(pool.unions, pool.plain if world is None else pool.log_weight[:, world])
        for pool in pools
    ]
    modular_priors = [pool.plain_prior if world is None else pool.log_prior for pool in pools]
    n = max(TUNING.raw_draws, TUNING.raw_draws_per_draw * n_draws)
    orders = draw_orders(rng, here, before, n, order)
    chosen = draw_parents(rng, here, orders)
    pairs, which = np.unique(chosen, axis=0, return_inverse=True)
    which = which.reshape(-1)
    graphs = [
        adjacency((*(pool.parents[k] for pool, k in zip(pools, pair, strict=True)), *no_parents))
        for pair in pairs
    ]
    mean_graphs = np.stack([mean for mean, _ in graphs])
    variance_graphs = np.stack([variance for _, variance in graphs])
    log_prior = prior.log_weight(mean_graphs, variance_graphs)
    log_prior = np.where(prior.knowledge.allows(mean_graphs, variance_graphs), log_prior, -np.inf)
    log_weight, log_posterior = np.empty(len(pairs)), np.empty(len(pairs))
    for k, pair in enumerate(pairs):
        modular = sum(float(known[e]) for known, e in zip(modular_priors, pair, strict=True))
        score = sum(float(pool.log_weight[e]) for pool, e in zip(here, pair, strict=True))
        unions = tuple(
            pool.parents[e].union & (1 << d) - 1 | mask
            for pool, e, mask in zip(pools, pair, before, strict=True)
        )
        log_weight[k] = log_prior[k] - modular - log_order_count(unions)
        log_posterior[k] = score - modular + log_prior[k]
    weights = np.exp(log_weight[which] - log_weight[which].max())
    weights /= weights.sum()
    points = (np.arange(n_draws) + rng.random()) / n_draws
    kept = which[np.minimum(np.searchsorted(np.cumsum(weights), points), n - 1)]
    draws = Draws(
        mean_graphs[kept],
        variance_graphs[kept],
        log_posterior[kept],
        np.zeros(n_draws, dtype=np.int32),
    )
    return draws, float(1 / (weights**2).sum() / n)


def enumerate_worlds(
    rng: np.random.Generator,
    result: SearchResult,
    worlds: Worlds,
    search: ParentSearch,
    n_draws: int,
) -> tuple[Draws, ExactPosterior]:
    """Enumerate every pair in every world and draw from the exact posteriors.

    Also returned is the exact posterior given the rows as they are.
    """

    def scores(j: int, parents: Parents) -> FloatArray:
        deviations = worlds.balanced(search, j, parents, _dominator(search, j, parents))
        return search.log_evidence(j, parents) + np.append(deviations, 0.0)

    enumerated = enumerate_scores(scores, result.problem.prior)
    n_worlds = min(worlds.n_worlds, n_draws)
    shares = [len(part) for part in np.array_split(np.arange(n_draws), n_worlds)]
    # Offsets that fill (0, 1) evenly: few draws of a world then make many of all worlds.
    offsets = (rng.random() + _GOLDEN * np.arange(n_worlds)) % 1.0
    parts = []
    for world, (share, own) in enumerate(zip(shares, rng.spawn(n_worlds), strict=True)):
        posterior = enumerated.in_world(world)
        chosen = posterior.sample(own, share, float(offsets[world]))
        parts.append(
            Draws(
                posterior.mean_graphs[chosen],
                posterior.variance_graphs[chosen],
                posterior.log_probability[chosen],
                np.zeros(share, dtype=np.int32),
            )
        )
    # The posterior given the rows as they are knows no prices.
    graphs = enumerated.mean_graphs, enumerated.variance_graphs
    enumerated.log_weight[:, -1] += result.problem.prior.cost(*graphs)
    return Draws.joined(parts).in_one_chain(), enumerated.in_world(worlds.n_worlds)


def _dominator(search: ParentSearch, variable: int, parents: Parents) -> Parents:
    """Return the best of all pairs of sets of the same parents, or fewer."""
    subsets = [mask for mask in range(parents.union + 1) if not mask & ~parents.union]
    within = (Parents(mean, variance) for mean in subsets for variance in subsets)
    permitted = (own for own in within if search.prior.permits(variable, own))
    return max(permitted, key=lambda own: (search.score(variable, own), own == parents))
