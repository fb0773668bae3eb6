"""Quantities with intervals, one under the other: bars, points, and rows with axes of their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from momentdag.display.style import GUIDE, INK, PALETTE, clear, finish, label

__all__ = ["DotPanel", "Part", "draw_dots", "draw_parts", "draw_rows"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

_ROW = 34  # pixels
_LABEL = 7.5  # pixels of a letter
_MOST_ROWS = 30


class Part(NamedTuple):
    """Bars of one colour, (n,) each; with intervals or without."""

    name: str
    colour: str
    values: FloatArray
    low: FloatArray | None = None
    high: FloatArray | None = None


class DotPanel(NamedTuple):
    """Points with intervals, (n,) each, and what to compare them with.

    Parameters
    ----------
    title : str
    bounds : float array, shape (3, n)
        Middle, low and high.
    guide : float or None
        A vertical line.
    colours : sequence of str
    shaded : (low, high) or None
        A range that is allowed.
    least_width : float
        Of the axis, so that next to nothing looks like that.
    """

    title: str
    bounds: FloatArray
    guide: float | None
    colours: Sequence[str]
    shaded: tuple[float, float] | None = None
    least_width: float = 0.0


def _margin(names: Sequence[str]) -> int:
    return int(60 + _LABEL * max((len(name) for name in names), default=0))


def draw_parts(names: Sequence[str], parts: Sequence[Part], title: str, axis: str) -> go.Figure:
    """Draw stacked horizontal bars, the first name on top."""
    shown = [label(name, 40) for name in names[:_MOST_ROWS]]
    figure = go.Figure()
    for part in parts:
        bars = None
        if part.low is not None and part.high is not None:
            bars = {
                "type": "data",
                "symmetric": False,
                "array": (part.high - part.values)[:_MOST_ROWS],
                "arrayminus": (part.values - part.low)[:_MOST_ROWS],
                "thickness": 1.3,
                "width": 4,
                "color": INK,
            }
        figure.add_trace(
            go.Bar(
                y=list(range(len(shown))),
                x=part.values[:_MOST_ROWS],
                orientation="h",
                marker={"color": part.colour},
                error_x=bars,
                name=part.name,
                customdata=shown,
                hovertemplate="%{customdata}: %{x:.3g}",
            )
        )
    finish(figure, title, 760, 150 + _ROW * len(shown))
    figure.update_layout(
        barmode="relative", bargap=0.35, margin={"l": _margin(shown)}, showlegend=len(parts) > 1
    )
    figure.update_yaxes(
        tickvals=list(range(len(shown))), ticktext=shown, autorange="reversed", showgrid=False
    )
    figure.update_xaxes(title_text=axis, zeroline=True, zerolinecolor=GUIDE)
    return figure


def draw_dots(names: Sequence[str], panels: Sequence[DotPanel], title: str) -> go.Figure:
    """Draw panels of points with intervals beside each other; they share their names."""
    shown = [label(name, 44) for name in names[:_MOST_ROWS]]
    figure = make_subplots(
        1,
        len(panels),
        shared_yaxes=True,
        horizontal_spacing=0.05,
        subplot_titles=[panel.title for panel in panels],
    )
    for k, panel in enumerate(panels, 1):
        at = {"row": 1, "col": k}
        values, low, high = panel.bounds[:, :_MOST_ROWS]
        figure.add_trace(
            go.Scatter(
                x=values,
                y=list(range(len(shown))),
                mode="markers",
                marker={"size": 9, "color": list(panel.colours[:_MOST_ROWS])},
                error_x={
                    "type": "data",
                    "symmetric": False,
                    "array": high - values,
                    "arrayminus": values - low,
                    "thickness": 1.6,
                    "width": 5,
                    "color": "#59636e",
                },
                customdata=np.column_stack(
                    [shown, np.char.mod("%.3g", low), np.char.mod("%.3g", high)]
                ),
                hovertemplate="%{customdata[0]}: %{x:.3g} (%{customdata[1]} to %{customdata[2]})"
                "<extra></extra>",
                showlegend=False,
            ),
            **at,
        )
        if panel.shaded is not None:
            figure.add_vrect(
                *panel.shaded, fillcolor=clear(GUIDE, 0.22), line_width=0, layer="below", **at
            )
        if panel.least_width and len(low):
            figure.update_xaxes(range=_range(panel, float(low.min()), float(high.max())), **at)
        if panel.guide is not None:
            figure.add_vline(panel.guide, line_color=GUIDE, line_width=1.2, layer="below", **at)
    finish(figure, title, 300 * len(panels) + _margin(shown) + 40, 160 + _ROW * len(shown))
    figure.update_layout(margin={"l": _margin(shown), "t": 90})
    ticks = {"tickvals": list(range(len(shown))), "ticktext": shown, "showgrid": False}
    figure.update_yaxes(range=[len(shown) - 0.4, -0.6], zeroline=False, **ticks)
    figure.update_xaxes(zeroline=False)
    return figure


def draw_rows(
    names: Sequence[str],
    series: Sequence[Part],
    title: str,
    least_widths: FloatArray,
) -> go.Figure:
    """Draw rows that have an axis of their own each, because their units differ.

    Parameters
    ----------
    names : sequence of str
    series : sequence of Part
        Points of one colour in every row.
    title : str
    least_widths : float array, shape (n,)
        Of each row's axis, so that next to nothing looks like that.
    """
    shown = [label(name, 40) for name in names[:_MOST_ROWS]]
    figure = make_subplots(len(shown), 1, vertical_spacing=min(0.6 / max(len(shown), 1), 0.2))
    for row, name in enumerate(shown):
        at = {"row": row + 1, "col": 1}
        for k, part in enumerate(series):
            bars = None
            if part.low is not None and part.high is not None:
                bars = {
                    "type": "data",
                    "symmetric": False,
                    "array": [part.high[row] - part.values[row]],
                    "arrayminus": [part.values[row] - part.low[row]],
                    "thickness": 1.6,
                    "width": 5,
                }
            figure.add_trace(
                go.Scatter(
                    x=[part.values[row]],
                    y=[name],
                    mode="markers",
                    marker={
                        "size": 11,
                        "color": part.colour or PALETTE[k],
                        "symbol": ("circle-open", "circle")[bars is not None],
                        "line": {"width": 2},
                    },
                    error_x=bars,
                    name=part.name,
                    legendgroup=part.name,
                    showlegend=row == 0 and len(series) > 1,
                    hovertemplate="%{x:.4g}",
                ),
                **at,
            )
        figure.update_yaxes(showgrid=False, **at)
        figure.update_xaxes(range=_padded(series, row, float(least_widths[row])), **at)
    finish(figure, title, 760, 130 + 74 * len(shown))
    figure.update_layout(margin={"l": _margin(shown), "b": 40})
    figure.update_xaxes(zeroline=False)
    return figure


def _padded(series: Sequence[Part], row: int, least_width: float) -> list[float]:
    """Return an axis with room around everything in a row."""
    ends = [part[row] for one in series for part in one[2:] if part is not None]
    low, high = float(min(ends)), float(max(ends))
    return _wide(low, high, least_width)


def _range(panel: DotPanel, low: float, high: float) -> list[float]:
    guide = panel.guide
    ends = (low, high) if guide is None else (min(low, guide), max(high, guide))
    return _wide(*ends, panel.least_width)


def _wide(low: float, high: float, least_width: float) -> list[float]:
    room = max(0.5 * (least_width - (high - low)), 0.05 * max(high - low, least_width))
    return [low - room, high + room]
