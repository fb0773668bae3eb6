"""Three tests of whether the size of a residual depends on other columns, and their combination.

All regress the squared residual on functions of the other columns: linear ones (Breusch and Pagan
1979, in the form of Koenker 1981), squares and products too (White 1980), or a random forest.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri
from scipy.stats import rankdata, spearmanr
from sklearn.ensemble import RandomForestRegressor
from sklearn.model_selection import KFold
from statsmodels.stats.diagnostic import het_breuschpagan

__all__ = [
    "SpreadTests",
    "combine",
    "explains",
    "forest_white",
    "normal_scores",
    "spread_tests",
    "white_terms",
]

FloatArray: TypeAlias = npt.NDArray[np.float64]

_ROWS_PER_TERM = 10
_N_TREES = 60
_MIN_LEAF = 5
_NEGLIGIBLE = 1e-9  # singular values below this share of the largest are rounding error
_FLOOR = 1e-3  # of the mean square; keeps the logarithm of a square finite


class SpreadTests(NamedTuple):
    """P-values of the tests of one variable."""

    breusch_pagan: float
    white: float
    forest_white: float


def normal_scores(X: FloatArray) -> FloatArray:
    """Replace each column of ``X`` (n, p) by normal quantiles of its ranks.

    An outlying row then has no more influence than any other.
    """
    return np.asarray(ndtri((rankdata(X, axis=0) - 0.5) / len(X)))


def white_terms(scores: FloatArray) -> FloatArray:
    """Return the columns, with squares and products where there are enough rows, (n, n_terms)."""
    n, p = scores.shape
    terms = [scores]
    if 2 * p * _ROWS_PER_TERM <= n:
        terms.append(scores**2)
    if p * (p + 3) / 2 * _ROWS_PER_TERM <= n:
        first, second = np.triu_indices(p, 1)
        terms.append(scores[:, first] * scores[:, second])
    return np.hstack(terms)


def explains(terms: FloatArray, target: FloatArray) -> float:
    """Return the p-value of n R² of ``target`` (n,) on ``terms`` (n, k), chi-squared under H0.

    Only linearly independent terms count: the square of a two-valued column adds nothing. NaN if
    there are none, or fewer than two rows for each.
    """
    n = len(terms)
    basis, sizes, _ = np.linalg.svd(terms - terms.mean(axis=0), full_matrices=False)
    terms = basis[:, sizes > _NEGLIGIBLE * sizes.max(initial=0.0)]
    k = terms.shape[1]
    if k == 0 or n < 2 * (k + 1):
        return float("nan")
    # `het_breuschpagan` squares its argument, so it is given the root of the shifted target.
    root = np.sqrt(target - target.min())
    return float(het_breuschpagan(root, np.column_stack([np.ones(n), terms]))[1])


def forest_white(rng: np.random.Generator, residual: FloatArray, X: FloatArray) -> float:
    """Test whether a random forest predicts the size of a residual in rows it has not seen.

    A forest for the log squared residual is grown on each half of the rows; on the other half the
    rank correlation of prediction and truth is tested, one-sided. Unlike the R² of a forest on its
    own rows this has a known distribution under the null hypothesis. The two p-values are
    dependent, which `combine` allows for.
    """
    square = residual**2
    target = np.log(square + _FLOOR * square.mean())
    seeds = rng.integers(2**31 - 1, size=3)
    p_values = []
    halves = KFold(2, shuffle=True, random_state=int(seeds[2])).split(X)
    for seed, (seen, unseen) in zip(seeds[:2], halves, strict=True):
        forest = RandomForestRegressor(
            _N_TREES, min_samples_leaf=_MIN_LEAF, max_features=1 / 3, random_state=int(seed)
        ).fit(X[seen], target[seen])
        predicted = forest.predict(X[unseen])
        # Too few rows to grow a tree, or a residual of constant size.
        if np.ptp(predicted) == 0 or np.ptp(square[unseen]) == 0:
            return 1.0
        p_values.append(float(spearmanr(predicted, square[unseen], alternative="greater").pvalue))
    return combine(p_values)


def spread_tests(rng: np.random.Generator, residual: FloatArray, scores: FloatArray) -> SpreadTests:
    """Run the three tests on a residual (n,) and the scores (n, p) it may depend on."""
    square = residual**2
    return SpreadTests(
        explains(scores, square),
        explains(white_terms(scores), square),
        forest_white(rng, residual, scores),
    )


def combine(p_values: list[float] | SpreadTests) -> float:
    """Combine p-values by the Cauchy method, which is robust against dependence between them.

    ``p = 1/2 - arctan(mean tan((1/2 - p_k) π)) / π`` (Liu and Xie 2020); NaNs are ignored.

    Examples
    --------
    >>> round(combine([0.04, 0.04]), 3), round(combine([0.001, 0.6, 0.9]), 3)
    (0.04, 0.003)
    """
    p = np.array([value for value in p_values if not np.isnan(value)])
    if len(p) == 0:
        return float("nan")
    # The tangent has no value at 0 and 1, to which p-values can round.
    p = np.clip(p, 1e-15, 1 - 1e-15)
    return float(0.5 - np.arctan(np.mean(np.tan((0.5 - p) * np.pi))) / np.pi)
