"""The local score of a category given its parents.

    P(y = k) = exp(g_k) / Σ_l exp(g_l),   g_k = b_k + Q w_k,   w_k ~ N(0, a Λ)  for every level

with Q the basis of `features` without its intercept. Levels have no order, and all are treated
alike; that the functions of all levels together hold one too many is settled by their prior. Only
the mean graph is open: what moves the shares of the levels is their distribution.

The evidence is Laplace's approximation at the mode, averaged over amplitudes; the error that it has
without parents, where a uniform Dirichlet prior over the shares gives a closed form, is taken out:

    log p(y) = log (K - 1)! Π_k n_k! / (n + K - 1)!        without parents.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpotrf, dpotrs
from scipy.special import gammaln, log_softmax

from momentdag.engines.evidence.local.levels import (
    GroupedRows,
    LevelTuning,
    Mode,
    average_evidence,
    gains_of,
    relevant,
)

__all__ = ["MultinomialFit", "MultinomialModel"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
IndexArray: TypeAlias = npt.NDArray[np.intp]

_INTERCEPT_VARIANCE = 9.0  # of b: shares from a thousandth on
_SHRINKS = 0.25  # of a decrement from step to step, above which the precision is made anew
_MAX_COEFFICIENTS = 320  # of all levels together, so that a score stays a matter of milliseconds


class MultinomialFit(NamedTuple):
    """A converged score, with what is needed to screen further parents and to draw functions."""

    log_evidence: float
    coefficients: FloatArray  # (1 + r, K): b, then w
    factor: FloatArray  # lower Cholesky factor of their precision, level by level
    slope: FloatArray  # of the log-likelihood by g, (n, K)
    information: FloatArray  # of g, (n, K)
    log_likelihood: FloatArray  # log P(y_i), (n,)
    converged: bool


class MultinomialModel:
    """One category.

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
        exact = float(gammaln(K) + gammaln(self.counts + 1).sum() - gammaln(n + K))
        start = np.log(self.counts / n) - np.mean(np.log(self.counts / n))
        self._start = start
        # Without parents, rows of a level are all the same.
        rows = GroupedRows.of(codes)
        approximate, _, self.empty = self._score(np.ones((K, 1)), np.zeros(0), rows, (), start)
        self._correction = exact - approximate
        self.empty = self.empty._replace(log_evidence=exact)

    @property
    def n_levels(self) -> int:
        """Number of levels, K."""
        return len(self.counts)

    @property
    def max_functions(self) -> int:
        """Basis functions of a parent set, at most."""
        return min(self.tuning.max_functions, max(4, _MAX_COEFFICIENTS // self.n_levels))

    def fit(
        self, mean_basis: tuple[FloatArray, FloatArray], rows: GroupedRows | None = None
    ) -> MultinomialFit:
        """Score the category given the basis of its parents, functions and prior variances.

        Parameters
        ----------
        mean_basis : (float array (n, p), float array (p,))
        rows : GroupedRows, optional
            Rows that are alike in the category and its parents; None if all differ.

        Raises
        ------
        LinAlgError
            If a factorisation fails.
        """
        Q, variances = relevant(*mean_basis, self.tuning, self.max_functions)
        if not Q.shape[1]:
            return self.empty
        # Orthonormal functions are of size 1/√n; the intercept here is one.
        design = np.hstack([np.ones((len(Q), 1)), Q])
        if rows is not None:
            design = design[rows.first]
        start = np.zeros((self.n_levels, design.shape[1]))
        start[:, 0] = self._start
        evidence, fit = average_evidence(
            lambda amplitudes, at: self._score(design, variances, rows, amplitudes, at),
            [self.tuning.mean_amplitudes],
            start.ravel(),
        )
        return fit._replace(log_evidence=evidence + self._correction)

    def screen_mean(
        self, fit: MultinomialFit, functions: FloatArray, variances: FloatArray
    ) -> float:
        """Estimate what one more function for each level would gain."""
        return gains_of(functions, variances, fit.slope, fit.information)

    def _score(
        self,
        design: FloatArray,
        variances: FloatArray,
        rows: GroupedRows | None,
        amplitudes: tuple[float, ...],
        start: FloatArray,
    ) -> tuple[float, Mode, MultinomialFit]:
        """Return Laplace's approximation at the mode, the mode, and the fit."""
        tuning, K = self.tuning, self.n_levels
        codes = self.codes if rows is None else self.codes[rows.first]
        weights = np.ones(len(codes)) if rows is None else rows.weights
        indicators = np.zeros((len(codes), K))
        indicators[np.arange(len(codes)), codes] = 1.0

        def log_posterior(log_p: FloatArray, C: FloatArray) -> float:
            likelihood = float(weights @ log_p[np.arange(len(codes)), codes])
            return likelihood - 0.5 * float(np.sum(precision * C * C))

        scaled = variances * amplitudes[0] if amplitudes else variances
        precision = np.concatenate([[1 / _INTERCEPT_VARIANCE], 1 / scaled])[:, None]
        C = start.reshape(K, -1).T
        log_p = log_softmax(design @ C, axis=1)
        value = log_posterior(log_p, C)
        converged, last = False, np.inf
        factor: FloatArray | None = None  # kept while steps with it shrink fast
        for _ in range(tuning.max_steps):
            p = np.exp(log_p)
            gradient = (design.T @ (weights[:, None] * (indicators - p)) - precision * C).T.ravel()
            if factor is None:
                factor = _factor(_precision_matrix(design, p, weights, precision))
            step, _ = dpotrs(factor, gradient, lower=1)
            decrement = float(step @ gradient)
            if decrement < tuning.tolerance:
                converged = True
                break
            if decrement > _SHRINKS * last:
                factor, last = None, np.inf
                continue
            last = decrement
            move = step.reshape(K, -1).T
            for _ in range(tuning.max_halvings):
                trial = log_softmax(design @ (C + move), axis=1)
                new = log_posterior(trial, C + move)
                if new > value:
                    C, log_p, value = C + move, trial, new
                    break
                move = 0.5 * move
            else:
                break
        H = _precision_matrix(design, np.exp(log_p), weights, precision)
        factor = _factor(H)
        log_det = 2 * float(np.log(factor.diagonal()).sum())
        evidence = value + 0.5 * K * float(np.log(precision).sum()) - 0.5 * log_det
        p = np.exp(log_p)
        slope, information, own = indicators - p, p * (1 - p), log_p[np.arange(len(p)), codes]
        if rows is not None:
            slope, information, own = slope[rows.group], information[rows.group], own[rows.group]
        fit = MultinomialFit(evidence, C, factor, slope, information, own, converged)
        scales = np.tile(np.arange(len(precision)) > 0, K)
        information = H.copy()
        information.flat[:: len(H) + 1] -= np.where(scales, np.tile(precision[:, 0], K), 0.0)
        mode = Mode(C.T.ravel(), information, (np.flatnonzero(scales),), (np.tile(variances, K),))
        return evidence, mode, fit


def _factor(H: FloatArray) -> FloatArray:
    factor, status = dpotrf(H, lower=1, clean=1)
    if status != 0:
        raise np.linalg.LinAlgError("The information is not positive definite.")
    return np.asarray(factor)


def _precision_matrix(
    design: FloatArray, p: FloatArray, weights: FloatArray, precision: FloatArray
) -> FloatArray:
    """Return the posterior precision of all coefficients, level by level."""
    (n, r), K = design.shape, p.shape[1]
    root = np.sqrt(weights)[:, None]
    design = root * design
    # Σ_i p_k (δ_kl - p_l) x x': all products of two levels at once, less from each level's own.
    weighted = (p.T[:, :, None] * design).transpose(1, 0, 2).reshape(n, K * r)
    H = -(weighted.T @ weighted)
    for k in range(K):
        own = slice(k * r, (k + 1) * r)
        H[own, own] += weighted[:, own].T @ design
    H.flat[:: K * r + 1] += np.tile(precision[:, 0], K)
    return H


def draw_coefficients(fit: MultinomialFit, rng: np.random.Generator) -> MultinomialFit:
    """Draw the functions of all levels from their posterior."""
    noise = solve_triangular(
        fit.factor, rng.standard_normal(len(fit.factor)), lower=True, trans="T"
    )
    K = fit.coefficients.shape[1]
    return fit._replace(coefficients=fit.coefficients + noise.reshape(K, -1).T)
