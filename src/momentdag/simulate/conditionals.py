"""How one variable arises from its causes when it is not "mean plus scale times noise".

Every class has ``evaluate(values, noise)``: from a table of shape (n, d), in which the causes'
columns are filled, and three standard normal numbers for each row, to the variable; and
``moments(values)``: its conditional mean and sd, or None where they have no closed form. Symbols:
m, v, a, w are functions of the causes, Z and Z' the first two numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt
from scipy import special

from momentdag.simulate.causes import ParentFunction
from momentdag.simulate.options import FloatArray
from momentdag.simulate.random_functions import FourierFunction, MonotoneFunction
from momentdag.simulate.smooth import Distribution

__all__ = [
    "Conditional",
    "FreeNoise",
    "LocationScale",
    "Mixture",
    "Moments",
    "Multiplicative",
    "PostNonlinear",
    "Root",
    "SkewNoise",
    "Standardised",
    "WarpedRoot",
]

Moments = tuple[FloatArray, FloatArray]

# Nodes and weights of a Gaussian expectation; the integrand is bent, but smooth between its knots.
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(64)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()


class Conditional(Protocol):
    """A variable given its causes."""

    def evaluate(self, values: FloatArray, noise: FloatArray) -> FloatArray:
        """Return the variable, shape (n,), from tables of shapes (n, d) and (n, 3)."""
        ...

    def moments(self, values: FloatArray) -> Moments | None:
        """Return the conditional mean and sd at each row, or None if not in closed form."""
        ...


@dataclass(frozen=True)
class Root:
    """A variable without causes, of any shape.

    Examples
    --------
    >>> from momentdag.simulate.smooth import Marginal
    >>> Root(Marginal("normal")).evaluate(np.zeros((2, 1)), np.ones((2, 3))).round(6).tolist()
    [1.0, 1.0]
    """

    distribution: Distribution

    def evaluate(self, values: FloatArray, noise: FloatArray) -> FloatArray:
        """Return a draw of the distribution for each row."""
        # A quantile of exactly 0 or 1 may be infinite.
        return self.distribution.quantile(np.clip(special.ndtr(noise[:, 0]), 1e-12, 1 - 1e-12))

    def moments(self, values: FloatArray) -> Moments:
        """Return 0 and 1."""
        return np.zeros(len(values)), np.ones(len(values))


@dataclass(frozen=True)
class WarpedRoot:
    """A variable without causes: a random monotone function of a normal one, or that itself."""

    warp: MonotoneFunction | None

    def evaluate(self, values: FloatArray, noise: FloatArray) -> FloatArray:
        """Return a draw for each row."""
        return noise[:, 0].copy() if self.warp is None else self.warp(noise[:, 0])

    def moments(self, values: FloatArray) -> Moments:
        """Return 0 and 1."""
        return np.zeros(len(values)), np.ones(len(values))


@dataclass(frozen=True, eq=False)
class LocationScale:
    """``m + scale exp(v) Z``: what the model assumes."""

    mean: ParentFunction
    log_std: ParentFunction
    scale: float

    def evaluate(self, values: FloatArray, noise: FloatArray) -> FloatArray:
        """Return the variable at each row."""
        mean, std = self.moments(values)
        return mean + std * noise[:, 0]

    def moments(self, values: FloatArray) -> Moments:
        """Return m and scale exp(v)."""
        return self.mean(values), self.scale * np.exp(self.log_std(values))


@dataclass(frozen=True, eq=False)
class SkewNoise:
    """``m + scale exp(v) E``, where E has mean 0, variance 1, and a skewness that follows a.

    ``E = (exp(a Z) - exp(a²/2)) / sd``, with the sign of a; it is Z where a = 0. The skewness is
    about 3 a for small a, 1.75 at a = 0.5.
    """

    base: LocationScale
    skew: ParentFunction  # a
    limit: float  # of |a|

    def evaluate(self, values: FloatArray, noise: FloatArray) -> FloatArray:
        """Return the variable at each row."""
        mean, std = self.base.moments(values)
        return mean + std * self._shape(self.skewness_parameter(values), noise[:, 0])

    def skewness_parameter(self, values: FloatArray) -> FloatArray:
        """Return a at each row."""
        return self.limit * np.tanh(self.skew(values))

    def moments(self, values: FloatArray) -> Moments:
        """Return m and scale exp(v)."""
        return self.base.moments(values)

    @staticmethod
    def _shape(a: FloatArray, z: FloatArray) -> FloatArray:
        small = np.abs(a) < 1e-4  # the difference to a normal number is of the order of a
        size = np.where(small, 1.0, a)
        half = 0.5 * size**2
        std = np.exp(half) * np.sqrt(np.expm1(2 * half))
        return np.where(small, z, np.sign(size) * (np.exp(size * z) - np.exp(half)) / std)


@dataclass(frozen=True, eq=False)
class PostNonlinear:
    """``g(m + scale Z)`` with a monotone g (Zhang and Hyvärinen, 2009)."""

    inner: ParentFunction
    scale: float
    outer: MonotoneFunction

    def evaluate(self, values: FloatArray, noise: FloatArray) -> FloatArray:
        """Return the variable at each row."""
        return self.outer(self.inner(values) + self.scale * noise[:, 0])

    def moments(self, values: FloatArray) -> Moments:
        """Return mean and sd by quadrature over Z."""
        outcomes = self.outer(self.inner(values)[:, None] + self.scale * _NODES)
        mean: FloatArray = outcomes @ _WEIGHTS
        variance: FloatArray = (outcomes - mean[:, None]) ** 2 @ _WEIGHTS
        return mean, np.sqrt(variance)


@dataclass(frozen=True, eq=False)
class Multiplicative:
    """``m E + scale Z'``, where E is lognormal with mean 1.

    The noise is normal where m is 0 and skewed elsewhere, to the side of the sign of m.
    """

    mean: ParentFunction
    log_std: float  # of E
    scale: float

    def evaluate(self, values: FloatArray, noise: FloatArray) -> FloatArray:
        """Return the variable at each row."""
        factor = np.exp(self.log_std * noise[:, 0] - 0.5 * self.log_std**2)
        return self.mean(values) * factor + self.scale * noise[:, 1]

    def moments(self, values: FloatArray) -> Moments:
        """Return m and the sd of both noises together."""
        mean = self.mean(values)
        return mean, np.sqrt(mean**2 * np.expm1(self.log_std**2) + self.scale**2)


@dataclass(frozen=True, eq=False)
class Mixture:
    """``m`` plus noise with two modes, whose weights or places follow w.

    With ``moves="weights"`` the modes are at ±1 and the upper one has probability
    ``1 / (1 + exp(-2 w))``; with ``moves="modes"`` both have probability 1/2 and are at
    ``±exp(0.7 w)``. Around a mode the noise is normal with sd ``scale``.
    """

    mean: ParentFunction
    driver: ParentFunction  # w
    scale: float
    moves_weights: bool

    def evaluate(self, values: FloatArray, noise: FloatArray) -> FloatArray:
        """Return the variable at each row."""
        upper, distance = self._modes(values)
        sign = np.where(special.ndtr(noise[:, 1]) < upper, 1.0, -1.0)
        return self.mean(values) + sign * distance + self.scale * noise[:, 0]

    def moments(self, values: FloatArray) -> Moments:
        """Return the mean and sd of the mixture."""
        upper, distance = self._modes(values)
        variance = 4 * distance**2 * upper * (1 - upper) + self.scale**2
        return self.mean(values) + distance * (2 * upper - 1), np.sqrt(variance)

    def _modes(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the probability of the upper mode and the modes' distance from the middle."""
        w = self.driver(values)
        if self.moves_weights:
            return special.expit(2.0 * w), np.ones(len(w))
        return np.full(len(w), 0.5), np.exp(0.7 * w)


@dataclass(frozen=True, eq=False)
class FreeNoise:
    """``f(causes, E)`` with a random smooth f, and E normal or a monotone function of it."""

    columns: npt.NDArray[np.intp]
    function: FourierFunction
    warp: MonotoneFunction | None

    def evaluate(self, values: FloatArray, noise: FloatArray) -> FloatArray:
        """Return the variable at each row."""
        inner = noise[:, 0] if self.warp is None else self.warp(noise[:, 0])
        return self.function(np.column_stack([values[:, self.columns], inner]))

    def moments(self, values: FloatArray) -> None:
        """Return None: the moments have no closed form."""


@dataclass(frozen=True, eq=False)
class Standardised:
    """Another conditional, shifted and scaled: ``(X - offset) / unit``."""

    inner: Conditional
    offset: float
    unit: float

    def evaluate(self, values: FloatArray, noise: FloatArray) -> FloatArray:
        """Return the variable at each row."""
        return (self.inner.evaluate(values, noise) - self.offset) / self.unit

    def moments(self, values: FloatArray) -> Moments | None:
        """Return the moments in the new unit."""
        moments = self.inner.moments(values)
        if moments is None:
            return None
        return (moments[0] - self.offset) / self.unit, moments[1] / self.unit
