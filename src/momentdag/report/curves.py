"""A variable against each of its parents: mean and spread or probabilities, with the data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from momentdag.engines.protocol import AnyMechanism, FittedModel, as_discrete
from momentdag.graph import MomentGraph
from momentdag.posterior import Posterior
from momentdag.posterior.monte_carlo import evenly_spaced
from momentdag.report.levels import form_of, level_shares, shown_levels, spell_level, typical_row
from momentdag.table import Observed

__all__ = ["Band", "Curve", "Share", "draw_mechanisms", "parent_curves"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

_N_GRID = 41
_LEVEL = 0.9
_MAX_SHARES = 7  # levels of a category that are drawn, each in a colour of its own
_N_GROUPS = 8  # of neighbouring rows, for the shares of levels in the data


class Band(NamedTuple):
    """Posterior mean of a curve and its central 90 % interval, each (n_grid,)."""

    middle: FloatArray
    low: FloatArray
    high: FloatArray


class Share(NamedTuple):
    """The probability of one level of a category, and its share in groups of rows.

    Parameters
    ----------
    level : str
    band : Band
    seen_at, seen : float array, shape (n_groups,)
        The parent in each group of rows (a place of the grid where it is shown at levels), and the
        share of the level there, as the data are.
    """

    level: str
    band: Band
    seen_at: FloatArray
    seen: FloatArray


class Curve(NamedTuple):
    """A variable against one parent, the others at their medians or most frequent levels.

    Parameters
    ----------
    parent : int
    grid : float array, shape (n_grid,)
        Values of the parent: its levels, or over the central 98 % of the data.
    ticks : tuple of str or None
        The names of the grid's values, if they are levels.
    mean : Band or None
        Conditional mean at each grid point, in the data's units; of a binary variable the
        probability of its higher value; None for categories.
    sd : Band or None
        Conditional standard deviation; None for binary variables and categories.
    shares : tuple of Share
        Of a category, its most frequent levels; else none.
    rows : float array, shape (n_rows,)
        The parent in the rows shown; places of the grid where that is made of levels.
    adjusted : float array, shape (n_rows,)
        The variable in these rows. A continuous one is adjusted to the other parents' typical
        values, and the standardised residual is kept; a discrete one is as it is, on the scale of
        ``mean``; of a category there is none.
    deviation : float array, shape (n_rows,)
        The distance to the mean, whose typical size is the standard deviation; none without sd.
    """

    parent: int
    grid: FloatArray
    ticks: tuple[str, ...] | None
    mean: Band | None
    sd: Band | None
    shares: tuple[Share, ...]
    rows: FloatArray
    adjusted: FloatArray
    deviation: FloatArray


def draw_mechanisms(
    rng: np.random.Generator, model: FittedModel, posterior: Posterior, n_draws: int
) -> list[Mapping[str, AnyMechanism]]:
    """Draw the mechanisms of all variables in graph pairs spread evenly over the posterior."""
    rows = evenly_spaced(posterior.n_draws, n_draws)
    return [model.draw_functions(rng, posterior.draw(int(k))) for k in rows]


def parent_curves(
    consensus: MomentGraph,
    variable: str,
    mechanism: AnyMechanism,
    drawn: Sequence[AnyMechanism],
    observed: Observed,
    values: FloatArray,
    rows: FloatArray,
) -> list[Curve]:
    """Return the curves of a variable against each of its parents in the consensus pair.

    Parameters
    ----------
    consensus : MomentGraph
    variable : str
    mechanism : AnyMechanism
        The variable's mechanism in the consensus pair, at its posterior mean.
    drawn : sequence of AnyMechanism
        The same in draws of graph pair and functions: the bands cover the uncertainty of both.
    observed : Observed
        Kinds and levels of the columns.
    values : float array, shape (n_samples, d)
        The data, for the ranges and medians.
    rows : float array, shape (n_rows, d)
        The rows to show behind the curves.
    """
    place = consensus.index(variable)
    typical = typical_row(observed, values)
    parents = [consensus.index(name) for name in consensus.parents(variable)]
    known = ~np.isnan(rows[:, [place, *parents]]).any(axis=1)
    rows = np.where(np.isnan(rows[known]), typical, rows[known])
    form = form_of(observed, variable, mechanism)
    curves = []
    for parent in parents:
        against = _look_at(observed, parent, typical, values, rows)
        if form == "shares":
            curves.append(_category_curve(against, observed, place, drawn, values))
            continue
        moments = np.array([one.moments(against.at) for one in drawn])  # (n_draws, 2, n_grid)
        y = against.rows[:, place]
        if form == "probability":
            low, high = observed.levels[variable]
            mean = _band((moments[:, 0] - low) / (high - low))
            curves.append(against.curve(mean, None, (y - low) / (high - low), np.empty(0)))
        else:
            shown = _shown_rows(mechanism, y, against, typical)
            curves.append(against.curve(_band(moments[:, 0]), _band(moments[:, 1]), *shown))
    return curves


class _Against(NamedTuple):
    """One parent: where its effect is looked at, and the rows shown behind."""

    parent: int
    grid: FloatArray
    levels: FloatArray | None  # the grid, if it is made of levels
    ticks: tuple[str, ...] | None
    at: FloatArray  # (n_grid, d), the other columns at their typical values
    rows: FloatArray  # (n_rows, d)

    def curve(
        self, mean: Band, sd: Band | None, adjusted: FloatArray, deviation: FloatArray
    ) -> Curve:
        """Return the curve of a variable that is shown by its mean or as a probability."""
        column = self.rows[:, self.parent]
        places = column if self.levels is None else _places(self.levels, column)
        return Curve(self.parent, self.grid, self.ticks, mean, sd, (), places, adjusted, deviation)


def _look_at(
    observed: Observed, parent: int, typical: FloatArray, values: FloatArray, rows: FloatArray
) -> _Against:
    name = observed.names[parent]
    levels = shown_levels(observed, name, values[:, parent])
    grid = _grid(observed, name, values[:, parent]) if levels is None else levels
    ticks = None
    if levels is not None:
        ticks = tuple(spell_level(observed, name, float(level)) for level in levels)
        rows = rows[np.isin(rows[:, parent], levels)]
    at = np.tile(typical, (len(grid), 1))
    at[:, parent] = grid
    return _Against(parent, grid, levels, ticks, at, rows)


def _grid(observed: Observed, name: str, column: FloatArray) -> FloatArray:
    """Return values over the central 98 % of a column; those of a grid are values it can have."""
    low, high = np.nanquantile(column, [0.01, 0.99])
    kind = observed.kinds.get(name)
    if kind == "count":
        return np.unique(np.round(np.linspace(np.floor(low), np.ceil(high), _N_GRID)))
    if kind == "ordered":
        levels = observed.levels[name]
        inside = levels[(levels >= low) & (levels <= high)]
        return np.asarray(inside[evenly_spaced(len(inside), min(_N_GRID, len(inside)))])
    return np.linspace(low, high, _N_GRID)


def _places(levels: FloatArray, column: FloatArray) -> FloatArray:
    return np.searchsorted(levels, column).astype(np.float64)


def _shown_rows(
    mechanism: AnyMechanism, y: FloatArray, against: _Against, typical: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the variable in the rows shown, and its distance to the mean."""
    mean, sd = mechanism.moments(against.rows)
    if mechanism.is_discrete:
        return y, np.abs(y - mean)
    alone = np.tile(typical, (len(y), 1))
    alone[:, against.parent] = against.rows[:, against.parent]
    mean_alone, sd_alone = mechanism.moments(alone)
    deviation = sd_alone * (y - mean) / sd
    return mean_alone + deviation, np.abs(deviation)


