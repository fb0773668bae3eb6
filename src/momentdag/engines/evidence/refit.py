"""Functions from all rows of a long table, whose structure was learned from a subset of them.

The basis functions and amplitudes of a mechanism stay those of the subset. Its coefficients take
Fisher scoring steps towards their posterior given more rows,

    w += (c G + Λ_w^-1)^-1 (Q'D r - Λ_w^-1 w),     G = Q'D Q,   D = diag(ω e^{-2η})
    u += (κ K + Λ_u^-1)^-1 (P'(ω e² - 1) - Λ_u^-1 u),   K = P'P

which need sums over rows only and so never more than a chunk of Q and P at a time. The rows grow
fourfold from step to step: a step from an estimate that is off by O(1/√m) is off by O(1/m) (the
one-step estimator; van der Vaart 1998, section 5.7), so that a single step over all rows is enough.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

import joblib
import numpy as np
import numpy.typing as npt
from scipy.linalg.lapack import dposv, dpotrf, dtrtri
from threadpoolctl import threadpool_limits

from momentdag.engines.evidence.local.features import Projection
from momentdag.engines.evidence.local.location_scale import NoiseFamily
from momentdag.engines.evidence.local.mean import MeanPart
from momentdag.engines.evidence.local.noise.density import NoiseDensity, fit_noise
from momentdag.engines.evidence.local.noise.shapes import Shape
from momentdag.engines.evidence.local.noise.student import GAUSSIAN, Student, best_student
from momentdag.engines.evidence.local.tuning import TUNING

__all__ = ["AllRows", "Coefficients", "chunks", "refit"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

CHUNK_ROWS = 2**13
"""Rows of which basis functions are held at a time: a few megabytes."""

_GROWTH = 4


class AllRows(NamedTuple):
    """Every row of a table, standardised, in the engine's order of columns.

    Parameters
    ----------
    values : float array, shape (n, d)
    effects : float array, shape (n, d), or None
        The columns as effects, if they differ (runs of earlier versions).
    set_cells : bool array, shape (n, d), or None
        The cells that an experimenter set.
    """

    values: FloatArray
    effects: FloatArray | None = None
    set_cells: npt.NDArray[np.bool_] | None = None

    @property
    def targets(self) -> FloatArray:
        """The columns as effects, (n, d)."""
        return self.values if self.effects is None else self.effects

    def of(self, variable: int) -> AllRows:
        """Return the rows in which a variable was not set."""
        if self.set_cells is None or not self.set_cells[:, variable].any():
            return self
        used = ~self.set_cells[:, variable]
        return AllRows(self.values[used], None if self.effects is None else self.effects[used])

    def every(self, step: int) -> AllRows:
        """Return every so many rows."""
        effects = None if self.effects is None else self.effects[::step]
        return AllRows(self.values[::step], effects)


class Coefficients(NamedTuple):
    """What all rows say about the functions of one variable."""

    mean: MeanPart
    scale: FloatArray  # u, (s,)
    scale_variances: FloatArray  # (s,)
    tails: Student  # give the weights ω and the information κ
    noise: NoiseDensity


class _Priors(NamedTuple):
    """Prior precisions of w and u."""

    mean: FloatArray  # (r,)
    scale: FloatArray  # (s,)


class _Sums(NamedTuple):
    """Sums over rows at given coefficients."""

    gram: FloatArray  # G, (r, r)
    target: FloatArray  # Q'D y, (r,)
    mean_slope: FloatArray  # Q'D r, (r,)
    scale_gram: FloatArray  # K, (s, s)
    scale_slope: FloatArray  # P'(ω e² - 1), (s,)


def chunks(n: int) -> Iterator[slice]:
    """Cut ``n`` rows into slices of which basis functions can be held.

    Examples
    --------
    >>> [(part.start, part.stop) for part in chunks(20_000)]
    [(0, 8192), (8192, 16384), (16384, 20000)]
    """
    for start in range(0, n, CHUNK_ROWS):
        yield slice(start, min(start + CHUNK_ROWS, n))


def refit(
    rows: AllRows,
    variable: int,
    bases: tuple[Projection, Projection],
    start: Coefficients,
    precisions: tuple[FloatArray, FloatArray],
    n_before: int,
    noise: NoiseFamily,
) -> Coefficients:
    """Return the coefficients given all rows.

    Parameters
    ----------
    rows : AllRows
    variable : int
    bases : (Projection, Projection)
        Basis functions of mean and log standard deviation.
    start : Coefficients
        Given ``n_before`` of the rows.
    precisions : (float array, float array), shapes (r,) and (s,)
        Prior precisions of w and u.
    n_before : int
    noise : {"flexible", "gaussian", "student"}
    """
    priors = _Priors(*precisions)
    n = len(rows.values)
    found, m = start, n_before
    while m < n:
        m = min(_GROWTH * m, n)
        # Every so many rows: tables are often sorted, and their beginning is not the whole.
        part = rows.every(n // m)
        m = len(part.values)
        found = _step(part, variable, bases, found, priors, noise)
    return found


def _step(
    rows: AllRows,
    variable: int,
    bases: tuple[Projection, Projection],
    at: Coefficients,
    priors: _Priors,
    noise: NoiseFamily,
) -> Coefficients:
    """Take one scoring step; stay where a factorisation fails."""
    sums, residuals = _sums(rows, variable, bases, at)
    w, u = at.mean.coefficients, at.scale
    information = _with_diagonal(at.tails.curvature_ratio * sums.gram, priors.mean)
    _, w_step, w_status = dposv(information, sums.mean_slope - priors.mean * w, lower=1)
    information = _with_diagonal(at.tails.scale_information * sums.scale_gram, priors.scale)
    _, u_step, u_status = dposv(information, sums.scale_slope - priors.scale * u, lower=1)
    factor, status = dpotrf(_with_diagonal(sums.gram, priors.mean), lower=1)
    if w_status or u_status or status:
        return at
    mean = MeanPart(sums.gram, sums.target, at.mean.amplitude, factor, w + w_step)
    # P is orthogonal on the subset and nearly so on all rows: its coefficients stay independent.
    variances = 1 / information.diagonal()
    tails = GAUSSIAN if noise == "gaussian" else best_student(residuals * residuals)
    density = fit_noise(residuals)[1] if noise == "flexible" else NoiseDensity(Shape(tails))
    return Coefficients(mean, u + u_step, variances, tails, density)


def _sums(
    rows: AllRows, variable: int, bases: tuple[Projection, Projection], at: Coefficients
) -> tuple[_Sums, FloatArray]:
    """Return the sums over all rows, and their standardised residuals (m,)."""
    inverse, _ = dtrtri(at.mean.factor, lower=1)
    # Threads share the rows; added up in their order, sums are the same however many there are.
    # Linear algebra with threads of its own would only be in their way.
    parallel = joblib.Parallel(n_jobs=-1, backend="threading", return_as="generator")
    n = len(rows.values)
    tasks = (
        joblib.delayed(_sums_of)(y, values, bases, at, inverse)
        for y, values in ((rows.targets[p, variable], rows.values[p]) for p in chunks(n))
    )
    with threadpool_limits(1):
        parts: Iterator[tuple[_Sums, FloatArray]] = parallel(tasks)
        total, first = next(parts)
        noise = [first]
        for sums, own in parts:
            total = _Sums(*map(np.add, total, sums))
            noise.append(own)
    return total, np.concatenate(noise)


def _sums_of(
    y: FloatArray,
    values: FloatArray,
    bases: tuple[Projection, Projection],
    at: Coefficients,
    inverse: FloatArray,
) -> tuple[_Sums, FloatArray]:
    """Return the same of some rows; ``inverse`` is that of the factor of the mean's precision."""
    Q, P = bases[0](values), bases[1](values)
    inverse_std = np.exp(-(P @ at.scale))
    residual = y - Q @ at.mean.coefficients
    half = Q @ inverse.T
    e2 = (residual * residual + np.einsum("ij,ij->i", half, half)) * inverse_std**2
    weights = at.tails.weights(e2)
    precision = weights * inverse_std**2
    scaled = Q * np.sqrt(precision)[:, None]
    sums = _Sums(
        scaled.T @ scaled,
        (precision * y) @ Q,
        (precision * residual) @ Q,
        P.T @ P,
        (np.minimum(weights * e2, TUNING.largest_square) - 1) @ P,
    )
    return sums, residual * inverse_std


def _with_diagonal(matrix: FloatArray, diagonal: FloatArray) -> FloatArray:
    added = matrix.copy()
    added.flat[:: len(added) + 1] += diagonal
    return added
