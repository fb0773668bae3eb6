"""The local score of a count: a negative binomial whose mean and dispersion have causes.

    Y ~ NB(μ, α),  E[Y] = μ,  Var(Y) = μ + α μ²,   log μ = c + Q w,   log α = d + P u

with Q and P the bases of `features` without their intercepts. Mean parents move μ; variance parents
move the dispersion α, the spread beyond what the mean brings with it. The Poisson law is the limit
of small α.

The evidence is Laplace's approximation at the mode of (c, w, d, u), averaged over amplitudes. The
information of log μ is the expected one, μ / (1 + α μ). That of log α has no closed form; squared
slopes stand for it, averaged over rows with similar means.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpotrf, dpotrs
from scipy.special import gammaln, psi

from momentdag.engines.evidence.local.levels import (
    LevelTuning,
    Mode,
    average_evidence,
    gains_of,
    relevant,
)
from momentdag.engines.evidence.local.tuning import Amplitudes

__all__ = ["NegativeBinomialFit", "NegativeBinomialModel", "log_masses"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

_LOG_MEAN_VARIANCE = 10.0  # prior of c, around the log of the overall mean
_LOG_DISPERSION = (-1.0, 4.0)  # prior mean and variance of d
_LOG_MEANS = (-12.0, 25.0)  # of a single row: beyond, a step of the climb went astray
_LOG_DISPERSIONS = (-12.0, 8.0)
_N_GROUPS = 10
_MEAN_AMPLITUDES: Amplitudes = ((0.05, 0.15), (0.3, 0.35), (1.0, 0.3), (4.0, 0.2))
_LEAST_INFORMATION = 1e-6


class NegativeBinomialFit(NamedTuple):
    """A converged score, with what is needed to screen further parents and to draw functions."""

    log_evidence: float
    mean: FloatArray  # c and w, (1 + r,)
    dispersion: FloatArray  # d and u, (1 + s,)
    factor: FloatArray  # lower Cholesky factor of the precision of both, in that order
    slope: FloatArray  # of the log-likelihood by log μ, (n,)
    information: FloatArray
    scale_slope: FloatArray  # the same by log α
    scale_information: FloatArray
    log_likelihood: FloatArray  # (n,)
    converged: bool


class _Point(NamedTuple):
    log_likelihood: FloatArray
    slopes: FloatArray  # (2, n)
    informations: FloatArray  # (2, n)


class NegativeBinomialModel:
    """One count.

    Parameters
    ----------
    counts : float array, shape (n,)
        Whole numbers from zero on.
    tuning : LevelTuning
    """

    def __init__(self, counts: FloatArray, tuning: LevelTuning) -> None:
        self.y = counts
        self.tuning = tuning
        self._log_factorial = gammaln(counts + 1)
        self._centre = np.array([np.log(max(float(counts.mean()), 1e-6)), _LOG_DISPERSION[0]])
        one, none = np.ones((len(counts), 1)), np.zeros(0)
        _, _, self.empty = self._score(one, one, none, none, (), self._centre.copy())

    @property
    def max_functions(self) -> int:
        """Basis functions of a parent set, at most."""
        return self.tuning.max_functions

    def fit(
        self, mean_basis: tuple[FloatArray, FloatArray], scale_basis: tuple[FloatArray, FloatArray]
    ) -> NegativeBinomialFit:
        """Score the count given the bases of its parents, functions and prior variances.

        Raises
        ------
        LinAlgError
            If a factorisation fails.
        """
        Q, mean_variances = relevant(*mean_basis, self.tuning, self.max_functions)
        P, scale_variances = relevant(*scale_basis, self.tuning, self.max_functions)
        if not Q.shape[1] and not P.shape[1]:
            return self.empty
        one = np.ones((len(self.y), 1))
        X, Z = np.hstack([one, Q]), np.hstack([one, P])
        start = np.concatenate(
            [self.empty.mean, np.zeros(Q.shape[1]), self.empty.dispersion, np.zeros(P.shape[1])]
        )
        grids = [_MEAN_AMPLITUDES] * (Q.shape[1] > 0)
        grids += [self.tuning.scale_amplitudes] * (P.shape[1] > 0)
        evidence, fit = average_evidence(
            lambda amplitudes, at: self._score(
                X, Z, mean_variances, scale_variances, amplitudes, at
            ),
            grids,
            start,
        )
        return fit._replace(log_evidence=evidence)

    def screen_mean(
        self, fit: NegativeBinomialFit, functions: FloatArray, variances: FloatArray
    ) -> float:
        """Estimate what one more function in log μ would gain."""
        return gains_of(functions, variances, fit.slope[:, None], fit.information[:, None])

    def screen_scale(
        self, fit: NegativeBinomialFit, functions: FloatArray, variances: FloatArray
    ) -> float:
        """Estimate what one more function in log α would gain."""
        return gains_of(
            functions, variances, fit.scale_slope[:, None], fit.scale_information[:, None]
        )

    def _score(
        self,
        X: FloatArray,
        Z: FloatArray,
        mean_variances: FloatArray,
        scale_variances: FloatArray,
        amplitudes: tuple[float, ...],
        theta: FloatArray,
    ) -> tuple[float, Mode, NegativeBinomialFit]:
        """Return Laplace's approximation at the mode, the mode, and the fit."""
        tuning, r = self.tuning, X.shape[1]
        scales = iter(amplitudes)
        mean_a = next(scales) if len(mean_variances) else 1.0
        scale_a = next(scales) if len(scale_variances) else 1.0
        precisions = 1 / np.concatenate(
            [
                [_LOG_MEAN_VARIANCE],
                mean_a * mean_variances,
                [_LOG_DISPERSION[1]],
                scale_a * scale_variances,
            ]
        )
        centre = np.zeros(len(precisions))
        centre[[0, r]] = self._centre

        def log_posterior(at: FloatArray) -> float:
            likelihood = log_masses(self.y, self._log_factorial, *_moments(X, Z, at))
            return float(likelihood.sum() - 0.5 * (precisions * (at - centre)) @ (at - centre))

        value = log_posterior(theta)
        converged = False
        for _ in range(tuning.max_steps):
            point = self._derivatives(X, Z, theta)
            gradient = np.concatenate([point.slopes[0] @ X, point.slopes[1] @ Z])
            gradient -= precisions * (theta - centre)
            # Mean and dispersion of a negative binomial have no information in common.
            H = np.zeros((len(theta), len(theta)))
            H[:r, :r] = (X * point.informations[0][:, None]).T @ X
            H[r:, r:] = (Z * point.informations[1][:, None]).T @ Z
            H.flat[:: len(H) + 1] += precisions
            factor, status = dpotrf(H, lower=1, clean=1)
            if status != 0:
                raise np.linalg.LinAlgError("The information is not positive definite.")
            step, _ = dpotrs(factor, gradient, lower=1)
            if float(step @ gradient) < tuning.tolerance:
                converged = True
                break
            for _ in range(tuning.max_halvings):
                new = log_posterior(theta + step)
                if new > value:
                    theta, value = theta + step, new
                    break
                step = 0.5 * step
            else:
                break
        evidence = value + 0.5 * float(np.log(precisions).sum())
        evidence -= float(np.log(factor.diagonal()).sum())
        (slope, scale_slope), (information, scale_information) = point.slopes, point.informations
        fit = NegativeBinomialFit(
            evidence,
            theta[:r],
            theta[r:],
            factor,
            slope,
            information,
            scale_slope,
            scale_information,
            point.log_likelihood,
            converged,
        )
        free = np.ones(len(theta), dtype=bool)
        free[[0, r]] = False  # both intercepts keep their own priors
        information = H.copy()
        information.flat[:: len(H) + 1] -= np.where(free, precisions, 0.0)
        parts = ((np.arange(1, r), mean_variances), (np.arange(r + 1, len(theta)), scale_variances))
        places = tuple(place for place, _ in parts if len(place))
        variances = tuple(variance for _, variance in parts if len(variance))
        return evidence, Mode(theta, information, places, variances), fit

    def _derivatives(self, X: FloatArray, Z: FloatArray, theta: FloatArray) -> _Point:
        y = self.y
        mean, dispersion = _moments(X, Z, theta)
        size = 1 / dispersion
        slope = (y - mean) / (1 + dispersion * mean)
        by_size = (
            psi(y + size) - psi(size) - np.log1p(mean * dispersion) + (mean - y) / (size + mean)
        )
        scale_slope = -size * by_size
        return _Point(
            log_masses(y, self._log_factorial, mean, dispersion),
            np.stack([slope, scale_slope]),
            np.stack([mean / (1 + dispersion * mean), _smooth(scale_slope**2, mean)]),
        )


