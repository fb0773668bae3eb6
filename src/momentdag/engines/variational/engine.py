"""The variational engine: what a fit does, in order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from momentdag.engines.protocol import FitRequest, FitResult
from momentdag.engines.variational.draws import Drawn, draw_pairs
from momentdag.engines.variational.fitting import Trained, train
from momentdag.engines.variational.knowledge_arrays import pose_problem
from momentdag.engines.variational.likelihood import Networks
from momentdag.engines.variational.model import WITNESS_ROWS, VariationalModel
from momentdag.engines.variational.options import VariationalOptions
from momentdag.errors import OptionError
from momentdag.graph import BoolArray, MomentGraph
from momentdag.posterior import Posterior, Provenance
from momentdag.storage.state import State
from momentdag.table import Dataset
from momentdag.table.checks import check_numbers

__all__ = ["METHOD_VERSION", "VariationalEngine"]

METHOD_VERSION = 1
"""Raised by hand when drawn graphs change: finished runs of studies carry it."""


@dataclass(frozen=True)
class VariationalEngine:
    """The paper's algorithm behind the engine protocol.

    Parameters
    ----------
    options : VariationalOptions
    """

    options: VariationalOptions = field(default_factory=VariationalOptions)

    def check(self, dataset: Dataset) -> None:
        """Refuse categories and missing cells; everything else enters as the value it has."""
        if dataset.has_missing:
            raise OptionError(
                "The variational engine takes complete tables; this one has missing cells.",
                fit_with={"missing": "drop"},
            )
        if dataset.experiment is not None:
            raise OptionError(
                "The variational engine knows neither regimes nor interventions; the evidence "
                "engine does."
            )
        check_numbers(dataset.names, dataset.kinds, "The variational engine")

    def fit(self, request: FitRequest) -> FitResult:
        """Return the variational posterior over graph pairs given the data.

        All restarts run in one process whatever ``n_jobs`` is: they share one compiled program.
        With a checkpoint a killed fit goes on from its last chunk of steps, bit-for-bit identical;
        tuning begins again, with the same result.
        """
        options, dataset, table = self.options, request.dataset, request.table
        self.check(dataset)
        train_rng, draw_rng = request.rng.spawn(2)
        problem, stated = pose_problem(table, request.canonical_knowledge, options)
        tuned = None
        if options.tuning == "grid":
            from momentdag.engines.variational.tune import choose  # Optuna takes its time

            tuned = choose(problem, stated, options, request.progress)
            options = tuned.options
        trained = train(
            train_rng,
            problem,
            options,
            request.progress,
            request.checkpoint,
            ordered=stated.ordered,
            projected=stated.projected,
        )
        request.progress("drawing", 0, 1)
        drawn = draw_pairs(draw_rng, trained, problem, stated, options, request.n_draws)
        joint, used, back = drawn.log_joint, drawn.used, table.places
        mean_graphs = table.restore(drawn.mean_graphs)
        variance_graphs = table.restore(drawn.variance_graphs)
        status = "complete"
        if trained.interrupted:
            status = "interrupted during training; the result so far is returned"
        provenance = Provenance(
            "variational", self.options.to_dict(), dataset.fingerprint, request.seed, status=status
        )
        posterior = Posterior(
            dataset.names, mean_graphs, variance_graphs, provenance, log_posterior=joint
        )
        top = int(np.argmax(joint))
        best_graph = MomentGraph(dataset.names, mean_graphs[top], variance_graphs[top])
        model = VariationalModel(
            table.units,
            _reordered(trained.weights.mean.networks, used, back),
            _reordered(trained.weights.variance.networks, used, back),
            np.asarray(problem.values[:WITNESS_ROWS], dtype=np.float64)[:, back],
            refitted=drawn.efficiency is not None,
        )
        details = _details(trained, drawn)
        if tuned is not None:
            details["tuned"] = {
                "batch_size": options.batch_size,
                "n_hidden": options.n_hidden,
                "trials": [list(trial) for trial in tuned.trials],
            }
        return FitResult(posterior, model, best_graph, dataset.observe(), status, details)

    def restore_model(self, state: State) -> VariationalModel:
        """Return the fitted model that gave ``state``."""
        return VariationalModel.from_state(state)


def _reordered(networks: Networks, used: BoolArray, back: Any) -> Networks:
    """Return the networks of used restarts, their variables in the order of the data's columns."""
    first, hidden, last, output, shift = (np.asarray(part)[used] for part in networks)
    return Networks(
        first[:, back][:, :, back],
        hidden[:, back],
        last[:, back],
        output[:, back],
        shift[:, :, back][:, :, :, back],
    )


def _details(trained: Trained, drawn: Drawn) -> dict[str, Any]:
    return {
        "objectives": trained.objectives.tolist(),
        "shares": trained.shares.tolist(),
        "best_restart": int(np.argmax(trained.objectives)),
        "restart_spread": trained.spread,
        "resampling_efficiency": drawn.efficiency,
        "n_steps": trained.n_steps,
        "converged": trained.converged,
        "trace": list(trained.trace),
    }
