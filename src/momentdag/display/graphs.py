"""Both graphs in one figure: causes to the left of their effects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import networkx as nx
import numpy as np
import numpy.typing as npt
import plotly.graph_objects as go

from momentdag.display.layout import Layout, layered_layout
from momentdag.display.style import GUIDE, INK, MEAN, VARIANCE, clear, finish, label

__all__ = ["FigureEdge", "draw_graphs"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

_COLOURS = {"mean": MEAN, "variance": VARIANCE}
_WORDS = {"mean": "moves the mean", "variance": "moves the variance"}
_NODE = 26  # diameter, in pixels
_ACROSS, _DOWN = 165, 74  # pixels between layers, and between nodes of a layer
_APART = 0.16  # of a node's height: between a mean and a variance edge of one pair
_N_POINTS = 24  # of a drawn edge


class FigureEdge(NamedTuple):
    """An edge to draw.

    Parameters
    ----------
    cause, effect : str
    moment : {"mean", "variance"}
    probability : float
    is_certain : bool
        Whether it is in the graph that is shown, rather than only possible.
    """

    cause: str
    effect: str
    moment: str
    probability: float = 1.0
    is_certain: bool = True


def draw_graphs(names: Sequence[str], edges: Sequence[FigureEdge], title: str) -> go.Figure:
    """Draw a mean graph and a variance graph over the same variables.

    Parameters
    ----------
    names : sequence of str
    edges : sequence of FigureEdge
        Without a cycle. Wide edges are probable, faint ones only possible.
    title : str
    """
    union: nx.DiGraph[Any] = nx.DiGraph()
    union.add_nodes_from(names)
    for edge in edges:
        known = union.get_edge_data(edge.cause, edge.effect, {"probability": 0.0})
        best = max(known["probability"], edge.probability)
        union.add_edge(edge.cause, edge.effect, probability=best)
    layout = layered_layout(union)
    both = {(one.cause, one.effect) for one in edges if one.moment == "mean"} & {
        (one.cause, one.effect) for one in edges if one.moment == "variance"
    }
    figure = go.Figure()
    for edge in sorted(edges, key=lambda one: one.probability):
        shift = 0.0
        if (edge.cause, edge.effect) in both:
            shift = _APART if edge.moment == "mean" else -_APART
        figure.add_traces(_edge(edge, layout, shift))
    _add_legend(figure, edges)
    places = np.array([layout.nodes[name] for name in names]).reshape(-1, 2)
    figure.add_trace(
        go.Scatter(
            x=places[:, 0],
            y=places[:, 1],
            mode="markers",
            marker={"size": _NODE, "color": "white", "line": {"color": INK, "width": 1.6}},
            text=[label(name, 80) for name in names],
            hoverinfo="text",
            showlegend=False,
        )
    )
    for name in names:
        x, y = layout.nodes[name]
        figure.add_annotation(
            x=x,
            y=y,
            text=label(name),
            yshift=-_NODE / 2 - 10,
            showarrow=False,
            bgcolor="rgba(255,255,255,0.75)",
            borderpad=0,
        )
    across, down = np.ptp(places, axis=0) if len(places) else np.zeros(2)
    width = int(max(620, (across + 1) * _ACROSS))
    height = int(max(260, (down + 1) * _DOWN + 110))
    finish(figure, title, width, height)
    figure.update_layout(margin={"l": 40, "r": 50, "b": 30})
    hidden = {"visible": False, "fixedrange": False}
    figure.update_xaxes(range=[-0.45, across + 0.45], **hidden)
    figure.update_yaxes(range=[down + 0.6, -0.4], **hidden)
    return figure


def _edge(edge: FigureEdge, layout: Layout, shift: float) -> list[go.Scatter]:
    """Return the line of an edge with its head, and where it shows its name."""
    way = layout.way_points.get((edge.cause, edge.effect), [])
    corners = np.array([layout.nodes[edge.cause], *way, layout.nodes[edge.effect]])
    path = _smooth(corners, shift)
    share = edge.probability if edge.is_certain else 0.45 * edge.probability
    colour = clear(_COLOURS[edge.moment], 0.25 + 0.7 * share)
    drawn = go.Scatter(
        x=path[:, 0],
        y=path[:, 1],
        mode="lines+markers",
        line={
            "color": colour,
            "width": 1.0 + 1.8 * share,
            "dash": "solid" if edge.moment == "mean" else "7px,5px",
        },
        marker={
            "symbol": "arrow",
            "angleref": "previous",
            "size": [0] * (len(path) - 1) + [11],
            "standoff": [0] * (len(path) - 1) + [_NODE / 2 + 1],
            "color": colour,
            "opacity": 1,
        },
        hoverinfo="skip",
        showlegend=False,
    )
    middle = path[len(path) // 2]
    said = f"{label(edge.cause)} → {label(edge.effect)}: {_WORDS[edge.moment]}"
    if edge.probability < 1 or not edge.is_certain:
        said += f", probability {edge.probability:.2f}"
    handle = go.Scatter(
        x=[middle[0]],
        y=[middle[1]],
        mode="markers",
        marker={"size": 16, "color": "rgba(0,0,0,0)"},
        text=[said],
        hoverinfo="text",
        showlegend=False,
    )
    return [drawn, handle]


def _smooth(corners: FloatArray, shift: float) -> FloatArray:
    """Return points of a curve through corners (k, 2) that bends by ``shift`` in its middle."""
    steps = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(corners, axis=0), axis=1))])
    # Cosine easing between way points keeps the curve level where it passes a layer.
    t = np.linspace(0.0, 1.0, _N_POINTS * (len(corners) - 1)) * steps[-1]
    k = np.clip(np.searchsorted(steps, t, "right") - 1, 0, len(corners) - 2)
    along = (t - steps[k]) / np.diff(steps)[k]
    eased = 0.5 - 0.5 * np.cos(np.pi * along) if len(corners) > 2 else along
    x = corners[k, 0] + along * np.diff(corners[:, 0])[k]
    y = corners[k, 1] + eased * np.diff(corners[:, 1])[k]
    return np.column_stack([x, y + shift * np.sin(np.pi * t / steps[-1]) * 2])


def _add_legend(figure: go.Figure, edges: Sequence[FigureEdge]) -> None:
    for moment, words in _WORDS.items():
        dash = "solid" if moment == "mean" else "7px,5px"
        entry = {"color": _COLOURS[moment], "width": 2.4, "dash": dash}
        figure.add_trace(go.Scatter(x=[None], y=[None], mode="lines", line=entry, name=words))
    if any(not edge.is_certain for edge in edges):
        faint = {"color": GUIDE, "width": 1.2}
        figure.add_trace(
            go.Scatter(x=[None], y=[None], mode="lines", line=faint, name="only possible")
        )
