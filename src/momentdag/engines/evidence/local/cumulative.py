"""The local score of a variable with few ordered levels; two of them are the Bernoulli case.

A level k is what a latent location-scale variable reaches, with logistic noise and free thresholds,

    P(y <= k) = F((t_k - m) / v),   m = Q w,   log v = P u,   F(z) = 1 / (1 + e^-z)

with Q and P the bases of `features` without their intercepts, which thresholds stand for. Mean and
variance parents keep their meaning: one shifts the latent variable, the other spreads it. With two
levels v is not identified, and variance parents are not open (see `prior`).

The prior of the thresholds is uniform over the shares π_k of the levels where m = 0 and v = 1,
p(t) = (K - 1)! Π_k f(t_k), so that without parents the evidence is that of a uniform Dirichlet
prior in closed form,

    log p(y) = log (K - 1)! Π_k n_k! / (n + K - 1)!.

With parents it is Laplace's approximation at the mode of θ = (t, w, u), with expected information
H, which Fisher scoring finds, averaged over amplitudes; and the error that the same approximation
has without parents is taken out:

    log p(y) =   Σ_i log P(y_i) + log p(t) + log p(w) + log p(u) + ½ |θ| log 2π - ½ log |H|
               + (closed form - approximation) without parents.

All of it is a probability of the observed levels, so it can be compared with the probability of
any other model of the same column, whatever the direction of the arrow.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpotrf, dpotrs
from scipy.special import expit, gammaln, logit

from momentdag.engines.evidence.local.level_shares import (
    LEAST,
    Thresholds,
    differences,
    levels_at,
    log_cells,
)
from momentdag.engines.evidence.local.levels import (
    GroupedRows,
    LevelTuning,
    Mode,
    average_evidence,
    gains_of,
    relevant,
)

__all__ = ["CumulativeFit", "CumulativeModel"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
IndexArray: TypeAlias = npt.NDArray[np.intp]

_LOG_TAU = float(np.log(2 * np.pi))


class CumulativeFit(NamedTuple):
    """A converged score, with what is needed to screen further parents and to draw functions."""

    log_evidence: float
    thresholds: FloatArray  # t, (K - 1,)
    mean: FloatArray  # w, (r,), without the intercept
    scale: FloatArray  # u, (s,), without the intercept
    factor: FloatArray  # lower Cholesky factor of H, of t, w and u in that order
    slope: FloatArray  # of the log-likelihood by m, (n,)
    information: FloatArray  # of m, expected, (n,)
    scale_slope: FloatArray  # the same by log v
    scale_information: FloatArray
    log_likelihood: FloatArray  # log P(y_i), (n,)
    converged: bool


class _Design(NamedTuple):
    """Different rows g = 1..G, and how often each occurs."""

    Q: FloatArray  # (G, r)
    P: FloatArray  # (G, s)
    mean_variances: FloatArray  # (r,) at amplitude one
    scale_variances: FloatArray  # (s,)
    codes: IndexArray  # (G,)
    weights: FloatArray  # (G,)


class _Point(NamedTuple):
    """Derivatives of the log-likelihood at one θ."""

    log_likelihood: FloatArray  # (G,)
    gradient: FloatArray  # (D,)
    information: FloatArray  # (D, D)
    slope: FloatArray  # by m, (G,)
    row_information: FloatArray  # of m, (G,)


class CumulativeModel:
    """One variable with few ordered levels.

    Parameters
    ----------
    codes : int array, shape (n,)
        The level of each row, 0 to K - 1; every level occurs.
    tuning : LevelTuning
    """

    def __init__(self, codes: IndexArray, tuning: LevelTuning) -> None:
        self.codes = codes
        self.counts = np.bincount(codes)
        self.tuning = tuning
        n, K = len(codes), len(self.counts)
        self._exact = float(gammaln(K) + gammaln(self.counts + 1).sum() - gammaln(n + K))
        shares = (np.cumsum(self.counts)[:-1] + 0.5) / (n + 1)
        self.start = np.asarray(logit(shares))
        # Without parents, rows of a level are all the same.
        rows = GroupedRows.of(codes)
        empty, none = np.zeros((K, 0)), np.zeros(0)
        design = _Design(empty, empty, none, none, codes[rows.first], rows.weights)
        theta, point, converged = self._climb(design, (), self.start)
        approximate, factor = self._laplace(design, (), theta, point)
        self._correction = self._exact - approximate
        self.empty = self._package(self._exact, design, theta, factor, point, converged, rows)

    @property
    def n_levels(self) -> int:
        """Number of levels, K."""
        return len(self.counts)

    @property
    def max_functions(self) -> int:
        """Basis functions of a parent set, at most."""
        return self.tuning.max_functions

    def fit(
        self,
        mean_basis: tuple[FloatArray, FloatArray],
        scale_basis: tuple[FloatArray, FloatArray],
        rows: GroupedRows | None = None,
    ) -> CumulativeFit:
        """Score the variable given the bases of its parents, functions and prior variances.

        Parameters
        ----------
        mean_basis, scale_basis : (float array (n, p), float array (p,))
        rows : GroupedRows, optional
            Rows that are alike in the variable and its parents; None if all differ.

        Raises
        ------
        LinAlgError
            If a factorisation fails.
        """
        tuning = self.tuning
        Q, mean_variances = relevant(*mean_basis, tuning, self.max_functions)
        P, scale_variances = relevant(*scale_basis, tuning, self.max_functions)
        if not Q.shape[1] and not P.shape[1]:
            return self.empty
        design = self._design(Q, P, mean_variances, scale_variances, rows)
        k, r = self.n_levels - 1, Q.shape[1]
        start = np.concatenate([self.start, np.zeros(r + P.shape[1])])
        parts = (
            (np.arange(k, k + r), mean_variances),
            (np.arange(k + r, len(start)), scale_variances),
        )
        places, variances = zip(*(part for part in parts if len(part[0])), strict=True)

        def score(
            amplitudes: tuple[float, ...], start: FloatArray
        ) -> tuple[float, Mode, CumulativeFit]:
            theta, point, converged = self._climb(design, amplitudes, start)
            value, factor = self._laplace(design, amplitudes, theta, point)
            _, information = self._with_prior(point, theta, np.zeros(len(theta) - k))
            mode = Mode(theta, information, places, variances)
            return value, mode, self._package(value, design, theta, factor, point, converged, rows)

        grids = [tuning.mean_amplitudes] * (Q.shape[1] > 0)
        grids += [tuning.scale_amplitudes] * (P.shape[1] > 0)
        evidence, fit = average_evidence(score, grids, start)
        return fit._replace(log_evidence=evidence + self._correction)

    def screen_mean(
        self, fit: CumulativeFit, functions: FloatArray, variances: FloatArray
    ) -> float:
        """Estimate what one more function in the mean would gain."""
        return gains_of(functions, variances, fit.slope[:, None], fit.information[:, None])

    def screen_scale(
        self, fit: CumulativeFit, functions: FloatArray, variances: FloatArray
    ) -> float:
        """Estimate what one more function in the log scale would gain."""
        return gains_of(
            functions, variances, fit.scale_slope[:, None], fit.scale_information[:, None]
        )

    def _design(
        self,
        Q: FloatArray,
        P: FloatArray,
        mean_variances: FloatArray,
        scale_variances: FloatArray,
        rows: GroupedRows | None = None,
    ) -> _Design:
        if rows is None:
            return _Design(Q, P, mean_variances, scale_variances, self.codes, np.ones(len(Q)))
        codes = self.codes[rows.first]
        chosen = (Q[rows.first], P[rows.first], mean_variances, scale_variances)
        return _Design(*chosen, codes, rows.weights)

    def _package(
        self,
        value: float,
        design: _Design,
        theta: FloatArray,
        factor: FloatArray,
        point: _Point,
        converged: bool,
        rows: GroupedRows | None,
    ) -> CumulativeFit:
        k, r = self.n_levels - 1, design.Q.shape[1]
        t, w, u = np.split(theta, [k, k + r])
        scale_slope, scale_information = self._scale_slopes(design, theta)

        def by_row(values: FloatArray) -> FloatArray:
            return values if rows is None else values[rows.group]

        return CumulativeFit(
            value,
            t,
            w,
            u,
            factor,
            by_row(point.slope),
            by_row(point.row_information),
            by_row(scale_slope),
            by_row(scale_information),
            by_row(point.log_likelihood),
            converged,
        )

    def _prior_precisions(self, design: _Design, amplitudes: tuple[float, ...]) -> FloatArray:
        """Return those of (w, u)."""
        parts = [v for v in (design.mean_variances, design.scale_variances) if len(v)]
        precisions = [1 / (a * v) for a, v in zip(amplitudes, parts, strict=True)]
        return np.concatenate([np.zeros(0), *precisions])

    def _log_posterior(
        self, point_value: float, theta: FloatArray, precisions: FloatArray
    ) -> float:
        k = self.n_levels - 1
        t, rest = theta[:k], theta[k:]
        # log f(t) = -t - 2 log(1 + e^-t), symmetric in t.
        prior = float(np.sum(-np.abs(t) - 2 * np.log1p(np.exp(-np.abs(t)))))
        return point_value + prior - 0.5 * float((precisions * rest) @ rest)

    def _climb(
        self, design: _Design, amplitudes: tuple[float, ...], theta: FloatArray
    ) -> tuple[FloatArray, _Point, bool]:
        """Return the mode of θ by Fisher scoring, with steps halved until they climb."""
        tuning, k = self.tuning, self.n_levels - 1
        precisions = self._prior_precisions(design, amplitudes)
        value = self._log_posterior(self._likelihood(design, theta), theta, precisions)
        converged = False
        for _ in range(tuning.max_steps):
            point = self._derivatives(design, theta)
            gradient, H = self._with_prior(point, theta, precisions)
            factor, status = dpotrf(H, lower=1)
            if status != 0:
                raise np.linalg.LinAlgError("The information is not positive definite.")
            step, _ = dpotrs(factor, gradient, lower=1)
            decrement = float(step @ gradient)
            if decrement < tuning.tolerance:
                converged = True
                break
            for _ in range(tuning.max_halvings):
                trial = theta + step
                if (np.diff(trial[:k]) > 0).all():
                    new = self._log_posterior(self._likelihood(design, trial), trial, precisions)
                    if new > value:
                        theta, value = trial, new
                        break
                step = 0.5 * step
            else:
                break
        else:
            point = self._derivatives(design, theta)
        return theta, point, converged

    def _with_prior(
        self, point: _Point, theta: FloatArray, precisions: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        k = self.n_levels - 1
        t, rest = theta[:k], theta[k:]
        share = expit(t)
        gradient = point.gradient.copy()
        gradient[:k] += 1 - 2 * share
        gradient[k:] -= precisions * rest
        H = point.information.copy()
        H.flat[:: len(H) + 1] += np.concatenate([2 * share * (1 - share), precisions])
        return gradient, H

    def _laplace(
        self, design: _Design, amplitudes: tuple[float, ...], theta: FloatArray, point: _Point
    ) -> tuple[float, FloatArray]:
        """Return Laplace's approximation of the log evidence, and the factor of H."""
        precisions = self._prior_precisions(design, amplitudes)
        _, H = self._with_prior(point, theta, precisions)
        factor, status = dpotrf(H, lower=1, clean=1)
        if status != 0:
            raise np.linalg.LinAlgError("The information is not positive definite.")
        k = self.n_levels - 1
        likelihood = float(design.weights @ point.log_likelihood)
        value = self._log_posterior(likelihood, theta, precisions)
        value += gammaln(k + 1) + 0.5 * k * _LOG_TAU
        value += 0.5 * float(np.log(precisions).sum()) - float(np.log(factor.diagonal()).sum())
        return float(value), factor

    def _latent(
        self, design: _Design, theta: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return thresholds (K - 1,), location and scale of each row."""
        k, r = self.n_levels - 1, design.Q.shape[1]
        t, w, u = np.split(theta, [k, k + r])
        # A step may be wild before it is halved: e^±10 is far beyond what levels can show.
        return t, design.Q @ w, np.exp(np.clip(design.P @ u, -10.0, 10.0))

    def _likelihood(self, design: _Design, theta: FloatArray) -> float:
        t, m, v = self._latent(design, theta)
        return float(design.weights @ log_cells(t, m, v, design.codes))

    def _derivatives(self, design: _Design, theta: FloatArray) -> _Point:
        """Return likelihood, gradient and expected information, all levels of a row summed."""
        t, m, v = self._latent(design, theta)
        Q, P, codes, weights = design.Q, design.P, design.codes, design.weights
        k, r, s = len(t), Q.shape[1], P.shape[1]
        rows = np.arange(len(m))
        # Level by level, so that sums over levels run along memory: (K - 1, G) and (K, G).
        z, f, inverse = levels_at(t, m, v)
        h = f / v  # derivative of P(y <= k) by t_k
        log_own = log_cells(t, m, v, codes)
        own_inverse = 1 / np.maximum(np.exp(log_own), LEAST)
        by_m = -differences(h)  # of p
        per_m = by_m * inverse
        slope = by_m[codes, rows] * own_inverse
        row_information = np.einsum("kn,kn->n", by_m, per_m)
        information = np.zeros((k + r + s, k + r + s))
        gradient = np.empty(k + r + s)
        # Thresholds: t_k moves mass from level k + 1 to level k.
        at_own = np.zeros((k + 2, len(m)))
        at_own[codes + 1, rows] = own_inverse * weights
        gradient[:k] = np.einsum("kn,kn->k", h, at_own[1:-1] - at_own[2:]) if k else 0.0
        weighted = h * weights
        diagonal = np.einsum("kn,kn->k", weighted * h, inverse[:-1] + inverse[1:])
        information[np.arange(k), np.arange(k)] = diagonal
        if k > 1:
            off = -np.einsum("kn,kn->k", weighted[:-1] * h[1:], inverse[1:-1])
            places = np.arange(k - 1)
            information[places, places + 1] = information[places + 1, places] = off
        mean, scale = slice(k, k + r), slice(k + r, None)
        if r:
            gradient[mean] = (slope * weights) @ Q
            information[:k, mean] = (weighted * (per_m[:-1] - per_m[1:])) @ Q
            information[mean, :k] = information[:k, mean].T
            information[mean, mean] = (Q * (row_information * weights)[:, None]).T @ Q
        if s:
            by_eta = -differences(z * f)
            per_eta = by_eta * inverse
            gradient[scale] = (by_eta[codes, rows] * own_inverse * weights) @ P
            information[:k, scale] = (weighted * (per_eta[:-1] - per_eta[1:])) @ P
            information[scale, :k] = information[:k, scale].T
            own = np.einsum("kn,kn->n", by_eta, per_eta) * weights
            information[scale, scale] = (P * own[:, None]).T @ P
            if r:
                cross = np.einsum("kn,kn->n", by_m, per_eta) * weights
                information[mean, scale] = (Q * cross[:, None]).T @ P
                information[scale, mean] = information[mean, scale].T
        return _Point(log_own, gradient, information, slope, row_information)

    def _scale_slopes(self, design: _Design, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the slope of each row's log-likelihood by log v, and its information, (G,)."""
        t, m, v = self._latent(design, theta)
        if self.n_levels == 2:  # v is not identified
            return np.zeros(len(m)), np.zeros(len(m))
        z, f, inverse = levels_at(t, m, v)
        by_eta = -differences(z * f)
        own_inverse = 1 / np.maximum(np.exp(log_cells(t, m, v, design.codes)), LEAST)
        slope = by_eta[design.codes, np.arange(len(m))] * own_inverse
        return slope, np.einsum("kn,kn->n", by_eta, by_eta * inverse)


def draw_coefficients(
    fit: CumulativeFit, thresholds: Thresholds, rng: np.random.Generator
) -> CumulativeFit:
    """Draw functions from their posterior, and thresholds given these."""
    k, r = len(fit.thresholds), len(fit.mean)
    noise = np.concatenate([np.zeros(k), rng.standard_normal(r + len(fit.scale))])
    # The upper rows are what thresholds make good of the functions' deviations.
    t, w, u = np.split(solve_triangular(fit.factor, noise, lower=True, trans="T"), [k, k + r])
    # What they make good differs from threshold to threshold; they stay in order.
    drawn = np.maximum.accumulate(thresholds.draw(rng) + t)
    return fit._replace(thresholds=drawn, mean=fit.mean + w, scale=fit.scale + u)
