"""The noises behind a row, and the row again with some of its variables set.

Given graphs and functions, a row tells the noise of each of its variables:

    e_j = (x_j - m_j(x_paM)) / v_j(x_paV).

Of a variable on a grid it tells only the cell that the noise lies in: a level l_k between the
thresholds t_k-1 and t_k has (t_k-1 - m) / v < e <= (t_k - m) / v, and a discrete one P(Y < y) <
u <= P(Y <= y). The noise is then drawn within its cell.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from momentdag.effects.changes import Change
from momentdag.effects.posterior_samples import PosteriorSample
from momentdag.effects.propagation import simulate_column
from momentdag.effects.views import Grid
from momentdag.graph import BoolArray

__all__ = ["abduct", "has_cells", "replay"]

FloatArray: TypeAlias = npt.NDArray[np.float64]


def has_cells(sample: PosteriorSample, column: int) -> bool:
    """Tell whether a value of a variable leaves its noise undetermined."""
    return sample.discrete(column) is not None or isinstance(sample.view(column), Grid)


def abduct(
    rng: np.random.Generator, sample: PosteriorSample, column: int, rows: FloatArray
) -> FloatArray:
    """Return the noise of one variable in each row, (n,); uniform of a discrete variable.

    Parameters
    ----------
    rng : numpy Generator
        Draws the noise within its cell.
    sample : PosteriorSample
    column : int
    rows : float array, shape (n, d)
        On the scale of the fit.
    """
    values = rows[:, column]
    discrete = sample.discrete(column)
    if discrete is not None:
        high = discrete.distribution(rows, values)
        low = np.maximum(high - np.exp(discrete.log_masses(rows, values)), 0.0)
        return _inside(rng, low, high)
    mean, sd = sample.latent_moments(column, rows)
    view = sample.view(column)
    if not isinstance(view, Grid):
        return np.asarray((values - mean) / sd)
    place = np.abs(values[:, None] - view.levels).argmin(axis=1)
    edges = np.concatenate([[-np.inf], view.edges, [np.inf]])
    low, high = (edges[place] - mean) / sd, (edges[place + 1] - mean) / sd
    uniforms = _inside(rng, sample.noise_probability(column, low),
                       sample.noise_probability(column, high))  # fmt: skip
    # Where the model gives a cell no probability, the noise is at its edge.
    return np.clip(sample.noise_quantile(column, uniforms), low, high)


def _inside(rng: np.random.Generator, low: FloatArray, high: FloatArray) -> FloatArray:
    drawn = low + (high - low) * rng.uniform(0.01, 0.99, len(low))
    return np.clip(drawn, 1e-12, 1 - 1e-12)


def replay(
    sample: PosteriorSample,
    noise: FloatArray,
    rows: FloatArray,
    moving: BoolArray,
    changes: Mapping[int, Change],
) -> FloatArray:
    """Return the rows with the variables in ``moving`` computed anew from their noises.

    Parameters
    ----------
    sample : PosteriorSample
    noise : float array, shape (n, d)
    rows : float array, shape (n, d)
        With the values of everything else; on the scale of the fit.
    moving : bool array, shape (d,)
    changes : mapping from column to Change
        What is done to a variable once it is computed.
    """
    values = rows.copy()
    names = sample.graph.names
    for j in (names.index(name) for name in sample.graph.order):
        if moving[j]:
            moments = sample.latent_moments(j, values)
            values[:, j] = simulate_column(sample, j, *moments, noise[:, j], values)
        if j in changes:
            values[:, j] = changes[j](values[:, j])
    return values
