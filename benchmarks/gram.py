"""The unit of time: one weighted Gram product F'DF at n = 500, p = 45, on one thread.

Machines differ, and a shared one differs from minute to minute; work is therefore timed between
two measurements of this product and given as a multiple of their mean.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple, TypeVar

import numpy as np
from threadpoolctl import threadpool_limits

__all__ = ["Timing", "gram_seconds", "timed"]

Result = TypeVar("Result")

_N_ROWS, _N_COLUMNS, _REPEATS = 500, 45, 1500


class Timing(NamedTuple):
    """Wall-clock time of one piece of work, and of the Gram product around it."""

    seconds: float
    gram_seconds: float

    @property
    def units(self) -> float:
        """The time as a multiple of the Gram product."""
        return self.seconds / self.gram_seconds


def gram_seconds() -> float:
    """Return the median time of one F'DF over many repeats."""
    rng = np.random.default_rng(0)
    F = rng.standard_normal((_N_ROWS, _N_COLUMNS))
    D = rng.random(_N_ROWS)
    times = np.empty(_REPEATS)
    with threadpool_limits(1):
        for k in range(_REPEATS):
            start = time.perf_counter()
            F.T @ (D[:, None] * F)
            times[k] = time.perf_counter() - start
    return float(np.median(times))


def timed(work: Callable[[], Result]) -> tuple[Result, Timing]:
    """Do ``work`` on one thread between two measurements of the unit."""
    before = gram_seconds()
    with threadpool_limits(1):
        start = time.perf_counter()
        result = work()
        seconds = time.perf_counter() - start
    return result, Timing(seconds, (before + gram_seconds()) / 2)
