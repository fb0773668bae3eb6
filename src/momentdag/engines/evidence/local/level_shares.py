"""Shares of ordered levels: those that thresholds give, and thresholds that give each its share.

The prior of shares is uniform, which is right for evidence and pulls what is simulated towards
levels that hardly occur; so do normal draws of the thresholds of rare levels. A fitted mechanism
therefore gives each level its share of the rows, as an intercept does, and a drawn one a share that
is drawn around it.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.special import expit

__all__ = ["LEAST", "Thresholds", "differences", "levels_at", "log_cells"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
IndexArray: TypeAlias = npt.NDArray[np.intp]

LEAST = 1e-12
"""Probability of a level below which nothing is expected of it."""
_REACH = 30.0  # scales beyond the outermost location: shares down to 1e-13
_N_PLACES = 513


class Thresholds(NamedTuple):
    """Where thresholds have to stand for levels to have given shares over the rows of a fit."""

    places: FloatArray  # t, rising, (G,)
    log_odds: FloatArray  # of P(y <= t), averaged over the rows, (G,)
    counts: FloatArray  # rows of each level, (K,)

    @classmethod
    def of(cls, m: FloatArray, v: FloatArray, counts: npt.NDArray[np.integer]) -> Thresholds:
        """Tabulate the average over rows with locations and scales ``m``, ``v`` (n,)."""
        middle, unit = float(np.median(m)), float(np.median(v))
        ends = (m + _REACH * v).max() - middle, middle - (m - _REACH * v).min()
        # Dense where most rows are, however far the widest of them reach.
        steps = np.linspace(-1, 1, _N_PLACES) * np.arcsinh(max(ends) / unit)
        places = middle + unit * np.sinh(steps)
        below = np.array([expit((t - m) / v).mean() for t in places])
        above = np.array([expit((m - t) / v).mean() for t in places])
        return cls(places, np.log(below) - np.log(above), counts.astype(np.float64))

    def fitted(self) -> FloatArray:
        """Return the thresholds at which each level has its share of the rows, (K - 1,)."""
        return self._at(self.counts / self.counts.sum())

    def draw(self, rng: np.random.Generator) -> FloatArray:
        """Return those at which levels have drawn shares, whose means are those of the rows."""
        return self._at(rng.dirichlet(self.counts))

    def _at(self, shares: FloatArray) -> FloatArray:
        # A drawn share may round to zero; its threshold then stands at the end of the table.
        below, above = np.cumsum(shares)[:-1], np.cumsum(shares[::-1])[-2::-1]
        with np.errstate(divide="ignore"):
            log_odds = np.log(below) - np.log(above)
        return np.asarray(np.interp(log_odds, self.log_odds, self.places))


def levels_at(
    t: FloatArray, m: FloatArray, v: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return z and F'(z) at each threshold, (K - 1, G), and 1 / P(y = k), (K, G)."""
    z = (t[:, None] - m) / v
    below = expit(z)
    p = differences(below, last=1.0)
    return z, below * (1 - below), 1 / np.maximum(p, LEAST)


def differences(values: FloatArray, last: float = 0.0) -> FloatArray:
    """Return what lies between zero, the rows of ``values`` (K - 1, n) and ``last``, (K, n)."""
    found = np.empty((len(values) + 1, values.shape[1]))
    found[0] = values[0] if len(values) else last
    found[1:-1] = values[1:] - values[:-1]
    if len(values):
        found[-1] = last - values[-1]
    return found


def log_cells(t: FloatArray, m: FloatArray, v: FloatArray, codes: IndexArray) -> FloatArray:
    """Return log P(y = its level) for each row: log (F(b) - F(a)) without cancellation."""
    edges = np.concatenate([[-np.inf], t, [np.inf]])
    a, b = (edges[codes] - m) / v, (edges[codes + 1] - m) / v
    # F(b) - F(a) = F(b) F(-a) (1 - e^(a - b))
    return np.asarray(
        -np.logaddexp(0, -b) - np.logaddexp(0, a) + np.log1p(-np.exp(np.minimum(a - b, -1e-300)))
    )
