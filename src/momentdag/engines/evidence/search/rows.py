"""Which rows of a table are looked at, and which carry its functions: some of every regime."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["choose_rows"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
IndexArray: TypeAlias = npt.NDArray[np.intp]

_LEAST_SHARE = 0.5
"""Of what an equal share would be, each regime has at least this much, if it has that many rows."""


def choose_rows(
    rng: np.random.Generator, values: FloatArray, n_rows: int, n_regimes: int
) -> IndexArray:
    """Choose ``n_rows`` of the rows (n, d) at random, from each regime its share, sorted.

    Parameters
    ----------
    rng : numpy Generator
    values : float array, shape (n, d)
    n_rows : int
    n_regimes : int
        The last so many columns tell the regime of a row: largest in its own, in none of the
        others for the reference.
    """
    if not n_regimes:
        return np.sort(rng.choice(len(values), n_rows, replace=False))
    codes = (values[:, -n_regimes:] > 0) @ np.arange(1, n_regimes + 1)
    counts = np.bincount(codes, minlength=n_regimes + 1)
    parts = [
        rng.choice(np.flatnonzero(codes == k), share, replace=False)
        for k, share in enumerate(_shares(counts, n_rows))
    ]
    return np.sort(np.concatenate(parts))


def _shares(counts: npt.NDArray[np.intp], n_rows: int) -> list[int]:
    """Return how many rows to take of each regime: in proportion, but not too few."""
    least = np.minimum(counts, max(1, int(_LEAST_SHARE * n_rows / len(counts))))
    free = counts - least
    left = n_rows - least.sum()
    more = np.floor(left * free / max(free.sum(), 1)).astype(int)
    shares = least + more
    # What rounding left over goes to the largest.
    for k in np.argsort(-counts, kind="stable"):
        extra = min(n_rows - shares.sum(), counts[k] - shares[k])
        shares[k] += extra
    return [int(share) for share in shares]
