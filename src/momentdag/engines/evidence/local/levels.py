"""What scores of discrete variables share: relevant functions, amplitudes, screens."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
from scipy.linalg.lapack import dpotrf, dpotrs

from momentdag.engines.evidence.local.tuning import Amplitudes

__all__ = [
    "LEVELS",
    "GroupedRows",
    "LevelTuning",
    "Mode",
    "average_evidence",
    "gains_of",
    "missing_price",
    "relevant",
    "relevant_places",
]

FloatArray: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True)
class LevelTuning:
    """How scores of discrete variables are computed.

    Parameters
    ----------
    mean_amplitudes : Amplitudes
        Variance of a function on the scale of the latent logistic variable, whose own is π²/3. From
        a weak effect to one that leaves hardly a doubt about the level; a weaker one would be no
        edge, see `ScoreTuning.least_signal`.
    scale_amplitudes : Amplitudes
        Variance of a log scale.
    least_influence : float
        Directions whose coefficient has a prior variance below this many times what the rows can
        resolve at best are left out: at the largest amplitude, with information ¼ a row.
    least_price : float
        What a parent costs at least, in nats: where rows say next to nothing (a rare level, a
        Poisson count that has no dispersion to move), an edge would be nearly free of charge,
        present in the graph and absent from the data.
    max_functions : int
        Directions of a basis, at most: levels carry little information.
    max_steps, max_halvings : int
        Of Fisher scoring.
    tolerance : float
        Decrement below which it has converged: half of it bounds what is left to gain, in nats.
    """

    mean_amplitudes: Amplitudes = ((1.0, 0.3), (4.0, 0.35), (16.0, 0.25), (64.0, 0.1))
    scale_amplitudes: Amplitudes = ((0.1, 0.3), (0.4, 0.4), (1.6, 0.3))
    least_influence: float = 0.05
    least_price: float = 4.0
    max_functions: int = 40
    max_steps: int = 30
    max_halvings: int = 8
    tolerance: float = 0.01


LEVELS = LevelTuning()
"""The values in use."""


class GroupedRows(NamedTuple):
    """Rows that are alike: where all columns are discrete, a long table has few different ones."""

    first: npt.NDArray[np.intp]  # a row of each group, (G,)
    group: npt.NDArray[np.intp]  # of each row, (n,)
    weights: FloatArray  # rows of each group, (G,)

    @classmethod
    def of(cls, keys: npt.NDArray[np.intp]) -> GroupedRows:
        """Group rows by a key of each, (n,)."""
        _, first, group, counts = np.unique(
            keys, return_index=True, return_inverse=True, return_counts=True
        )
        return cls(first, group.reshape(-1), counts.astype(np.float64))


class _Fit(Protocol):
    @property
    def log_evidence(self) -> float: ...


_Some = TypeVar("_Some", bound=_Fit)


def relevant_places(variances: FloatArray, tuning: LevelTuning, most: int) -> npt.NDArray[np.intp]:
    """Return the places of the basis functions that levels can show, without the intercept."""
    largest = tuning.mean_amplitudes[-1][0]
    kept = 1 + np.flatnonzero(0.25 * largest * variances[1:] > tuning.least_influence)
    if len(kept) > most:
        kept = kept[np.sort(np.argsort(variances[kept])[-most:])]
    return kept


def relevant(
    functions: FloatArray, variances: FloatArray, tuning: LevelTuning, most: int
) -> tuple[FloatArray, FloatArray]:
    """Return the basis functions that levels can show, ``most`` at most, and their variances."""
    kept = relevant_places(variances, tuning, most)
    return functions[:, kept], variances[kept]


class Mode(NamedTuple):
    """Coefficients at their mode, and what other amplitudes would make of them."""

    theta: FloatArray  # (D,)
    information: FloatArray  # (D, D), that of priors without an amplitude included
    places: tuple[npt.NDArray[np.intp], ...]  # of the coefficients that each amplitude scales
    variances: tuple[FloatArray, ...]  # of these at amplitude one

    def _precisions(self, amplitudes: tuple[float, ...]) -> FloatArray:
        precisions = np.zeros(len(self.theta))
        for a, places, variances in zip(amplitudes, self.places, self.variances, strict=True):
            precisions[places] = 1 / (a * variances)
        return precisions

    def gain(self, before: tuple[float, ...], after: tuple[float, ...]) -> float:
        """Estimate the log evidence of other amplitudes, one Newton step from here, without rows.

        At the mode of the amplitudes ``before`` only the change of the prior has a slope.
        """
        theta = self.theta
        old, new = self._precisions(before), self._precisions(after)
        slope = (old - new) * theta
        factor, status = dpotrf(self.information + np.diag(new), lower=1)
        old_factor, old_status = dpotrf(self.information + np.diag(old), lower=1)
        if status != 0 or old_status != 0:
            return -np.inf
        step, _ = dpotrs(factor, slope, lower=1)
        scaled = new > 0
        return float(
            0.5 * ((old - new) * theta) @ theta
            + 0.5 * slope @ step
            + 0.5 * np.log(new[scaled] / old[scaled]).sum()
            - np.log(factor.diagonal()).sum()
            + np.log(old_factor.diagonal()).sum()
        )


def average_evidence(
    score: Callable[[tuple[float, ...], FloatArray], tuple[float, Mode, _Some]],
    grids: list[Amplitudes],
    start: FloatArray,
) -> tuple[float, _Some]:
    """Average the evidence over amplitudes, climbing from the most probable ones.

    Parameters
    ----------
    score : function
        Of amplitudes and a starting point: log evidence, the mode it found, the fit.
    grids : list of Amplitudes
        One for each function.
    start : float array

    Returns
    -------
    float
        The log evidence, amplitudes summed out over those next to the best, which are estimated.
    fit
        Of the best amplitudes.
    """

    def amplitudes(place: tuple[int, ...]) -> tuple[float, ...]:
        return tuple(grid[k][0] for grid, k in zip(grids, place, strict=True))

    def log_share(place: tuple[int, ...]) -> float:
        return float(sum(np.log(grid[k][1]) for grid, k in zip(grids, place, strict=True)))

    best = tuple(int(np.argmax([share for _, share in grid])) for grid in grids)
    visited = {best}
    while True:
        value, mode, fit = score(amplitudes(best), start)
        total = value + log_share(best)
        near = {
            place: value + mode.gain(amplitudes(best), amplitudes(place)) + log_share(place)
            for place in _neighbours(best, grids)
        }
        better = max(near, key=near.__getitem__, default=best)
        if near.get(better, -np.inf) <= total or better in visited:
            return float(np.logaddexp.reduce([total, *near.values()])), fit
        visited.add(better)
        best, start = better, mode.theta


def _neighbours(place: tuple[int, ...], grids: list[Amplitudes]) -> list[tuple[int, ...]]:
    """Return the places next to one along each axis."""
    return [
        (*place[:axis], k, *place[axis + 1 :])
        for axis, grid in enumerate(grids)
        for k in (place[axis] - 1, place[axis] + 1)
        if 0 <= k < len(grid)
    ]


def missing_price(
    variances: FloatArray, information: FloatArray, n_parents: int, tuning: LevelTuning
) -> float:
    """Return by how much a function is cheaper than the least price of its parents, in nats.

    Its price is the Occam factor ½ Σ_k log(1 + a λ_k I) of its coefficients, with prior variances
    ``variances`` (r,) at amplitude a = 1 and the rows' mean ``information`` I, for each column of
    it (n, c) if there are several.
    """
    mean = np.atleast_1d(information.mean(axis=0))
    price = 0.5 * float(np.log1p(np.multiply.outer(variances, mean)).sum())
    return max(n_parents * tuning.least_price - price, 0.0)


def gains_of(
    functions: FloatArray, variances: FloatArray, slope: FloatArray, information: FloatArray
) -> float:
    """Estimate the gain of one more function for each column of ``slope`` (n, c).

    One scoring step from zero, with the rows' information (n, c) averaged, so that everything is
    diagonal.
    """
    if len(variances) == 1:  # a cause that hardly ever moves: nothing to gain
        return -np.inf
    target = functions[:, 1:].T @ slope  # (r, c)
    H = information.mean(axis=0) + 1 / variances[1:, None]
    return 0.5 * float(np.sum(target * target / H - np.log(H * variances[1:, None])))
