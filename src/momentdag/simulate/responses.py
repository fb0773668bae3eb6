"""Distributions of columns of each kind given their parents.

Every response maps the table so far and one uniform for each row to the column, so that equally
seeded interventions share their noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy import special, stats

from momentdag.simulate.causes import ParentFunction
from momentdag.simulate.kinds import N_ORDERED_LEVELS
from momentdag.simulate.options import FloatArray
from momentdag.simulate.smooth import Distribution, Noise

__all__ = ["Binary", "Category", "Count", "LocationScale", "Ordered", "Response"]

_MAX_DISPERSION = 4.0


class Response(Protocol):
    """The distribution of one column given its parents."""

    def evaluate(self, values: FloatArray, uniforms: FloatArray) -> FloatArray:
        """Return the column from a table, shape (n, d), and uniforms in (0, 1), shape (n,)."""
        ...

    def moments(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the column's conditional mean and sd at each row, shapes (n,)."""
        ...


@dataclass(frozen=True, eq=False)
class LocationScale:
    """A continuous column: ``m(x) + exp(v(x)) E`` with E of mean 0 and variance 1.

    Parameters
    ----------
    mean, log_std : ParentFunction
        m and v.
    error : Distribution
        Of E.
    """

    mean: ParentFunction
    log_std: ParentFunction
    error: Distribution

    def evaluate(self, values: FloatArray, uniforms: FloatArray) -> FloatArray:
        """Return the column."""
        return self.mean(values) + np.exp(self.log_std(values)) * self.error.quantile(uniforms)

    def moments(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and sd, shapes (n,)."""
        return self.mean(values), np.exp(self.log_std(values))


@dataclass(frozen=True, eq=False)
class Ordered:
    """An ordered column: a location-scale variable cut at thresholds, levels 1, 2, ...

    ``P(y = k) = F((b_k - m) / s) - F((b_k-1 - m) / s)``.

    Parameters
    ----------
    mean, log_std : ParentFunction
        m and log s.
    noise : Noise
        F.
    thresholds : float array, shape (n_levels - 1,)
        b_1 < b_2 < ...
    """

    mean: ParentFunction
    log_std: ParentFunction
    noise: Noise
    thresholds: FloatArray

    def evaluate(self, values: FloatArray, uniforms: FloatArray) -> FloatArray:
        """Return the column."""
        latent = LocationScale(self.mean, self.log_std, self.noise).evaluate(values, uniforms)
        return (np.searchsorted(self.thresholds, latent) + 1).astype(np.float64)

    def probabilities(self, values: FloatArray) -> FloatArray:
        """Return the probability of each level, shape (n, n_levels)."""
        distance = self.thresholds - self.mean(values)[:, None]
        below = self.noise.cdf(distance / np.exp(self.log_std(values))[:, None])
        return np.diff(below, axis=1, prepend=0.0, append=1.0)

    def moments(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and sd of the level's number, shapes (n,)."""
        probabilities = self.probabilities(values)
        levels = np.arange(1.0, N_ORDERED_LEVELS + 1)
        mean = probabilities @ levels
        return mean, np.sqrt(np.sum(probabilities * (levels - mean[:, None]) ** 2, axis=1))


@dataclass(frozen=True, eq=False)
class Count:
    """A count: negative binomial of variance ``mu + alpha mu²``, or Poisson.

    ``1 / alpha = exp(-v(x)) + 1 / 4``: the dispersion stays below 4, where most counts are zero.

    Parameters
    ----------
    log_mean : ParentFunction
        log mu.
    log_dispersion : ParentFunction or None
        v; None is Poisson.
    """

    log_mean: ParentFunction
    log_dispersion: ParentFunction | None

    def evaluate(self, values: FloatArray, uniforms: FloatArray) -> FloatArray:
        """Return the column."""
        mu = np.exp(self.log_mean(values))
        drawn: FloatArray
        if self.log_dispersion is None:
            drawn = stats.poisson.ppf(uniforms, mu)
        else:
            alpha = self._dispersion(values)
            drawn = stats.nbinom.ppf(uniforms, 1 / alpha, 1 / (1 + alpha * mu))
        return drawn

    def moments(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and sd, shapes (n,)."""
        mu = np.exp(self.log_mean(values))
        return mu, np.sqrt(mu + self._dispersion(values) * mu**2)

    def _dispersion(self, values: FloatArray) -> FloatArray:
        if self.log_dispersion is None:
            return np.zeros(len(values))
        alpha: FloatArray = 1 / (np.exp(-self.log_dispersion(values)) + 1 / _MAX_DISPERSION)
        return alpha


@dataclass(frozen=True, eq=False)
class Binary:
    """A binary column: ``P(y = 1) = 1 / (1 + exp(-f(x)))``.

    Parameters
    ----------
    logit : ParentFunction
        f.
    """

    logit: ParentFunction

    def evaluate(self, values: FloatArray, uniforms: FloatArray) -> FloatArray:
        """Return the column."""
        # The upper end of the uniform gives 1: a larger uniform is a larger value in every kind.
        drawn: FloatArray = (uniforms > special.expit(-self.logit(values))).astype(np.float64)
        return drawn

    def moments(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and sd, shapes (n,)."""
        p = special.expit(self.logit(values))
        return p, np.sqrt(p * (1 - p))


@dataclass(frozen=True, eq=False)
class Category:
    """A category: ``P(y = k)`` proportional to ``exp(a_k + sum_l C_kl f_l(x))``.

    The columns of C are orthonormal and sum to zero, so no direction of f cancels in the softmax.

    Parameters
    ----------
    functions : tuple of ParentFunction, length n_levels - 1
        f.
    contrasts : float array, shape (n_levels, n_levels - 1)
        C.
    intercepts : float array, shape (n_levels,)
        a.
    """

    functions: tuple[ParentFunction, ...]
    contrasts: FloatArray
    intercepts: FloatArray

    def probabilities(self, values: FloatArray) -> FloatArray:
        """Return the probability of each level, shape (n, n_levels)."""
        directions = np.column_stack([function(values) for function in self.functions])
        shares: FloatArray = special.softmax(
            self.intercepts + directions @ self.contrasts.T, axis=1
        )
        return shares

    def evaluate(self, values: FloatArray, uniforms: FloatArray) -> FloatArray:
        """Return the positions of the levels."""
        below = np.cumsum(self.probabilities(values), axis=1)[:, :-1]
        codes: FloatArray = np.sum(uniforms[:, None] > below, axis=1).astype(np.float64)
        return codes

    def moments(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return NaN, shapes (n,): levels have no mean."""
        nothing = np.full(len(values), np.nan)
        return nothing, nothing
