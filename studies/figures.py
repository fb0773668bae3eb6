"""The figures as SVG: a row of panels for each view, bars grouped by the size of the problem."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from html import escape
from typing import TypeAlias

from studies.methods import EMPTY
from studies.store import Store
from studies.study import Metric, Study, View
from studies.tables import Row, Summary, rows

__all__ = ["draw_figure"]

Scale: TypeAlias = Callable[[float], float]

_ARROWS = {"lower": " ↓", "higher": " ↑", "neither": ""}
# Distinguishable with the common forms of colour blindness (Okabe and Ito).
_COLOURS = {
    "evidence": "#D55E00",
    "variational": "#0072B2",
    "variational-alternating": "#56B4E9",
    "mc3": "#999999",
    "dds": "#009E73",
    "icdh": "#E69F00",
    "host": "#CC79A7",
    "varsort": "#000000",
    EMPTY: "#555555",
}
_GROUP = 0.85  # of the room between two groups of bars
_PANEL_WIDTH, _PANEL_HEIGHT = 440, 230
_LEFT, _RIGHT, _TOP, _BOTTOM = 50, 12, 30, 28  # around the axes of a panel
_LEGEND_LINE, _LEGEND_COLUMNS = 22, 4
_N_TICKS = 5


def draw_figure(study: Study, store: Store) -> str:
    """Return a figure as SVG, the same text for the same results."""
    n_columns = max(len(view.metrics) for view in study.views)
    width = _PANEL_WIDTH * n_columns
    parts: list[str] = []
    entries: dict[str, str] = {}  # of the legend: title and method
    for i, view in enumerate(study.views):
        results = rows(study, view, store)
        entries |= {row.title: row.method for row in results}
        for k, metric in enumerate(view.metrics):
            panel = "\n".join(_panel(view, metric, results))
            place = f"translate({k * _PANEL_WIDTH} {i * _PANEL_HEIGHT})"
            parts.append(f'<g transform="{place}">\n{panel}\n</g>')
    top = _PANEL_HEIGHT * len(study.views)
    parts += _legend(entries, width, top)
    height = top + _LEGEND_LINE * math.ceil(len(entries) / _LEGEND_COLUMNS) + 8
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" font-family="sans-serif" font-size="11">\n'
        f'<title>{escape(study.title)}</title>\n<rect width="100%" height="100%" fill="white"/>\n'
    )
    return head + "\n".join(parts) + "\n</svg>\n"


def _panel(view: View, metric: Metric, results: Sequence[Row]) -> list[str]:
    """Return the elements of one panel."""
    columns = [k for k, (_, column) in enumerate(view.columns) if column == metric]
    # Groups that were not run take no room.
    columns = [k for k in columns if any(row.cells[k].n for row in results)]
    bars = [row for row in results if row.method != EMPTY]
    highest = max((_reach(row.cells[k]) for row in results for k in columns), default=1.0)
    ticks = _ticks(1.0 if metric.title == "F1" else highest)
    width = _PANEL_WIDTH - _LEFT - _RIGHT
    height = _PANEL_HEIGHT - _TOP - _BOTTOM
    step = width / max(len(columns), 1)
    thickness = step * _GROUP / max(len(bars), 1)

    def y(value: float) -> float:
        return _TOP + height * (1 - min(max(value, 0.0), ticks[-1]) / ticks[-1])

    title = escape(f"{view.title}: {metric.title}{_ARROWS[metric.better]}")
    parts = [_text(_LEFT + width / 2, 16, title, "middle")]
    for tick in ticks:
        parts.append(_line(_LEFT, y(tick), _LEFT + width, y(tick), "#ddd"))
        parts.append(_text(_LEFT - 6, y(tick) + 4, f"{tick:g}", "end"))
    for place, k in enumerate(columns):
        centre = _LEFT + step * (place + 0.5)
        start = centre - step * _GROUP / 2
        parts.append(_text(centre, _TOP + height + 16, escape(view.columns[k][0]), "middle"))
        for i, row in enumerate(bars):
            if row.cells[k].n:
                parts += _bar(row.cells[k], start + i * thickness, thickness, row.method, y)
        for row in results:
            if row.method == EMPTY and row.cells[k].n:
                at = y(row.cells[k].mean)
                dashed = ' stroke-dasharray="4 3"'
                parts.append(_line(start, at, start + step * _GROUP, at, _COLOURS[EMPTY], dashed))
    parts.append(_line(_LEFT, y(0), _LEFT + width, y(0), "#444"))
    return parts


def _bar(cell: Summary, x: float, width: float, method: str, y: Scale) -> list[str]:
    """Return a bar for the mean, and a whisker of one sd if there are several sets."""
    shape = f'x="{x:.1f}" y="{y(cell.mean):.1f}" width="{width:.1f}"'
    height = y(0) - y(cell.mean)
    parts = [f'<rect {shape} height="{height:.1f}" fill="{_COLOURS[method]}"/>']
    if not math.isnan(cell.sd):
        middle, low, high = x + width / 2, y(cell.mean - cell.sd), y(cell.mean + cell.sd)
        parts.append(_line(middle, low, middle, high, "#222"))
        parts += [_line(middle - 2, end, middle + 2, end, "#222") for end in (low, high)]
    return parts


def _legend(entries: dict[str, str], width: float, top: float) -> list[str]:
    parts = []
    for k, (title, method) in enumerate(entries.items()):
        x = 20 + (k % _LEGEND_COLUMNS) * (width - 40) / _LEGEND_COLUMNS
        y = top + 12 + (k // _LEGEND_COLUMNS) * _LEGEND_LINE
        colour = _COLOURS[method]
        if method == EMPTY:
            parts.append(_line(x, y, x + 14, y, colour, ' stroke-dasharray="4 3"'))
        else:
            parts.append(f'<rect x="{x:.1f}" y="{y - 6}" width="14" height="11" fill="{colour}"/>')
        parts.append(_text(x + 20, y + 4, escape(title), "start"))
    return parts


def _reach(cell: Summary) -> float:
    return cell.mean + (0.0 if math.isnan(cell.sd) else cell.sd) if cell.n else 0.0


def _ticks(highest: float) -> list[float]:
    """Return round numbers from 0 to at least ``highest``.

    Examples
    --------
    >>> _ticks(0.53)
    [0.0, 0.2, 0.4, 0.6]
    """
    raw = max(highest, 1e-9) / _N_TICKS
    unit = 10 ** math.floor(math.log10(raw))
    step = next(unit * factor for factor in (1, 2, 5, 10) if unit * factor >= raw)
    n = math.ceil(highest / step - 1e-9)
    return [round(k * step, 10) for k in range(n + 1)]


def _line(x1: float, y1: float, x2: float, y2: float, colour: str, more: str = "") -> str:
    ends = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
    return f'<line {ends} stroke="{colour}"{more}/>'


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{text}</text>'