def _moments(X: FloatArray, Z: FloatArray, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
    r = X.shape[1]
    log_mean = np.clip(X @ theta[:r], *_LOG_MEANS)
    return np.exp(log_mean), np.exp(np.clip(Z @ theta[r:], *_LOG_DISPERSIONS))


def log_masses(
    y: FloatArray, log_factorial: FloatArray, mean: FloatArray, dispersion: FloatArray
) -> FloatArray:
    """Return log P(Y = y) for each row, (n,)."""
    size = 1 / dispersion
    return np.asarray(
        gammaln(y + size)
        - gammaln(size)
        - log_factorial
        - size * np.log1p(mean * dispersion)
        + y * (np.log(mean) - np.log(size + mean))
    )


def _smooth(values: FloatArray, along: FloatArray) -> FloatArray:
    """Return values averaged over rows that are near each other in ``along``, (n,)."""
    order = np.argsort(along, kind="stable")
    smoothed = np.empty(len(values))
    for part in np.array_split(order, min(_N_GROUPS, len(values))):
        smoothed[part] = max(float(values[part].mean()), _LEAST_INFORMATION)
    return smoothed


def draw_coefficients(fit: NegativeBinomialFit, rng: np.random.Generator) -> NegativeBinomialFit:
    """Draw both functions from their posterior."""
    noise = solve_triangular(
        fit.factor, rng.standard_normal(len(fit.factor)), lower=True, trans="T"
    )
    r = len(fit.mean)
    return fit._replace(mean=fit.mean + noise[:r], dispersion=fit.dispersion + noise[r:])
