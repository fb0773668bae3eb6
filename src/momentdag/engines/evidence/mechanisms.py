"""Mechanisms: one variable given its parents, with functions averaged or drawn.

Given a graph pair, the coefficients w of a mean and u of a log standard deviation have posteriors
that are Gaussian to a good approximation and can be drawn from, so functions can be drawn together
with graphs: P(mean graph, variance graph, functions | data).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.linalg import solve_triangular

from momentdag.engines.evidence.calibration import Calibration
from momentdag.engines.evidence.local.features import Projection
from momentdag.engines.evidence.local.location_scale import LocalFit
from momentdag.engines.evidence.local.noise.density import NoiseDensity
from momentdag.engines.evidence.refit import chunks
from momentdag.engines.standardise import as_inputs
from momentdag.engines.thresholds import find_thresholds

__all__ = [
    "DrawnMechanism",
    "EvidenceMechanism",
    "LocalMechanism",
    "Prediction",
    "Units",
    "mechanism_bytes",
]

FloatArray: TypeAlias = npt.NDArray[np.float64]

_NOISE_ROWS = 50.0
"""How many rows the fitted density of the noise counts as in simulations, next to residuals."""


class Prediction(NamedTuple):
    """Conditional moments in standardised units, functions integrated out, each (n,)."""

    mean: FloatArray
    mean_variance: FloatArray
    log_std: FloatArray
    log_std_variance: FloatArray


@dataclass(frozen=True, eq=False)
class LocalMechanism:
    """One variable given its parents, in standardised units.

    Parameters
    ----------
    fit : LocalFit
    mean_basis, scale_basis : Projection
        The basis functions of both parent sets.
    coefficients : float array, shape (s,)
        Posterior mean of u; that of w is in ``fit.mean``.
    variances : float array, shape (s,)
        Posterior variances of u, which is diagonal.
    calibration : Calibration
    rows : float array, shape (n, d)
        The rows it was fitted to.
    target : float array, shape (n,)
        The variable itself in these rows, as an effect.
    """

    fit: LocalFit
    mean_basis: Projection
    scale_basis: Projection
    coefficients: FloatArray
    variances: FloatArray
    calibration: Calibration
    rows: FloatArray
    target: FloatArray
    _thresholds: dict[bytes, FloatArray] = field(default_factory=dict)

    @property
    def noise(self) -> NoiseDensity:
        """The standardised noise density."""
        return self.fit.noise

    def predict(self, values: FloatArray) -> Prediction:
        """Return conditional moments at rows of standardised ``values`` (n, d)."""
        Q, P = self.mean_basis(values), self.scale_basis(values)
        half = solve_triangular(self.fit.mean.factor, Q.T, lower=True)
        return Prediction(
            Q @ self.fit.mean.coefficients,
            np.einsum("ij,ij->j", half, half),
            P @ self.coefficients,
            (P * P) @ self.variances,
        )

    def moments(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and sd at rows of standardised ``values`` (n, d), functions averaged."""
        P = self.scale_basis(values)
        # √E[v²] with the log standard deviation normal around its mean.
        sd = np.exp(P @ self.coefficients + (P * P) @ self.variances)
        mean = self.mean_basis.function(self.fit.mean.coefficients, values)
        return self.calibration(mean, sd)

    def outside(self, values: FloatArray) -> npt.NDArray[np.bool_]:
        """Return at which rows of standardised ``values`` the parents left the data, (n,)."""
        return self.mean_basis.outside(values) | self.scale_basis.outside(values)

    @cached_property
    def residuals(self) -> FloatArray:
        """The standardised residuals of the rows, sorted, (n,)."""
        mean, sd = self.moments(self.rows)
        return np.sort((self.target - mean) / sd)

    def simulated_noise(self, noise: FloatArray) -> FloatArray:
        """Return the distribution function of the noise as the rows have it.

        The mean of a Dirichlet process around the fitted density, given the residuals: a shape
        that the density cannot have is followed where there are rows enough to show it.
        """
        n = len(self.residuals)
        seen = np.searchsorted(self.residuals, noise, side="right")
        fitted = self.noise.distribution(noise)
        return np.asarray((seen + _NOISE_ROWS * fitted) / (n + _NOISE_ROWS))

    def thresholds(self, levels: FloatArray, column: FloatArray) -> FloatArray:
        """Return where one of the standardised levels of ``column`` (n,) gives way to the next."""
        key = levels.tobytes()
        if key not in self._thresholds:
            self._thresholds[key] = find_thresholds(
                levels, column, *self.moments(self.rows), self.simulated_noise
            )
        return self._thresholds[key]

    def draw(self, rng: np.random.Generator) -> DrawnMechanism:
        """Draw the functions of this mechanism from their posterior."""
        factor = self.fit.mean.factor
        w = self.fit.mean.coefficients + solve_triangular(
            factor, rng.standard_normal(len(factor)), lower=True, trans="T"
        )
        u = self.coefficients + np.sqrt(self.variances) * rng.standard_normal(len(self.variances))
        return DrawnMechanism(self, w, u, self.calibration.draw(rng))


