"""The local score: log evidence of one variable given its mean and variance parents.

    y = Q w + exp(P u) e,    w ~ N(0, a_M Λ_M),   u ~ N(0, a_V Λ_V),   e ~ noise

with Q and P the orthogonal bases of `features`. Given η = P u and weights ω of the noise, w is
Gaussian with precision H = Q' diag(ω e^{-2η}) Q + Λ^-1; given the second moments of the residual
with w integrated out, s_i = r_i² + Q_i H^-1 Q_i', Fisher scoring moves u. Because P is orthogonal
and the expected information of a log standard deviation is a constant κ (2 for normal noise), the
scoring step and its determinant are diagonal. Amplitudes are averaged over a small grid.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.linalg.lapack import dposv, dpotrf, dpotrs, dtrtri

from momentdag.engines.evidence.family import Parents
from momentdag.engines.evidence.features import Basis, FeatureMap
from momentdag.engines.evidence.noise import (
    GAUSSIAN,
    STUDENT_GRID,
    NoiseDensity,
    Student,
    fit_tilt,
    student,
)
from momentdag.engines.evidence.scale import (
    LARGEST_SQUARE,
    TOLERANCE,
    ScalePrior,
    move_log_std,
    scale_evidence,
    working_evidence,
)

__all__ = ["LocalFit", "LocalScorer", "MeanPart", "NoiseFamily"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
NoiseFamily: TypeAlias = Literal["flexible", "gaussian", "student"]

_MAX_STEPS = 40
_LEAST_SIGNAL = 0.3  # variance of a mean function over that of the typical noise
_STEPS_THAT_CHOOSE_TAILS = (1, 3)

# Variance of a function in units of the effect's own, and of a log standard deviation: mostly
# moderate. Tiny mean amplitudes serve effects whose spread is nearly all noise, huge variance
# amplitudes serve scales that range over orders of magnitude.
MEAN_AMPLITUDES = {1e-6: 0.02, 1e-4: 0.03, 0.005: 0.05, 0.3: 0.3, 1.0: 0.35, 3.0: 0.25}
VARIANCE_AMPLITUDES = {0.3: 0.3, 1.0: 0.35, 3.0: 0.25, 12.0: 0.06, 60.0: 0.025, 400.0: 0.015}


class MeanPart(NamedTuple):
    """Gaussian posterior of the mean coefficients given the log standard deviations."""

    gram: FloatArray  # Q' diag(ω e^{-2η}) Q, (r, r)
    target: FloatArray  # Q' diag(ω e^{-2η}) y, (r,)
    evidence: float  # log evidence given η with this amplitude, up to terms without w
    amplitude: int
    factor: FloatArray  # lower Cholesky factor of H, (r, r)
    coefficients: FloatArray  # (r,)


class LocalFit(NamedTuple):
    """A converged local score with what is needed to continue from it or to draw functions."""

    log_evidence: float
    log_std: FloatArray  # η, (n,)
    residual: FloatArray  # r, (n,)
    second_moment: FloatArray  # s = r² + leverage, (n,)
    mean: MeanPart
    scale_evidence: float
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
        self._mean_amplitudes = np.array(list(mean_amplitudes))
        self._log_mean_share = np.log(list(mean_amplitudes.values()))
        self._variance_amplitudes = np.array(list(variance_amplitudes))
        self._log_variance_share = np.log(list(variance_amplitudes.values()))
        self._usual_amplitude = int(np.argmax(self._log_mean_share))
        self.n_fits = 0

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
            empty = MeanPart(np.eye(1), np.zeros(1), -np.inf, 0, np.eye(1), np.zeros(1))
            noise = NoiseDensity(GAUSSIAN)
            return LocalFit(-np.inf, nothing, nothing, nothing, empty, -np.inf, 0, noise, False)

    def _fit(self, variable: int, parents: Parents) -> LocalFit:
        y = self.columns[variable]
        mean_basis = self.mean_features(parents.mean)
        scale_basis = self.variance_features(parents.variance)
        prior = self._scale_prior(scale_basis)
        P = scale_basis.functions
        log_std = self._start(y, mean_basis, P, prior)
        base, weights = GAUSSIAN, None
        mean_amplitude = self._usual_amplitude
        scale_amplitude: int | None = None
        for step in range(_MAX_STEPS):
            # The best amplitude is looked for once, when the scale has settled a little.
            mean = self._mean_part(y, mean_basis, log_std, weights, mean_amplitude, step == 1)
            residual, second = _residuals(y, mean_basis, mean)
            if self.noise != "gaussian" and step in _STEPS_THAT_CHOOSE_TAILS:
                base = _best_student(second * np.exp(-2 * log_std))
            moved_to, scale_amplitude = move_log_std(
                P, prior, log_std, second, base, scale_amplitude
            )
            moved = float(np.abs(moved_to - log_std).max())
            if moved < TOLERANCE and step >= (1 if self.noise == "gaussian" else 2):
                break
            log_std = moved_to
            weights = None if base.is_normal else base.weights(second * np.exp(-2 * log_std))
            mean_amplitude = mean.amplitude
            # Let the amplitude settle, then hold it: a choice that flips back and forth would
            # keep the iteration from converging.
            if step < 2:
                scale_amplitude = None
        else:
            mean = self._mean_part(y, mean_basis, log_std, weights, mean_amplitude, False)
            residual, second = _residuals(y, mean_basis, mean)
            moved_to = log_std
        of_scale, scale_amplitude = scale_evidence(P, prior, log_std, second, base)
        log_noise, noise = self._noise_evidence(residual * np.exp(-log_std), base)
        occam = self._mean_occam(mean_basis, mean, log_std, base)
        # The last move was not made; to second order this is what it would have gained.
        remainder = moved_to - log_std
        unmoved = 0.5 * base.scale_information * float(remainder @ remainder)
        evidence = log_noise - float(log_std.sum()) + occam + of_scale + unmoved
        if not np.isfinite(evidence):
            raise np.linalg.LinAlgError("The evidence is not a number.")
        return LocalFit(
            evidence,
            log_std,
            residual,
            second,
            mean,
            of_scale,
            scale_amplitude,
            noise,
            converged=moved < TOLERANCE,
        )

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
            prior = ScalePrior(variances[None, 1:], np.zeros(1))
            variance_gains[i] = float(working_evidence(projection, prior, 2.0)[0])
        return mean_gains, variance_gains

    def _mean_part(
        self,
        y: FloatArray,
        basis: Basis,
        log_std: FloatArray,
        weights: FloatArray | None,
        amplitude: int,
        look_for_better: bool,
    ) -> MeanPart:
        """Integrate the mean out given log standard deviations, at this amplitude or the best."""
        precision = np.exp(-2 * log_std)
        if weights is not None:
            precision *= weights
        Q = basis.functions
        scaled = Q * np.sqrt(precision)[:, None]
        gram = scaled.T @ scaled
        target = (precision * y) @ Q
        best = self._at_amplitude(gram, target, basis, amplitude)
        if look_for_better and len(basis.variances) > 1:
            lowest = self._lowest_amplitude(log_std)
            for direction in (-1, 1):
                # The evidence has one maximum along the grid: walk while it rises.
                while lowest <= best.amplitude + direction < len(self._mean_amplitudes):
                    next_ = self._at_amplitude(gram, target, basis, best.amplitude + direction)
                    if next_.evidence <= best.evidence:
                        break
                    best = next_
        return best

    def _lowest_amplitude(self, log_std: FloatArray) -> int:
        """Return the first amplitude that a function must have to stand out from the noise.

        Below it an edge would be no edge: present in the graph, absent from the data, and nearly
        free of charge.
        """
        typical_noise = np.exp(2 * log_std.mean())
        lowest = int(np.searchsorted(self._mean_amplitudes, _LEAST_SIGNAL * typical_noise))
        return min(lowest, self._usual_amplitude - 1) if self._usual_amplitude else 0

    def _inverse_prior(self, basis: Basis, amplitude: int) -> FloatArray:
        inverse = 1 / basis.variances
        inverse[1:] /= self._mean_amplitudes[amplitude]
        return inverse

    def _at_amplitude(
        self, gram: FloatArray, target: FloatArray, basis: Basis, amplitude: int
    ) -> MeanPart:
        inverse_prior = self._inverse_prior(basis, amplitude)
        H = gram.copy()
        H.flat[:: len(H) + 1] += inverse_prior
        factor, status = dpotrf(H, lower=1, overwrite_a=1)
        if status != 0:
            raise np.linalg.LinAlgError("The precision of the mean is not positive definite.")
        w, _ = dpotrs(factor, target, lower=1)
        evidence = (
            0.5 * float(target @ w)
            - float(np.log(factor.diagonal()).sum())
            + 0.5 * float(np.log(inverse_prior).sum())
        )
        if len(basis.variances) > 1:
            evidence += float(self._log_mean_share[amplitude])
        return MeanPart(gram, target, evidence, amplitude, factor, w)

    def _mean_occam(
        self, basis: Basis, mean: MeanPart, log_std: FloatArray, base: Student
    ) -> float:
        """Return prior and determinant terms of w at its mode, averaged over amplitudes."""
        inverse_prior = self._inverse_prior(basis, mean.amplitude)
        log_det = 2 * float(np.log(mean.factor.diagonal()).sum())
        if not base.is_normal:
            log_det = _expected_log_det(mean.gram, inverse_prior, base, log_det)
        averaged = 0.0
        if len(basis.variances) > 1:
            # Beyond the neighbours of the best amplitude the evidence has fallen off.
            near = [
                self._at_amplitude(mean.gram, mean.target, basis, a).evidence - mean.evidence
                for a in (mean.amplitude - 1, mean.amplitude + 1)
                if self._lowest_amplitude(log_std) <= a < len(self._mean_amplitudes)
            ]
            averaged = float(
                np.logaddexp.reduce([0.0, *near]) + self._log_mean_share[mean.amplitude]
            )
        w = mean.coefficients
        return averaged + 0.5 * float(
            (np.log(inverse_prior) - inverse_prior * w * w).sum() - log_det
        )

    def _start(self, y: FloatArray, basis: Basis, P: FloatArray, prior: ScalePrior) -> FloatArray:
        """Return log standard deviations from a homoscedastic fit, which is diagonal in Q."""
        Q, variances = basis
        projection = Q.T @ y
        total = float(y @ y)
        noise = total / len(y)
        for _ in range(3):
            shrinkage = variances / (variances + noise)
            fitted = projection * shrinkage
            left = total - 2 * float(projection @ fitted) + float(fitted @ fitted)
            noise = max(left + noise * float(shrinkage.sum()), 1e-10 * total) / len(y)
        residual = y - Q @ fitted
        second = residual * residual + (Q * Q) @ (noise * shrinkage)
        log_std = np.full(len(y), 0.5 * np.log(noise))
        if P.shape[1] == 1:
            return log_std
        return move_log_std(P, prior, log_std, second, GAUSSIAN, None)[0]

    def _scale_prior(self, basis: Basis) -> ScalePrior:
        if len(basis.variances) == 1:
            return ScalePrior(basis.variances[None, :], np.zeros(1))
        variances = self._variance_amplitudes[:, None] * basis.variances
        variances[:, 0] = basis.variances[0]  # the intercept keeps its own
        return ScalePrior(variances, self._log_variance_share)

    def scale_posterior(self, fit: LocalFit, parents: Parents) -> tuple[FloatArray, FloatArray]:
        """Return posterior means and variances of u, the log standard deviation's coefficients."""
        basis = self.variance_features(parents.variance)
        prior = self._scale_prior(basis).variances[fit.scale_amplitude]
        return fit.log_std @ basis.functions, 1 / (fit.noise.base.scale_information + 1 / prior)

    def _noise_evidence(self, e: FloatArray, base: Student) -> tuple[float, NoiseDensity]:
        """Return the log-likelihood of standardised residuals, its shape integrated out."""
        e2 = e * e
        if self.noise == "gaussian":
            return float(GAUSSIAN.log_density(e2).sum()), NoiseDensity(GAUSSIAN)
        values = np.array([float(student(df).log_density(e2).sum()) for df in STUDENT_GRID])
        log_noise = float(np.logaddexp.reduce(values) - np.log(len(values)))
        if self.noise == "student":
            return log_noise, NoiseDensity(base)
        # The tilt is measured against the most likely of the bases that were averaged.
        gain, density = fit_tilt(student(STUDENT_GRID[int(np.argmax(values))]), e)
        return log_noise + gain, density


def _residuals(y: FloatArray, basis: Basis, mean: MeanPart) -> tuple[FloatArray, FloatArray]:
    """Return residuals and their second moments with the coefficients integrated out."""
    Q = basis.functions
    residual = y - Q @ mean.coefficients
    inverse, _ = dtrtri(mean.factor, lower=1)
    half = Q @ inverse.T
    return residual, residual * residual + np.einsum("ij,ij->i", half, half)


def _best_student(e2: FloatArray) -> Student:
    values = [float(student(df).log_density(e2).sum()) for df in STUDENT_GRID]
    return student(STUDENT_GRID[int(np.argmax(values))])


def _expected_log_det(
    gram: FloatArray, inverse_prior: FloatArray, base: Student, fallback: float
) -> float:
    """Return log|c G + Λ^-1|, c turning the weights' curvature into the expected information."""
    H = gram * base.curvature_ratio
    H.flat[:: len(H) + 1] += inverse_prior
    factor, status = dpotrf(H, lower=1, overwrite_a=1)
    return 2 * float(np.log(factor.diagonal()).sum()) if status == 0 else fallback
