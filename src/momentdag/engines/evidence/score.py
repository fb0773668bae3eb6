"""The local score: log evidence of one variable given its mean and variance parents.

    y = Q w + exp(P u) e,    w ~ N(0, a_M Λ_M),   u ~ N(0, a_V Λ_V),   e ~ noise

with Q and P the orthogonal bases of `features`. Given η = P u and weights ω of the noise, w is
Gaussian with precision H = Q' diag(ω e^{-2η}) Q + Λ^-1; given the second moments of the residual
with w integrated out, s_i = r_i² + Q_i H^-1 Q_i', Fisher scoring moves u. Because P is orthogonal
and the expected information of a log standard deviation is a constant κ (2 for normal noise), the
scoring step and its determinant are diagonal. Amplitudes are averaged over a small grid.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.linalg.lapack import dposv

from momentdag.engines.evidence.family import Parents
from momentdag.engines.evidence.features import Basis, FeatureMap
from momentdag.engines.evidence.location import (
    MeanPart,
    MeanPrior,
    mean_occam,
    mean_part,
    mean_variance,
    start,
)
from momentdag.engines.evidence.noise import NoiseDensity, fit_noise
from momentdag.engines.evidence.scale import (
    LARGEST_SQUARE,
    SMALLEST_LOG_STD,
    TOLERANCE,
    ScalePrior,
    move_log_std,
    scale_evidence,
)
from momentdag.engines.evidence.shapes import SHAPES, SYMMETRIC, Shape, log_likelihoods
from momentdag.engines.evidence.student import GAUSSIAN, best_student

__all__ = ["LocalFit", "LocalScorer", "NoiseFamily"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
NoiseFamily: TypeAlias = Literal["flexible", "gaussian", "student"]

_MAX_STEPS = 40
_MAX_LOOKS = 4  # at neighbouring amplitudes of the mean
_LEAST_SIGNAL = 0.3  # variance of a mean function over that of the typical noise
_STEPS_THAT_CHOOSE_TAILS = (1, 3)
# A posterior variance of the mean is a small part of a second moment; it is computed again once
# log standard deviations have moved by this much.
_STALE = 0.2
# Mean and scale take turns, and each turn leaves about a seventh of the way to where both rest.
_OVERSHOOT = 0.15
_MOST_PRIORS = 4096  # kept of parent sets, for each moment

# Variance of a function in units of the effect's own, and of a log standard deviation: mostly
# moderate. Tiny mean amplitudes serve effects whose spread is nearly all noise, huge variance
# amplitudes serve scales that range over orders of magnitude.
MEAN_AMPLITUDES = {1e-6: 0.02, 1e-4: 0.03, 0.005: 0.05, 0.3: 0.3, 1.0: 0.35, 3.0: 0.25}
VARIANCE_AMPLITUDES = {0.3: 0.3, 1.0: 0.35, 3.0: 0.25, 12.0: 0.06, 60.0: 0.025, 400.0: 0.015}


class LocalFit(NamedTuple):
    """A converged local score with what is needed to continue from it or to draw functions."""

    log_evidence: float
    log_std: FloatArray  # η, (n,)
    residual: FloatArray  # r, (n,)
    second_moment: FloatArray  # s = r² + leverage, (n,)
    mean: MeanPart
    scale_amplitude: int
    noise: NoiseDensity
    converged: bool


class LocalScorer:
    """Scores of every variable of one standardised table.

    Parameters
    ----------
    values : float array, shape (n, d)
        Standardised columns.
    mean_features, variance_features : FeatureMap
    noise : {"flexible", "gaussian", "student"}
    mean_amplitudes, variance_amplitudes : mapping of float to float
        Amplitudes over which the evidence is averaged, ascending, with their prior probabilities.
    """

    def __init__(
        self,
        values: FloatArray,
        mean_features: FeatureMap,
        variance_features: FeatureMap,
        noise: NoiseFamily,
        mean_amplitudes: Mapping[float, float] = MEAN_AMPLITUDES,
        variance_amplitudes: Mapping[float, float] = VARIANCE_AMPLITUDES,
    ) -> None:
        self.columns = np.ascontiguousarray(values.T)
        self.mean_features = mean_features
        self.variance_features = variance_features
        self.noise = noise
        self._mean_amplitudes = list(mean_amplitudes)
        self._per_amplitude = 1 / np.array(self._mean_amplitudes)
        self._log_mean_amplitudes = np.log(self._mean_amplitudes)
        self._log_mean_share = np.log(list(mean_amplitudes.values()))
        self._variance_amplitudes = np.array(list(variance_amplitudes))
        self._log_variance_share = np.log(list(variance_amplitudes.values()))
        self._usual_amplitude = int(np.argmax(self._log_mean_share))
        self._mean_priors: dict[int, MeanPrior] = {}
        self._scale_priors: dict[int, ScalePrior] = {}
        self.n_fits = 0

    def __getstate__(self) -> dict[str, Any]:
        # Priors can be made again: a stored fit need not carry them.
        return {**self.__dict__, "_mean_priors": {}, "_scale_priors": {}}

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return len(self.columns)

    @property
    def fit_bytes(self) -> int:
        """Rough size of a `LocalFit`."""
        return 8 * int(3 * self.columns.shape[1] + 2 * len(self.mean_features.inducing_rows) ** 2)

    def fit(self, variable: int, parents: Parents) -> LocalFit:
        """Score one variable given its parents; the same call always gives the same bits.

        Where a factorisation fails the evidence is minus infinity, so that no search or chain
        ever goes there, and ``converged`` is false.
        """
        self.n_fits += 1
        try:
            return self._fit(variable, parents)
        except np.linalg.LinAlgError:
            n = self.columns.shape[1]
            nothing = np.zeros(n)
            empty = MeanPart(np.eye(1), np.zeros(1), 0, np.eye(1), np.zeros(1))
            noise = NoiseDensity(Shape(GAUSSIAN))
            return LocalFit(-np.inf, nothing, nothing, nothing, empty, 0, noise, False)

    def _fit(self, variable: int, parents: Parents) -> LocalFit:
        y = self.columns[variable]
        mean_basis = self.mean_features(parents.mean)
        P = self.variance_features(parents.variance).functions
        mean_prior = self._mean_prior(parents.mean)
        scale_prior = self._scale_prior(parents.variance)
        log_std, variance, mean_amplitude = self._start(y, mean_basis, mean_prior, P, scale_prior)
        base, weights = GAUSSIAN, None
        scale_amplitude: int | None = None
        n_looks = 0
        moved = 0.0
        for step in range(_MAX_STEPS):
            inverse_square = np.exp(-2 * log_std)
            precision = inverse_square if weights is None else weights * inverse_square
            mean = mean_part(y, mean_basis, precision, mean_prior, mean_amplitude)
            residual = y - mean_basis.functions @ mean.coefficients
            if moved > _STALE:
                variance, moved = mean_variance(mean_basis, mean), 0.0
            second = residual * residual + variance
            if self.noise != "gaussian" and step in _STEPS_THAT_CHOOSE_TAILS:
                base = best_student(second * inverse_square)
                scale_prior = scale_prior.given(base.scale_information)
            move = move_log_std(P, scale_prior, log_std, second, base, scale_amplitude)
            remainder = move.log_std - log_std
            largest = float(np.abs(remainder).max())
            converged = largest < TOLERANCE
            is_last = step == _MAX_STEPS - 1
            if is_last or (converged and step >= (1 if self.noise == "gaussian" else 2)):
                near = self._near_evidence(mean, mean_prior, log_std)
                n_looks += 1
                better = max(near, key=near.__getitem__, default=mean_amplitude)
                if is_last or near.get(better, 0.0) <= 0 or n_looks == _MAX_LOOKS:
                    break
                mean_amplitude, moved = better, np.inf
            log_std = np.maximum(move.log_std + _OVERSHOOT * remainder, SMALLEST_LOG_STD)
            moved += largest if step > 0 else np.inf
            weights = None if base.is_normal else base.weights(second * np.exp(-2 * log_std))
            # Let the amplitude settle, then hold it: a choice that flips back and forth would
            # keep the iteration from converging.
            scale_amplitude = None if step < 2 else move.amplitude
        of_scale, best_amplitude = scale_evidence(P, scale_prior, log_std, move.projection)
        log_noise, noise = self._noise_evidence(residual * np.exp(-log_std))
        occam = mean_occam(mean, mean_prior, list(near.values()), base)
        # The last move was not made; to second order this is what it would have gained.
        unmoved = 0.5 * base.scale_information * float(remainder @ remainder) if converged else 0.0
        evidence = log_noise - float(log_std.sum()) + occam + of_scale + unmoved
        if not np.isfinite(evidence):
            raise np.linalg.LinAlgError("The evidence is not a number.")
        return LocalFit(evidence, log_std, residual, second, mean, best_amplitude, noise, converged)

    def screen(
        self,
        variable: int,
        fit: LocalFit,
        parents: Parents,
        mean_additions: list[int],
        variance_additions: list[int],
    ) -> tuple[dict[int, float], dict[int, float]]:
        """Estimate the evidence gained by each addition to the mean, and to the variance parents.

        The addition enters as a function of its own on top of ``fit``, which is held.
        """
        precision = np.exp(-2 * fit.log_std)
        weighted = precision * fit.residual
        mean_gains = {}
        for i in mean_additions:
            Q, variances = self.mean_features(1 << i)
            if len(variances) == 1:  # it hardly ever moves: nothing to gain
                continue
            target = (weighted @ Q)[1:]
            scaled = Q[:, 1:] * np.sqrt(precision)[:, None]
            H = scaled.T @ scaled
            H.flat[:: len(H) + 1] += 1 / variances[1:]
            factor, solution, status = dposv(H, target, lower=1)
            if status == 0:
                log_det = 2 * np.log(factor.diagonal()).sum() + np.log(variances[1:]).sum()
                mean_gains[i] = 0.5 * float(target @ solution - log_det)
        slope = 0.5 * (np.minimum(fit.second_moment * precision, LARGEST_SQUARE) - 1)
        variance_gains = {}
        for i in variance_additions:
            P, variances = self.variance_features(1 << i)
            projection = (slope @ P)[1:]
            prior = ScalePrior.of(variances[None, 1:], np.zeros(1))
            variance_gains[i] = float(prior.working_evidence(projection)[0])
        return mean_gains, variance_gains

    def _near_evidence(
        self, mean: MeanPart, prior: MeanPrior, log_std: FloatArray
    ) -> dict[int, float]:
        """Return the log evidence of the neighbouring amplitudes relative to this one."""
        lowest, highest = self._lowest_amplitude(log_std), len(prior.log_weight) - 1
        at_best = mean.evidence(prior)
        return {
            a: mean.at(prior, a).evidence(prior) - at_best
            for a in (mean.amplitude - 1, mean.amplitude + 1)
            if lowest <= a <= highest
        }

    def _lowest_amplitude(self, log_std: FloatArray) -> int:
        """Return the first amplitude that a function must have to stand out from the noise.

        Below it an edge would be no edge: present in the graph, absent from the data, and nearly
        free of charge.
        """
        typical_noise = math.exp(2 * float(log_std.sum()) / len(log_std))
        lowest = bisect_left(self._mean_amplitudes, _LEAST_SIGNAL * typical_noise)
        return min(lowest, self._usual_amplitude - 1) if self._usual_amplitude else 0

    def _start(
        self,
        y: FloatArray,
        basis: Basis,
        mean_prior: MeanPrior,
        P: FloatArray,
        scale_prior: ScalePrior,
    ) -> tuple[FloatArray, FloatArray, int]:
        """Return log standard deviations, variances of the mean and its amplitude to start from."""
        usual = min(self._usual_amplitude, len(mean_prior.log_weight) - 1)
        noise, leverage, second, evidence = start(y, basis, mean_prior, usual)
        log_std = np.full(len(y), 0.5 * np.log(noise))
        amplitude = usual
        if usual > 0:
            lowest = self._lowest_amplitude(log_std)
            amplitude = lowest + int(evidence[lowest:].argmax())
        if P.shape[1] > 1:
            log_std = move_log_std(P, scale_prior, log_std, second, GAUSSIAN, None).log_std
        return log_std, leverage * np.exp(2 * log_std), amplitude

    def _mean_prior(self, mask: int) -> MeanPrior:
        """Return the prior of w for the mean parents ``mask``."""
        if mask not in self._mean_priors:
            if len(self._mean_priors) == _MOST_PRIORS:
                self._mean_priors.clear()
            self._mean_priors[mask] = self._new_mean_prior(self.mean_features(mask))
        return self._mean_priors[mask]

    def _scale_prior(self, mask: int) -> ScalePrior:
        """Return the prior of u for the variance parents ``mask``."""
        if mask not in self._scale_priors:
            if len(self._scale_priors) == _MOST_PRIORS:
                self._scale_priors.clear()
            self._scale_priors[mask] = self._new_scale_prior(self.variance_features(mask))
        return self._scale_priors[mask]

    def _new_mean_prior(self, basis: Basis) -> MeanPrior:
        precisions = 1 / basis.variances
        if len(precisions) == 1:
            return MeanPrior(precisions[None, :], 0.5 * np.log(precisions))
        every = np.multiply.outer(self._per_amplitude, precisions)
        every[:, 0] = precisions[0]  # the intercept keeps its own
        log_det = np.log(precisions).sum() - (len(precisions) - 1) * self._log_mean_amplitudes
        return MeanPrior(every, self._log_mean_share + 0.5 * log_det)

    def _new_scale_prior(self, basis: Basis) -> ScalePrior:
        if len(basis.variances) == 1:
            return ScalePrior.of(basis.variances[None, :], np.zeros(1))
        variances = self._variance_amplitudes[:, None] * basis.variances
        variances[:, 0] = basis.variances[0]  # the intercept keeps its own
        return ScalePrior.of(variances, self._log_variance_share)

    def scale_posterior(self, fit: LocalFit, parents: Parents) -> tuple[FloatArray, FloatArray]:
        """Return posterior means and variances of u, the log standard deviation's coefficients."""
        basis = self.variance_features(parents.variance)
        prior = self._scale_prior(parents.variance).variances[fit.scale_amplitude]
        information = fit.noise.base.tails.scale_information
        return fit.log_std @ basis.functions, 1 / (information + 1 / prior)

    def prior_precisions(self, fit: LocalFit, parents: Parents) -> tuple[FloatArray, FloatArray]:
        """Return the prior precisions of w and u at the amplitudes of a fit."""
        mean, scale = self._mean_prior(parents.mean), self._scale_prior(parents.variance)
        return mean.precisions[fit.mean.amplitude], 1 / scale.variances[fit.scale_amplitude]

    def _noise_evidence(self, e: FloatArray) -> tuple[float, NoiseDensity]:
        """Return the log-likelihood of standardised residuals, its shape integrated out."""
        if self.noise == "flexible":
            return fit_noise(e)
        if self.noise == "gaussian":
            return float(GAUSSIAN.log_density(e * e).sum()), NoiseDensity(Shape(GAUSSIAN))
        values = log_likelihoods(e, SYMMETRIC)
        likeliest = SHAPES[SYMMETRIC[int(values.argmax())]]
        return float(np.logaddexp.reduce(values) - np.log(len(values))), NoiseDensity(likeliest)
