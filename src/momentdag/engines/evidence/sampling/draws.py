"""Drawing graph pairs: by enumeration for few variables, else by Markov chains."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from momentdag.engines.evidence.local.protocol import (
    Evidences,
    Parents,
    ScoreCounts,
    new_entries,
)
from momentdag.engines.evidence.prior import adjacency
from momentdag.engines.evidence.problem import Problem
from momentdag.engines.evidence.sampling.chain import Chain
from momentdag.engines.evidence.sampling.exact import enumerate_posterior
from momentdag.engines.evidence.sampling.pools import Pool, enrich, make_pools
from momentdag.engines.evidence.search.orders import OrderResult
from momentdag.engines.evidence.search.parents import ParentSearch
from momentdag.engines.evidence.search.starts import SearchResult, Tick
from momentdag.engines.evidence.search.tuning import TUNING
from momentdag.engines.evidence.support.bitmasks import column_mask, members
from momentdag.engines.evidence.support.shared_cache import SharedCache
from momentdag.graph import BoolArray, topological_order
from momentdag.parallel import common_folder, is_serial, run, shared

__all__ = ["Draws", "chain_shares", "draw_by_chains", "draw_exactly"]

FloatArray: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Draws:
    """Drawn pairs.

    Parameters
    ----------
    mean_graphs, variance_graphs : bool array, shape (n_draws, d, d)
    log_posterior : float array, shape (n_draws,)
    chains : int array, shape (n_draws,)
    start : float
        Largest log posterior at which a chain started; minus infinity for enumeration.
    acceptance_rates : tuple of float
        Of each chain.
    """

    mean_graphs: BoolArray
    variance_graphs: BoolArray
    log_posterior: FloatArray
    chains: npt.NDArray[np.int32]
    start: float = -np.inf
    acceptance_rates: tuple[float, ...] = ()

    @classmethod
    def joined(cls, parts: list[Draws]) -> Draws:
        """Join the draws of several chains."""
        chains = [np.full(len(part.log_posterior), k) for k, part in enumerate(parts)]
        return cls(
            np.concatenate([part.mean_graphs for part in parts]),
            np.concatenate([part.variance_graphs for part in parts]),
            np.concatenate([part.log_posterior for part in parts]),
            np.concatenate(chains).astype(np.int32),
            max(part.start for part in parts),
            tuple(rate for part in parts for rate in part.acceptance_rates),
        )

    def in_one_chain(self) -> Draws:
        """Return the same draws as one chain: those of a world go together, worlds do not."""
        return replace(self, chains=np.zeros_like(self.chains))

    @classmethod
    def single(cls, parents: tuple[Parents, ...], score: float) -> Draws:
        """Return one pair as the only draw."""
        mean_graph, variance_graph = adjacency(parents)
        chain = np.zeros(1, dtype=np.int32)
        return cls(mean_graph[None], variance_graph[None], np.array([score]), chain)

    @property
    def gain(self) -> float:
        """How far the best draw lies above the best start, in nats."""
        return float(self.log_posterior.max()) - self.start

    def best_pairs(self, precedes: BoolArray, n_pairs: int) -> list[OrderResult]:
        """Return the best draws of the best chains, best first, each order only once.

        Their orders also obey knowledge's ``precedes`` (d, d). Scores are log posteriors.
        """
        tops = [
            int(rows[np.argmax(self.log_posterior[rows])])
            for rows in (np.flatnonzero(self.chains == chain) for chain in np.unique(self.chains))
        ]
        tops.sort(key=lambda top: -self.log_posterior[top])
        pairs: dict[tuple[int, ...], OrderResult] = {}
        for top in tops:
            mean, variance = self.mean_graphs[top], self.variance_graphs[top]
            order = tuple(topological_order(mean | variance | precedes).tolist())
            masks = zip(mean.T, variance.T, strict=True)
            parents = tuple(Parents(column_mask(m), column_mask(v)) for m, v in masks)
            found = OrderResult(float(self.log_posterior[top]), order, parents)
            pairs.setdefault(order, found)
        return list(pairs.values())[:n_pairs]


def draw_exactly(result: SearchResult, rng: np.random.Generator, n_draws: int) -> Draws:
    """Enumerate every pair and draw from the exact posterior."""
    search = result.problem.search(result.evidences)
    posterior = enumerate_posterior(search.log_evidence, result.problem.prior)
    chosen = posterior.sample(rng, n_draws)
    return Draws(
        posterior.mean_graphs[chosen],
        posterior.variance_graphs[chosen],
        posterior.log_probability[chosen],
        np.zeros(n_draws, dtype=np.int32),
    )


def chain_shares(n_draws: int, n_chains: int) -> list[int]:
    """Return how many of the draws each chain makes.

    Examples
    --------
    >>> chain_shares(10, 4)
    [3, 3, 2, 2]
    """
    return [len(part) for part in np.array_split(np.arange(n_draws), min(n_chains, n_draws))]


def draw_by_chains(
    result: SearchResult,
    rng: np.random.Generator,
    n_draws: int,
    n_jobs: int,
    tick: Tick,
    finished: dict[int, Draws],
    memory: Evidences,
    save: Callable[[int, Draws], None] = lambda k, draws: None,
) -> Draws:
    """Run chains from the best optima, except those in ``finished``, and put them there.

    ``save`` is called with each chain that ends. ``memory`` holds evidences that earlier runs
    computed and takes those of this one. It saves time and nothing else: pools are made from what
    the search has met, which does not depend on where chains run.
    """
    problem = result.problem
    n_chains = min(problem.options.n_chains, n_draws)
    pools = make_pools(problem.search(result.evidences))
    for evidences, known in zip(memory, result.evidences, strict=True):
        evidences.update(known)
    search = problem.search(memory)
    weights = _toggle_weights(pools, search.candidates)
    best = result.best.score
    near = [optimum for optimum in result.optima if best - optimum.score < TUNING.near_optimum]
    shares = chain_shares(n_draws, n_chains)
    tasks = [
        (pools, weights, near[k % len(near)].parents, share, chain_rng)
        for k, (share, chain_rng) in enumerate(zip(shares, rng.spawn(n_chains), strict=True))
    ]
    waiting = [k for k in range(n_chains) if k not in finished]

    def finish(k: int, draws: Draws) -> None:
        finished[k] = draws
        save(k, draws)

    if is_serial(n_jobs):
        for k in waiting:

            def report(done: int, total: int, k: int = k) -> None:
                tick(k * total + done, n_chains * total)

            finish(k, _run_chain(search, problem, *tasks[k], report))
    else:
        # One by one, so that chains which have ended outlive an interruption of the others.
        with shared(memory, pools, weights), common_folder() as folder:
            worker_tasks = [(problem, memory, folder, *tasks[k]) for k in waiting]
            chains = run(_chain_in_worker, worker_tasks, n_jobs)
            computed = []
            with closing(chains):
                for k, (draws, scored, counts) in zip(waiting, chains, strict=True):
                    finish(k, draws)
                    problem.counts.include(counts)
                    computed.append(scored)
                    tick(len(finished), n_chains)
        for scored in computed:
            for known, new in zip(memory, scored, strict=True):
                known.update(new)
    return Draws.joined([finished[k] for k in range(n_chains)])


def _toggle_weights(pools: list[Pool], candidates: tuple[int, ...]) -> FloatArray:
    """Return proposal weights: disagreement between entries of a pool, plus a floor, (3, d, d)."""
    d = len(pools)
    present = np.zeros((2, d, d))
    for j, pool in enumerate(pools):
        # Flattened: an entry far below the best may be the best under another order.
        share = np.exp(np.maximum(pool.log_weight - pool.log_weight.max(), -30.0) / 4)
        share /= share.sum()
        for p, parents in zip(share, pool.parents, strict=True):
            present[0, members(parents.mean), j] += p
            present[1, members(parents.variance), j] += p
    weights = np.empty((3, d, d))
    rare = TUNING.rare_toggle
    weights[:2] = rare + present * (1 + rare - present)
    weights[2] = TUNING.both_toggle * (weights[0] + weights[1])
    for j, mask in enumerate(candidates):
        outside = [i for i in range(d) if not mask >> i & 1]
        weights[:, outside, j] *= TUNING.outside_toggle
    weights[:, np.arange(d), np.arange(d)] = 0.0
    return weights


def _run_chain(
    search: ParentSearch,
    problem: Problem,
    pools: list[Pool],
    weights: FloatArray,
    start: tuple[Parents, ...],
    n_draws: int,
    rng: np.random.Generator,
    tick: Tick,
) -> Draws:
    d, thinning = problem.n_variables, problem.thinning
    n_burn_in = thinning * max(TUNING.least_burn_in, int(n_draws * TUNING.burn_in_share))
    chain = Chain(rng, search, problem.prior, pools, weights, start)
    started_at = chain.log_posterior
    for _ in range(n_burn_in):
        chain.step()
    # What this chain has met on its way, not what others have: it draws the same wherever it runs.
    chain.use(enrich(pools, search, chain.met))
    for _ in range(n_burn_in):
        chain.step()
    mean_graphs, variance_graphs = np.zeros((2, n_draws, d, d), dtype=bool)
    log_posterior = np.empty(n_draws)
    for k in range(n_draws):
        for _ in range(thinning):
            chain.step()
        mean_graphs[k], variance_graphs[k] = adjacency(tuple(chain.parents))
        log_posterior[k] = chain.log_posterior
        if k % 20 == 19 or k == n_draws - 1:
            tick(k + 1, n_draws)
    chains = np.zeros(n_draws, dtype=np.int32)
    rates = (chain.acceptance_rate,)
    return Draws(mean_graphs, variance_graphs, log_posterior, chains, started_at, rates)


def _chain_in_worker(
    problem: Problem,
    evidences: Evidences,
    folder: Path,
    pools: list[Pool],
    weights: FloatArray,
    start: tuple[Parents, ...],
    n_draws: int,
    rng: np.random.Generator,
) -> tuple[Draws, Evidences, ScoreCounts]:
    """Return the draws of one chain, the evidences it computed, and their counts."""
    # Evidences of its own: others may use these at the same time.
    known = [dict(each) for each in evidences]
    with problem.in_worker() as problem, closing(SharedCache(folder)) as cache:
        search = problem.search(known, cache)
        draws = _run_chain(
            search, problem, pools, weights, start, n_draws, rng, lambda done, total: None
        )
    return draws, new_entries(search.evidence, evidences), problem.counts
