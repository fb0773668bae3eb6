"""Student densities of variance one: the tails that fits are robust to."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln, ndtr, ndtri, stdtr, stdtrit

__all__ = ["GAUSSIAN", "STUDENT_GRID", "Student", "best_student", "student"]

FloatArray: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Student:
    """A Student t density standardised to variance one.

    Parameters
    ----------
    df : float
        Degrees of freedom, above 2; infinite for the normal.
    """

    df: float

    is_normal: bool = field(init=False)
    scale_information: float = field(init=False)
    curvature_ratio: float = field(init=False)
    log_peak: float = field(init=False)

    def __post_init__(self) -> None:
        df, normal = self.df, bool(np.isinf(self.df))
        constant = -0.5 * np.log(2 * np.pi)
        if not normal:
            constant = gammaln((df + 1) / 2) - gammaln(df / 2) - 0.5 * np.log(np.pi * (df - 2))
        derived = {
            "is_normal": normal,
            # Expected information of the log standard deviation.
            "scale_information": 2.0 if normal else 2 * df / (df + 3),
            # Expected information of the location over the mean of `weights`.
            "curvature_ratio": 1.0 if normal else (df + 1) / (df + 3),
            "log_peak": float(constant),  # the log density at zero
        }
        for name, value in derived.items():
            object.__setattr__(self, name, value)

    @property
    def mean_size(self) -> float:
        """The expected absolute value."""
        return -2 * float(self.first_moment(np.zeros(())))

    def log_density(self, e2: FloatArray) -> FloatArray:
        """Return the log density at squared values ``e2``."""
        if self.is_normal:
            return np.asarray(self.log_peak - 0.5 * e2)
        # log(1 + x) here is as exact as log1p in absolute terms, and several times faster.
        tails = np.log(1 + e2 / (self.df - 2))
        return np.asarray(self.log_peak - 0.5 * (self.df + 1) * tails)

    def weights(self, e2: FloatArray) -> FloatArray:
        """Return -(log f)'(e) / e, the weight of a residual in the location equations."""
        if self.is_normal:
            return np.ones_like(e2)
        return np.asarray((self.df + 1) / (self.df - 2 + e2))

    def distribution(self, e: FloatArray) -> FloatArray:
        """Return the distribution function at ``e``."""
        if self.is_normal:
            return np.asarray(ndtr(e))
        return np.asarray(stdtr(self.df, e * np.sqrt(self.df / (self.df - 2))))

    def quantile(self, p: FloatArray) -> FloatArray:
        """Return the inverse of `distribution`."""
        if self.is_normal:
            return np.asarray(ndtri(p))
        return np.asarray(stdtrit(self.df, p) * np.sqrt((self.df - 2) / self.df))

    # With g = f (1 + e²/(ν - 2)), which is f itself for the normal:

    def first_moment(self, e: FloatArray) -> FloatArray:
        """Return the integral of t f(t) up to ``e``, which is -g(e) (ν - 2) / (ν - 1)."""
        ratio = 1.0 if self.is_normal else (self.df - 2) / (self.df - 1)
        return np.asarray(-ratio * self._g(e))

    def second_moment(self, e: FloatArray) -> FloatArray:
        """Return the integral of t² f(t) up to ``e``, which is F(e) - e g(e)."""
        return np.asarray(self.distribution(e) - e * self._g(e))

    def _g(self, e: FloatArray) -> FloatArray:
        density = np.exp(self.log_density(e * e))
        return density if self.is_normal else density * (1 + e * e / (self.df - 2))


@lru_cache(maxsize=32)
def student(df: float) -> Student:
    """Return the standardised Student density with ``df`` degrees of freedom."""
    return Student(df)


STUDENT_GRID = (np.inf, 12.0, 6.0, 4.0, 3.0)
GAUSSIAN = Student(np.inf)
_HEAVY = np.array(STUDENT_GRID[1:])
_SPREAD = (_HEAVY - 2)[:, None]
_STUDENTS = tuple(student(df) for df in STUDENT_GRID)
_LOG_PEAKS = np.array([each.log_peak for each in _STUDENTS])


def best_student(e2: FloatArray) -> Student:
    """Return the density of the grid under which squared values (n,) are most likely."""
    tails = np.empty(len(STUDENT_GRID))
    tails[0] = e2.sum()
    heavy = e2 / _SPREAD
    heavy += 1
    np.multiply(np.log(heavy, out=heavy).sum(axis=1), _HEAVY + 1, out=tails[1:])
    return _STUDENTS[int((len(e2) * _LOG_PEAKS - 0.5 * tails).argmax())]
