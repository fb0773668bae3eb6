"""Mean and spread over two settings at a time, as maps side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from momentdag.display.style import INK, finish, label

__all__ = ["Map", "draw_maps"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

_SCALES = {
    "mean": [[0, "#fff5f0"], [0.5, "#f9bfae"], [1, "#df6a4e"]],
    "sd": [[0, "#f1f6fc"], [0.5, "#aacdee"], [1, "#4f94d4"]],
    "outside": [[0, "#f6f2fc"], [0.5, "#cdb9ec"], [1, "#8f6acb"]],
}
_SIDE = 400  # pixels
_MAX_NUMBERED = 8  # cells in a row, beyond which they have no room for numbers


class Map(NamedTuple):
    """One quantity over two settings.

    Parameters
    ----------
    quantity : {"mean", "sd", "outside"}
        Decides the colours.
    title : str
    values : float array, shape (n_y, n_x)
    """

    quantity: str
    title: str
    values: FloatArray


def draw_maps(
    x: Sequence[Any] | FloatArray,
    y: Sequence[Any] | FloatArray,
    labels: tuple[str, str],
    maps: Sequence[Map],
    title: str,
    mark: tuple[Any, Any] | None = None,
) -> go.Figure:
    """Draw maps beside each other.

    Parameters
    ----------
    x, y : sequence of float or of str
        Settings; with names of levels on an axis cells are drawn, otherwise contours.
    labels : tuple of two str
        The variables that are set.
    maps : sequence of Map
    title : str
    mark : (x, y), optional
        A setting to mark.
    """
    texts = any(len(axis) and isinstance(axis[0], str) for axis in (x, y))
    spacing = 0.16
    figure = make_subplots(
        1,
        len(maps),
        shared_yaxes=True,
        horizontal_spacing=spacing / max(len(maps) - 1, 1),
        subplot_titles=[label(one.title, 50) for one in maps],
    )
    share = (1 - spacing) / len(maps) if len(maps) > 1 else 1.0
    step = share + spacing / max(len(maps) - 1, 1)
    shown = [[label(v) if isinstance(v, str) else v for v in axis] for axis in (x, y)]
    plain = [label(name).replace("%{", "% {") for name in labels]  # no part of a template
    for k, one in enumerate(maps):
        bar = {"thickness": 12, "x": k * step + share + 0.008, "xanchor": "left", "len": 1.0}
        common = {"x": shown[0], "y": shown[1], "z": one.values, "colorbar": bar}
        colours = _SCALES[one.quantity]
        if texts:
            numbered = one.values.shape[1] <= _MAX_NUMBERED
            trace = go.Heatmap(
                **common,
                colorscale=colours,
                xgap=1,
                ygap=1,
                texttemplate="%{z:.3g}" if numbered else None,
            )
        else:
            trace = go.Contour(
                **common,
                colorscale=colours,
                contours={"showlabels": True, "labelfont": {"size": 11, "color": INK}},
                line={"width": 0.8, "color": "rgba(27,31,36,0.45)"},
                ncontours=12,
            )
        trace.update(
            hovertemplate=f"{plain[0]} %{{x:.4g}}, {plain[1]} %{{y:.4g}}: %{{z:.4g}}<extra></extra>"
        )
        figure.add_trace(trace, row=1, col=k + 1)
        if mark is not None:
            figure.add_trace(_marker(mark), row=1, col=k + 1)
        figure.update_xaxes(title_text=label(labels[0]), row=1, col=k + 1)
        for update, axis in ((figure.update_xaxes, x), (figure.update_yaxes, y)):
            if len(axis) and isinstance(axis[0], str):
                update(type="category", row=1, col=k + 1)
    figure.update_yaxes(title_text=label(labels[1]), row=1, col=1)
    finish(figure, title, _SIDE * len(maps) + 140, _SIDE + 90)
    figure.update_layout(margin={"t": 96})
    return figure


def _marker(mark: tuple[Any, Any]) -> go.Scatter:
    return go.Scatter(
        x=[mark[0]],
        y=[mark[1]],
        mode="markers",
        marker={
            "symbol": "star",
            "size": 17,
            "color": "#ffd33d",
            "line": {"width": 1.5, "color": INK},
        },
        showlegend=False,
        hoverinfo="skip",
    )
