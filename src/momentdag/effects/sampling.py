"""Rows drawn from the fitted model, with or without an intervention."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from momentdag.effects.inputs import FittedEstimator, read_world
from momentdag.effects.posterior_samples import PosteriorSample, draw_samples
from momentdag.effects.propagation import propagate
from momentdag.effects.rows import describe_rows
from momentdag.effects.settings import Do, Settings, parse_do
from momentdag.errors import OptionError

__all__ = ["draw_rows"]

_MAX_DRAWS = 200
_N_POINTS = 512  # evenly spread, of which each draw takes some at random


def draw_rows(
    estimator: FittedEstimator,
    n: int | None = None,
    *,
    do: Do | None = None,
    random_state: int = 0,
) -> pd.DataFrame:
    """Draw rows from the model: from its graphs and functions as the posterior has them.

    Parameters
    ----------
    estimator : MomentDAG
        Fitted.
    n : int, optional
        Number of rows; by default 1 000, or the rows of a frame of settings.
    do : mapping or frame, optional
        As in `intervene`. Several settings are taken in turn, row by row; of a frame of n rows each
        row has its own.
    random_state : int
        Rows of two interventions with one seed share graphs, functions and noise, so that their
        differences are those of the interventions.

    Returns
    -------
    DataFrame, shape (n, d)
        In the units of the file, with the names of levels; with the index of a frame of settings.

    Raises
    ------
    OptionError
        If a name is unknown, a value is not finite or ``n`` is out of range.

    Examples
    --------
    With a fitted ``estimator``::

        md.effects.draw_rows(estimator, 500, do={"dose": 3.0})
    """
    inputs = read_world(estimator)
    settings = Settings.none() if do is None else parse_do(inputs, do)
    own_rows = settings.index is not None
    size = (len(settings) if own_rows else 1000) if n is None else n
    if not isinstance(size, int | np.integer) or isinstance(size, bool) or size < 1:
        raise OptionError(f"Expected n to be a positive integer; got {n!r}.")
    if own_rows and size != len(settings):
        raise OptionError(
            f"The frame of settings has {len(settings)} rows, and n is {size}. Leave out n."
        )
    rng = np.random.default_rng(random_state)
    sample_rng, row_rng, order_rng = rng.spawn(3)
    n_draws = int(min(size, _MAX_DRAWS))
    samples = draw_samples(sample_rng, inputs, max(n_draws, 2), _N_POINTS, "both")[:n_draws]
    # Rows of one sample stand at places chosen at random, so that no setting has one graph only.
    places = np.array_split(order_rng.permutation(size), n_draws)
    values = np.empty((size, len(inputs.names)))
    for sample, at in zip(samples, places, strict=True):
        values[at] = _draw(row_rng, sample, settings, at)
    index = settings.index if settings.index is not None else pd.RangeIndex(size)
    return describe_rows(estimator, inputs, values, index)


def _draw(
    rng: np.random.Generator,
    sample: PosteriorSample,
    settings: Settings,
    places: np.ndarray,
) -> np.ndarray:
    """Return one row of a sample for each place, (n_places, d)."""
    n = len(places)
    points = rng.permutation(np.resize(np.arange(_N_POINTS), max(n, _N_POINTS)))[:n]
    d = len(sample.graph.names)
    noise = np.column_stack([sample.noise(j)[points] for j in range(d)])
    given = settings.values[places % len(settings)]  # (n, n_set)
    each = replace(settings, values=given.T[None], shown=None)
    others = [j for j in range(d) if j not in settings.columns]
    rows = np.empty((n, d))
    rows[:, list(settings.columns)] = given
    if others:
        rows[:, others] = propagate(sample, each, others, noise).values[0].T
    return rows
