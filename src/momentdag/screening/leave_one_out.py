"""Leave-one-out log scores by Pareto-smoothed importance sampling (Vehtari, Gelman, Gabry 2017).

Given the graph pair, row i enters the likelihood of a variable's functions only by its own density:
``p(x_ij | all other rows) = 1 / E[1 / p(x_ij | functions)]`` over draws of the functions. The
largest weights are replaced by quantiles of a generalised Pareto distribution fitted to them, whose
shape k says whether the average can be trusted.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp, softmax

from momentdag.engines.protocol import Mechanism

__all__ = ["MAX_SHAPE", "LogScores", "NoiseLogDensity", "smoothed_scores"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

MAX_SHAPE = 0.7
"""Beyond this Pareto shape a row is too influential for its score to be reliable."""

# Standardised values at which a distribution function is differentiated.
_NODES = np.sinh(np.linspace(-4.0, 4.0, 801))
_LEAST_MASS = 1e-11  # smaller differences of a distribution function are mostly rounding error
_MIN_TAIL = 5
_PRIOR_SHAPE, _PRIOR_ROWS = 0.5, 10.0


class LogScores(NamedTuple):
    """Log score of each row and the Pareto shape that says how reliable it is, each (n,)."""

    score: FloatArray
    shape: FloatArray


class NoiseLogDensity:
    """The log density of a mechanism's noise, from differences of its distribution function.

    Interpolated between nodes, and continued as a straight line beyond the last cell whose
    probability differs from zero by more than rounding error.
    """

    def __init__(self, mechanism: Mechanism) -> None:
        mass = np.diff(mechanism.noise_cdf(_NODES))
        known = np.flatnonzero(mass > _LEAST_MASS)
        inside = slice(known[0], known[-1] + 1)
        self._at = (0.5 * (_NODES[1:] + _NODES[:-1]))[inside]
        cells = np.maximum(mass[inside], _LEAST_MASS)
        self._log_density = np.log(cells) - np.log(np.diff(_NODES)[inside])

    def __call__(self, noise: FloatArray) -> FloatArray:
        """Return the log density at each value, the same shape."""
        at, log_density = self._at, self._log_density
        slopes = np.diff(log_density) / np.diff(at)
        below, above = np.minimum(noise - at[0], 0.0), np.maximum(noise - at[-1], 0.0)
        inside = np.interp(noise, at, log_density)
        return np.asarray(inside + slopes[0] * below + slopes[-1] * above)


def smoothed_scores(log_density: FloatArray) -> LogScores:
    """Return the leave-one-out scores of rows from their densities under draws, (n_draws, n).

    If the draws of a row do not differ (functions that are point estimates) its score is the
    density itself, and the shape minus infinity.
    """
    n_draws, n = log_density.shape
    log_weights = -log_density - np.max(-log_density, axis=0)
    shape = np.full(n, -np.inf)
    n_tail = int(min(0.2 * n_draws, 3 * np.sqrt(n_draws)))
    if n_tail >= _MIN_TAIL:
        order = np.argsort(log_weights, axis=0)
        cutoff = np.exp(np.take_along_axis(log_weights, order[-n_tail - 1][None], axis=0))
        tail = np.take_along_axis(log_weights, order[-n_tail:], axis=0)
        excess = np.exp(tail) - cutoff
        # Ties at the cutoff leave no tail to fit.
        fit = np.flatnonzero(excess[0] > np.finfo(float).eps)
        if len(fit):
            shape[fit], smooth = _smooth(excess[:, fit])
            # No weight may exceed the largest raw one, which is 1.
            tail[:, fit] = np.minimum(np.log(cutoff[:, fit] + smooth), 0.0)
            np.put_along_axis(log_weights, order[-n_tail:], tail, axis=0)
    score = logsumexp(log_weights + log_density, axis=0) - logsumexp(log_weights, axis=0)
    return LogScores(np.asarray(score), shape)


def _smooth(excess: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Replace sorted excesses (n_tail, n) by quantiles of Pareto fits with shapes (n,)."""
    shape, scale = _fit_pareto(excess)
    n_tail = len(excess)
    tail_log = -np.log1p(-(np.arange(n_tail) + 0.5) / n_tail)[:, None]
    # expm1(k t) / k is t in the limit of k = 0.
    safe = np.where(shape == 0, 1.0, shape)
    smooth = np.where(shape == 0, tail_log, np.expm1(safe * tail_log) / safe)
    return shape, scale * smooth


def _fit_pareto(excess: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Fit generalised Pareto distributions to sorted excesses (Zhang and Stephens 2009)."""
    n_tail = len(excess)
    m = 30 + int(np.sqrt(n_tail))
    quartile = excess[int(n_tail / 4 + 0.5) - 1]
    steps = (1 - np.sqrt(m / (np.arange(1, m + 1) - 0.5)))[:, None]
    grid = 1 / excess[-1] + steps / (3 * quartile)
    shapes = np.log1p(-grid[:, None] * excess).mean(axis=1)
    profile = n_tail * (np.log(-grid / shapes) - shapes - 1)
    best = (softmax(profile, axis=0) * grid).sum(axis=0)
    shape = np.log1p(-best * excess).mean(axis=0)
    # A weak prior at one half stabilises the shape of short tails.
    steady = (shape * n_tail + _PRIOR_SHAPE * _PRIOR_ROWS) / (n_tail + _PRIOR_ROWS)
    return steady, -shape / best
