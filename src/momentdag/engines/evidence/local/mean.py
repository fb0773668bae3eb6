"""The mean half of a local score: the coefficients of a mean function, integrated out.

Given the precision d_i of each row, w is Gaussian with precision H = Q' diag(d) Q + Λ^-1 / a and
mean H^-1 Q' diag(d) y; a is the amplitude, one of a small grid.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.linalg.lapack import dpotrf, dpotrs, dtrtri

from momentdag.engines.evidence.local.features import Basis
from momentdag.engines.evidence.local.noise.student import Student
from momentdag.engines.evidence.local.tuning import Amplitudes, ScoreTuning

__all__ = ["MeanPart", "MeanPrior", "Start", "mean_occam", "mean_part", "mean_variance", "start"]

FloatArray: TypeAlias = npt.NDArray[np.float64]


class MeanPrior(NamedTuple):
    """Prior precisions of w for each amplitude, and the amplitudes' prior probabilities."""

    precisions: FloatArray  # (A, r)
    log_weight: FloatArray  # (A,) log probability plus half the log determinant

    @classmethod
    def of(cls, variances: FloatArray, amplitudes: Amplitudes) -> MeanPrior:
        """Return the prior with these variances (r,) at amplitude one, the intercept's first."""
        precisions = 1 / variances
        if len(precisions) == 1:
            return cls(precisions[None, :], 0.5 * np.log(precisions))
        values, shares = map(np.array, zip(*amplitudes, strict=True))
        every = np.multiply.outer(1 / values, precisions)
        every[:, 0] = precisions[0]  # the intercept keeps its own
        log_det = np.log(precisions).sum() - (len(precisions) - 1) * np.log(values)
        return cls(every, np.log(shares) + 0.5 * log_det)


class MeanPart(NamedTuple):
    """Gaussian posterior of the mean coefficients given the precision of each row."""

    gram: FloatArray  # Q' diag(d) Q, (r, r)
    target: FloatArray  # Q' diag(d) y, (r,)
    amplitude: int
    factor: FloatArray  # lower Cholesky factor of H, (r, r)
    coefficients: FloatArray  # (r,)

    def at(self, prior: MeanPrior, amplitude: int) -> MeanPart:
        """Return the posterior with another amplitude."""
        return _posterior(self.gram, self.target, prior, amplitude)

    def evidence(self, prior: MeanPrior) -> float:
        """Return the log evidence given the precisions, up to terms that no amplitude changes."""
        return float(
            0.5 * (self.target @ self.coefficients)
            - np.log(self.factor.diagonal()).sum()
            + prior.log_weight[self.amplitude]
        )


def mean_part(
    y: FloatArray, basis: Basis, precision: FloatArray, prior: MeanPrior, amplitude: int
) -> MeanPart:
    """Integrate the mean out given the precision of each row."""
    Q = basis.functions
    scaled = Q * np.sqrt(precision)[:, None]
    return _posterior(scaled.T @ scaled, (precision * y) @ Q, prior, amplitude)


def _posterior(gram: FloatArray, target: FloatArray, prior: MeanPrior, amplitude: int) -> MeanPart:
    H = gram.copy()
    H.ravel()[:: len(H) + 1] += prior.precisions[amplitude]
    factor, status = dpotrf(H.T, lower=1, overwrite_a=1)  # symmetric, and in LAPACK's order as H.T
    if status != 0:
        raise np.linalg.LinAlgError("The precision of the mean is not positive definite.")
    w, _ = dpotrs(factor, target, lower=1)
    return MeanPart(gram, target, amplitude, factor, w)


def mean_variance(basis: Basis, mean: MeanPart) -> FloatArray:
    """Return the posterior variance of the mean function at each row, (n,)."""
    inverse, _ = dtrtri(mean.factor, lower=1)
    half = inverse @ basis.functions.T
    return np.asarray(np.einsum("ij,ij->j", half, half))


def mean_occam(mean: MeanPart, prior: MeanPrior, near: list[float], base: Student) -> float:
    """Return prior and determinant terms of w at its mode, averaged over amplitudes.

    ``near`` holds the log evidence of the amplitudes next to the best, relative to it; beyond them
    it has fallen off.
    """
    precisions = prior.precisions[mean.amplitude]
    log_det = 2 * float(np.log(mean.factor.diagonal()).sum())
    if not base.is_normal:
        log_det = _expected_log_det(mean.gram, precisions, base, log_det)
    w = mean.coefficients
    averaged = float(np.log1p(np.exp(near).sum()) + prior.log_weight[mean.amplitude])
    return averaged - 0.5 * (float((precisions * w) @ w) + log_det)


def _expected_log_det(
    gram: FloatArray, precisions: FloatArray, base: Student, fallback: float
) -> float:
    """Return log|c G + Λ^-1|, c turning the weights' curvature into the expected information."""
    H = gram * base.curvature_ratio
    H.ravel()[:: len(H) + 1] += precisions
    factor, status = dpotrf(H, lower=1, overwrite_a=1)
    return 2 * float(np.log(factor.diagonal()).sum()) if status == 0 else fallback


class Start(NamedTuple):
    """A fit with one noise variance for all rows, which is diagonal in Q."""

    noise: float  # its variance
    leverage: float  # variance of the mean over that of the noise, averaged over rows
    second_moment: FloatArray  # (n,)
    evidence: FloatArray  # (A,) log evidence of each amplitude, up to a constant


def start(
    y: FloatArray, basis: Basis, prior: MeanPrior, amplitude: int, tuning: ScoreTuning
) -> Start:
    """Fit with one noise variance, found at ``amplitude``."""
    Q = basis.functions
    precisions = prior.precisions[amplitude]
    projection = y @ Q
    energy = projection * projection
    total = float(y @ y)
    noise = total / len(y)
    for _ in range(tuning.start_steps):
        shrinkage = 1 / (1 + noise * precisions)
        degrees = float(shrinkage.sum())
        left = total - float(energy @ (shrinkage * (2 - shrinkage)))
        noise = max(left + noise * degrees, 1e-10 * total) / len(y)
    residual = y - Q @ (projection * shrinkage)
    # The same for all rows, which is near enough to start from.
    leverage = degrees / len(y)
    second_moment = residual * residual + noise * leverage
    H = 1 / noise + prior.precisions
    evidence = 0.5 * ((1 / H) @ energy / noise**2 - np.log(H).sum(axis=1)) + prior.log_weight
    return Start(noise, leverage, second_moment, evidence)
