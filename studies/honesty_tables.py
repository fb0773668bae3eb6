"""Tables of how sure methods are and how often they are right, pooled over data sets."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from studies.case import Case
from studies.honesty_measures import CURVES, Curve
from studies.methods import METHODS
from studies.store import Record, Store
from studies.study import View
from studies.tables import Table

__all__ = [
    "Scope",
    "calibration_error",
    "direction_table",
    "edge_table",
    "pooled_bins",
    "reliability_curves",
]

_NOT_RUN = "·"


@dataclass(frozen=True)
class Scope:
    """Cases that are pooled in a row of their own."""

    title: str
    cases: tuple[Case, ...]


def direction_table(view: View, store: Store, scopes: Sequence[Scope]) -> Table | None:
    """Return, for each case and scope, "stated / right / log loss" of each method."""

    def cell(runs: list[Record]) -> str:
        keys = ("stated", "right", "log_loss_direction")
        return " / ".join(f"{_mean(runs, key, 'n_links'):.2f}" for key in keys)

    def size(runs: list[Record]) -> str:
        return f"{sum(run.measures['n_links'] for run in runs):.0f}"

    return _table(view, store, scopes, "n_links", ("links", size), cell)


def edge_table(
    view: View, store: Store, scopes: Sequence[Scope], curves: Sequence[Curve] = ("union",)
) -> Table | None:
    """Return, for each case and scope, "log loss / Brier score / calibration error" of methods.

    With several curves there is a row for each. The column "base rate" has the log loss of always
    saying the share of pairs that are edges.
    """
    tables = []
    for curve in curves:

        def cell(runs: list[Record], curve: Curve = curve) -> str:
            keys = (f"log_loss_{curve}", f"brier_{curve}")
            values = [_mean(runs, key, "n_pairs") for key in keys]
            values.append(calibration_error(pooled_bins(runs, curve)))
            return " / ".join(f"{value:.3f}" for value in values)

        def base(runs: list[Record], curve: Curve = curve) -> str:
            p = _mean(runs, f"share_{curve}", "n_pairs")
            return f"{sum(q * math.log(1 / q) for q in (p, 1 - p) if q > 0):.3f}"

        table = _table(view, store, scopes, "n_pairs", ("base rate", base), cell)
        if table is not None:
            tables.append((curve, table))
    if not tables:
        return None
    rows = [
        (f"{row[0]}, {curve}" if len(curves) > 1 else row[0], *row[1:])
        for rows_of_curves in zip(*(table.rows for _, table in tables), strict=True)
        for (curve, _), row in zip(tables, rows_of_curves, strict=True)
    ]
    return Table(view.title, tables[0][1].columns, tuple(rows), note=view.note)


def reliability_curves(view: View, store: Store, curve: Curve) -> Table | None:
    """Return, for each bin of probabilities, "mean probability: share (number)" of each method."""
    columns = {
        method: pooled_bins(runs, curve)
        for method in view.methods
        if (runs := _runs(view.cases, method, store))
    }
    columns = {method: bins for method, bins in columns.items() if len(bins)}
    if not columns:
        return None
    lines = []
    for low in sorted({low for bins in columns.values() for low in bins.index}):
        cells = []
        for bins in columns.values():
            if low in bins.index:
                n, p, share = bins.loc[low, ["n", "mean_probability", "frequency"]]
                cells.append(f"{p:.2f}: {share:.2f} ({n:g})")
            else:
                cells.append(_NOT_RUN)
        lines.append((f"{low:.1f} - {low + 0.1:.1f}", *cells))
    titles = (METHODS[method].title for method in columns)
    return Table(view.title, ("probability", *titles), tuple(lines), note=view.note)


def pooled_bins(runs: Sequence[Record], curve: Curve) -> pd.DataFrame:
    """Add up the bins of a curve over runs; the index is the lower border of a bin.

    Columns n, mean_probability and frequency, the share of the n that happened.
    """
    columns = ["bin_low", "n", "mean_probability", "frequency", "curve"]
    rows = pd.DataFrame([part for run in runs for part in run.parts], columns=columns)
    rows = rows[rows["curve"] == CURVES.index(curve)]
    sums = rows[["mean_probability", "frequency"]].mul(rows["n"], axis=0)
    sums = sums.assign(n=rows["n"], bin_low=rows["bin_low"]).groupby("bin_low").sum()
    means = {name: sums[name] / sums["n"] for name in ("mean_probability", "frequency")}
    return sums.assign(**means)


def calibration_error(bins: pd.DataFrame) -> float:
    """Return the mean distance between probability and share over the bins of `pooled_bins`."""
    gaps = (bins["frequency"] - bins["mean_probability"]).abs()
    return float((gaps * bins["n"]).sum() / bins["n"].sum())


def _table(
    view: View,
    store: Store,
    scopes: Sequence[Scope],
    weight: str,
    extra: tuple[str, Callable[[list[Record]], str]],
    cell: Callable[[list[Record]], str],
) -> Table | None:
    """Return a row for each case and scope, a column for each method that has runs.

    ``weight`` is the measure without which a run says nothing; ``extra`` has the title and the
    content of a column that does not depend on the method.
    """
    methods = [method for method in view.methods if _runs(view.cases, method, store)]
    lines = []
    for scope in (*(Scope(case.group, (case,)) for case in view.cases), *scopes):
        runs = {
            method: [run for run in _runs(scope.cases, method, store) if run.measures.get(weight)]
            for method in methods
        }
        n_sets = max((len(each) for each in runs.values()), default=0)
        if n_sets == 0:
            continue
        cells = [_shown(runs[method], n_sets, cell) for method in methods]
        largest = next(each for each in runs.values() if len(each) == n_sets)
        lines.append((scope.title, str(n_sets), extra[1](largest), *cells))
    titles = (METHODS[method].title for method in methods)
    columns = ("", "sets", extra[0], *titles)
    return Table(view.title, columns, tuple(lines), note=view.note) if lines else None


def _shown(runs: list[Record], n_sets: int, cell: Callable[[list[Record]], str]) -> str:
    """Return a cell, and the number of sets where it is not that of the row."""
    if not runs:
        return _NOT_RUN
    return cell(runs) if len(runs) == n_sets else f"{cell(runs)} [{len(runs)}]"


def _runs(cases: Sequence[Case], method: str, store: Store) -> list[Record]:
    """Return the runs of a method on all cases that did not fail."""
    return [run for case in cases for run in store.records(case, method) if not run.failed]


def _mean(runs: Sequence[Record], key: str, weight: str) -> float:
    """Return the mean of a measure over all links, or pairs, of all runs."""
    measured = [run.measures for run in runs if key in run.measures]
    if not measured:
        return float("nan")
    return float(np.average([m[key] for m in measured], weights=[m[weight] for m in measured]))
