"""Thresholds of ordered levels that give each level its share of the rows.

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

__all__ = ["Thresholds"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

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
