"""The scale half of a local score: Fisher scoring of log standard deviations.

With orthogonal basis functions P and an expected information κ of a log standard deviation that is
the same everywhere (2 for normal noise), the scoring step is the fit of a working response
z = η + (ω s e^{-2η} - 1)/κ with noise variance 1/κ: every coefficient on its own.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from momentdag.engines.evidence.local.noise.student import Student
from momentdag.engines.evidence.local.tuning import Amplitudes, ScoreTuning

__all__ = ["Move", "ScalePrior", "move_log_std", "scale_evidence"]

FloatArray: TypeAlias = npt.NDArray[np.float64]


class ScalePrior(NamedTuple):
    """Prior of u for each amplitude, with what the scoring step needs of it."""

    variances: FloatArray  # (A, r)
    log_share: FloatArray  # (A,) log probabilities of the amplitudes
    information: float  # κ
    shrinkage: FloatArray  # (A, r) of the working response's coefficients
    log_weight: FloatArray  # (A,) log probability less half the log determinant

    @classmethod
    def of(
        cls, variances: FloatArray, log_share: FloatArray, information: float = 2.0
    ) -> ScalePrior:
        """Return the prior with these variances (A, r) and log probabilities (A,)."""
        spread = information * variances
        log_weight = log_share - 0.5 * np.log1p(spread).sum(axis=1)
        return cls(variances, log_share, information, spread / (spread + 1), log_weight)

    @classmethod
    def over(cls, variances: FloatArray, amplitudes: Amplitudes) -> ScalePrior:
        """Return the prior with variances (r,) at amplitude one, the intercept's first."""
        if len(variances) == 1:
            return cls.of(variances[None, :], np.zeros(1))
        values, shares = map(np.array, zip(*amplitudes, strict=True))
        every = values[:, None] * variances
        every[:, 0] = variances[0]  # the intercept keeps its own
        return cls.of(every, np.log(shares))

    def given(self, information: float) -> ScalePrior:
        """Return the same prior next to noise with another expected information."""
        if information == self.information:
            return self
        return ScalePrior.of(self.variances, self.log_share, information)

    def working_evidence(self, projection: FloatArray) -> FloatArray:
        """Return, for each amplitude, the log evidence of z ~ N(P u, 1/κ) up to a constant, (A,).

        ``projection`` (r,) is P'z.
        """
        fitted = self.shrinkage @ (projection * projection)
        fitted *= 0.5 * self.information
        fitted += self.log_weight
        return fitted


class Move(NamedTuple):
    """Where a few scoring steps lead."""

    log_std: FloatArray  # (n,)
    amplitude: int
    projection: FloatArray  # (r,) P'z of the working response before the first step


def move_log_std(
    P: FloatArray,
    prior: ScalePrior,
    log_std: FloatArray,
    second: FloatArray,
    base: Student,
    amplitude: int | None,
    tuning: ScoreTuning,
) -> Move:
    """Move the log standard deviations by a few Fisher scoring steps, residuals held."""
    first: FloatArray | None = None
    for _ in range(tuning.scoring_steps):
        projection = _working_response(log_std, second, base, tuning.largest_square) @ P
        if first is None:
            first = projection
        if amplitude is None:
            amplitude = int(prior.working_evidence(projection).argmax())
        target = P @ (projection * prior.shrinkage[amplitude])
        step = target - log_std
        largest = float(np.abs(step).max())
        if largest > tuning.largest_move:
            target = log_std + step * (tuning.largest_move / largest)
        log_std = np.maximum(target, tuning.smallest_log_std)
        if largest < 0.5 * tuning.tolerance:
            break
    assert first is not None
    assert amplitude is not None
    return Move(log_std, amplitude, first)


def _working_response(
    log_std: FloatArray, second: FloatArray, base: Student, largest_square: float
) -> FloatArray:
    e2 = second * np.exp(-2 * log_std)
    if not base.is_normal:
        e2 *= base.weights(e2)
    np.minimum(e2, largest_square, out=e2)
    e2 -= 1
    e2 /= base.scale_information
    e2 += log_std
    return e2


def scale_evidence(
    P: FloatArray, prior: ScalePrior, log_std: FloatArray, projection: FloatArray
) -> tuple[float, int]:
    """Return the Occam and prior terms of u at its mode, averaged over amplitudes.

    ``projection`` (r,) is P'z at ``log_std``.
    """
    values = prior.working_evidence(projection)
    best = int(values.argmax())
    u = log_std @ P
    at_best = float(prior.log_weight[best]) - 0.5 * float((u / prior.variances[best]) @ u)
    return at_best + float(np.log(np.exp(values - values[best]).sum())), best
