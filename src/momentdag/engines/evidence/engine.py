"""The evidence engine: what a fit does, in order.

What is searched for, and in which order, is in `stages`: a quick search with default kernels;
kernels by evidence; the full search from several starts; and then draws in worlds of reweighted
rows, or from the plain posterior. Of a long table a random subset of rows decides the graphs; the
functions are then fitted to all rows, when they are asked for.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace

import numpy as np
from threadpoolctl import threadpool_limits

from momentdag.engines.evidence.imputation import QUICK_ROWS, fit_completions
from momentdag.engines.evidence.local.interventions import (
    InterventionScorer,
    reordered_cells,
    scorer_of,
)
from momentdag.engines.evidence.local.location_scale import LocalScorer
from momentdag.engines.evidence.model import EvidenceModel
from momentdag.engines.evidence.options import EvidenceOptions
from momentdag.engines.evidence.prior import adjacency
from momentdag.engines.evidence.problem import pose_problem
from momentdag.engines.evidence.refit import AllRows
from momentdag.engines.evidence.sampling.exact import MAX_VARIABLES
from momentdag.engines.evidence.stages import Stages
from momentdag.engines.protocol import FitRequest, FitResult, FittedModel
from momentdag.engines.regimes import (
    RegimeModel,
    add_indicators,
    observe_regimes,
    split_targets,
)
from momentdag.engines.standardise import StandardisedTable, as_inputs, log_counts
from momentdag.errors import OptionError
from momentdag.graph import MomentGraph
from momentdag.parallel import shared
from momentdag.posterior import Posterior, Provenance
from momentdag.storage.state import State
from momentdag.table import Dataset, Experiment
from momentdag.table.checks import check_numbers

__all__ = ["METHOD_VERSION", "EvidenceEngine"]

METHOD_VERSION = 3
"""Raised by hand when drawn graphs of continuous tables change: runs of studies carry it."""

_SEED = 0


@dataclass(frozen=True)
class EvidenceEngine:
    """The default engine.

    Parameters
    ----------
    options : EvidenceOptions
    """

    options: EvidenceOptions = field(default_factory=EvidenceOptions)

    def check(self, dataset: Dataset) -> None:
        """Refuse what the linear family cannot take: categories and missing cells."""
        if dataset.experiment is not None and dataset.has_missing:
            raise OptionError(
                "Missing cells are not imputed in tables with regimes or interventions.",
                fit_with={"missing": "drop"},
            )
        if self.options.family != "linear":
            return
        check_numbers(dataset.names, dataset.kinds, "The linear family")
        if dataset.has_missing:
            raise OptionError(
                "The linear family has no mechanisms to draw missing cells from.",
                fit_with={"missing": "drop"},
            )

    def fit(self, request: FitRequest) -> FitResult:
        """Return the posterior over graph pairs given the data.

        The same seed gives the same bits whatever ``n_jobs`` is, and columns in another order or
        other units give the same answer. A fit that is resumed from a checkpoint is bit-for-bit
        identical, too. Missing cells are drawn along with the model, see `imputation`.
        """
        self.check(request.dataset)
        if not request.dataset.has_missing:
            return self._fit_complete(request)
        # Cells are drawn from one pair and its functions: how sure these are is for the last fit.
        few = replace(
            self.options,
            posterior="plain",
            n_starts=1,
            n_kicks=0,
            n_chains=2,
            max_rows=min(self.options.max_rows, QUICK_ROWS),
        )
        quick = EvidenceEngine(few)
        return fit_completions(self._fit_complete, quick._fit_complete, request)

    def _fit_complete(self, request: FitRequest) -> FitResult:
        """Fit a table without missing cells."""
        options, table = self.options, log_counts(request.table, request.dataset)
        experiment = request.dataset.experiment
        experiment = Experiment() if experiment is None else experiment
        regimes, set_cells = experiment.regimes, experiment.set_cells
        if regimes is not None:
            table = add_indicators(table, regimes)
        if set_cells is not None:
            set_cells = reordered_cells(set_cells, table.columns)
        n_variables = len(table.columns)
        if options.method == "exact" and n_variables > MAX_VARIABLES:
            raise OptionError(
                f"The exact method takes at most {MAX_VARIABLES} variables, regimes among them; "
                f"the table has {n_variables}.",
                fit_with={"engine_options": {"method": "chain"}},
            )
        # What is searched for and scored is the same for every seed; only draws are drawn with it.
        row_rng, *search_rngs = np.random.default_rng(_SEED).spawn(3)
        stage_rngs = [*search_rngs, request.rng]
        units = table.units.reordered(table.columns)
        problem = pose_problem(
            row_rng,
            table.values,
            request.canonical_knowledge,
            options,
            units,
            n_regimes=0 if regimes is None else len(regimes.others),
            set_cells=set_cells,
        )
        stages = Stages(problem, request)
        status = "complete"
        # One thread inside: sums then do not depend on how many cores there are.
        with threadpool_limits(1), shared(problem.values):
            try:
                stages.run(stage_rngs)
            except KeyboardInterrupt:
                if not options.return_partial or stages.result is None:
                    raise
                status = f"interrupted during {stages.stage}; the result so far is returned"
                stages.finalize_partial()
        all_rows = None
        if len(problem.values) < table.n_samples:
            all_rows = AllRows(as_inputs(table.values), set_cells=set_cells)
        return self._package(request, table, stages, all_rows, status)

    def restore_model(self, state: State) -> FittedModel:
        """Return the fitted model that gave ``state``."""
        model = EvidenceModel.from_state(state)
        stored = state.content.get("in_regimes")
        return model if stored is None else RegimeModel.around(model, stored)

    def _package(
        self,
        request: FitRequest,
        table: StandardisedTable,
        stages: Stages,
        all_rows: AllRows | None,
        status: str,
    ) -> FitResult:
        assert stages.result is not None
        assert stages.draws is not None
        dataset = request.dataset
        problem, draws = stages.result.problem, stages.draws
        settings = {
            **self.options.to_dict(),
            "hyperparameters": asdict(problem.hyperparameters),
            "exact": stages.details.get("method") == "exact",
            "n_samples": dataset.n_samples,
            "n_samples_for_structure": len(problem.values),
        }
        if problem.worlds is not None:
            settings["n_worlds"] = min(problem.worlds.n_worlds, request.n_draws)
        regimes = None if dataset.experiment is None else dataset.experiment.regimes
        mean_graphs = table.restore(draws.mean_graphs)
        variance_graphs = table.restore(draws.variance_graphs)
        targets = None
        if regimes is not None:
            mean_graphs, variance_graphs, targets = split_targets(
                regimes, mean_graphs, variance_graphs
            )
        d = dataset.n_variables
        doubt = None if stages.doubt is None else stages.doubt.reordered(table.places[:d])
        posterior = Posterior(
            dataset.names,
            mean_graphs,
            variance_graphs,
            Provenance("evidence", settings, dataset.fingerprint, request.seed, status=status),
            log_posterior=draws.log_posterior,
            chains=draws.chains,
            doubt=doubt,
            target_draws=targets,
        )
        best_pair = adjacency(stages.result.best.parents)
        # Log posteriors of different worlds are not comparable: there the search has the last word.
        if problem.worlds is None and draws.gain >= 0:
            top = int(np.argmax(draws.log_posterior))
            best_pair = draws.mean_graphs[top], draws.variance_graphs[top]
        d = dataset.n_variables
        mean_graph, variance_graph = (table.restore(graph)[:d, :d] for graph in best_pair)
        best_graph = MomentGraph(dataset.names, mean_graph, variance_graph)
        details = {**stages.details, "local_scores": problem.counts.to_dict()}
        if doubt is not None:
            details["misfit"] = doubt.misfit_by_name(dataset.names)
        scorer = problem.scorer(problem.hyperparameters)
        model: FittedModel | None = None
        if isinstance(scorer, LocalScorer | InterventionScorer) and isinstance(
            scorer_of(scorer, 0), LocalScorer
        ):
            model = EvidenceModel(table.units, table.columns, scorer, rows=all_rows)
            if targets is not None:
                model = RegimeModel.of(model, targets)
        return FitResult(
            posterior,
            model,
            best_graph,
            dataset.observe(),
            status,
            details,
            observe_regimes(dataset),
        )
