"""How far the data refute the model, by noise whose shape follows its causes.

The model says that the noise e_j = (y - m) / v is independent of the causes. Mean and spread are
free functions, so what can contradict it is the shape. With p_k(u) and q_l(x) orthonormal over the
rows, polynomials of degree 3 and 4 in the rank u of the noise and of degree up to 6 in the rank of
a cause,

    T = Σ_kl (Σ_i p_k(u_i) q_l(x_i))² / n

is chi-square with one degree of freedom for each pair (k, l) under the model, and (T - df) / 2 is
about the nats that a density with a shape of its own for every x would gain (the score test).

That a model gains so little from rows reweighted says nothing if it is wrong in all of them alike:
then two wrong models are compared, and which of them is nearer is no sign of a direction. How much
evidence can be trusted is measured against how much is left: τ² grows by one for every `_NATS` that
the variables leave on average, as if rows stood for larger clusters.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata

from momentdag.engines.evidence.local.interventions import used_rows
from momentdag.engines.evidence.local.location_scale import LocalFit
from momentdag.engines.evidence.local.protocol import Parents
from momentdag.engines.evidence.search.parents import ParentSearch
from momentdag.engines.evidence.support.bitmasks import members

__all__ = ["doubt_factor", "shape_gains"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

_SHAPE_DEGREES = (3, 4)  # skewness and tails: the first two are those of mean and spread
_CAUSE_DEGREES = (1, 2, 3, 4, 5, 6)
_NATS = 3.0
"""Nats left by a variable that double τ². Chosen by the log loss of directions over the families
of `simulate.misspecified` and in the model class: from 2 to 5 it is flat."""
_CLOSE = 1e-6  # of a polynomial that the values of a cause cannot tell from lower ones


def shape_gains(
    search: ParentSearch, values: FloatArray, parents: tuple[Parents, ...]
) -> tuple[FloatArray, FloatArray]:
    """Return what shapes that follow the causes would gain, and the chance in it.

    Parameters
    ----------
    search : ParentSearch
    values : float array, shape (n, d)
        Standardised columns.
    parents : tuple of Parents
        Of each variable.

    Returns
    -------
    gains, variances : float array, shape (d,)
        Nats, and their variance under the model; NaN for variables without causes, and for
        discrete ones, whose shares of levels are free.
    """
    gains, variances = np.full((2, len(parents)), np.nan)
    for j, own in enumerate(parents):
        if not own.union:
            continue
        fit = search.fit(j, own)
        if not isinstance(fit, LocalFit) or fit.coarse is not None:
            continue
        if not np.isfinite(fit.log_evidence):
            continue
        rows = used_rows(search.scorer, j)
        causes = (
            values[:, members(own.union)] if rows is None else values[rows][:, members(own.union)]
        )
        shapes = _polynomials(fit.residual * np.exp(-fit.log_std), _SHAPE_DEGREES)
        statistic, df = 0.0, 0
        for cause in causes.T:
            found = _polynomials(cause, _CAUSE_DEGREES)
            statistic += float(np.sum((shapes.T @ found) ** 2)) / len(found)
            df += shapes.shape[1] * found.shape[1]
        gains[j], variances[j] = 0.5 * (statistic - df), 0.5 * df
    return gains, variances


def doubt_factor(gains: FloatArray, variances: FloatArray) -> float:
    """Return the factor of τ, given the gains of every variable: 1 for what may be chance."""
    known = np.isfinite(gains)
    if not known.any():
        return 1.0
    beyond = max(float(gains[known].sum() - np.sqrt(variances[known].sum())), 0.0)
    return float(np.sqrt(1 + beyond / known.sum() / _NATS))


def _polynomials(values: FloatArray, degrees: tuple[int, ...]) -> FloatArray:
    """Return polynomials of these degrees in the ranks of ``values``, orthonormal, (n, k).

    Of a cause with few values there are fewer.
    """
    n = len(values)
    ranks = (2 * rankdata(values) - 1) / n - 1
    powers = np.polynomial.legendre.legvander(ranks, max(degrees))
    q, r = np.linalg.qr(powers)
    apart = np.abs(r.diagonal()) > _CLOSE * np.sqrt(n)
    kept = [k for k in degrees if apart[k]]
    return np.asarray(q[:, kept] * np.sqrt(n))
