"""Pictures of a criticism, one figure for each variable."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from momentdag.posterior.queries import Moment
from momentdag.table import Dataset

if TYPE_CHECKING:
    from momentdag.screening.criticism import Criticism

__all__ = ["draw"]

_N_COLUMNS = 3
_N_BINS = 20
_WIDTH, _HEIGHT = 340, 280  # of a panel, in pixels
_POINTS = "#2471a3"
_GUIDE = "#999999"


class _Panel(NamedTuple):
    """One plot; ``guide`` is the height of a horizontal line to compare with."""

    title: str
    x_label: str
    y_label: str
    traces: list[Any]
    guide: float | None = None


def draw(criticism: Criticism, name: str) -> go.Figure:
    """Draw QQ, PIT, scale-location, and the residual of ``name`` against every other column.

    The title of such a panel says whether the column is a mean or variance parent.
    """
    panels = list(_panels(criticism, name))
    n_rows = -(-len(panels) // _N_COLUMNS)
    n_empty = n_rows * _N_COLUMNS - len(panels)
    cells: list[dict[str, Any] | None] = [{}] * len(panels) + [None] * n_empty
    figure = make_subplots(
        n_rows,
        _N_COLUMNS,
        specs=[cells[start : start + _N_COLUMNS] for start in range(0, len(cells), _N_COLUMNS)],
        subplot_titles=[panel.title for panel in panels],
        vertical_spacing=0.3 / n_rows,
    )
    for index, panel in enumerate(panels):
        at = {"row": 1 + index // _N_COLUMNS, "col": 1 + index % _N_COLUMNS}
        for trace in panel.traces:
            figure.add_trace(trace, **at)
        if panel.guide is not None:
            figure.add_hline(panel.guide, line_color=_GUIDE, **at)
        figure.update_xaxes(title_text=panel.x_label, **at)
        figure.update_yaxes(title_text=panel.y_label, **at)
    figure.update_layout(
        title_text=f"Residuals of {name}",
        width=_WIDTH * _N_COLUMNS,
        height=_HEIGHT * n_rows + 80,
        showlegend=False,
        template="plotly_white",
    )
    return figure


def _panels(criticism: Criticism, name: str) -> Iterator[_Panel]:
    residuals = criticism.residuals
    quantiles = criticism.quantiles(name)
    ends = [quantiles["normal"].min(), quantiles["normal"].max()]
    diagonal = go.Scatter(x=ends, y=ends, mode="lines", line_color=_GUIDE)
    points = _scatter(quantiles["normal"], quantiles["residual"])
    yield _Panel("normal QQ", "normal quantile", "residual", [diagonal, points])
    bins = {"start": 0, "end": 1, "size": 1 / _N_BINS}
    transforms = go.Histogram(
        x=residuals.pit[name], xbins=bins, histnorm="probability density", marker_color=_POINTS
    )
    yield _Panel("fitted noise (flat if right)", "PIT", "density", [transforms], guide=1.0)
    dataset = residuals.dataset
    if dataset.kinds[dataset.index(name)] != "category":  # which has no mean
        location = criticism.scale_location(name)
        points = _scatter(location["fitted"], location["root_size"])
        yield _Panel("scale-location", "fitted mean", "√|residual|", [points])
    for other in dataset.names:
        if other != name:
            points = _scatter(_spelled(dataset, other), residuals.standardised[name])
            yield _Panel(_role(criticism, other, name), other, "residual", [points], guide=0.0)


def _spelled(dataset: Dataset, name: str) -> Any:
    """Return a column with the names of its levels for their codes."""
    column = dataset.values[:, dataset.index(name)]
    labels = dataset.labels.get(name)
    return column if labels is None else [labels[int(code)] for code in column]


def _scatter(x: Any, y: Any) -> go.Scatter:
    return go.Scatter(x=x, y=y, mode="markers", marker={"size": 4, "color": _POINTS})


def _role(criticism: Criticism, other: str, name: str) -> str:
    graph = criticism.residuals.graph
    moments: tuple[Moment, ...] = get_args(Moment)
    roles = [moment for moment in moments if graph.has_edge(other, name, moment)]
    if roles:
        return f"{' and '.join(roles)} parent"
    return "effect" if graph.has_path(name, other) else "non-parent"
