"""Cases in which every aspect of a fit to simulated data is measured."""

from __future__ import annotations

from functools import partial

import numpy as np

from momentdag.metrics import brier_score, expected_f1, expected_shd, f1, shd
from momentdag.posterior.queries import Moment
from studies.calibration import reliability
from studies.case import FIRST_SEED, FitCase, Measures, Task
from studies.fits import Fitted
from studies.order_gap import order_gap
from studies.simulated import GRAPHS, draw_preset

__all__ = ["N_NEW_ROWS", "recovery"]

_BOTH: tuple[Moment, Moment] = ("mean", "variance")
N_NEW_ROWS = 1000
_TOLERATED_GAP = 5.0  # nats


def recovery(name: str, table: str = "recovery") -> FitCase:
    """Return a preset as a case in which every aspect of a fit is measured.

    Examples
    --------
    >>> case = recovery("sparse-5")
    >>> case.name, case.group
    ('recovery-sparse-5', 'sparse-5')
    """
    return FitCase(
        name=f"{table}-{name}",
        group=name,
        n_variables=int(name.rpartition("-")[2]),
        table=table,
        draw=partial(draw_preset, name),
        measure=_measure,
        measure_parts=reliability,
        in_grams=True,
    )


def _measure(task: Task, fitted: Fitted) -> Measures:
    """Compare the consensus and the draws with the truth; look at the order, chains, new rows."""
    truth, posterior, estimator = task.truths["simulated"], fitted.posterior, fitted.estimator
    assert task.simulation is not None
    consensus = posterior.consensus()
    measures: Measures = {"is_poor": float(posterior.diagnostics().is_poor)}
    for label, moment in GRAPHS:
        estimate, true = consensus.to_frame(moment), truth.to_frame(moment)
        measures[f"shd_{label}"] = float(shd(estimate, true))
        measures[f"expected_shd_{label}"] = expected_shd(posterior, truth, moment=moment)
        measures[f"f1_{label}"] = f1(estimate, true)
        measures[f"expected_f1_{label}"] = expected_f1(posterior, truth, moment=moment)
        measures[f"n_edges_{label}"] = float(estimate.to_numpy().sum())
    for moment in _BOTH:
        probabilities = posterior.edge_probabilities(moment)
        measures[f"brier_{moment}"] = brier_score(probabilities, truth.to_frame(moment))
    if estimator is not None:
        rng = np.random.default_rng(FIRST_SEED + 10_000 + task.number)
        measures["score"] = estimator.score(task.simulation.sample(rng, N_NEW_ROWS))
        gap = order_gap(estimator, task.simulation)
        if gap is not None:
            measures |= {"order_gap": gap, "order_found": float(gap >= -_TOLERATED_GAP)}
    return measures
