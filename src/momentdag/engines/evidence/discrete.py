"""Mechanisms of discrete variables: the probabilities of their values given their parents.

They are what `local.cumulative`, `local.multinomial` and `local.negative_binomial` fit, in the
data's units, with functions at their posterior mode or drawn.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.special import expit, gammaln, softmax
from scipy.stats import nbinom

from momentdag.engines.evidence.local import cumulative, multinomial, negative_binomial
from momentdag.engines.evidence.local.features import Projection
from momentdag.engines.evidence.local.level_shares import Thresholds
from momentdag.engines.evidence.local.levels import LEVELS, relevant_places
from momentdag.engines.evidence.local.mixed import LevelFit, MixedScorer
from momentdag.engines.evidence.local.protocol import Parents
from momentdag.engines.evidence.mechanisms import Units

__all__ = [
    "CategoryMechanism",
    "CountMechanism",
    "CumulativeMechanism",
    "DiscreteEvidenceMechanism",
    "discrete_mechanism",
]

FloatArray: TypeAlias = npt.NDArray[np.float64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]

_CLOSE = 1e-4  # of the distance between two levels
_LARGEST = 10.0  # times the largest count seen: beyond it nothing is simulated


@dataclass(frozen=True, eq=False)
class _Functions:
    """Two functions of standardised rows: what moves the mean, and what moves the spread.

    Parameters
    ----------
    mean_basis, scale_basis : Projection
    mean_places, scale_places : int array
        The basis functions in use, the intercept not among them.
    """

    mean_basis: Projection
    scale_basis: Projection
    mean_places: npt.NDArray[np.intp]
    scale_places: npt.NDArray[np.intp]

    def mean(self, w: FloatArray, z: FloatArray) -> FloatArray:
        """Return the function with coefficients ``w`` at standardised rows (n, d), (n,)."""
        return _evaluate(self.mean_basis, self.mean_places, w, z)

    def scale(self, u: FloatArray, z: FloatArray) -> FloatArray:
        """Return the same of the spread."""
        return _evaluate(self.scale_basis, self.scale_places, u, z)

    def outside(self, z: FloatArray) -> BoolArray:
        """Return which standardised rows leave the region of the data, (n,)."""
        return self.mean_basis.outside(z) | self.scale_basis.outside(z)


def _evaluate(
    basis: Projection, places: npt.NDArray[np.intp], coefficients: FloatArray, z: FloatArray
) -> FloatArray:
    if not len(places):
        return np.zeros(len(z))
    every = np.zeros(1 + len(basis.offset))
    every[places] = coefficients
    return basis.function(every, z)


@dataclass(frozen=True, eq=False)
class DiscreteEvidenceMechanism(ABC):
    """What all of them share.

    Parameters
    ----------
    fit : LevelFit
    functions : _Functions
    units : Units
    levels : float array, shape (K,)
        The distinct values in the data, rising.
    """

    is_discrete: ClassVar[bool] = True

    fit: Any
    functions: _Functions
    units: Units
    levels: FloatArray

    @abstractmethod
    def shares(self, values: FloatArray) -> FloatArray:
        """Return the probability of each level at rows of ``values`` (n, d), (n, K)."""

    @abstractmethod
    def draw(self, rng: np.random.Generator) -> DiscreteEvidenceMechanism:
        """Draw the functions from their posterior."""

    @cached_property
    def _slack(self) -> float:
        """How far from a level a value still is that level: levels were rounded when fitted."""
        return _CLOSE * float(np.diff(self.levels).min()) if len(self.levels) > 1 else _CLOSE

    def spread_by(self, factor: float) -> DiscreteEvidenceMechanism:
        """Return the mechanism itself: shares of levels set their spread."""
        return self

    def extrapolates(self, values: FloatArray) -> BoolArray:
        """Return at which rows of ``values`` (n, d) the parents lie where no data were, (n,)."""
        return self.functions.outside(self.units.standardise(values))

    def moments(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and sd at rows of ``values`` (n, d), in the data's units."""
        p = self.shares(values)
        mean = p @ self.levels
        square = p @ (self.levels - self.levels.mean()) ** 2
        variance = square - (mean - self.levels.mean()) ** 2
        return mean, np.sqrt(np.maximum(variance, 0.0))

    def settle(self, values: FloatArray, uniforms: FloatArray) -> FloatArray:
        """Return the value that each row takes whose noise is ``uniforms`` (n,) in (0, 1)."""
        below = np.cumsum(self.shares(values), axis=1)[:, :-1]
        return np.asarray(self.levels[(uniforms[:, None] > below).sum(axis=1)])

    def probability(self, values: FloatArray, low: float, high: float) -> FloatArray:
        """Return P(low <= Y <= high) at rows of ``values`` (n, d), (n,)."""
        inside = (self.levels >= low - self._slack) & (self.levels <= high + self._slack)
        return np.asarray(self.shares(values)[:, inside].sum(axis=1))

    def distribution(self, values: FloatArray, y: FloatArray) -> FloatArray:
        """Return P(Y <= y) for each row, (n,)."""
        below = np.cumsum(self.shares(values), axis=1)
        places = np.searchsorted(self.levels, y + self._slack, "right") - 1
        found = below[np.arange(len(y)), np.maximum(places, 0)]
        return np.where(places < 0, 0.0, np.minimum(found, 1.0))

    def log_masses(self, values: FloatArray, y: FloatArray) -> FloatArray:
        """Return log P(Y = y) for each row, (n,)."""
        places = np.searchsorted(0.5 * (self.levels[1:] + self.levels[:-1]), y)
        p = self.shares(values)[np.arange(len(y)), places]
        is_level = np.abs(self.levels[places] - y) <= self._slack
        with np.errstate(divide="ignore"):  # a value that never occurred has none
            return np.where(is_level, np.log(p), -np.inf)


