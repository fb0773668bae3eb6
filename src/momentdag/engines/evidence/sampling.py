"""Drawing graph pairs: by enumeration for few variables, else by Markov chains."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from momentdag.engines.evidence.chain import Chain, Pool, enrich, make_pools
from momentdag.engines.evidence.exact import enumerate_posterior
from momentdag.engines.evidence.family import Parents
from momentdag.engines.evidence.features import members
from momentdag.engines.evidence.finding import Found
from momentdag.engines.evidence.parents import ParentSearch
from momentdag.engines.evidence.prior import adjacency
from momentdag.engines.evidence.problem import Evidences, Problem, beyond
from momentdag.graph import BoolArray, topological_order
from momentdag.parallel import common_folder, run, shared, stays_here

__all__ = ["Draws", "draw_by_chains", "draw_exactly"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
Tick = Callable[[int, int], None]

_NEAR = 25.0  # nats below the best optimum within which another one starts chains of its own
_RARE = 0.02  # share of proposals that go to edges nothing speaks for


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
    """

    mean_graphs: BoolArray
    variance_graphs: BoolArray
    log_posterior: FloatArray
    chains: npt.NDArray[np.int32]
    start: float = -np.inf

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
        )

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

    def best_orders(self, precedes: BoolArray, n_orders: int) -> list[tuple[int, ...]]:
        """Return orders of the best draws of the best chains, best first, each only once.

        They also obey knowledge's ``precedes`` (d, d).
        """
        tops = [
            int(own[np.argmax(self.log_posterior[own])])
            for own in (np.flatnonzero(self.chains == chain) for chain in np.unique(self.chains))
        ]
        tops.sort(key=lambda top: -self.log_posterior[top])
        unions = (self.mean_graphs[top] | self.variance_graphs[top] for top in tops)
        orders = (tuple(topological_order(union | precedes).tolist()) for union in unions)
        return list(dict.fromkeys(orders))[:n_orders]


def draw_exactly(found: Found, rng: np.random.Generator, n_draws: int) -> Draws:
    """Enumerate every pair and draw from the exact posterior."""
    search = found.problem.search(found.evidences)
    posterior = enumerate_posterior(search.log_evidence, found.problem.prior)
    chosen = posterior.sample(rng, n_draws)
    return Draws(
        posterior.mean_graphs[chosen],
        posterior.variance_graphs[chosen],
        posterior.log_probability[chosen],
        np.zeros(n_draws, dtype=np.int32),
    )


def draw_by_chains(
    found: Found,
    rng: np.random.Generator,
    n_draws: int,
    n_jobs: int,
    tick: Tick,
    finished: dict[int, Draws],
    memory: Evidences,
    keep: Callable[[int, Draws], None] = lambda k, draws: None,
) -> Draws:
    """Run chains from the best optima, but for those in ``finished``, and put them there.

    ``keep`` is called with each chain that ends. ``memory`` holds evidences that earlier runs
    computed and takes those of this one. It saves time and nothing else: pools are made from what
    the search has met, which does not depend on where chains run.
    """
    problem = found.problem
    n_chains = min(problem.options.n_chains, n_draws)
    pools = make_pools(problem.search(found.evidences))
    for kept, known in zip(memory, found.evidences, strict=True):
        kept.update(known)
    search = problem.search(memory)
    weights = _toggle_weights(pools, search.candidates)
    near = [result for result in found.optima if found.best.score - result.score < _NEAR]
    shares = [len(part) for part in np.array_split(np.arange(n_draws), n_chains)]
    tasks = [
        (pools, weights, near[k % len(near)].parents, share, chain_rng)
        for k, (share, chain_rng) in enumerate(zip(shares, rng.spawn(n_chains), strict=True))
    ]
    left = [k for k in range(n_chains) if k not in finished]

    def end(k: int, draws: Draws) -> None:
        finished[k] = draws
        keep(k, draws)

    if stays_here(n_jobs):
        for k in left:

            def report(done: int, total: int, k: int = k) -> None:
                tick(k * total + done, n_chains * total)

            end(k, _run_chain(search, problem, *tasks[k], report))
    else:
        # One by one, so that chains which have ended outlive an interruption of the others.
        with shared(memory, pools, weights), common_folder() as folder:
            own_tasks = [(problem, memory, folder, *tasks[k]) for k in left]
            chains = run(_chain_in_worker, own_tasks, n_jobs)
            computed = []
            with closing(chains):
                for k, (draws, scored) in zip(left, chains, strict=True):
                    end(k, draws)
                    computed.append(scored)
                    tick(len(finished), n_chains)
        for scored in computed:
            for known, new in zip(memory, scored, strict=True):
                known.update(new)
    return Draws.joined([finished[k] for k in range(n_chains)])


def _toggle_weights(pools: list[Pool], candidates: tuple[int, ...]) -> FloatArray:
    """Propose an edge as often as the pools disagree about it, but every edge now and then."""
    d = len(pools)
    present = np.zeros((2, d, d))
    for j, pool in enumerate(pools):
        # Flattened: an entry far below the best may be the best under another order.
        share = np.exp(np.maximum(pool.log_weight - pool.log_weight.max(), -30.0) / 4)
        share /= share.sum()
        for p, own in zip(share, pool.parents, strict=True):
            present[0, members(own.mean), j] += p
            present[1, members(own.variance), j] += p
    weights = np.empty((3, d, d))
    weights[:2] = _RARE + present * (1 + _RARE - present)
    weights[2] = 0.25 * (weights[0] + weights[1])
    for j, mask in enumerate(candidates):
        outside = [i for i in range(d) if not mask >> i & 1]
        weights[:, outside, j] *= 0.005
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
    d = problem.n_variables
    thinning = problem.options.thinning
    if thinning is None:
        thinning = max(20, 6 * d)
    chain = Chain(rng, search, problem.prior, pools, weights, start)
    started_at = chain.log_posterior
    for _ in range(thinning * max(10, n_draws // 10)):
        chain.step()
    # What this chain has met on its way, not what others have: it draws the same wherever it runs.
    chain.use(enrich(pools, search, chain.met))
    for _ in range(thinning * max(10, n_draws // 10)):
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
    return Draws(mean_graphs, variance_graphs, log_posterior, chains, started_at)


def _chain_in_worker(
    problem: Problem,
    evidences: Evidences,
    folder: Path,
    pools: list[Pool],
    weights: FloatArray,
    start: tuple[Parents, ...],
    n_draws: int,
    rng: np.random.Generator,
) -> tuple[Draws, Evidences]:
    """Return the draws of one chain and the evidences it had to ask for."""
    with problem.worker_search(evidences, folder) as search:
        draws = _run_chain(
            search, problem, pools, weights, start, n_draws, rng, lambda done, total: None
        )
    return draws, beyond(search.evidence, evidences)
