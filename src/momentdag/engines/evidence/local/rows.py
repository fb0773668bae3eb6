"""The log density of each row under a local fit, as if the row had not been part of it.

A row pulls the functions of its own fit towards itself, the more so the larger the parent set: in
the sample large models look better in every row than they are. The leverage of a row, which the fit
knows, says by how much; with h that of the mean and g that of the log standard deviation,

    r → r / (1 - h),    σ² → σ² / (1 - h),    η → η - g / (1 - g) (ω e² - 1) / κ,

the last one within bounds, as the step is one of Newton's from far away.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from momentdag.engines.evidence.local.interventions import scorer_of, used_rows
from momentdag.engines.evidence.local.location_scale import LocalFit, LocalScorer
from momentdag.engines.evidence.local.protocol import Parents

__all__ = ["row_log_densities"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

_LARGEST_LEVERAGE = 0.9  # beyond it a row is described by itself alone, and the formula breaks down

_LARGEST_MOVE = 0.3
"""Of η: for an outlier the full step would make of 9 standard deviations 30, and one row would
decide a world."""


def row_log_densities(scorer: Any, variable: int, parents: Parents, fit: Any) -> FloatArray:
    """Return the log density of every row with the row itself left out, nearly, (n,).

    Levels of discrete variables pull little, their functions being smooth: those rows are taken as
    they are. A score that failed has zeros: its evidence is minus infinity in any case. Rows in
    which the variable was set have zeros, too: they are in no likelihood.
    """
    rows = used_rows(scorer, variable)
    own = _log_densities(scorer_of(scorer, variable), variable, parents, fit)
    if rows is None:
        return own
    every = np.zeros(scorer.n_samples)
    every[rows] = own
    return every


def _log_densities(scorer: LocalScorer, variable: int, parents: Parents, fit: Any) -> FloatArray:
    if not np.isfinite(fit.log_evidence):
        return np.zeros(scorer.columns.shape[1])
    if not isinstance(fit, LocalFit) or fit.coarse is not None:
        levels = fit.coarse if isinstance(fit, LocalFit) else fit
        return np.asarray(levels.log_likelihood)
    tails, residual, log_std = fit.tails, fit.residual, fit.log_std
    cells = scorer.cells.get(variable)
    variance = fit.second_moment - residual * residual
    if cells is not None:
        variance = variance - cells.variance
    e2 = residual * residual * np.exp(-2 * log_std)
    weights = tails.weights(e2)
    h = np.clip(weights * variance * np.exp(-2 * log_std), 0.0, _LARGEST_LEVERAGE)
    P = scorer.variance_features(parents.variance).functions
    _, variances = scorer.scale_posterior(fit, parents)
    information = tails.scale_information
    g = np.minimum(information * ((P * P) @ variances), _LARGEST_LEVERAGE)
    surprise = np.minimum(weights * e2, scorer.tuning.largest_square) - 1
    move = np.clip(g / (1 - g) * surprise / information, -_LARGEST_MOVE, _LARGEST_MOVE)
    log_std = log_std - move - 0.5 * np.log1p(-h)
    residual = residual / (1 - h)
    if cells is not None:
        y = scorer.columns[variable]
        return cells.log_masses(y - residual, log_std, y, fit.noise)
    nodes, log_density, _ = fit.noise.table()
    return np.asarray(np.interp(residual * np.exp(-log_std), nodes, log_density) - log_std)