@dataclass(frozen=True, eq=False)
class CumulativeMechanism(DiscreteEvidenceMechanism):
    """Few ordered levels, see `local.cumulative`.

    Parameters
    ----------
    thresholds : Thresholds
        Where they stand for the shares that levels have in the rows of the fit.
    """

    thresholds: Thresholds

    def shares(self, values: FloatArray) -> FloatArray:
        """Return the probability of each level at rows of ``values`` (n, d), (n, K)."""
        z = self.units.standardise(values)
        m = self.functions.mean(self.fit.mean, z)
        v = np.exp(self.functions.scale(self.fit.scale, z))
        below = expit((self.fit.thresholds - m[:, None]) / v[:, None])
        return np.diff(below, axis=1, prepend=0.0, append=1.0)

    def draw(self, rng: np.random.Generator) -> CumulativeMechanism:
        """Draw thresholds and functions from their posterior."""
        return replace(self, fit=cumulative.draw_coefficients(self.fit, self.thresholds, rng))


class CategoryMechanism(DiscreteEvidenceMechanism):
    """Levels without an order, see `local.multinomial`."""

    def shares(self, values: FloatArray) -> FloatArray:
        """Return the probability of each level at rows of ``values`` (n, d), (n, K)."""
        z = self.units.standardise(values)
        columns = [b + self.functions.mean(w, z) for b, *w in self.fit.coefficients.T]
        return np.asarray(softmax(np.column_stack(columns), axis=1))

    def draw(self, rng: np.random.Generator) -> CategoryMechanism:
        """Draw the functions of all levels from their posterior."""
        return replace(self, fit=multinomial.draw_coefficients(self.fit, rng))


