"""Mean and spread of a variable against each of its parents, with bands and data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from momentdag.engines.protocol import FittedModel, Mechanism
from momentdag.graph import MomentGraph
from momentdag.posterior import Posterior
from momentdag.posterior.monte_carlo import evenly_spaced

__all__ = ["Band", "Curve", "draw_mechanisms", "parent_curves"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

_N_GRID = 41
_LEVEL = 0.9


class Band(NamedTuple):
    """Posterior mean of a curve and its central 90 % interval, each (n_grid,)."""

    middle: FloatArray
    low: FloatArray
    high: FloatArray


class Curve(NamedTuple):
    """A variable against one parent, the others at their medians.

    Parameters
    ----------
    parent : int
    grid : float array, shape (n_grid,)
        Values of the parent, over the central 98 % of the data.
    mean, sd : Band
        Conditional mean and standard deviation at each grid point, in the data's units.
    rows : float array, shape (n_rows,)
        Values of the parent in the rows shown.
    adjusted : float array, shape (n_rows,)
        The variable in these rows, adjusted to the other parents at their medians; the
        standardised residual is kept.
    deviation : float array, shape (n_rows,)
        ``|adjusted - mean|``, whose typical size is the standard deviation.
    """

    parent: int
    grid: FloatArray
    mean: Band
    sd: Band
    rows: FloatArray
    adjusted: FloatArray
    deviation: FloatArray


def draw_mechanisms(
    rng: np.random.Generator, model: FittedModel, posterior: Posterior, n_draws: int
) -> list[Mapping[str, Mechanism]]:
    """Draw the mechanisms of all variables in graph pairs spread evenly over the posterior."""
    rows = evenly_spaced(posterior.n_draws, n_draws)
    return [model.draw_functions(rng, posterior.draw(int(k))) for k in rows]


def parent_curves(
    consensus: MomentGraph,
    variable: str,
    mechanism: Mechanism,
    drawn: Sequence[Mechanism],
    values: FloatArray,
    rows: FloatArray,
) -> list[Curve]:
    """Return the curves of a variable against each of its parents in the consensus pair.

    Parameters
    ----------
    consensus : MomentGraph
    variable : str
    mechanism : Mechanism
        The variable's mechanism in the consensus pair, at its posterior mean.
    drawn : sequence of Mechanism
        The same in draws of graph pair and functions: the bands cover the uncertainty of both.
    values : float array, shape (n_samples, d)
        The data, for the ranges and medians.
    rows : float array, shape (n_rows, d)
        The rows to show behind the curves.
    """
    medians = np.median(values, axis=0)
    mean, sd = mechanism.moments(rows)
    residual = (rows[:, consensus.index(variable)] - mean) / sd
    curves = []
    for name in consensus.parents(variable):
        parent = consensus.index(name)
        low, high = np.quantile(values[:, parent], [0.01, 0.99])
        grid = np.linspace(low, high, _N_GRID)
        at = np.tile(medians, (_N_GRID, 1))
        at[:, parent] = grid
        moments = np.array([one.moments(at) for one in drawn])  # (n_draws, 2, n_grid)
        alone = np.tile(medians, (len(rows), 1))
        alone[:, parent] = rows[:, parent]
        mean_alone, sd_alone = mechanism.moments(alone)
        adjusted = mean_alone + sd_alone * residual
        curves.append(
            Curve(
                parent,
                grid,
                _band(moments[:, 0]),
                _band(moments[:, 1]),
                rows[:, parent],
                adjusted,
                np.abs(sd_alone * residual),
            )
        )
    return curves


def _band(curves: FloatArray) -> Band:
    tail = (1 - _LEVEL) / 2
    low, high = np.quantile(curves, [tail, 1 - tail], axis=0)
    return Band(curves.mean(axis=0), low, high)
