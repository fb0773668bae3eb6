"""Calibration: whether edges are as frequent as their probabilities say."""

from __future__ import annotations

import numpy as np
import pandas as pd

from momentdag.metrics import reliability_table
from momentdag.posterior.queries import Moment
from studies.case import Measures, Task
from studies.fits import Fitted
from studies.store import Record, Store
from studies.study import View
from studies.tables import Table

__all__ = ["calibration_table", "pooled_reliability_table", "reliability"]

_BOTH: tuple[Moment, Moment] = ("mean", "variance")


def reliability(task: Task, fitted: Fitted) -> list[Measures]:
    """Return a row for each graph and each bin of probabilities that has pairs of variables."""
    truth = task.truths["simulated"]
    rows: list[Measures] = []
    for k, moment in enumerate(_BOTH):
        probabilities = fitted.posterior.edge_probabilities(moment)
        table = reliability_table(probabilities, truth.to_frame(moment))
        used = table[table["n"] > 0].astype(float)
        rows += used.assign(is_variance=float(k)).to_dict("records")
    return rows


def _calibrated_runs(view: View, store: Store) -> list[Record]:
    """Return the runs that have reliabilities.

    The view's last case has sums over the data sets of version 0.1.0, whose single runs were not
    stored. They are used until there are as many new runs.
    """
    *cases, pooled = view.cases
    runs = [run for case in cases for run in store.records(case, "evidence") if run.parts]
    sums = store.records(pooled, "evidence")
    return sums if _n_sets(sums) > _n_sets(runs) else runs


def _n_sets(runs: list[Record]) -> int:
    return sum(int(run.measures.get("n_sets", 1)) for run in runs)


def calibration_table(view: View, store: Store) -> Table | None:
    """Return calibration error and Brier score of both graphs, all runs pooled."""
    runs = _calibrated_runs(view, store)
    if not runs:
        return None
    pairs = [sum(part["n"] for part in run.parts) / 2 for run in runs]
    lines = []
    for k, moment in enumerate(_BOTH):
        table = _pooled(runs, k)
        gaps = (table["frequency"] - table["mean_probability"]).abs()
        error = (gaps * table["n"]).sum() / table["n"].sum()
        brier = np.average([run.measures[f"brier_{moment}"] for run in runs], weights=pairs)
        lines.append((moment, str(_n_sets(runs)), f"{error:.4f}", f"{brier:.4f}"))
    columns = ("graph", "sets", "expected calibration error", "Brier score")
    return Table(view.title, columns, tuple(lines))


def pooled_reliability_table(view: View, store: Store) -> Table | None:
    """Return, for each bin of probabilities, how often the edges in it exist, all runs pooled."""
    runs = _calibrated_runs(view, store)
    if not runs:
        return None
    tables = [_pooled(runs, k) for k in range(len(_BOTH))]
    lines = []
    for low in sorted({low for table in tables for low in table.index}):
        cells = [f"{low:.1f} - {low + 0.1:.1f}"]
        for table in tables:
            if low in table.index:
                n, mean, frequency = table.loc[low, ["n", "mean_probability", "frequency"]]
                cells += [f"{n:.0f}", f"{mean:.3f}", f"{frequency:.3f}"]
            else:
                cells += ["0", "-", "-"]
        lines.append(tuple(cells))
    names = ("pairs", "mean probability", "share of edges")
    columns = ("probability", *(f"{moment}: {name}" for moment in _BOTH for name in names))
    return Table(view.title, columns, tuple(lines), note=view.note)


def _pooled(runs: list[Record], graph: int) -> pd.DataFrame:
    """Add up the bins of one graph over runs; the index is the lower border."""
    rows = pd.DataFrame([part for run in runs for part in run.parts])
    rows = rows[rows["is_variance"] == graph]
    sums = rows[["mean_probability", "frequency"]].mul(rows["n"], axis=0)
    sums = sums.assign(n=rows["n"], low=rows["bin_low"]).groupby("low").sum()
    return sums.assign(
        mean_probability=sums["mean_probability"] / sums["n"],
        frequency=sums["frequency"] / sums["n"],
    )
