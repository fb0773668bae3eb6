"""The evidence engine: what a fit does, in order.

A quick search with default kernels; hyper-parameters by evidence at the graph it found; the full
search from several starts; and then either every graph pair (up to four variables) or Markov
chains from the best pairs. A pilot of the chains that climbs well above its starts sends the
search back once more from where it went. Of a long table a random subset of rows decides the
graphs; the functions are then fitted to all rows, when they are asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from momentdag.engines.evidence.local.location_scale import LocalScorer
from momentdag.engines.evidence.local.protocol import Evidences
from momentdag.engines.evidence.model import EvidenceModel
from momentdag.engines.evidence.options import EvidenceOptions
from momentdag.engines.evidence.prior import adjacency
from momentdag.engines.evidence.problem import Problem, as_causes_and_effects, pose_problem
from momentdag.engines.evidence.refit import AllRows
from momentdag.engines.evidence.sampling.draws import Draws, draw_by_chains, draw_exactly
from momentdag.engines.evidence.sampling.exact import MAX_VARIABLES
from momentdag.engines.evidence.search.starts import SearchResult
from momentdag.engines.evidence.search.structure_search import (
    search_again,
    search_quickly,
    search_thoroughly,
    tune_kernels,
)
from momentdag.engines.evidence.search.tuning import TUNING
from momentdag.engines.evidence.support.checkpoint import StageCheckpoint
from momentdag.engines.protocol import FitRequest, FitResult
from momentdag.errors import OptionError
from momentdag.graph import MomentGraph
from momentdag.parallel import shared
from momentdag.posterior import Posterior, Provenance
from momentdag.storage.state import State

__all__ = ["METHOD_VERSION", "EvidenceEngine"]

METHOD_VERSION = 1
"""Raised by hand when drawn graphs change: finished runs of studies carry it."""


@dataclass(frozen=True)
class EvidenceEngine:
    """The default engine.

    Parameters
    ----------
    options : EvidenceOptions
    """

    options: EvidenceOptions = field(default_factory=EvidenceOptions)

    def fit(self, request: FitRequest) -> FitResult:
        """Return the posterior over graph pairs given the data.

        The same seed gives the same bits whatever ``n_jobs`` is, and columns in another order or
        other units give the same answer. A fit that is resumed from a checkpoint is bit-for-bit
        identical, too.
        """
        options, table = self.options, request.table
        if options.method == "exact" and request.dataset.n_variables > MAX_VARIABLES:
            raise OptionError(
                f"The exact method takes at most {MAX_VARIABLES} variables; the table has "
                f"{request.dataset.n_variables}.",
                fit_with={"engine_options": {"method": "chain"}},
            )
        row_rng, *stage_rngs, table_rng = request.rng.spawn(5)
        problem = pose_problem(row_rng, table.values, request.canonical_knowledge, options)
        stages = _Stages(problem, request)
        status = "complete"
        # One thread inside: sums then do not depend on how many cores there are.
        with threadpool_limits(1), shared(problem.values, problem.targets):
            try:
                stages.run(stage_rngs)
            except KeyboardInterrupt:
                if not options.return_partial or stages.result is None:
                    raise
                status = f"interrupted during {stages.stage}; the result so far is returned"
                stages.finalize_partial()
        all_rows = None
        if len(problem.values) < table.n_samples:
            all_rows = AllRows(*as_causes_and_effects(table_rng, table.values, options))
        return self._package(request, stages, all_rows, status)

    def restore_model(self, state: State) -> EvidenceModel:
        """Return the fitted model that gave ``state``."""
        return EvidenceModel.from_state(state)

    def _package(
        self, request: FitRequest, stages: _Stages, all_rows: AllRows | None, status: str
    ) -> FitResult:
        assert stages.result is not None
        assert stages.draws is not None
        dataset, table = request.dataset, request.table
        problem, draws = stages.result.problem, stages.draws
        settings = {
            **self.options.to_dict(),
            "hyperparameters": asdict(problem.hyperparameters),
            "exact": stages.details.get("method") == "exact",
            "n_samples": dataset.n_samples,
            "n_samples_for_structure": len(problem.values),
        }
        posterior = Posterior(
            dataset.names,
            table.restore(draws.mean_graphs),
            table.restore(draws.variance_graphs),
            Provenance("evidence", settings, dataset.fingerprint, request.seed, status=status),
            log_posterior=draws.log_posterior,
            chains=draws.chains,
        )
        best_pair = adjacency(stages.result.best.parents)
        if draws.gain >= 0:
            top = int(np.argmax(draws.log_posterior))
            best_pair = draws.mean_graphs[top], draws.variance_graphs[top]
        best_graph = MomentGraph(dataset.names, *map(table.restore, best_pair))
        details = {**stages.details, "local_scores": problem.counts.to_dict()}
        scorer = problem.scorer(problem.hyperparameters)
        model = None
        if isinstance(scorer, LocalScorer):
            model = EvidenceModel(table.units, table.columns, scorer, rows=all_rows)
        return FitResult(posterior, model, best_graph, dataset.observe(), status, details)


class _Stages:
    """The stages of one fit, and what they have come to so far."""

    def __init__(self, problem: Problem, request: FitRequest) -> None:
        self.problem = problem
        self.stage = ""
        self.result: SearchResult | None = None
        self.draws: Draws | None = None
        self.details: dict[str, Any] = {}
        self._request = request
        self._checkpoint = StageCheckpoint(request.checkpoint, problem.counts)
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
        self._begin("the order search")
        self.result = self._search(
            "order search",
            tuned.evidences,
            lambda: search_thoroughly(tuned, search_rng, n_jobs, self._tick),
        )
        self.details["start_scores"] = [float(each.score) for each in self.result.optima]
        method = problem.options.method
        if method == "auto":
            method = "exact" if problem.n_variables <= MAX_VARIABLES else "chain"
        self.details["method"] = method
        if method == "exact":
            self._begin("the enumeration")
            self.draws = draw_exactly(self.result, draw_rng, self._request.n_draws)
        else:
            self._run_chains(draw_rng)

    def _run_chains(self, rng: np.random.Generator) -> None:
        memory = self.problem.no_evidences()
        for k, pilot_rng in enumerate(rng.spawn(TUNING.returns)):
            if not self._run_pilot(k, pilot_rng, memory):
                break
        assert self.result is not None
        self._begin("the Markov chains")
        self._chains.update(self._checkpoint.load_chains(self.problem.options.n_chains))
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

    def _run_pilot(self, k: int, rng: np.random.Generator, memory: Evidences) -> bool:
        """Run short chains; if they climb well above their starts, search again and return True."""
        assert self.result is not None
        options, n_jobs = self.problem.options, self._request.n_jobs
        self._begin("a pilot of the Markov chains")
        chain_rng, again_rng = rng.spawn(2)
        n_pilot = min(self._request.n_draws, TUNING.pilot_draws * options.n_chains)
        pilot = self._checkpoint.load_draws(f"pilot {k}")
        if pilot is None:
            self._checkpoint.watch(f"pilot {k}", memory)
            pilot = draw_by_chains(self.result, chain_rng, n_pilot, n_jobs, self._tick, {}, memory)
            self._checkpoint.save_draws(f"pilot {k}", pilot)
        self.details["pilot_gain"] = pilot.gain
        if pilot.gain < TUNING.surprise:
            return False
        self._begin("the order search, again from where the pilot went")
        # As many climbs as a start of the search makes, here side by side.
        orders = pilot.best_orders(self.problem.knowledge.precedes, 1 + options.n_kicks)
        before = self.result
        self.result = self._search(
            f"order search after pilot {k}",
            before.evidences,
            lambda: search_again(before, orders, again_rng, n_jobs, self._tick),
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
