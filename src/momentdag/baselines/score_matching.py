"""The score of a density, s(x) = grad log p(x), by kernel score matching with held-out choices.

Each component is linear in features f of the row: a constant, the columns, and Gaussian kernels
around centres drawn from the rows, s_j(x) = Σ_k b_kj f_k(x). Integration by parts turns the
distance from the true score into what data can tell (Hyvärinen 2005), up to a constant

    J_j(b) = E [s_j(x)² / 2 + d s_j(x) / d x_j] = b_j·G b_j / 2 + b_j·h_j,
    G = E f fᵀ,  h_j = E d f / d x_j,

which b_j = -(G + λ I)^-1 h_j minimises with a ridge λ: an estimator of Stein's kind. Kernel width
and ridge of each component are those of the smallest J_j on rows held out.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.spatial.distance import cdist, pdist

__all__ = ["Scores", "estimate_scores"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

_WIDTHS = (0.35, 0.7, 1.4, 2.8)  # of kernels, in medians of the distance between two centres
_RIDGES = tuple(10.0**k for k in range(-6, 0))
_N_FOLDS = 5


class Scores(NamedTuple):
    """An estimated score.

    Parameters
    ----------
    values : float array, shape (n, d)
        At the rows.
    losses : float array, shape (d,)
        J_j on held-out rows.
    widths, ridges : float array, shape (d,)
        What was chosen for each component.
    """

    values: FloatArray
    losses: FloatArray
    widths: FloatArray
    ridges: FloatArray


def estimate_scores(rng: np.random.Generator, values: FloatArray, n_centres: int) -> Scores:
    """Estimate the score at every row of a table.

    Parameters
    ----------
    rng : numpy Generator
        Draws centres and folds.
    values : float array, shape (n, d)
        Standardised.
    n_centres : int
        Number of kernels, at most n.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(500, 2))
    >>> found = estimate_scores(rng, x, n_centres=50).values
    >>> bool(np.corrcoef(found[:, 0], -x[:, 0])[0, 1] > 0.99)  # of the standard normal
    True
    """
    n, d = values.shape
    centres = values[rng.choice(n, min(n_centres, n), replace=False)]
    fold = rng.permutation(n) % _N_FOLDS
    distances = cdist(values, centres, "sqeuclidean")
    unit = float(np.median(pdist(centres))) or 1.0
    best = Scores(np.zeros((n, d)), np.full(d, np.inf), np.zeros(d), np.zeros(d))
    for width in unit * np.array(_WIDTHS):
        features = _features(values, distances, width)
        moments = [
            _moments(features[own], values[own], centres, width)
            for own in (fold == k for k in range(_N_FOLDS))
        ]
        for ridge in _RIDGES:
            losses = np.mean([_held_out(moments, k, ridge) for k in range(_N_FOLDS)], axis=0)
            better = losses < best.losses
            if better.any():
                scores = features @ _weights(_pooled(moments), ridge)[:, better]
                best.values[:, better] = scores
                best.losses[better] = losses[better]
                best.widths[better], best.ridges[better] = width, ridge
    return best


class _Moments(NamedTuple):
    """Sums over rows: f fᵀ (p, p), derivatives of f (p, d), and the number of rows."""

    products: FloatArray
    slopes: FloatArray
    n_rows: int


def _features(values: FloatArray, distances: FloatArray, width: float) -> FloatArray:
    kernels = np.exp(-distances / (2 * width**2))
    return np.column_stack([np.ones(len(values)), values, kernels])


def _moments(
    features: FloatArray, values: FloatArray, centres: FloatArray, width: float
) -> _Moments:
    n, d = values.shape
    kernels = features[:, 1 + d :]
    # Σ_i K(x_i, z) (z - x_i) / width², for every centre z.
    of_kernels = (kernels.sum(axis=0)[:, None] * centres - kernels.T @ values) / width**2
    slopes = np.vstack([np.zeros((1, d)), n * np.eye(d), of_kernels])
    return _Moments(features.T @ features, slopes, n)


def _pooled(moments: list[_Moments], without: int | None = None) -> _Moments:
    kept = [own for k, own in enumerate(moments) if k != without]
    products, slopes, n_rows = zip(*kept, strict=True)
    return _Moments(sum(products[1:], products[0]), sum(slopes[1:], slopes[0]), sum(n_rows))


def _weights(moments: _Moments, ridge: float) -> FloatArray:
    products, slopes, n = moments
    return np.asarray(-np.linalg.solve(products / n + ridge * np.eye(len(products)), slopes / n))


def _held_out(moments: list[_Moments], k: int, ridge: float) -> FloatArray:
    """Return J_j (d,) on fold k of the score learned from the others."""
    weights = _weights(_pooled(moments, without=k), ridge)
    products, slopes, n = moments[k]
    loss = 0.5 * np.einsum("pj,pj->j", weights, products @ weights)
    return np.asarray((loss + (weights * slopes).sum(axis=0)) / n)
