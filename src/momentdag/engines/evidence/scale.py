"""The scale half of a local score: Fisher scoring of log standard deviations.

With orthogonal basis functions P and an expected information κ of a log standard deviation that is
the same everywhere (2 for normal noise), the scoring step is the fit of a working response
z = η + (ω s e^{-2η} - 1)/κ with noise variance 1/κ: every coefficient on its own.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from momentdag.engines.evidence.noise import Student

__all__ = [
    "LARGEST_SQUARE",
    "TOLERANCE",
    "ScalePrior",
    "move_log_std",
    "scale_evidence",
    "working_evidence",
]

FloatArray: TypeAlias = npt.NDArray[np.float64]

TOLERANCE = 0.05
"""Largest move of a log standard deviation that still counts as converged."""
LARGEST_SQUARE = 20.0
"""A squared standardised residual beyond this says "outlier", not "larger scale"."""

_SCORING_STEPS = 3
_LARGEST_MOVE = 1.5  # Fisher scoring is trusted this far in log standard deviation
# In units of the column's own: 4e-8, just above the 1e-8 to which standardised values are rounded.
# Below it a residual says nothing, and without a floor the weights of such rows overflow.
_SMALLEST_LOG_STD = -17.0


class ScalePrior(NamedTuple):
    """Prior variances of u for each amplitude, and the amplitudes' log probabilities."""

    variances: FloatArray  # (A, r)
    log_share: FloatArray  # (A,)


def move_log_std(
    P: FloatArray,
    prior: ScalePrior,
    log_std: FloatArray,
    second: FloatArray,
    base: Student,
    amplitude: int | None,
) -> tuple[FloatArray, int]:
    """Move the log standard deviations by a few Fisher scoring steps, residuals held."""
    kappa = base.scale_information
    for _ in range(_SCORING_STEPS):
        projection = _working_response(log_std, second, base) @ P
        if amplitude is None:
            amplitude = int(np.argmax(working_evidence(projection, prior, kappa)))
        spread = kappa * prior.variances[amplitude]
        step = P @ (projection * (spread / (spread + 1))) - log_std
        largest = max(float(step.max()), -float(step.min()))
        if largest > _LARGEST_MOVE:
            step *= _LARGEST_MOVE / largest
        log_std = np.maximum(log_std + step, _SMALLEST_LOG_STD)
        if largest < 0.5 * TOLERANCE:
            break
    assert amplitude is not None
    return log_std, amplitude


def _working_response(log_std: FloatArray, second: FloatArray, base: Student) -> FloatArray:
    e2 = second * np.exp(-2 * log_std)
    if not base.is_normal:
        e2 *= base.weights(e2)
    np.minimum(e2, LARGEST_SQUARE, out=e2)
    e2 -= 1
    e2 /= base.scale_information
    e2 += log_std
    return e2


def working_evidence(projection: FloatArray, prior: ScalePrior, kappa: float) -> FloatArray:
    """Return, for each amplitude, the log evidence of z ~ N(P u, 1/κ) up to a constant, (A,)."""
    spread = kappa * prior.variances
    fitted = (kappa * projection * projection) * (spread / (spread + 1))
    return np.asarray(0.5 * (fitted - np.log1p(spread)).sum(axis=1) + prior.log_share)


def scale_evidence(
    P: FloatArray, prior: ScalePrior, log_std: FloatArray, second: FloatArray, base: Student
) -> tuple[float, int]:
    """Return the Occam and prior terms of u at its mode, averaged over amplitudes."""
    kappa = base.scale_information
    projection = _working_response(log_std, second, base) @ P
    values = working_evidence(projection, prior, kappa)
    best = int(np.argmax(values))
    u, variances = log_std @ P, prior.variances[best]
    at_best = -0.5 * float((u * u / variances + np.log1p(kappa * variances)).sum())
    averaged = float(np.logaddexp.reduce(values)) - float(values[best])
    return at_best + float(averaged + prior.log_share[best]), best
