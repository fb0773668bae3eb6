"""Answers as figures: what their method `plot` draws."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from momentdag.display.bars import DotPanel, Part, draw_dots, draw_parts, draw_rows
from momentdag.display.curves import Band, Panel, draw_panels
from momentdag.display.style import GUIDE, MEAN, OTHER, VARIANCE

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

    from momentdag.effects.anomalies import AnomalyAttribution
    from momentdag.effects.contrasts import Contrast
    from momentdag.effects.counterfactuals import Counterfactual
    from momentdag.effects.decomposition import VarianceDecomposition
    from momentdag.effects.interventions import Intervention
    from momentdag.effects.lever_ranking import LeverRanking
    from momentdag.effects.optimum import Optimum

__all__ = [
    "draw_anomaly",
    "draw_contrast",
    "draw_counterfactual",
    "draw_decomposition",
    "draw_intervention",
    "draw_optimum",
    "draw_ranking",
    "intervention_panels",
]

FloatArray: TypeAlias = npt.NDArray[np.float64]

_COLOURS = {"mean": MEAN, "sd": VARIANCE, "outside": OTHER}
_LEAST_HEIGHT = 1.0  # of an axis for means, in sds
_NAMES = {"mean": "mean of", "sd": "sd of", "outside": "risk of"}
_LEAST_SHARE = 0.005  # of a variance, for a cause to be drawn


def draw_intervention(result: Intervention) -> Figure:
    """Draw mean and sd (and risk) of each target against the settings."""
    names = [str(name) for name in result.settings.columns]
    if len(names) == 1:
        quantities = 2 if result.outside is None else 3
        return draw_panels(intervention_panels(result), quantities, f"If {names[0]} is set")
    dots = [
        DotPanel(panel.y_label, np.array(panel.bands[0][:3]), None, [_COLOURS[panel.quantity]] * n)
        for panel in intervention_panels(result)
        if panel.bands and (n := len(result.settings))
    ]
    title = f"If {' and '.join(names)} are set" if names else "Without intervention"
    return draw_dots(_axis(result.settings)[0], dots, title)


def intervention_panels(result: Intervention, points: pd.DataFrame | None = None) -> list[Panel]:
    """Return mean and sd (and risk) of each target, row by row.

    ``points`` are rows of a table to show behind a mean, if one variable is set to numbers.
    """
    table = result.to_frame()
    settings = result.settings
    x, label = _axis(settings)
    panels = []
    for target in result.targets:
        rows = table[table["target"] == target]
        for quantity in ("mean", "sd", "outside"):
            if quantity not in rows or rows[quantity].isna().all():
                if quantity == "outside" and result.outside is not None:
                    panels.append(Panel("outside", label, f"no limits for {target}", x, []))
                continue
            bounds = [
                rows[f"{quantity}{end}"].to_numpy(np.float64) for end in ("", "_low", "_high")
            ]
            behind = None
            if quantity == "mean" and points is not None and target in points:
                behind = points[[settings.columns[0], target]].to_numpy(np.float64).T
            name = f"{_NAMES[quantity]} {target}"
            height = _LEAST_HEIGHT * float(rows["sd"].mean()) if quantity == "mean" else 0.0
            panels.append(Panel(quantity, label, name, x, [Band(*bounds)], behind, height))
    return panels


def _axis(settings: pd.DataFrame) -> tuple[Any, str]:
    """Return the settings along an axis, and its name."""
    if len(settings.columns) == 1:
        column = settings.iloc[:, 0]
        if pd.api.types.is_numeric_dtype(column):
            order = column.to_numpy(np.float64)
            if (np.diff(order) > 0).all():
                return order, str(settings.columns[0])
        return [_spell(value) for value in column], str(settings.columns[0])
    texts = [
        ", ".join(f"{name}={_spell(value)}" for name, value in row.items()) or "as it is"
        for row in settings.to_dict("records")
    ]
    return texts, "setting"


def _spell(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def draw_contrast(contrast: Contrast) -> Figure:
    """Draw how mean and sd of each target change, the mean in sds so that all share an axis."""
    table = contrast.to_frame()
    sds = contrast.reference_sds
    unit = np.ones(len(table)) if sds is None else sds
    mean, ratio = _bounds(table, "mean_difference"), _bounds(table, "sd_ratio")
    n = len(table)
    panels = [
        DotPanel(
            f"change of the mean{'' if sds is None else ', in sds'}",
            mean / unit,
            0.0,
            [MEAN] * n,
            None,
            0.4,
        ),
        DotPanel("sd, relative to before", ratio, 1.0, [VARIANCE] * n, None, 0.3),
    ]
    done, before = (_settings_text(one) for one in (contrast.do, contrast.reference))
    return draw_dots(list(contrast.targets), panels, f"From {before} to {done}")


def _settings_text(settings: Any) -> str:
    said = ", ".join(f"{name} = {_spell(value)}" for name, value in settings.items())
    return said or "no intervention"


def draw_decomposition(parts: VarianceDecomposition) -> Figure:
    """Draw which share of the variance comes from whose noise, through mean and through scale."""
    table = parts.to_frame()
    shares = table.pivot_table(index="cause", columns="part", values="share", aggfunc="sum")
    shares = shares.drop(index="", errors="ignore").reindex(
        columns=["own noise", "mean", "scale"], fill_value=0.0
    )
    shares = 100 * shares.fillna(0.0)
    total = shares.sum(axis=1)
    shares = shares.loc[total[total >= 100 * _LEAST_SHARE].sort_values(ascending=False).index]
    names = [f"{name} (own noise)" if name == parts.target else str(name) for name in shares.index]
    bars = [
        Part(name, colour, shares[column].to_numpy(np.float64))
        for name, colour, column in (
            ("own noise", GUIDE, "own noise"),
            ("through the mean", MEAN, "mean"),
            ("through the spread", VARIANCE, "scale"),
        )
    ]
    title = f"Where the variance of {parts.target} comes from"
    return draw_parts(names, bars, title, "share of the variance, %")


def draw_ranking(ranking: LeverRanking) -> Figure:
    """Draw what each lever does to variance and mean at its best setting."""
    table = ranking.table
    if "has_effect" in table:
        table = table[table["has_effect"].astype(bool)]
    colours = [VARIANCE if holds else GUIDE for holds in table["holds"]]
    spread, mean = _bounds(table, "variance_ratio"), _bounds(table, "mean_change")
    allowed, least = None, 0.0
    if ranking.goal == "lower_variance":
        allowed, least = (-ranking.tolerance, ranking.tolerance), 3 * ranking.tolerance
    title = f"Levers of {ranking.target}"
    if not ranking.table.empty and not table["holds"].all():
        title += " (grey: not surely within the tolerance)"
    panels = [
        DotPanel("variance, as a share of today's", spread, 1.0, colours),
        DotPanel("change of the mean", mean, 0.0, colours, allowed, least),
    ]
    return draw_dots(table["setting"].tolist(), panels, title)


def draw_counterfactual(answer: Counterfactual) -> Figure:
    """Draw each variable as it was and as it would have been; numbers only."""
    table = answer.to_frame()
    if "low" in table:
        table = table[table["low"].notna()]
    table = table[pd.to_numeric(table["observed"], errors="coerce").notna()]
    names = [
        str(row.variable) if len(answer.observed) == 1 else f"{row.variable}, row {row.row}"
        for row in table.itertuples()
    ]
    columns = (table[name].to_numpy(np.float64) for name in ("counterfactual", "low", "high"))
    observed = table["observed"].to_numpy(np.float64)
    said = ", ".join(f"{name} = {text}" for name, text in answer.do.items())
    series = [Part("as it was", GUIDE, observed), Part("as it would have been", OTHER, *columns)]
    widths = np.array([answer.sds.get(str(name), 0.0) for name in table["variable"]])
    return draw_rows(names, series, f"Had {said}", widths)


def draw_anomaly(answer: AnomalyAttribution) -> Figure:
    """Draw whose noise makes the row how unusual."""
    table = answer.to_frame()
    names = [
        f"{name} (own noise)" if name == answer.target else str(name) for name in table["variable"]
    ]
    bounds = (
        table[name].to_numpy(np.float64) for name in ("surprise", "surprise_low", "surprise_high")
    )
    parts = [Part("surprise", OTHER, *bounds)]
    title = f"Whose noise made {answer.target} unusual"
    return draw_parts(names, parts, title, "part of the surprise, powers of ten")


def draw_optimum(optimum: Optimum) -> Figure:
    """Draw the gain of each proposal, and mean and sd of each outcome under it."""
    table, outcomes = optimum.table, optimum.by_outcome
    colours = [OTHER if holds else GUIDE for holds in table["holds"]]
    panels = [DotPanel("gain, in sds of today", _bounds(table, "gain"), 0.0, colours, None, 0.2)]
    for name in outcomes["outcome"].unique():
        rows = outcomes[outcomes["outcome"] == name]
        n, sd = len(rows), float(rows["sd"].mean())
        change, ratio = _bounds(rows, "mean_change"), _bounds(rows, "sd_ratio")
        panels.append(DotPanel(f"mean of {name}, change", change, 0.0, [MEAN] * n, None, sd / 4))
        panels.append(DotPanel(f"sd of {name}, ratio", ratio, 1.0, [VARIANCE] * n, None, 0.3))
    title = "Proposals"
    if not table["holds"].all():
        title += " (grey: constraints not surely kept)"
    return draw_dots(table["setting"].tolist(), panels, title)


def _bounds(table: pd.DataFrame, name: str) -> FloatArray:
    """Return a quantity with the ends of its interval, (3, n)."""
    return np.array([table[f"{name}{end}"].to_numpy(np.float64) for end in ("", "_low", "_high")])
