"""Columns of the modelled world, held at the level and the spread that the data have.

Every mechanism is held against its own rows, but in a modelled world its causes are modelled too,
and what is wrong with them adds up; where tails are heavy, a column's sd hangs on a handful of rows
that no fitted density repeats. So a column that comes out with another mean or sd than the data
have gets a constant shift and a constant factor on its *noise*, the same in every draw:

    X_j = m_j + a_j + b_j v_j E_j.

Of a count it is the dispersion that has a factor. Differences of means between settings, who causes
whom, and ratios of conditional sds are what they were. A column that needs more than `MAX_SHIFT` or
`MAX_FACTOR` stays wrong, and the world check says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["MAX_FACTOR", "MAX_SHIFT", "Alignment", "WorldMoments", "realign", "within_limits"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

MAX_SHIFT = 0.5
"""Largest shift of a column, in observed sds."""
MAX_FACTOR = 2.0
"""Largest factor on the noise of a column, and its inverse the smallest."""


class Alignment(NamedTuple):
    """What one column of the modelled world is moved by."""

    shift: float = 0.0
    factor: float = 1.0

    def __call__(self, mean: FloatArray, sd: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the aligned moments of a mechanism."""
        return mean + self.shift, self.factor * sd


class WorldMoments(NamedTuple):
    """Moments of the columns of a modelled world, each (d,)."""

    mean: FloatArray
    variance: FloatArray
    noise_variance: FloatArray  # the part of it that is the column's own noise


def realign(
    current: Mapping[int, Alignment],
    shifted: Sequence[int],
    scaled: Sequence[int],
    world: WorldMoments,
    observed_mean: FloatArray,
    observed_sd: FloatArray,
) -> dict[int, Alignment]:
    """Return alignments that bring means and sds to the observed ones.

    Parameters
    ----------
    current : mapping from column to Alignment
        Under which ``world`` was simulated.
    shifted, scaled : sequence of int
        Columns whose mean and whose sd are to be moved.
    world : WorldMoments
    observed_mean, observed_sd : float array, shape (d,)
    """
    aligned = dict(current)
    for j in shifted:
        one = aligned.get(j, Alignment())
        limit = MAX_SHIFT * observed_sd[j]
        shift = np.clip(one.shift + observed_mean[j] - world.mean[j], -limit, limit)
        aligned[j] = one._replace(shift=float(shift))
    for j in scaled:
        one = aligned.get(j, Alignment())
        own = world.noise_variance[j]
        wanted = max(own + observed_sd[j] ** 2 - world.variance[j], 0.0)
        factor = np.clip(one.factor * np.sqrt(wanted / own), 1 / MAX_FACTOR, MAX_FACTOR)
        aligned[j] = one._replace(factor=float(factor))
    return aligned


def within_limits(
    alignment: Mapping[int, Alignment], observed_sd: FloatArray
) -> dict[int, Alignment]:
    """Return alignments without those at a limit: half a correction would hide what is wrong."""
    kept = {}
    for j, one in alignment.items():
        if abs(one.shift) >= MAX_SHIFT * observed_sd[j]:
            one = one._replace(shift=0.0)
        if not 1 / MAX_FACTOR < one.factor < MAX_FACTOR:
            one = one._replace(factor=1.0)
        if one != Alignment():
            kept[j] = one
    return kept
