"""Real data with known causes: the light tunnel, and protein signalling in T cells."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from momentdag.datasets import load_light_tunnel, load_sachs
from momentdag.metrics import expected_shd, f1, shd
from studies.case import FitCase, Measures, Task
from studies.fits import Fitted
from studies.sachs import accepted_network
from studies.study import Metric, Study, View

__all__ = ["N_TUNNEL_ROWS", "REAL", "SHARED_DATA", "tunnel_copy"]

SHARED_DATA = Path(__file__).parents[2] / "shared" / "data"
"""Data that are not ours to keep, beside the checkout; they may be missing."""
N_TUNNEL_ROWS = 1500
_UNSCORED = ("angle_1", "angle_2")  # their spread is motor backlash, see the data set


def tunnel_copy() -> Path | None:
    """Return the local copy of the light tunnel's data, or None: then they are downloaded."""
    copy = SHARED_DATA / "light_tunnel.csv"
    return copy if copy.is_file() else None


def _draw_tunnel(number: int) -> Task:
    reference = load_light_tunnel("core", path=tunnel_copy())
    assert reference.graph is not None
    return Task(reference.data.iloc[:N_TUNNEL_ROWS], {"tunnel": reference.graph})


def _measure_tunnel(task: Task, fitted: Fitted) -> Measures:
    truth, consensus = task.truths["tunnel"], fitted.posterior.consensus()
    scored = [name for name in truth.names if name not in _UNSCORED]
    spreads = [graph.variance_frame.loc[scored, scored] for graph in (consensus, truth)]
    actuators = [name for name in truth.names if not truth.parents(name)]
    return {
        "shd_mean": float(shd(consensus.mean_frame, truth.mean_frame)),
        "expected_shd_mean": expected_shd(fitted.posterior, truth, moment="mean"),
        "f1_mean": f1(consensus.mean_frame, truth.mean_frame),
        "shd_variance": float(shd(consensus.variance_frame, truth.variance_frame)),
        "shd_variance_scored": float(shd(*spreads)),
        "f1_variance_scored": f1(*spreads),
        "n_actuators_with_parents": float(sum(bool(consensus.parents(a)) for a in actuators)),
    }


def _draw_sachs(number: int) -> Task:
    truths = {edges: accepted_network(edges) for edges in ("17", "20")}
    return Task(pd.DataFrame(np.log(load_sachs().data)), truths)


def _measure_sachs(task: Task, fitted: Fitted) -> Measures:
    estimate = fitted.posterior.consensus().union_frame
    measures: Measures = {"n_edges": float(estimate.to_numpy().sum())}
    for edges, network in task.truths.items():
        truth = network.union_frame
        measures |= {
            f"shd_{edges}": float(shd(estimate, truth)),
            f"expected_shd_{edges}": expected_shd(fitted.posterior, truth, moment="either"),
            f"f1_{edges}": f1(estimate, truth),
            f"f1_skeleton_{edges}": f1(_skeleton(estimate), _skeleton(truth)),
        }
    return measures


def _skeleton(graph: pd.DataFrame) -> pd.DataFrame:
    """Return the graph with each edge in both directions, which leaves F1 as it is without."""
    return graph | graph.T.rename_axis(index=graph.index.name, columns=graph.columns.name)


_TUNNEL = FitCase(
    name="real-light-tunnel",
    group="light tunnel",
    n_variables=11,
    table="real",
    max_sets=1,
    draw=_draw_tunnel,
    measure=_measure_tunnel,
    in_grams=True,
)
_SACHS = FitCase(
    name="real-sachs",
    group="Sachs",
    n_variables=11,
    table="real",
    max_sets=1,
    draw=_draw_sachs,
    measure=_measure_sachs,
    in_grams=True,
)
_TIMES = (Metric("seconds", "seconds", digits=1), Metric("gram_units", "Gram products", digits=0))

REAL = Study(
    name="real",
    title="Real data",
    shows="graphs of the light tunnel and of the Sachs data, evidence engine",
    views=(
        View(
            "Light tunnel, first 1 500 rows of the core, 16 true edges in each graph",
            (_TUNNEL,),
            (
                Metric("shd_mean", "mean SHD", "lower", digits=0),
                Metric("expected_shd_mean", "mean E-SHD", "lower"),
                Metric("f1_mean", "mean F1", "higher"),
                Metric("shd_variance", "variance SHD", "lower", digits=0),
                Metric("shd_variance_scored", "variance SHD without the angles", "lower", digits=0),
                Metric("f1_variance_scored", "variance F1 without the angles", "higher"),
                Metric("n_actuators_with_parents", "actuators with parents", "lower", digits=0),
                *_TIMES,
            ),
            rows="metrics",
        ),
        View(
            "Sachs, log scale, 853 cells, against both accepted networks",
            (_SACHS,),
            (
                Metric("n_edges", "edges found", digits=0),
                *(
                    metric
                    for edges in ("17", "20")
                    for metric in (
                        Metric(f"shd_{edges}", f"union SHD, {edges} edges", "lower", digits=0),
                        Metric(f"expected_shd_{edges}", f"union E-SHD, {edges} edges", "lower"),
                        Metric(f"f1_{edges}", f"union F1, {edges} edges", "higher"),
                        Metric(f"f1_skeleton_{edges}", f"skeleton F1, {edges} edges", "higher"),
                    )
                ),
                *_TIMES,
            ),
            rows="metrics",
        ),
    ),
    methods=("evidence",),
    about="No knowledge given. The consensus pair; E-SHD is averaged over draws.",
    quick=("real-light-tunnel", "real-sachs"),
    n_sets=1,
)
