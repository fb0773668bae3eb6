"""Colours, sizes and small traces that every figure shares."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import plotly.graph_objects as go

__all__ = [
    "GUIDE",
    "INK",
    "MEAN",
    "OTHER",
    "PALETTE",
    "VARIANCE",
    "band",
    "clear",
    "finish",
    "label",
    "line",
]

FloatArray: TypeAlias = npt.NDArray[np.float64]

MEAN, VARIANCE, OTHER = "#c2321d", "#1a62ad", "#6f42c1"
"""The mean is red, the spread is blue, everywhere."""
INK, GUIDE = "#1b1f24", "#9aa5b1"
PALETTE = ("#c2321d", "#1a62ad", "#1a7f37", "#9a4b00", "#6f42c1", "#0b7285", "#a6325c")

_FONT = "system-ui, -apple-system, Segoe UI, Roboto, DejaVu Sans, sans-serif"
_LONGEST = 28


def label(text: object, longest: int = _LONGEST) -> str:
    """Return text as a figure shows it: no tag in it is interpreted, and it is not too long.

    Examples
    --------
    >>> label("<b>dose</b>"), label("a" * 40, longest=5)
    ('&lt;b&gt;dose&lt;/b&gt;', 'aaaa…')
    """
    plain = str(text)
    return escape(plain if len(plain) <= longest else f"{plain[: longest - 1]}…", quote=False)


def clear(colour: str, opacity: float) -> str:
    """Return a colour that lets something through."""
    red, green, blue = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity:.3g})"


def line(
    x: Sequence[Any] | FloatArray,
    y: FloatArray,
    colour: str,
    name: str,
    *,
    dash: str = "solid",
    legend: bool = False,
    markers: bool = False,
) -> go.Scatter:
    """Return a line."""
    return go.Scatter(
        x=x,
        y=y,
        mode="lines+markers" if markers else "lines",
        line={"color": colour, "width": 2.2, "dash": dash},
        marker={"size": 6},
        name=name,
        showlegend=legend,
    )


def band(
    x: Sequence[Any] | FloatArray, low: FloatArray, high: FloatArray, colour: str
) -> list[go.Scatter]:
    """Return what fills the space between two lines."""
    edge = {"mode": "lines", "line": {"width": 0}, "showlegend": False, "hoverinfo": "skip"}
    return [
        go.Scatter(x=x, y=high, **edge),
        go.Scatter(x=x, y=low, fill="tonexty", fillcolor=clear(colour, 0.16), **edge),
    ]


def finish(figure: go.Figure, title: str, width: int, height: int) -> go.Figure:
    """Give a figure its title, size and style, and return it."""
    figure.update_layout(
        template="plotly_white",
        title={
            "text": label(title, 110),
            "font": {"size": 16},
            "x": 0,
            "xref": "paper",
            "y": 1 - 24 / height,
            "yanchor": "middle",
        },
        font={"family": _FONT, "size": 13, "color": INK},
        width=width,
        height=height,
        margin={"l": 70, "r": 50, "t": 76, "b": 60},
        # Upright at the right edge, where it covers no title.
        modebar={"orientation": "v", "bgcolor": "rgba(0,0,0,0)"},
        hoverlabel={"font": {"family": _FONT}},
        legend={"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 1, "xanchor": "right"},
    )
    figure.update_annotations(font_size=13)
    return figure
