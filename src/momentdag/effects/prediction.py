"""Mean and spread of a variable given its causes, row by row."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from momentdag.effects.inputs import FittedEstimator, read_world
from momentdag.effects.intervals import check_level, summarise
from momentdag.effects.posterior_samples import MonteCarlo, PosteriorSample, draw_samples
from momentdag.effects.rows import read_rows
from momentdag.effects.targets import categories_of, spell_target

__all__ = ["predict"]

_N_DRAWS = 100
_LEAST_ROWS = 8


def predict(
    estimator: FittedEstimator,
    X: object,
    target: str,
    *,
    level: float = 0.9,
    monte_carlo: MonteCarlo | None = None,
) -> pd.DataFrame:
    """Predict a variable from its causes in each row: its mean and its standard deviation.

    Only causes count: what the target causes is not looked at, so the prediction of a row stays
    right when the target is not measured yet.

    Parameters
    ----------
    estimator : MomentDAG
        Fitted.
    X : DataFrame, row or mapping
        In the units of the file. Columns that never cause the target in any draw may be absent or
        missing, and so may the target.
    target : str
    level : float
        Probability of the intervals of mean and sd.
    monte_carlo : MonteCarlo, optional
        By default 100 draws.

    Returns
    -------
    DataFrame
        With the index of ``X``. Columns mean, mean_low, mean_high, sd, sd_low, sd_high: of the
        target given its causes, with intervals over graphs and functions. Of a category a column
        for each level with its probability, named "machine=M2".

    Raises
    ------
    OptionError
        If the target is unknown.
    DataError
        If a row misses a cause or holds a value that its variable cannot have.

    Examples
    --------
    With a fitted ``estimator``::

        md.effects.predict(estimator, new_rows, "response")
    """
    inputs = read_world(estimator)
    column = inputs.column(target, "target")
    check_level(level)
    parents = inputs.posterior.edge_probabilities("either")[target]
    idle = [str(name) for name, probability in parents.items() if probability == 0]
    rows = read_rows(estimator, inputs, X, optional=idle)
    how = MonteCarlo(n_draws=_N_DRAWS, n_rows=_LEAST_ROWS) if monte_carlo is None else monte_carlo
    samples = draw_samples(how.rng, inputs, how.n_draws, how.n_rows, "both")
    if inputs.observed.kinds.get(target) == "category":
        shares = [d.shares(rows.values) for s in samples if (d := s.discrete(column)) is not None]
        levels = [spell_target(target, level) for level in categories_of(inputs.observed)[target]]
        return pd.DataFrame(np.mean(shares, axis=0), index=rows.index, columns=levels)
    moments = np.array([_shown_moments(sample, column, rows.values) for sample in samples])
    weights = np.array([sample.weight for sample in samples])
    mean = summarise(moments[:, 0], weights, level)
    sd = summarise(moments[:, 1], weights, level)
    return pd.DataFrame({**mean.columns("mean"), **sd.columns("sd")}, index=rows.index)


def _shown_moments(
    sample: PosteriorSample, column: int, values: npt.NDArray[np.float64]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return mean and sd of a variable given its causes, in the units of the file, each (n,)."""
    discrete = sample.discrete(column)
    if discrete is not None and sample.shows_exponential(column):
        shares, shown = discrete.shares(values), np.exp(discrete.levels)
        mean = shares @ shown
        return mean, np.sqrt(np.maximum(shares @ shown**2 - mean**2, 0.0))
    return sample.moments(column, *sample.latent_moments(column, values))
