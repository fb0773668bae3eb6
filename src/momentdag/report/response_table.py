"""Outcomes on a grid of settings of one or two causes, and between its nodes.

Between nodes, mean and log sd, their intervals and probabilities are interpolated along one axis
after the other by monotone cubics (Fritsch and Butland 1984). Of two causes, which have few nodes,
moments between these come from a cubic spline before. The script of the page does the same
(`responses.js`), so what is measured here is what the page shows.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.interpolate import CubicSpline, PchipInterpolator

from momentdag.effects.intervals import summarise
from momentdag.effects.responses import Response
from momentdag.report.axes import Axis

__all__ = ["ResponseTable", "interpolate", "pack"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

_LEVEL = 0.9
_MOST = 2**16 - 1


@dataclass(frozen=True, eq=False)
class ResponseTable:
    """Summaries of one outcome at each node.

    Parameters
    ----------
    axes : tuple of Axis
        One or two; none for today.
    moments : float array, shape (*n_nodes, 6)
        Posterior mean and interval of the mean, and of the logarithm of the sd.
    below : float array, shape (*n_nodes, 3, n_thresholds)
        Posterior mean and interval of P(Y <= threshold).
    """

    axes: tuple[Axis, ...]
    moments: FloatArray
    below: FloatArray

    @classmethod
    def of(cls, axes: Sequence[Axis], response: Response) -> ResponseTable:
        """Summarise a response whose settings are the crossed nodes of ``axes``."""
        shape = tuple(len(axis.nodes) for axis in axes)
        n_draws = len(response.means)
        weights = np.full(n_draws, 1 / n_draws)
        # The page shows the posterior mean of the sd, as `effects` does.
        parts = [*summarise(response.means, weights, _LEVEL)]
        tiny = np.finfo(np.float32).tiny
        parts += [np.log(np.maximum(sd, tiny)) for sd in summarise(response.sds, weights, _LEVEL)]
        below = np.stack(summarise(response.below, weights, _LEVEL), axis=-2)
        return cls(
            tuple(axes),
            np.stack(parts, axis=-1).reshape(*shape, 6),
            below.reshape(*shape, *below.shape[-2:]),
        )

    def at(self, positions: Sequence[float]) -> tuple[FloatArray, FloatArray]:
        """Return the six moments, sds no longer as logarithms, and ``below`` in one setting."""
        at = [np.array([position]) for position in positions]
        grids, moments = self._between()
        moments = interpolate(moments, grids, at)
        below = interpolate(self.below, [axis.positions for axis in self.axes], at)
        found = moments.reshape(6)
        return np.append(found[:3], np.exp(found[3:])), below.reshape(below.shape[-2:])

    def _between(self) -> tuple[list[FloatArray], FloatArray]:
        """Return nodes and moments, those in the middle between the nodes of a map among them."""
        grids, moments = [axis.positions for axis in self.axes], self.moments
        if len(grids) == 2:
            for k, axis in enumerate(self.axes):
                if len(grids[k]) > 3 and not axis.labels:
                    middles = 0.5 * (grids[k][1:] + grids[k][:-1])
                    every = np.sort(np.append(grids[k], middles))
                    moments = CubicSpline(grids[k], moments, axis=k)(every)
                    grids[k] = every
        return grids, moments

    def to_page(self, centre: float, unit: float) -> dict[str, Any]:
        """Return the table for the script; numbers in units of ``unit`` from ``centre``."""
        moments = self._between()[1].copy()
        moments[..., :3] = (moments[..., :3] - centre) / unit
        moments[..., 3:] -= np.log(unit)
        shares = np.round(np.clip(self.below, 0, 1) * _MOST)
        return {"moments": pack(moments, "<f4"), "below": pack(shares, "<u2")}


def pack(values: npt.ArrayLike, dtype: str) -> str:
    """Return numbers as base64, in C order."""
    return base64.b64encode(np.asarray(values).astype(dtype).tobytes()).decode("ascii")


def interpolate(
    values: FloatArray, grids: Sequence[FloatArray], positions: Sequence[FloatArray]
) -> FloatArray:
    """Return values on a grid (its axes first) at the crossed positions.

    Examples
    --------
    >>> interpolate(np.array([0.0, 1.0, 4.0]), [np.array([0.0, 1, 2])], [np.array([1.0, 1.5])])
    array([1.    , 2.1875])
    """
    # Slopes of next to nothing overflow in a harmonic mean, which is then 0 as it should be.
    with np.errstate(over="ignore"):
        for k, (grid, at) in enumerate(zip(grids, positions, strict=True)):
            values = np.asarray(PchipInterpolator(grid, values, axis=k)(at))
    return values