class CountMechanism(DiscreteEvidenceMechanism):
    """A negative binomial, see `local.negative_binomial`. Values need not be among the levels."""

    def _law(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and dispersion at rows of ``values`` (n, d)."""
        z = self.units.standardise(values)
        c, *w = self.fit.mean
        d, *u = self.fit.dispersion
        # Functions are held at the edge of the data; this holds what is drawn far in a tail.
        mean = np.minimum(np.exp(c + self.functions.mean(np.array(w), z)), self._largest)
        return mean, np.exp(np.clip(d + self.functions.scale(np.array(u), z), -12.0, 8.0))

    def shares(self, values: FloatArray) -> FloatArray:
        """Return the probability of each value that was seen, (n, K); others have the rest."""
        mean, dispersion = self._law(values)
        masses = [
            negative_binomial.log_masses(level, gammaln(level + 1), mean, dispersion)
            for level in self.levels
        ]
        return np.exp(np.column_stack(masses))

    @property
    def _largest(self) -> float:
        return _LARGEST * max(float(self.levels[-1]), 1.0)

    def spread_by(self, factor: float) -> CountMechanism:
        """Return the mechanism with ``factor``² times the dispersion."""
        dispersion = self.fit.dispersion.copy()
        dispersion[0] += 2 * np.log(factor)
        return replace(self, fit=self.fit._replace(dispersion=dispersion))

    def moments(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and sd at rows of ``values`` (n, d)."""
        mean, dispersion = self._law(values)
        return mean, np.sqrt(mean + dispersion * mean**2)

    def settle(self, values: FloatArray, uniforms: FloatArray) -> FloatArray:
        """Return the value that each row takes whose noise is ``uniforms`` (n,) in (0, 1)."""
        mean, dispersion = self._law(values)
        size = 1 / dispersion
        drawn = nbinom.ppf(uniforms, size, size / (size + mean))
        return np.asarray(np.minimum(drawn, self._largest))

    def probability(self, values: FloatArray, low: float, high: float) -> FloatArray:
        """Return P(low <= Y <= high) at rows of ``values`` (n, d), (n,)."""
        mean, dispersion = self._law(values)
        size = 1 / dispersion
        share = size / (size + mean)
        above = nbinom.cdf(np.ceil(low) - 1, size, share)
        return np.asarray(nbinom.cdf(np.floor(high), size, share) - above)

    def distribution(self, values: FloatArray, y: FloatArray) -> FloatArray:
        """Return P(Y <= y) for each row, (n,)."""
        mean, dispersion = self._law(values)
        size = 1 / dispersion
        return np.asarray(nbinom.cdf(np.floor(y), size, size / (size + mean)))

    def log_masses(self, values: FloatArray, y: FloatArray) -> FloatArray:
        """Return log P(Y = y) for each row, (n,)."""
        return negative_binomial.log_masses(y, gammaln(y + 1), *self._law(values))

    def draw(self, rng: np.random.Generator) -> CountMechanism:
        """Draw both functions from their posterior."""
        return replace(self, fit=negative_binomial.draw_coefficients(self.fit, rng))


def discrete_mechanism(
    scorer: MixedScorer, variable: int, parents: Parents, fit: LevelFit, units: Units
) -> DiscreteEvidenceMechanism:
    """Return the mechanism of a fit of one discrete variable."""
    most = scorer.model_of(variable, fit).max_functions
    mean, scale = scorer.mean_features, scorer.variance_features
    functions = _Functions(
        mean.projection(parents.mean),
        scale.projection(parents.variance),
        relevant_places(mean(parents.mean).variances, LEVELS, most),
        relevant_places(scale(parents.variance).variances, LEVELS, most),
    )
    levels = units.location[variable] + units.scale[variable] * scorer.levels[variable]
    if units.counts[variable]:
        levels = np.expm1(levels)
    # Standardised levels were rounded to eight decimals: what was 1.5 in the file shall be 1.5.
    levels = np.round(levels, 6 - int(np.floor(np.log10(units.scale[variable]))))
    if units.counts[variable]:
        levels = np.round(levels)
    if isinstance(fit, cumulative.CumulativeFit):
        m = functions.mean(fit.mean, scorer.mean_features.values)
        v = np.exp(functions.scale(fit.scale, scorer.mean_features.values))
        counts = np.bincount(np.searchsorted(scorer.levels[variable], scorer.columns[variable]))
        thresholds = Thresholds.of(m, v, counts)
        fit = fit._replace(thresholds=thresholds.fitted())
        return CumulativeMechanism(fit, functions, units, levels, thresholds)
    if isinstance(fit, multinomial.MultinomialFit):
        return CategoryMechanism(fit, functions, units, levels)
    return CountMechanism(fit, functions, units, levels)