def _category_curve(
    against: _Against,
    observed: Observed,
    place: int,
    drawn: Sequence[AnyMechanism],
    values: FloatArray,
) -> Curve:
    """Return the probabilities of the most frequent levels of a category."""
    name = observed.names[place]
    levels = observed.levels[name]
    discrete = [one for one in map(as_discrete, drawn) if one is not None]
    probabilities = np.array([one.shares(against.at) for one in discrete])  # (n_draws, n_grid, K)
    known = values[~np.isnan(values[:, [against.parent, place]]).any(axis=1)]
    groups = _groups(known[:, against.parent], against.levels)
    seen_at = np.array([at for at, _ in groups])
    frequent = np.argsort(-level_shares(levels, values[:, place]), kind="stable")[:_MAX_SHARES]
    shares = [
        Share(
            spell_level(observed, name, float(levels[k])),
            _band(probabilities[:, :, k]),
            seen_at,
            np.array([np.mean(known[rows, place] == levels[k]) for _, rows in groups]),
        )
        for k in np.sort(frequent)
    ]
    none = np.empty(0)
    return Curve(
        against.parent, against.grid, against.ticks, None, None, tuple(shares), none, none, none
    )


def _groups(
    column: FloatArray, levels: FloatArray | None
) -> list[tuple[float, npt.NDArray[np.bool_]]]:
    """Return groups of rows with similar values of a parent: where it is, and which rows."""
    if levels is not None:
        masks = [column == level for level in levels]
        return [(float(k), mask) for k, mask in enumerate(masks) if mask.any()]
    edges = np.unique(np.quantile(column, np.linspace(0, 1, _N_GROUPS + 1)))
    member = np.searchsorted(edges[1:-1], column, "right")
    masks = [member == k for k in range(max(len(edges) - 1, 1))]
    return [(float(column[mask].mean()), mask) for mask in masks if mask.any()]


def _band(curves: FloatArray) -> Band:
    tail = (1 - _LEVEL) / 2
    low, high = np.quantile(curves, [tail, 1 - tail], axis=0)
    return Band(curves.mean(axis=0), low, high)
