"""Shapes of noise before any tilt: Student tails, perhaps longer on one side.

A skewed shape has two halves of different width, γ above its mode and 1/γ below (Fernández and
Steel 1998), and is standardised: with f the Student density of variance one and x = s e + c,

    log p(e) = log s + log(2 / (γ + 1/γ)) + log f(x / γ)  for x >= 0,  f(γ x)  for x < 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from momentdag.engines.evidence.local.noise.student import STUDENT_GRID, Student, student

__all__ = ["SHAPES", "SYMMETRIC", "Shape", "log_likelihoods", "shape"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]

_PIECE = 4096
_SKEWS = (1.0, 0.8, 1 / 0.8, 0.6, 1 / 0.6, 0.45, 1 / 0.45)


@dataclass(frozen=True)
class Shape:
    """A density with mean 0 and variance 1.

    Parameters
    ----------
    tails : Student
    skew : float
        γ, above zero: 1 is symmetric, more has the longer tail above.
    """

    tails: Student
    skew: float = 1.0

    centre: float = field(init=False)  # c, the mean before standardising
    stretch: float = field(init=False)  # s, the standard deviation before

    def __post_init__(self) -> None:
        g = self.skew
        centre = self.tails.mean_size * (g - 1 / g)
        object.__setattr__(self, "centre", centre)
        object.__setattr__(self, "stretch", float(np.sqrt(g**2 - 1 + g**-2 - centre**2)))

    def log_density(self, e: FloatArray) -> FloatArray:
        """Return the log density at ``e``."""
        z, _ = self._parts(e)
        constant = np.log(self.stretch) + np.log(2 / (self.skew + 1 / self.skew))
        return np.asarray(self.tails.log_density(z * z) + constant)

    def distribution(self, e: FloatArray) -> FloatArray:
        """Return the distribution function at ``e``."""
        return self._integral(self.tails.distribution, 0, e)

    def quantile(self, p: FloatArray) -> FloatArray:
        """Return the inverse of `distribution`."""
        below = 1 / (1 + self.skew**2)  # probability below the mode
        width = np.where(p < below, 1 / self.skew, self.skew)
        share = np.where(p < below, p / below, 1 + (p - below) / (1 - below)) / 2
        return np.asarray((width * self.tails.quantile(share) - self.centre) / self.stretch)

    def moments(self, e: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the integrals of t p(t) and t² p(t) up to ``e``."""
        c, s = self.centre, self.stretch
        mass = self.distribution(e)
        first = self._integral(self.tails.first_moment, 1, e)
        second = self._integral(self.tails.second_moment, 2, e)
        return (first - c * mass) / s, (second - 2 * c * first + c**2 * mass) / s**2

    def _parts(self, e: FloatArray) -> tuple[FloatArray, BoolArray]:
        """Return x over the width of its half, and whether that is the upper one."""
        x = self.stretch * e + self.centre
        is_above = x >= 0
        return x * np.where(is_above, 1 / self.skew, self.skew), is_above

    def _integral(
        self, symmetric: Callable[[FloatArray], FloatArray], k: int, e: FloatArray
    ) -> FloatArray:
        """Return the integral of x^k p up to ``e``, from that of the symmetric density."""
        z, is_above = self._parts(e)
        up_to_z, up_to_mode = symmetric(z), symmetric(np.zeros(()))
        share = 2 / (self.skew + 1 / self.skew)
        low, high = share * self.skew ** -(k + 1), share * self.skew ** (k + 1)
        above = low * up_to_mode + high * (up_to_z - up_to_mode)
        return np.where(is_above, above, low * up_to_z)


@lru_cache(maxsize=64)
def shape(df: float, skew: float = 1.0) -> Shape:
    """Return the shape with these tails and this skew."""
    return Shape(student(df), skew)


SHAPES = tuple(shape(df, skew) for df in STUDENT_GRID for skew in _SKEWS)
SYMMETRIC = np.array([k for k, own in enumerate(SHAPES) if own.skew == 1.0])  # their places


class _Rows(NamedTuple):
    """Constants of all shapes, one a row, those with normal tails first."""

    stretch: FloatArray  # (k, 1)
    centre: FloatArray  # (k, 1)
    skew: FloatArray  # (k, 1)
    df: FloatArray  # (k,)
    at_mode: FloatArray  # (k,) log density


def _rows() -> _Rows:
    stretch, centre, skew, df = np.array(
        [(own.stretch, own.centre, own.skew, own.tails.df) for own in SHAPES]
    ).T
    modes = -centre / stretch
    at_mode = [float(own.log_density(mode)) for own, mode in zip(SHAPES, modes, strict=True)]
    return _Rows(stretch[:, None], centre[:, None], skew[:, None], df, np.array(at_mode))


_ROWS = _rows()
_EVERY = np.arange(len(SHAPES))


def log_likelihoods(e: FloatArray, which: npt.NDArray[np.intp] = _EVERY) -> FloatArray:
    """Return the log-likelihood of values (n,) under `SHAPES` at ascending places (k,), (k,)."""
    rows = _Rows(*(part[which] for part in _ROWS))
    # Of long samples a piece at a time: all shapes at all values would be many times the data.
    found = np.zeros(len(which))
    for first in range(0, len(e), _PIECE):
        found += _log_likelihoods(e[first : first + _PIECE], rows)
    return found


def _log_likelihoods(e: FloatArray, rows: _Rows) -> FloatArray:
    stretch, centre, skew, df, at_mode = rows
    x = stretch * e + centre
    size = np.maximum(x / skew, -x * skew)  # of x over the width of its half
    size *= size
    n_normal = int(np.isinf(df).sum())
    heavy, df = size[n_normal:], df[n_normal:]
    heavy /= (df - 2)[:, None]
    heavy += 1
    np.log(heavy, out=heavy)
    tails = size.sum(axis=1)
    tails[n_normal:] *= df + 1
    return np.asarray(len(e) * at_mode - 0.5 * tails)
