"""Figures of a model: curves of one cause, of every lever, and maps of two causes at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from momentdag.effects.inputs import EffectInputs, FittedEstimator, read_world
from momentdag.effects.intervals import summarise
from momentdag.effects.interventions import Intervention, Limits, intervene
from momentdag.effects.lever_ranges import find_ranges
from momentdag.effects.posterior_samples import MonteCarlo
from momentdag.effects.targets import targets_of
from momentdag.errors import OptionError, quote

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

__all__ = ["plot_contours", "plot_curve", "plot_levers"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

_FOR_CURVES = MonteCarlo(n_draws=64, n_rows=128)
_FOR_MAPS = MonteCarlo(n_draws=50, n_rows=128)
_MAX_LEVELS = 15
_MAX_POINTS = 500


def plot_curve(
    estimator: FittedEstimator,
    cause: str,
    effect: str,
    *,
    n_points: int = 21,
    data: pd.DataFrame | None = None,
    level: float = 0.9,
    monte_carlo: MonteCarlo | None = None,
) -> Figure:
    """Draw mean and sd of one variable against the value another one is set to.

    Parameters
    ----------
    estimator : MomentDAG
        Fitted.
    cause, effect : str
        Of an effect that is a category the probability of each level is drawn.
    n_points : int
        Values over the central 90 % of the cause; fewer where it takes few values.
    data : DataFrame, optional
        Rows to show behind the mean, up to 500. They are as they were observed: what moves cause
        and effect together moves them, too.
    level : float
        Probability of the bands, over graphs and functions.
    monte_carlo : MonteCarlo, optional
        By default 64 draws with 128 rows.

    Returns
    -------
    plotly Figure

    Raises
    ------
    OptionError
        If a name is unknown, or cause and effect are one.

    Examples
    --------
    With a fitted ``estimator``::

        md.effects.plot_curve(estimator, "stress", "response").show()
    """
    from momentdag.display.curves import Band, Panel, draw_panels
    from momentdag.effects.figures import intervention_panels

    inputs = read_world(estimator)
    inputs.column(effect, "effect")
    _check_count("n_points", n_points)
    values = _values(inputs, cause, n_points)
    how = _FOR_CURVES if monte_carlo is None else monte_carlo
    result = intervene(estimator, {cause: values}, [effect], level=level, monte_carlo=how)
    title = f"{effect} if {cause} is set"
    if inputs.observed.kinds.get(effect) != "category":
        return draw_panels(intervention_panels(result, _points(data, cause, effect)), 2, title)
    shares = summarise(result.means, result.weights, level)
    bands = [
        Band(
            shares.mean[:, k],
            shares.low[:, k],
            shares.high[:, k],
            target.removeprefix(f"{effect}="),
        )
        for k, target in enumerate(targets_of(inputs.observed, effect))
    ]
    x = _as_axis(result.settings[cause])
    return draw_panels([Panel("mean", cause, "probability", x, bands)], 1, title)


def plot_levers(
    estimator: FittedEstimator,
    target: str,
    *,
    candidates: Sequence[str] | None = None,
    n_levers: int = 4,
    n_points: int = 15,
    level: float = 0.9,
    monte_carlo: MonteCarlo | None = None,
) -> Figure:
    """Draw mean and sd of a target against each variable that could be set: main effects.

    Levers stand from left to right by how much they move the sd.

    Parameters
    ----------
    estimator : MomentDAG
        Fitted.
    target : str
    candidates : sequence of str, optional
        By default every variable that causes the target in some draw.
    n_levers : int
        Number of levers to show.
    n_points, level, monte_carlo
        As in `plot_curve`.

    Returns
    -------
    plotly Figure

    Raises
    ------
    OptionError
        If a name is unknown, or nothing causes the target.

    Examples
    --------
    With a fitted ``estimator``::

        md.effects.plot_levers(estimator, "response").show()
    """
    from momentdag.display.curves import draw_panels
    from momentdag.effects.figures import intervention_panels

    inputs = read_world(estimator)
    inputs.number(target)
    _check_count("n_points", n_points)
    _check_count("n_levers", n_levers, 1)
    names = list(find_ranges(inputs, target, candidates, (), None, n_points))
    if not names:
        raise OptionError(f"Nothing causes {target!r} in any draw, so there is no lever to draw.")
    how = _FOR_CURVES if monte_carlo is None else monte_carlo
    found: list[tuple[float, Intervention]] = []
    for name in names:
        values = _values(inputs, name, n_points)
        result = intervene(estimator, {name: values}, [target], level=level, monte_carlo=how)
        sds = np.average(result.sds[:, :, 0], axis=0, weights=result.weights)
        found.append((float(np.ptp(sds)), result))
    found.sort(key=lambda pair: -pair[0])
    columns = [intervention_panels(result) for _, result in found[:n_levers]]
    panels = [column[row] for row in (0, 1) for column in columns]
    figure = draw_panels(panels, len(columns), f"What moves mean and sd of {target}")
    # One scale for each row, so that levers can be compared.
    for row in (1, 2):
        if len(columns) > 1:
            reference = f"y{'' if row == 1 else len(columns) + 1}"
            figure.update_yaxes(matches=reference, row=row)
    return figure


def plot_contours(
    estimator: FittedEstimator,
    target: str,
    x: str,
    y: str,
    *,
    n_points: int = 13,
    do: Mapping[str, float] | None = None,
    limits: tuple[float | None, float | None] | None = None,
    mark: Mapping[str, float] | None = None,
    monte_carlo: MonteCarlo | None = None,
) -> Figure:
    """Draw mean and sd of a target over two variables that are set at once, side by side.

    Parameters
    ----------
    estimator : MomentDAG
        Fitted.
    target, x, y : str
    n_points : int
        Values of each variable over its central 90 %; fewer where it takes few values.
    do : mapping from name to value, optional
        Other variables to set.
    limits : (low, high), optional
        Add a map of the probability that the target falls outside; None leaves a side open.
    mark : mapping from name to value, optional
        A setting of both to mark, such as ``levers(...).recommended``.
    monte_carlo : MonteCarlo, optional
        By default 50 draws with 128 rows.

    Returns
    -------
    plotly Figure

    Raises
    ------
    OptionError
        If a name is unknown or named twice.

    Examples
    --------
    With a fitted ``estimator``::

        md.effects.plot_contours(estimator, "response", "dose", "stress").show()
    """
    from momentdag.display.contours import Map, draw_maps

    inputs = read_world(estimator)
    inputs.number(target)
    others = {} if do is None else dict(do)
    if len({target, x, y, *others}) < 3 + len(others):
        raise OptionError(
            f"Expected different variables; got {[target, x, y, *others]}. Name each once."
        )
    _check_count("n_points", n_points)
    axes = [_values(inputs, name, n_points) for name in (x, y)]
    bounds: Limits | None = None if limits is None else {target: limits}
    how = _FOR_MAPS if monte_carlo is None else monte_carlo
    settings = {**{name: [value] for name, value in others.items()}, x: axes[0], y: axes[1]}
    result = intervene(estimator, settings, [target], limits=bounds, monte_carlo=how)
    named = {"mean": result.means, "sd": result.sds}
    if result.outside is not None:
        named["outside"] = result.outside
    words = {"mean": "mean of", "sd": "sd of", "outside": "risk of being outside limits:"}
    shape = (len(axes[0]), len(axes[1]))
    maps = [
        Map(
            name,
            f"{words[name]} {target}",
            np.average(values[:, :, 0], axis=0, weights=result.weights).reshape(shape).T,
        )
        for name, values in named.items()
    ]
    shown = [_as_axis(result.settings[name].drop_duplicates()) for name in (x, y)]
    at = None
    if mark is not None:
        if not {x, y} <= set(mark):
            raise OptionError(f"Expected mark with {x!r} and {y!r}; got {quote(dict(mark))}.")
        at = (_spell_mark(inputs, x, mark[x]), _spell_mark(inputs, y, mark[y]))
    title = f"{target} if {x} and {y} are set"
    return draw_maps(shown[0], shown[1], (x, y), maps, title, at)


def _check_count(name: str, value: object, least: int = 2) -> None:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise OptionError(
            f"Expected {name} to be an integer of at least {least}; got {quote(value)}."
        )


def _values(inputs: EffectInputs, name: str, n_points: int) -> list[Any]:
    """Return values to set a variable to, in the units of the file; levels by their names."""
    inputs.column(name, "causes")
    levels = inputs.levels(name)
    if levels is not None:
        if len(levels) > _MAX_LEVELS:
            low, high = inputs.summary.loc[name, ["q05", "q95"]]
            inside = levels[(levels >= low) & (levels <= high)]
            levels = inside if len(inside) > 1 else levels
        chosen = np.unique(np.linspace(0, len(levels) - 1, min(n_points, len(levels))).round())
        return [_level(inputs, name, float(value)) for value in levels[chosen.astype(int)]]
    low, high = inputs.summary.loc[name, ["q05", "q95"]]
    if not low < high:
        low, high = inputs.summary.loc[name, ["min", "max"]]
    ends = inputs.to_fit(name, np.array([low, high], dtype=np.float64))
    values = inputs.to_file(name, np.linspace(ends[0], ends[1], n_points))
    return [float(value) for value in np.clip(values, low, high)]


def _level(inputs: EffectInputs, name: str, value: float) -> float | str:
    return inputs.spell(name, value) if name in inputs.observed.labels else value


def _as_axis(column: pd.Series) -> Any:
    """Return settings as numbers, or as the names of levels."""
    if pd.api.types.is_numeric_dtype(column):
        return column.to_numpy(np.float64)
    return [str(value) for value in column]


def _spell_mark(inputs: EffectInputs, name: str, value: Any) -> Any:
    code = inputs.code(name, value)
    return _level(inputs, name, float(code))


def _points(data: pd.DataFrame | None, cause: str, effect: str) -> pd.DataFrame | None:
    """Return rows to show behind a curve, if both columns hold numbers."""
    if data is None:
        return None
    for name in (cause, effect):
        if name not in data:
            raise OptionError(f"Expected the column {name!r} in data; got {list(data.columns)}.")
    pair = data[[cause, effect]].dropna()
    if not all(pd.api.types.is_numeric_dtype(pair[name]) for name in pair):
        return None
    step = max(1, len(pair) // _MAX_POINTS)
    return pair.iloc[::step].head(_MAX_POINTS)
