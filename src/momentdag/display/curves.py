"""Mean and spread against what is set: curves with bands, or points with intervals at levels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from momentdag.display.style import (
    GUIDE,
    INK,
    MEAN,
    OTHER,
    PALETTE,
    VARIANCE,
    band,
    finish,
    label,
    line,
)

__all__ = ["Band", "Panel", "draw_panels"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

_COLOURS = {"mean": MEAN, "sd": VARIANCE, "outside": OTHER}
_WIDTH, _HEIGHT = 400, 290  # of a panel, in pixels


class Band(NamedTuple):
    """A quantity with its interval at each setting, (n,) each."""

    middle: FloatArray
    low: FloatArray
    high: FloatArray
    name: str = ""  # in the legend, where a panel has several


class Panel(NamedTuple):
    """One plot of a figure.

    Parameters
    ----------
    quantity : {"mean", "sd", "outside"}
        Decides the colour.
    x_label, y_label : str
    x : sequence of float or of str
        Settings: numbers, or names of levels.
    bands : sequence of Band
    points : float array, shape (2, n), or None
        Rows of a table to show behind.
    least_height : float
        Of the axis, so that next to nothing looks like that.
    """

    quantity: str
    x_label: str
    y_label: str
    x: Sequence[Any] | FloatArray
    bands: Sequence[Band]
    points: FloatArray | None = None
    least_height: float = 0.0


def draw_panels(panels: Sequence[Panel], n_columns: int, title: str) -> go.Figure:
    """Draw panels row by row; those of a row share no axis but those of a column may."""
    n_rows = -(-len(panels) // n_columns)
    figure = make_subplots(
        n_rows,
        n_columns,
        horizontal_spacing=0.32 / n_columns if n_columns > 1 else 0.0,
        vertical_spacing=0.30 / n_rows if n_rows > 1 else 0.0,
    )
    for k, panel in enumerate(panels):
        at = {"row": 1 + k // n_columns, "col": 1 + k % n_columns}
        for trace in _traces(panel):
            figure.add_trace(trace, **at)
        texts = _is_text(panel.x)
        figure.update_xaxes(
            title_text=label(panel.x_label, 40),
            type="category" if texts else "-",
            **at,
        )
        figure.update_yaxes(title_text=label(panel.y_label, 40), **at)
        if panel.quantity != "mean":
            figure.update_yaxes(rangemode="tozero", **at)
        elif panel.least_height and panel.bands and panel.points is None:
            figure.update_yaxes(range=_range(panel), **at)
    finish(figure, title, n_columns * _WIDTH + 60, n_rows * _HEIGHT + 120)
    return figure


def _range(panel: Panel) -> list[float]:
    low = min(float(one.low.min()) for one in panel.bands)
    high = max(float(one.high.max()) for one in panel.bands)
    height = max(1.1 * (high - low), panel.least_height)
    return [0.5 * (low + high - height), 0.5 * (low + high + height)]


def _is_text(x: Sequence[Any] | FloatArray) -> bool:
    return len(x) > 0 and isinstance(x[0], str)


def _traces(panel: Panel) -> list[go.Scatter]:
    several = len(panel.bands) > 1
    texts = _is_text(panel.x)
    x: Sequence[Any] | FloatArray = [label(one) for one in panel.x] if texts else panel.x
    drawn: list[go.Scatter] = []
    if panel.points is not None:
        marker = {"size": 4, "color": GUIDE, "opacity": 0.6}
        drawn.append(
            go.Scatter(
                x=panel.points[0],
                y=panel.points[1],
                mode="markers",
                marker=marker,
                name="rows",
                showlegend=False,
                hoverinfo="skip",
            )
        )
    for k, one in enumerate(panel.bands):
        colour = PALETTE[k % len(PALETTE)] if several else _COLOURS.get(panel.quantity, INK)
        name = label(one.name or panel.y_label)
        if texts or len(panel.x) < 3:
            drawn.append(_dots(x, one, colour, name, several))
        else:
            drawn += band(x, one.low, one.high, colour)
            drawn.append(line(x, one.middle, colour, name, legend=several))
    return drawn


def _dots(
    x: Sequence[Any] | FloatArray, one: Band, colour: str, name: str, legend: bool
) -> go.Scatter:
    """Return points with bars for their intervals."""
    return go.Scatter(
        x=x,
        y=one.middle,
        mode="markers",
        marker={"size": 9, "color": colour},
        error_y={
            "type": "data",
            "symmetric": False,
            "array": one.high - one.middle,
            "arrayminus": one.middle - one.low,
            "thickness": 1.6,
            "width": 6,
        },
        name=name,
        showlegend=legend,
    )
