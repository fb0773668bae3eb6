"""Cases from the simulators: data with a known pair of graphs."""

from __future__ import annotations

from functools import partial

import numpy as np

from momentdag.experiments.case import FIRST_SEED, Case, Task
from momentdag.graph import Selection
from momentdag.metrics import expected_f1, expected_shd, sid
from momentdag.posterior import Posterior
from momentdag.simulate import preset

__all__ = ["simulated"]

_GRAPHS: tuple[tuple[str, Selection], ...] = (
    ("mean", "mean"),
    ("variance", "variance"),
    ("union", "either"),
)
_MOST_FOR_SID = 20  # variables; no experiment with more shows it


def simulated(name: str) -> Case:
    """Return a preset of `momentdag.simulate` as a case, "kind-d".

    Examples
    --------
    >>> case = simulated("sparse-5")
    >>> case.group, case.n_variables, case.draw(0).truths["simulated"]
    ('d = 5', 5, MomentGraph(5 variables, 5 mean edges, 5 variance edges))
    """
    d = int(name.rpartition("-")[2])
    return Case(name, f"d = {d}", d, partial(_draw, name), _measure, __name__)


def _draw(name: str, number: int) -> Task:
    simulation = preset(name, np.random.default_rng(FIRST_SEED + number))
    return Task(simulation.data, {"simulated": simulation.graph})


def _measure(task: Task, posterior: Posterior) -> dict[str, float]:
    """Return SHD, its rate and F1 of each graph, and SID of the union, averaged over draws."""
    truth = task.truths["simulated"]
    d = truth.n_variables
    measures: dict[str, float] = {}
    for label, moment in _GRAPHS:
        distance = expected_shd(posterior, truth, moment=moment)
        measures[f"shd_{label}"] = distance
        measures[f"shd_rate_{label}"] = distance / (d * (d - 1) / 2)
        measures[f"f1_{label}"] = expected_f1(posterior, truth, moment=moment)
    if d <= _MOST_FOR_SID:
        measures["sid_union"] = _expected_sid(posterior, task)
    return measures


def _expected_sid(posterior: Posterior, task: Task) -> float:
    truth = task.truths["simulated"].reorder(posterior.names).union_graph
    unions = posterior.mean_graphs | posterior.variance_graphs
    distinct, counts = np.unique(unions, axis=0, return_counts=True)
    return float(np.average([sid(graph, truth) for graph in distinct], weights=counts))
