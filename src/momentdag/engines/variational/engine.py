"""The variational engine: what a fit does, in order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import jax.numpy as jnp
import numpy as np

from momentdag.data import Dataset
from momentdag.engines.evidence.engine import canonical_columns
from momentdag.engines.protocol import Checkpoint, Fit, Progress
from momentdag.engines.variational.drawing import Drawn, draw_pairs
from momentdag.engines.variational.fitting import Trained, train
from momentdag.engines.variational.likelihood import Networks
from momentdag.engines.variational.model import WITNESS_ROWS, VariationalModel
from momentdag.engines.variational.options import VariationalOptions
from momentdag.engines.variational.problem import Problem
from momentdag.engines.variational.stated import Stated, state
from momentdag.graph import BoolArray, MomentGraph
from momentdag.knowledge import Knowledge
from momentdag.posterior import Posterior, Provenance

__all__ = ["VariationalEngine", "problem_of"]


def problem_of(
    dataset: Dataset, knowledge: Knowledge, options: VariationalOptions
) -> tuple[Problem, Stated]:
    """Return the arrays that training needs, columns in canonical order."""
    columns = canonical_columns(dataset)
    known = knowledge.compile(tuple(dataset.names[i] for i in columns))
    stated = state(known, options.edge_probability, options.order_margin)
    # Rounded, so that other units, whose standardised values differ in the last bits, give the
    # same bits from here on.
    values = jnp.asarray(np.round(dataset.standardised[:, columns], 6), jnp.float32)
    return Problem(values, stated.prior, stated.limits, stated.orders), stated


@dataclass(frozen=True)
class VariationalEngine:
    """The paper's algorithm behind the engine protocol.

    Parameters
    ----------
    options : VariationalOptions
    """

    options: VariationalOptions = field(default_factory=VariationalOptions)

    def fit(
        self,
        dataset: Dataset,
        knowledge: Knowledge,
        n_draws: int,
        n_jobs: int,
        rng: np.random.Generator,
        progress: Progress,
        checkpoint: Checkpoint | None = None,
    ) -> Fit:
        """Return the variational posterior over graph pairs given the data.

        All restarts run in one process whatever ``n_jobs`` is: they share one compiled program.
        With a checkpoint a killed fit goes on from its last chunk of steps, to the same bits.
        """
        options = self.options
        train_rng, draw_rng = rng.spawn(2)
        problem, stated = problem_of(dataset, knowledge, options)
        trained = train(
            train_rng,
            problem,
            options,
            progress,
            checkpoint,
            ordered=stated.ordered,
            projected=stated.projected,
        )
        progress("drawing", 0, 1)
        drawn = draw_pairs(draw_rng, trained, problem, stated, options, n_draws)
        pairs = drawn.mean_graphs, drawn.variance_graphs
        joint, used = drawn.log_joint, drawn.used
        back = np.argsort(canonical_columns(dataset))

        def restore(graphs: BoolArray) -> BoolArray:
            return graphs[..., back, :][..., :, back]

        mean_graphs, variance_graphs = map(restore, pairs)
        status = "complete"
        if trained.interrupted:
            status = "interrupted during training; the result so far is returned"
        provenance = Provenance(
            "variational", options.to_dict(), dataset.fingerprint, status=status
        )
        posterior = Posterior(
            dataset.names, mean_graphs, variance_graphs, provenance, log_posterior=joint
        )
        top = int(np.argmax(joint))
        best = MomentGraph(dataset.names, mean_graphs[top], variance_graphs[top])
        model = VariationalModel(
            dataset,
            _reordered(trained.weights.mean.networks, used, back),
            _reordered(trained.weights.variance.networks, used, back),
            np.asarray(problem.values[:WITNESS_ROWS], dtype=np.float64)[:, back],
            refitted=drawn.efficiency is not None,
        )
        return Fit(posterior, model, best, status, _details(trained, drawn))


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
