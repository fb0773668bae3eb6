"""Fitted moments, held against the rows they were fitted to.

The likeliest mean and scale of a noise class that is not quite right need not have the moments of
the data: with heavy tails or many zeros, Σ r² over rows may be a half or five times Σ v². Rows are
sorted by the fitted moment into groups, and where a group's average residual (or squared residual)
differs from the model's by more than chance, the moment is moved by the difference:

    m' = m + s(m),   v' = v g(v),

s and g straight lines between the groups. Where the model fits, both leave the moments alone. What
is moved is known only up to its standard error, which drawn functions have a share of.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["Calibration", "calibrate"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
Distribution: TypeAlias = Callable[[FloatArray], FloatArray]

_ROWS = 60  # of a group, at least
_MAX_GROUPS = 8
_CHANCE = 2.0  # standard errors of a group's average that are no reason to move anything
_EDGES = np.linspace(-6.0, 6.0, 241)  # of cells of the noise
_LEAST_KURTOSIS = 1.8  # that of a uniform density
_DOUBT = 0.25  # share of a standard error that drawn functions have at least
_CHANCE_OF_ALL = 1.0  # the same of all rows together, which moments of whole columns hang on


@dataclass(frozen=True, eq=False)
class Calibration:
    """What to add to means and to log sds, as functions of themselves, in standardised units.

    Parameters
    ----------
    means, shifts : float array, shape (k,)
        Fitted means, rising, and what to add there.
    log_sds, log_factors : float array, shape (l,)
        Fitted log sds, rising, and what to add there.
    shift_error, factor_error : float
        Standard errors of what is added everywhere.
    """

    means: FloatArray
    shifts: FloatArray
    log_sds: FloatArray
    log_factors: FloatArray
    shift_error: float
    factor_error: float

    def draw(self, rng: np.random.Generator) -> Calibration:
        """Draw what is added everywhere from its standard errors."""
        shift, factor = rng.standard_normal(2) * [self.shift_error, self.factor_error]
        return replace(self, shifts=self.shifts + shift, log_factors=self.log_factors + factor)

    def __call__(self, mean: FloatArray, sd: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return calibrated moments."""
        if self.shifts.any():
            mean = mean + np.interp(mean, self.means, self.shifts)
        if self.log_factors.any():
            sd = sd * np.exp(np.interp(np.log(sd), self.log_sds, self.log_factors))
        return mean, sd


def calibrate(
    y: FloatArray, mean: FloatArray, sd: FloatArray, distribution: Distribution
) -> Calibration:
    """Compare fitted moments with the rows they belong to.

    Parameters
    ----------
    y, mean, sd : float array, shape (n,)
    distribution : function
        Of the standardised noise: what is chance follows from it, not from the rows, in which one
        outlier would excuse itself.
    """
    kurtosis = _kurtosis(distribution)
    residual = y - mean
    everywhere, shift_error = _shrink(
        residual.mean(), residual.std() / np.sqrt(len(y)), _CHANCE_OF_ALL
    )
    residual = residual - everywhere
    means, shifts = [], []
    for group in _groups(mean):
        r = residual[group]
        means.append(mean[group].mean())
        own, _ = _shrink(r.mean(), r.std() / np.sqrt(len(r)), _CHANCE)
        shifts.append(everywhere + own)
    residual = residual + everywhere - np.interp(mean, means, shifts)
    log_sds, log_factors = [], []
    factor, factor_error = _log_factor(residual, sd, kurtosis, _CHANCE_OF_ALL)
    for group in _groups(sd):
        # The knot is where the group's variance is: with a wide range, near its top.
        log_sds.append(0.5 * np.log(np.mean(sd[group] ** 2)))
        own, _ = _log_factor(residual[group], np.exp(factor) * sd[group], kurtosis, _CHANCE)
        log_factors.append(factor + own)
    return Calibration(
        np.array(means),
        np.array(shifts),
        np.array(log_sds),
        np.array(log_factors),
        shift_error,
        factor_error,
    )


def _kurtosis(distribution: Distribution) -> float:
    """Return E[e⁴] of the noise within six standard deviations."""
    masses = np.diff(distribution(_EDGES))
    return float(max((masses * (0.5 * (_EDGES[1:] + _EDGES[:-1])) ** 4).sum(), _LEAST_KURTOSIS))


def _groups(fitted: FloatArray) -> list[npt.NDArray[np.intp]]:
    """Return rows in groups of rising fitted moments, ties together."""
    n_groups = int(np.clip(len(fitted) // _ROWS, 1, _MAX_GROUPS))
    edges = np.unique(np.quantile(fitted, np.linspace(0, 1, n_groups + 1)[1:-1]))
    which = np.searchsorted(edges, fitted)
    return [np.flatnonzero(which == k) for k in np.unique(which)]


def _log_factor(
    residual: FloatArray, sd: FloatArray, kurtosis: float, chance: float
) -> tuple[float, float]:
    """Return by how much log sds are too small, as far as that is beyond chance, and its error."""
    r2, v2 = residual**2, sd**2
    ratio = max(r2.sum() / v2.sum(), np.finfo(float).tiny)
    error = np.sqrt((kurtosis - 1) * np.sum(v2 * v2)) / v2.sum()
    difference, left = _shrink(np.log(ratio), error, chance)
    return 0.5 * difference, 0.5 * left


def _shrink(difference: float, error: float, chance: float) -> tuple[float, float]:
    """Return the part of a difference that is beyond chance, and the standard error of that part.

    Nothing of a small difference, most of a large one.
    """
    share = 0.0
    if abs(difference) > chance * error:
        share = 1 - (chance * error / difference) ** 2
    # What is not moved is not known for sure either: noise shapes are those of the best fit, and
    # their uncertainty is in no other part of an interval.
    return float(share * difference), float(max(np.sqrt(share), _DOUBT) * error)
