"""The stages of a fit, one after the other, and what they have come to so far.

A quick search with default kernels; hyper-parameters by evidence; the full search from several
starts, and again from where a pilot of Markov chains goes that climbs well above these. Then every
graph pair is enumerated in every world (up to four variables), or pools of parents are completed by
searching in worlds, and orders and parents are drawn in each. The plain posterior is enumerated, or
drawn by Markov chains from the best pairs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from momentdag.engines.evidence.local.protocol import Evidences
from momentdag.engines.evidence.problem import Problem
from momentdag.engines.evidence.sampling.decoys import edge_prices
from momentdag.engines.evidence.sampling.draws import (
    Draws,
    chain_shares,
    draw_by_chains,
    draw_exactly,
)
from momentdag.engines.evidence.sampling.exact import MAX_VARIABLES
from momentdag.engines.evidence.sampling.model_doubt import (
    draw_plain,
    exact_plain,
    misfit_indices,
)
from momentdag.engines.evidence.sampling.shape_doubt import doubt_factor, shape_gains
from momentdag.engines.evidence.sampling.world_draws import (
    complete_pools,
    draw_in_worlds,
    enumerate_worlds,
    make_world_pools,
    score_neighbours,
)
from momentdag.engines.evidence.sampling.worlds import Worlds, draw_worlds
from momentdag.engines.evidence.search.parents import ParentSearch
from momentdag.engines.evidence.search.starts import SearchResult
from momentdag.engines.evidence.search.structure_search import (
    search_again,
    search_quickly,
    search_thoroughly,
    tune_kernels,
)
from momentdag.engines.evidence.search.tuning import TUNING
from momentdag.engines.evidence.support.checkpoint import StageCheckpoint
from momentdag.engines.protocol import FitRequest
from momentdag.posterior import ModelDoubt

__all__ = ["Stages"]


class Stages:
    """The stages of one fit, and what they have come to so far."""

    def __init__(self, problem: Problem, request: FitRequest) -> None:
        self.problem = problem
        self.stage = ""
        self.result: SearchResult | None = None
        self.draws: Draws | None = None
        self.doubt: ModelDoubt | None = None
        self.details: dict[str, Any] = {}
        self._request = request
        self._checkpoint = StageCheckpoint(request.checkpoint, problem)
        self._chains: dict[int, Draws] = {}  # those that have ended

    def run(self, rngs: list[np.random.Generator]) -> None:
        """Go through the stages; what is finished stays, should the next be interrupted."""
        quick_rng, search_rng, draw_rng = rngs
        problem, n_jobs = self.problem, self._request.n_jobs
        self._begin("the first search")
        evidences = problem.no_evidences()
        first = self.result = self._search(
            "first search",
            evidences,
            lambda: search_quickly(problem, evidences, quick_rng, n_jobs, self._tick),
        )
        self._begin("the choice of hyper-parameters")
        tuned = self._search("hyper-parameters", evidences, lambda: tune_kernels(first, n_jobs))
        tuned = self._in_worlds(tuned)
        self._begin("the order search")
        self.result = self._search(
            "order search",
            tuned.evidences,
            lambda: search_thoroughly(tuned, search_rng, n_jobs, self._tick),
        )
        self.details["start_scores"] = [float(each.score) for each in self.result.optima]
        method = "exact" if self._is_exact else "chain"
        self.details["method"] = method
        if self.problem.worlds is not None:
            if not self._is_exact:  # the optimum is the same for every seed
                self._climb_from_pilots(search_rng, self.problem.no_evidences())
            self._draw_in_worlds(draw_rng, self.problem.worlds)
        elif method == "exact":
            self._begin("the enumeration")
            self.draws = draw_exactly(self.result, draw_rng, self._request.n_draws)
        else:
            self._run_chains(draw_rng)

    def _in_worlds(self, result: SearchResult) -> SearchResult:
        """Return the result with worlds in which everything from now on is noted."""
        problem, options = result.problem, result.problem.options
        if options.posterior == "plain" or options.family == "linear":
            return result
        n_worlds = options.n_worlds
        if n_worlds is None:
            n_worlds = TUNING.n_worlds_exact if self._is_exact else TUNING.n_worlds
        worlds = draw_worlds(problem.values, n_worlds, options.tau)
        self.problem = replace(self.problem, worlds=worlds)
        # Scores made before were not noted; they are made again where they are wanted.
        return replace(result, problem=replace(problem, worlds=worlds))

    @property
    def _is_exact(self) -> bool:
        method = self.problem.options.method
        return method == "exact" or (method == "auto" and self.problem.n_variables <= MAX_VARIABLES)

    def _draw_in_worlds(self, rng: np.random.Generator, worlds: Worlds) -> None:
        key = "draws in worlds"
        stored = self._checkpoint.load_draws(key, self._request.n_draws)
        if stored is not None:
            self.draws, stored_details = stored
            self.details |= stored_details
            self.doubt = self._checkpoint.load_doubt(key)
            return
        assert self.result is not None
        details: dict[str, Any] = {"n_worlds": worlds.n_worlds}
        search = self.result.problem.search(self.result.evidences)
        result, worlds = self._doubt_model(self.result, worlds, search, details)
        plain_prior = result.problem.prior
        result = self._price_edges(result, search, details)
        n_draws = self._request.n_draws
        search = result.problem.search(result.evidences, before=search)
        if self._is_exact:
            self._begin("the enumeration in worlds")
            self.draws, enumerated = enumerate_worlds(rng, result, worlds, search, n_draws)
            plain = exact_plain(enumerated)
            entries = [list(known) for known in search.evidence]
        else:
            self._begin("the search in worlds")
            details["world_searches"] = complete_pools(result, worlds, search, self._tick)._asdict()
            score_neighbours(search, result.best.parents)
            rates = result.problem.rates
            pools = make_world_pools(search, worlds, plain_prior.modular(*rates))
            details["pool_sizes"] = [len(pool.parents) for pool in pools]
            self._begin("the draws in worlds")
            self.draws, effective = draw_in_worlds(
                rng, result, pools, n_draws, self._request.n_jobs, self._tick
            )
            details["effective_share"] = float(effective.mean())
            plain = draw_plain(rng, plain_prior, pools, result.best.order, self._request.n_jobs)
            entries = [pool.parents for pool in pools]
        misfit = misfit_indices(search, worlds, entries, result.best, self.problem.options.tau)
        d = search.prior.n_variables  # without regimes
        self.doubt = ModelDoubt(
            plain[:, :d, :d], misfit, *details.get("world_searches", {}).values()
        )
        self.details |= details
        self._checkpoint.save_draws(key, self.draws, details, self.doubt)

    def _price_edges(
        self, result: SearchResult, search: ParentSearch, details: dict[str, Any]
    ) -> SearchResult:
        """Return the result with a prior in which edges cost what decoys gain."""
        problem = result.problem
        if problem.options.tau == 0:  # whoever does not doubt the model takes what it says
            return result
        self._begin("the scores of decoys")
        prices = edge_prices(problem, search, self._request.n_jobs)
        details["decoy_price"] = float(np.max(prices))
        if details["decoy_price"] == 0:
            return result
        return replace(
            result, problem=replace(problem, prior=replace(problem.prior, prices=prices))
        )

    def _doubt_model(
        self, result: SearchResult, worlds: Worlds, search: ParentSearch, details: dict[str, Any]
    ) -> tuple[SearchResult, Worlds]:
        """Return worlds that differ the more, the more the best pair leaves unexplained."""
        gains, variances = shape_gains(search, result.problem.values, result.best.parents)
        factor = doubt_factor(gains, variances)
        details["doubt_factor"] = factor
        if factor == 1:
            return result, worlds
        worlds = worlds.stretched(factor)
        self.problem = replace(self.problem, worlds=worlds)
        return replace(result, problem=replace(result.problem, worlds=worlds)), worlds

    def _run_chains(self, rng: np.random.Generator) -> None:
        memory = self.problem.no_evidences()
        self._climb_from_pilots(rng, memory)
        assert self.result is not None
        self._begin("the Markov chains")
        shares = chain_shares(self._request.n_draws, self.problem.options.n_chains)
        self._chains.update(self._checkpoint.load_chains(shares))
        self._checkpoint.watch("chains", memory)
        self.draws = draw_by_chains(
            self.result,
            rng,
            self._request.n_draws,
            self._request.n_jobs,
            self._tick,
            self._chains,
            memory,
            self._checkpoint.save_chain,
        )
        self.details["chain_gain"] = self.draws.gain
        self.details["acceptance_rates"] = list(self.draws.acceptance_rates)

    def _climb_from_pilots(self, rng: np.random.Generator, memory: Evidences) -> None:
        """Search again from where short chains go, as long as they climb well above the search."""
        for k, pilot_rng in enumerate(rng.spawn(TUNING.returns)):
            if not self._run_pilot(k, pilot_rng, memory):
                break

    def _run_pilot(self, k: int, rng: np.random.Generator, memory: Evidences) -> bool:
        """Run short chains; if they climb well above their starts, search again and return True."""
        assert self.result is not None
        options, n_jobs = self.problem.options, self._request.n_jobs
        self._begin("a pilot of the Markov chains")
        chain_rng, again_rng = rng.spawn(2)
        n_pilot = min(self._request.n_draws, TUNING.pilot_draws * options.n_chains)
        stored = self._checkpoint.load_draws(f"pilot {k}", n_pilot)
        if stored is not None:
            pilot = stored[0]
        else:
            self._checkpoint.watch(f"pilot {k}", memory)
            pilot = draw_by_chains(self.result, chain_rng, n_pilot, n_jobs, self._tick, {}, memory)
            self._checkpoint.save_draws(f"pilot {k}", pilot)
        self.details["pilot_gain"] = pilot.gain
        if pilot.gain < TUNING.surprise:
            return False
        self._begin("the order search, again from where the pilot went")
        # As many climbs as a start of the search makes, here side by side.
        pairs = pilot.best_pairs(self.problem.knowledge.precedes, 1 + options.n_kicks)
        before = self.result
        self.result = self._search(
            f"order search after pilot {k}",
            before.evidences,
            lambda: search_again(before, pairs, again_rng, n_jobs, self._tick),
        )
        return True

    def finalize_partial(self) -> None:
        """After an interruption, take the chains that ended, or else the best pair as one draw."""
        assert self.result is not None
        if self._chains:
            self.draws = Draws.joined([self._chains[k] for k in sorted(self._chains)])
        else:
            self.draws = Draws.single(self.result.best.parents, self.result.best.score)

    def _search(
        self, key: str, evidences: Evidences, search: Callable[[], SearchResult]
    ) -> SearchResult:
        """Return the result of a stage, from the checkpoint if it ended before."""
        result = self._checkpoint.load_search(key, self.problem)
        if result is None:
            self._checkpoint.watch(key, evidences)
            result = search()
            self._checkpoint.save_search(key, result)
        return result

    def _begin(self, stage: str) -> None:
        self.stage = stage
        self._request.progress(stage, 0, 1)

    def _tick(self, done: int, total: int) -> None:
        self._checkpoint.save_if_due()
        self._request.progress(self.stage, done, total)
