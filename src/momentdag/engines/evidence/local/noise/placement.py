"""Residuals in their place: the location and the log scale that their own density wants.

Mean and scale of a fit were found with Student weights, while its noise has another shape: an
exponential's likeliest place is elsewhere. Left as it is, a fit without parents would be worse than
it need be, and any parent would get a part of the difference as a gift. So two numbers are moved,
δ and b in e = (r - δ) exp(-η - b), which belong to the intercepts of mean and scale.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from momentdag.engines.evidence.local.noise.density import NoiseDensity
from momentdag.engines.evidence.local.tuning import TUNING

__all__ = ["Placement", "find_placement"]

FloatArray: TypeAlias = npt.NDArray[np.float64]


class Placement(NamedTuple):
    """What is added to the mean and to the log standard deviation of every row."""

    shift: float = 0.0  # δ
    widening: float = 0.0  # b

    def standardise(self, residual: FloatArray, log_std: FloatArray) -> FloatArray:
        """Return e = (r - δ) exp(-η - b) of residuals (n,)."""
        return (residual - self.shift) * np.exp(-log_std - self.widening)


def find_placement(
    density: NoiseDensity, residual: FloatArray, log_std: FloatArray, start: Placement
) -> tuple[Placement, float]:
    """Climb to the likeliest placement under a fixed density.

    Returns
    -------
    placement : Placement
    gain : float
        In log-likelihood over ``start``, nats; zero if there is nothing to gain.
    """
    nodes, log_density, slope = density.table()
    inverse = np.exp(-log_std)
    n = len(residual)

    def value(at: Placement) -> float:
        e = (residual - at.shift) * (inverse * np.exp(-at.widening))
        return float(np.interp(e, nodes, log_density).sum()) - n * at.widening

    here = start
    now = first = np.nan
    for _ in range(TUNING.placement_steps):
        scale = inverse * np.exp(-here.widening)
        e = (residual - here.shift) * scale
        psi = np.interp(e, nodes, slope)
        # Scores of every row; their outer product stands for the information.
        by_shift, by_widening = -psi * scale, -psi * e - 1
        s, w = float(by_shift.sum()), float(by_widening.sum())
        ss, sw = float(by_shift @ by_shift), float(by_shift @ by_widening)
        ww = float(by_widening @ by_widening)
        determinant = ss * ww - sw * sw
        if not determinant > 1e-9 * ss * ww:
            break
        step = ((ww * s - sw * w) / determinant, (ss * w - sw * s) / determinant)
        if step[0] * s + step[1] * w < TUNING.placement_tolerance:
            break
        if np.isnan(now):
            now = first = value(here)
        typical = float(np.median(scale))
        factor = min(1.0, TUNING.largest_placement / max(abs(step[0]) * typical, abs(step[1])))
        for _ in range(TUNING.max_halvings):
            trial = Placement(here.shift + factor * step[0], here.widening + factor * step[1])
            reached = value(trial)
            if reached > now:
                break
            factor *= 0.5
        else:
            break
        if abs(trial.widening) > TUNING.widest_placement:
            break
        here, now = trial, reached
    return here, 0.0 if np.isnan(now) else now - first
