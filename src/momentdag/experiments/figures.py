"""The figures redrawn: one row of panels for each view, bars grouped by the size of the problem."""

from __future__ import annotations

import io
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from momentdag.experiments.experiment import Experiment, Metric, View
from momentdag.experiments.methods import EMPTY, METHODS
from momentdag.experiments.store import Store
from momentdag.experiments.tables import Row, rows

__all__ = ["draw_figure"]

_ARROWS = {"lower": " ↓", "higher": " ↑", "neither": ""}
# Told apart by readers who see colours differently (Okabe and Ito).
_COLOURS = dict(
    zip(
        METHODS,
        (
            "#D55E00",
            "#7F3200",
            "#0072B2",
            "#56B4E9",
            "#999999",
            "#009E73",
            "#E69F00",
            "#CC79A7",
            "#000000",
            "#555555",
        ),
        strict=True,
    )
)

_GROUP = 0.85  # of the room between two groups of bars


def draw_figure(experiment: Experiment, store: Store) -> bytes:
    """Return a figure as SVG, the same bytes for the same results."""
    n_rows, n_columns = len(experiment.views), max(len(v.metrics) for v in experiment.views)
    with mpl.rc_context({"svg.hashsalt": experiment.name, "font.size": 9}):
        figure = Figure(figsize=(4.4 * n_columns, 2.5 * n_rows + 0.7), layout="constrained")
        axes = figure.subplots(n_rows, n_columns, squeeze=False)
        handles: dict[str, Any] = {}
        for k, view in enumerate(experiment.views):
            found = rows(experiment, view, store)
            for panel, metric in zip(axes[k], view.metrics, strict=False):
                handles |= _bars(panel, view, metric, found)
        if handles:
            figure.legend(
                list(handles.values()), list(handles), loc="outside lower center", ncols=4
            )
        buffer = io.BytesIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    return buffer.getvalue()


def _bars(panel: Any, view: View, metric: Metric, found: list[Row]) -> dict[str, Any]:
    """Draw a panel; return a handle for each method."""
    columns = [k for k, (_, column) in enumerate(view.columns) if column == metric]
    # Groups that were not run take no room.
    columns = [k for k in columns if any(row.cells[k].n for row in found)]
    centres = np.arange(len(columns))
    methods = [row for row in found if row.method != EMPTY]
    width = _GROUP / max(len(methods), 1)
    handles = {}
    for i, row in enumerate(methods):
        handles[row.title] = panel.bar(
            centres + (i - (len(methods) - 1) / 2) * width,
            [row.cells[k].mean for k in columns],
            width,
            yerr=[row.cells[k].sd for k in columns],  # NaN, which draws nothing, for one set
            color=_COLOURS[row.method],
            error_kw={"elinewidth": 0.8, "capsize": 1.5},
        )
    for row in found:
        if row.method == EMPTY:
            means = [row.cells[k].mean for k in columns]
            ends = centres - _GROUP / 2, centres + _GROUP / 2
            handles[row.title] = panel.hlines(
                means, *ends, colors=_COLOURS[EMPTY], linestyles="dashed", linewidth=1.0
            )
    panel.set_xticks(centres, [view.columns[k][0] for k in columns])
    panel.set_ylim(0, 1 if metric.title == "F1" else None)
    panel.set_ylabel(metric.title)
    panel.set_title(f"{view.title}: {metric.title}{_ARROWS[metric.better]}", fontsize=9)
    panel.spines[["top", "right"]].set_visible(False)
    return handles
