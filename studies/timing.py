"""Time and memory of a piece of work, also in a unit that is comparable between machines.

The unit is one weighted Gram product F'DF at n = 500, p = 45, on one thread. Machines differ, and a
shared one differs from minute to minute; work is therefore timed between two measurements of this
product and given as a multiple of their mean.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable
from typing import NamedTuple, TypeVar

import numpy as np
from threadpoolctl import threadpool_limits

__all__ = ["Timing", "gram_seconds", "peak_megabytes", "timed", "timed_in_grams"]

Result = TypeVar("Result")

_N_ROWS, _N_COLUMNS, _REPEATS = 500, 45, 1500


class Timing(NamedTuple):
    """Wall and CPU time of one piece of work, in seconds."""

    seconds: float
    cpu_seconds: float


def timed(work: Callable[[], Result]) -> tuple[Result, Timing]:
    """Do ``work`` and time it."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = work()
    return result, Timing(time.perf_counter() - wall, time.process_time() - cpu)


def timed_in_grams(work: Callable[[], Result]) -> tuple[Result, Timing, dict[str, float]]:
    """Do ``work`` on one thread; return its time also as a multiple of the Gram product."""
    before = gram_seconds()
    with threadpool_limits(1):
        result, timing = timed(work)
    unit = (before + gram_seconds()) / 2
    return result, timing, {"gram_seconds": unit, "gram_units": timing.seconds / unit}


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


def peak_megabytes() -> float:
    """Return the peak memory of this process so far."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 2**20 if sys.platform == "darwin" else peak / 2**10
