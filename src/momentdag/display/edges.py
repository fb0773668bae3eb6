"""Edge probabilities of both graphs as two tables of coloured cells."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from momentdag.display.style import MEAN, VARIANCE, finish, label

__all__ = ["draw_edges"]

_COLOURS = {"mean": MEAN, "variance": VARIANCE}
_MAX_NUMBERED = 16  # variables, beyond which cells have no room for numbers
_LEAST_SHOWN = 0.01
_CELL, _LEAST_SIDE, _MOST_SIDE = 46, 260, 640  # pixels


def draw_edges(tables: Mapping[str, pd.DataFrame], title: str) -> go.Figure:
    """Draw the probability of every edge, causes as rows and effects as columns.

    Parameters
    ----------
    tables : mapping from "mean" and "variance" to DataFrame, shape (d, d)
    title : str
    """
    figure = make_subplots(
        1,
        len(tables),
        subplot_titles=[f"moves the {moment} of" for moment in tables],
        shared_yaxes=True,
        horizontal_spacing=0.04,
    )
    d = 0
    for place, (moment, table) in enumerate(tables.items(), 1):
        d = len(table)
        values = table.to_numpy(dtype=np.float64).copy()
        np.fill_diagonal(values, np.nan)
        names = [label(name, 20) for name in table.index]
        texts = np.where(values >= _LEAST_SHOWN, np.char.mod("%.2f", values), "")
        figure.add_trace(
            go.Heatmap(
                z=values,
                x=list(range(d)),
                y=list(range(d)),
                zmin=0,
                zmax=1,
                xgap=1,
                ygap=1,
                colorscale=[[0, "#f3f4f6"], [1, _COLOURS[moment]]],
                showscale=False,
                text=texts if d <= _MAX_NUMBERED else None,
                texttemplate="%{text}" if d <= _MAX_NUMBERED else None,
                customdata=[[f"{i} → {j}" for j in names] for i in names],
                hovertemplate="%{customdata}: %{z:.2f}<extra></extra>",
            ),
            row=1,
            col=place,
        )
        ticks = {"tickvals": list(range(d)), "ticktext": names, "showgrid": False}
        figure.update_xaxes(**ticks, tickangle=-40, row=1, col=place)
        figure.update_yaxes(**ticks, autorange="reversed", row=1, col=place)
    side = int(np.clip(_CELL * d, _LEAST_SIDE, _MOST_SIDE))
    finish(figure, title, len(tables) * side + 170, side + 190)
    figure.update_yaxes(title_text="cause", row=1, col=1)
    figure.update_layout(margin={"t": 90, "b": 90, "l": 120})
    return figure
