"""Cases from the simulators: data with a known pair of graphs."""

from __future__ import annotations

import itertools
from functools import partial

import numpy as np

from momentdag.graph import Selection
from momentdag.metrics import expected_f1, expected_shd, sid
from momentdag.posterior import Posterior
from momentdag.simulate import preset
from studies.case import FIRST_SEED, FitCase, Measures, Task
from studies.fits import Fitted

__all__ = ["GRAPHS", "draw_preset", "simulated"]

GRAPHS: tuple[tuple[str, Selection], ...] = (
    ("mean", "mean"),
    ("variance", "variance"),
    ("union", "either"),
)
"""The graphs that are compared with the truth: name of the measure, and selection."""
_MAX_VARIABLES_FOR_SID = 20  # no study with more shows it


def simulated(name: str, share: float = 0.0) -> FitCase:
    """Return a preset of `momentdag.simulate`, "kind-d", as a case.

    A share of all pairwise orderings of the true order is given to the method.

    Examples
    --------
    >>> case = simulated("sparse-5")
    >>> case.group, case.n_variables, case.draw(0).truths["simulated"]
    ('d = 5', 5, MomentGraph(5 variables, 5 mean edges, 5 variance edges))
    >>> simulated("sparse-5", share=0.5).name
    'sparse-5-told-50'
    """
    d = int(name.rpartition("-")[2])
    told, variant = (f"-told-{100 * share:.0f}", f"+ {100 * share:.0f} %") if share else ("", "")
    return FitCase(
        name=f"{name}{told}",
        group=f"d = {d}",
        n_variables=d,
        table="knowledge" if share else "runs",
        variant=variant,
        draw=partial(draw_preset, name, share=share),
        measure=_measure,
    )


def draw_preset(name: str, number: int, n_samples: int = 500, share: float = 0.0) -> Task:
    """Draw a data set, and the share of its true orderings that is given to the method."""
    rng = np.random.default_rng(FIRST_SEED + number)
    simulation = preset(name, rng, n_samples)
    orderings: tuple[tuple[str, str], ...] = ()
    if share:
        pairs = list(itertools.combinations(simulation.order, 2))
        chosen = rng.choice(len(pairs), size=round(share * len(pairs)), replace=False)
        orderings = tuple(pairs[k] for k in np.sort(chosen))
    truths = {"simulated": simulation.graph}
    return Task(simulation.data, truths, orderings, simulation=simulation, number=number)


def _measure(task: Task, fitted: Fitted) -> Measures:
    """Return SHD, its rate and F1 of each graph, and SID of the union, averaged over draws.

    Where orderings are given, also the number of draws that contradict one, summed over orderings.
    """
    truth, posterior = task.truths["simulated"], fitted.posterior
    d = truth.n_variables
    measures: Measures = {}
    for label, moment in GRAPHS:
        distance = expected_shd(posterior, truth, moment=moment)
        measures[f"shd_{label}"] = distance
        measures[f"shd_rate_{label}"] = distance / (d * (d - 1) / 2)
        measures[f"f1_{label}"] = expected_f1(posterior, truth, moment=moment)
    if d <= _MAX_VARIABLES_FOR_SID:
        measures["sid_union"] = _expected_sid(posterior, task)
    if task.orderings:
        # An ordering is transitive: first before second rules out every path back.
        ancestors = posterior.ancestor_probabilities()
        broken = sum(float(ancestors.loc[second, first]) for first, second in task.orderings)
        measures["n_broken"] = float(round(broken * posterior.n_draws))
    return measures


def _expected_sid(posterior: Posterior, task: Task) -> float:
    truth = task.truths["simulated"].reorder(posterior.names).union_graph
    unions = posterior.mean_graphs | posterior.variance_graphs
    distinct, counts = np.unique(unions, axis=0, return_counts=True)
    return float(np.average([sid(graph, truth) for graph in distinct], weights=counts))