@dataclass(frozen=True, eq=False)
class DrawnMechanism:
    """Functions of one variable drawn from their posterior, in standardised units.

    Parameters
    ----------
    local : LocalMechanism
        What they were drawn from.
    mean_coefficients, scale_coefficients : float array, shapes (r,) and (s,)
    calibration : Calibration
    """

    local: LocalMechanism
    mean_coefficients: FloatArray
    scale_coefficients: FloatArray
    calibration: Calibration

    @property
    def noise(self) -> NoiseDensity:
        """The standardised noise density."""
        return self.local.noise

    def simulated_noise(self, noise: FloatArray) -> FloatArray:
        """Return the distribution function of the noise as the rows have it."""
        return self.local.simulated_noise(noise)

    def outside(self, values: FloatArray) -> npt.NDArray[np.bool_]:
        """Return at which rows of standardised ``values`` the parents left the data, (n,)."""
        return self.local.outside(values)

    def thresholds(self, levels: FloatArray, column: FloatArray) -> FloatArray:
        """Return those of the averaged functions: how often a level occurs may vary with draws."""
        return self.local.thresholds(levels, column)

    def moments(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and sd at rows of standardised ``values`` (n, d)."""
        log_std = self.local.scale_basis.function(self.scale_coefficients, values)
        mean = self.local.mean_basis.function(self.mean_coefficients, values)
        return self.calibration(mean, np.exp(log_std))


def mechanism_bytes(mechanism: LocalMechanism) -> int:
    """Return roughly the memory of what grows with rows and basis functions."""
    fit, bases = mechanism.fit, (mechanism.mean_basis, mechanism.scale_basis)
    arrays = [
        mechanism.target,
        fit.log_std,
        fit.residual,
        fit.second_moment,
        fit.mean.gram,
        fit.mean.factor,
    ]
    arrays += [array for basis in bases for array in (basis.inducing, basis.weights)]
    arrays += [basis.region.rows for basis in bases if basis.region is not None]
    return sum(array.nbytes for array in arrays)


class Units(NamedTuple):
    """From the data's columns and units to the engine's, and back."""

    columns: npt.NDArray[np.intp]
    location: FloatArray
    scale: FloatArray
    counts: npt.NDArray[np.bool_]  # columns that stand on the scale log(1 + x)

    def standardise(self, values: FloatArray) -> FloatArray:
        """Return rows (n, d) in the engine's order of columns and in standard units."""
        ordered = values[:, self.columns]
        if self.counts.any():
            ordered[:, self.counts] = np.log1p(np.maximum(ordered[:, self.counts], 0.0))
        return as_inputs((ordered - self.location) / self.scale)


@dataclass(frozen=True, eq=False)
class EvidenceMechanism:
    """One variable's mechanism in the data's units, an `engines.protocol.Mechanism`.

    Parameters
    ----------
    standardised : LocalMechanism or DrawnMechanism
        With averaged or with drawn functions.
    units : Units
    variable : int
        Its place in the engine's order of columns.
    column : float array, shape (n,)
        The standardised variable in the rows of the fit.
    """

    is_discrete: ClassVar[bool] = False

    standardised: LocalMechanism | DrawnMechanism
    units: Units
    variable: int
    column: FloatArray

    def moments(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and sd at rows of ``values`` (n, d), in the data's units and columns."""
        mean, sd = np.empty((2, len(values)))
        for part in chunks(len(values)):
            z = self.units.standardise(values[part])
            mean[part], sd[part] = self.standardised.moments(z)
        scale = self.units.scale[self.variable]
        return self.units.location[self.variable] + scale * mean, scale * sd

    def draw_noise(self, rng: np.random.Generator, size: int) -> FloatArray:
        """Draw standardised noise, (size,)."""
        return self.standardised.noise.draw(rng, (size,))

    def noise_cdf(self, noise: FloatArray) -> FloatArray:
        """Return P(E <= e) for each standardised residual e, the same shape."""
        return self.standardised.noise.distribution(noise)

    def noise_log_density(self, noise: FloatArray) -> FloatArray:
        """Return log p(e) for each standardised residual e, the same shape."""
        return self.standardised.noise.log_density(noise)

    def simulated_noise_cdf(self, noise: FloatArray) -> FloatArray:
        """Return the same for simulating rows: close to the residuals of the rows of the fit."""
        return self.standardised.simulated_noise(noise)

    def extrapolates(self, values: FloatArray) -> npt.NDArray[np.bool_]:
        """Return at which rows of ``values`` (n, d) the parents lie where no data were, (n,)."""
        return self.standardised.outside(self.units.standardise(values))

    def thresholds(self, levels: FloatArray) -> FloatArray:
        """Return where mean + sd · noise passes from one level of the variable to the next."""
        location, scale = self.units.location[self.variable], self.units.scale[self.variable]
        found = self.standardised.thresholds((levels - location) / scale, self.column)
        return np.asarray(location + scale * found)
