"""The setting of one cause or two that steadies an outcome most and leaves its mean.

The same goal and constraint as `effects.levers`, over a fine grid between computed settings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from momentdag.effects.lever_search import LeverCriterion, Outcomes
from momentdag.effects.levers import NO_EFFECT
from momentdag.effects.responses import Response
from momentdag.report.axes import Axis
from momentdag.report.response_table import interpolate

__all__ = ["RobustSetting", "find_robust_setting"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

# The best of many settings looks a little better than it is: more than the 0.9 of `levers`.
_CONFIDENCE = 0.95
_N_FINE = {1: 41, 2: 17}


@dataclass(frozen=True)
class RobustSetting:
    """Where to set the causes.

    Parameters
    ----------
    positions : list of float
        Of each axis.
    variance_ratio : float
        Posterior mean of the variance over that of today.
    p_held : float
        Probability that the mean stays within its tolerance.
    """

    positions: list[float]
    variance_ratio: float
    p_held: float


def find_robust_setting(
    axes: Sequence[Axis], response: Response, today: Response, tolerance: float
) -> RobustSetting | None:
    """Return the best setting, or None if none steadies the outcome and keeps its mean.

    Parameters
    ----------
    axes : sequence of Axis
        One or two, whose crossed nodes are the settings of ``response``.
    response, today : Response
    tolerance : float
        Largest change of the mean.
    """
    n_draws, shape = len(response.means), tuple(len(axis.nodes) for axis in axes)
    if not (today.sds > 0).all() or not (response.sds > 0).all():
        return None
    ratios = np.log(response.sds / today.sds).reshape(n_draws, *shape)
    changes = (response.means - today.means).reshape(n_draws, *shape)
    fine = [axis.fine(_N_FINE[len(axes)]) for axis in axes]
    grids = [axis.positions for axis in axes]
    log_ratio, change = (
        np.moveaxis(interpolate(np.moveaxis(values, 0, -1), grids, fine), -1, 0).reshape(
            n_draws, -1
        )
        for values in (ratios, changes)
    )
    outcomes = Outcomes(change, np.exp(2 * log_ratio))
    criterion = LeverCriterion("lower_variance", tolerance)
    loss = criterion.loss(outcomes).mean(axis=0)
    p_held = criterion.is_satisfied(outcomes).mean(axis=0)
    p_improves = criterion.improves(outcomes).mean(axis=0)
    good = (p_held >= _CONFIDENCE) & (p_improves >= 0.5) & (loss <= NO_EFFECT)
    if not good.any():
        return None
    best = int(np.argmin(np.where(good, loss, np.inf)))
    places = np.unravel_index(best, tuple(len(one) for one in fine))
    positions = [float(one[k]) for one, k in zip(fine, places, strict=True)]
    return RobustSetting(positions, float(loss[best]), float(p_held[best]))
