"""Real data with known causes: the light tunnel, and protein signalling in T cells."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from rich.console import Console

import momentdag as md
from benchmarks.gram import Timing, timed
from benchmarks.tables import Table, publish
from momentdag.datasets import load_light_tunnel, load_sachs
from momentdag.metrics import expected_shd, f1, shd

__all__ = ["run_real"]

_UNSCORED = (
    "angle_1",
    "angle_2",
)  # see the data set: no estimator should be asked for their spread


def run_real(
    console: Console,
    folder: Path,
    n_rows: int = 1500,
    n_draws: int = 2000,
    jobs: int = 1,
    engine_options: dict[str, Any] | None = None,
) -> None:
    """Fit both data sets with default settings, print and write the table."""

    def fit(data: pd.DataFrame) -> tuple[md.MomentDAG, Timing]:
        estimator = md.MomentDAG(
            n_draws=n_draws, random_state=0, n_jobs=jobs, engine_options=engine_options
        )
        with warnings.catch_warnings():
            # Readings of an instrument are whole numbers; both data sets say so themselves.
            warnings.simplefilter("ignore")
            return timed(lambda: estimator.fit(data))

    tunnel = _tunnel(n_rows, fit)
    sachs = _sachs(fit)
    rows: list[tuple[str, ...]] = [
        *((f"light tunnel: {what}", _shown(value)) for what, value in tunnel.items()),
        *((f"Sachs: {what}", _shown(value)) for what, value in sachs.items()),
    ]
    note = (
        f"Light tunnel core, first {n_rows} rows, 16 true mean and 16 true variance edges, no "
        "knowledge given. Sachs on the log scale, 853 cells, against the accepted networks of 17 "
        f"and 20 edges. {n_draws} draws, random_state 0, consensus pair."
    )
    settings = {"n_rows": n_rows, "n_draws": n_draws, "engine_options": engine_options}
    table = Table("Real data", ("figure", "value"), rows, note)
    content = {"settings": settings, "light_tunnel": tunnel, "sachs": sachs}
    publish(console, folder, "real", [table], content)


def _tunnel(n_rows: int, fit: Any) -> dict[str, Any]:
    reference = load_light_tunnel("core")
    truth = reference.graph
    assert truth is not None
    estimator, timing = fit(reference.data.iloc[:n_rows])
    found = estimator.posterior_.consensus()
    scored = [name for name in truth.names if name not in _UNSCORED]
    variance = [graph.variance_frame.loc[scored, scored] for graph in (found, truth)]
    actuators = [name for name in truth.names if not truth.parents(name)]
    return {
        "mean SHD": shd(found.mean_frame, truth.mean_frame),
        "mean E-SHD": expected_shd(estimator.posterior_, truth, moment="mean"),
        "mean F1": f1(found.mean_frame, truth.mean_frame),
        "variance SHD": shd(found.variance_frame, truth.variance_frame),
        "variance SHD without the angles": shd(*variance),
        "variance F1 without the angles": f1(*variance),
        "actuators with parents": [name for name in actuators if found.parents(name)],
        "seconds": timing.seconds,
        "Gram units": timing.units,
    }


def _sachs(fit: Any) -> dict[str, Any]:
    data = pd.DataFrame(np.log(load_sachs().data))
    estimator, timing = fit(data)
    found = estimator.posterior_.consensus().union_frame
    result: dict[str, Any] = {"edges found": int(found.to_numpy().sum())}
    for edges in ("17", "20"):
        truth = load_sachs(edges).union_graph
        assert truth is not None
        result |= {
            f"union SHD, {edges} edges": shd(found, truth),
            f"union E-SHD, {edges} edges": expected_shd(
                estimator.posterior_, truth, moment="either"
            ),
            f"union F1, {edges} edges": f1(found, truth),
            f"skeleton F1, {edges} edges": f1(_skeleton(found), _skeleton(truth)),
        }
    return {**result, "seconds": timing.seconds, "Gram units": timing.units}


def _skeleton(graph: pd.DataFrame) -> pd.DataFrame:
    """Return the graph with each edge in both directions, which leaves F1 as it is without."""
    return graph | graph.T.rename_axis(index=graph.index.name, columns=graph.columns.name)


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(value) if value else "none"
    if isinstance(value, float):
        return f"{value:.2f}" if value < 1000 else f"{value:.0f}"
    return str(value)
