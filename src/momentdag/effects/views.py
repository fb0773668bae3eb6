"""How a variable is seen: on its grid, and in the units of the file.

A mechanism gives Y* = m + v E. A variable on a grid (0/1, whole numbers, rounded values) is the
level that Y* has reached: with levels l_1 < ... < l_K and thresholds t_k between them, which are
the mechanism's own,

    E[g(Y) | m, v] = g(l_K) - Σ_k (g(l_k+1) - g(l_k)) F((t_k - m) / v).

A variable that was fitted as a logarithm is simulated as one and shown as exp(Y*).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from momentdag.engines.protocol import Mechanism
from momentdag.engines.thresholds import MAX_LEVELS
from momentdag.table import Observed

__all__ = ["Distribution", "Grid", "LogView", "View", "make_views"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
Distribution: TypeAlias = Callable[[FloatArray], FloatArray]

# Values of standardised noise over which an exponential is averaged: dense in the middle, out to 15
# standard deviations; and the edges of the cells around them.
_NODES = np.sinh(np.linspace(-3.4, 3.4, 97))
_EDGES = 0.5 * (_NODES[1:] + _NODES[:-1])


class View(Protocol):
    """One variable between the scale it was fitted on and the units of the file."""

    def at(self, mechanism: Mechanism) -> View:
        """Return the view of values that come from this mechanism."""

    def settle(self, values: FloatArray) -> FloatArray:
        """Return simulated values on the grid of the variable, on the scale of the fit."""

    def show(self, values: FloatArray) -> FloatArray:
        """Return values on the scale of the fit in the units of the file."""

    def moments(
        self, mean: FloatArray, sd: FloatArray, distribution: Distribution
    ) -> tuple[FloatArray, FloatArray]:
        """Return mean and sd in the units of the file, given those of Y* and how E is spread."""

    def threshold(self, value: float, *, below: bool) -> float:
        """Return t such that the variable is below (above) ``value`` just when Y* is so of t."""


@dataclass(frozen=True, eq=False)
class Grid:
    """A variable that takes few values.

    Parameters
    ----------
    levels : float array, shape (K,)
        On the scale of the fit, rising.
    is_log : bool
        Whether that is a logarithm.
    thresholds : float array, shape (K - 1,), or None
        Where one level gives way to the next; midpoints by default.
    """

    levels: FloatArray
    is_log: bool = False
    thresholds: FloatArray | None = None

    def at(self, mechanism: Mechanism) -> Grid:
        """Return the grid with the thresholds of a mechanism."""
        return replace(self, thresholds=mechanism.thresholds(self.levels))

    @cached_property
    def shown(self) -> FloatArray:
        """The levels in the units of the file, (K,)."""
        return np.exp(self.levels) if self.is_log else self.levels

    @cached_property
    def edges(self) -> FloatArray:
        """Where one level gives way to the next, on the scale of the fit, (K - 1,)."""
        if self.thresholds is not None:
            return self.thresholds
        return np.asarray(0.5 * (self.levels[1:] + self.levels[:-1]))

    def settle(self, values: FloatArray) -> FloatArray:
        """Return the level that each value has reached."""
        return np.asarray(self.levels[np.searchsorted(self.edges, values)])

    def show(self, values: FloatArray) -> FloatArray:
        """Return values in the units of the file."""
        return np.exp(values) if self.is_log else values

    def moments(
        self, mean: FloatArray, sd: FloatArray, distribution: Distribution
    ) -> tuple[FloatArray, FloatArray]:
        """Return mean and sd of the level that Y* has reached."""
        if len(self.levels) > MAX_LEVELS:
            if self.is_log:
                return LogView(self.levels[0], self.levels[-1]).moments(mean, sd, distribution)
            return mean, sd
        # Around the middle, so that squares do not cancel.
        centre = self.shown.mean()
        levels = self.shown - centre
        first = np.full(mean.shape, levels[-1])
        second = np.full(mean.shape, levels[-1] ** 2)
        for k, edge in enumerate(self.edges):
            below = distribution((edge - mean) / sd)
            first -= (levels[k + 1] - levels[k]) * below
            second -= (levels[k + 1] ** 2 - levels[k] ** 2) * below
        return first + centre, np.sqrt(np.maximum(second - first**2, 0.0))

    def threshold(self, value: float, *, below: bool) -> float:
        """Return the edge beyond which all levels are below (above) ``value``."""
        k = int(np.searchsorted(self.shown, value, "left" if below else "right"))
        edges = np.concatenate([[-np.inf], self.edges, [np.inf]])
        return float(edges[k])


@dataclass(frozen=True)
class LogView:
    """A variable that was fitted as a logarithm.

    Parameters
    ----------
    low, high : float
        The range of the logarithm in the data. Moments in the units of the file leave out what
        lies further beyond than a tenth of it: an exponential makes a rare value in the tails of
        the noise as large as the whole rest.
    """

    low: float
    high: float

    def at(self, mechanism: Mechanism) -> LogView:
        """Return the view itself, whatever the mechanism."""
        return self

    def settle(self, values: FloatArray) -> FloatArray:
        """Return the values as they are."""
        return values

    def show(self, values: FloatArray) -> FloatArray:
        """Return values in the units of the file."""
        slack = 0.1 * (self.high - self.low)
        return np.exp(np.clip(values, self.low - slack, self.high + slack))

    def moments(
        self, mean: FloatArray, sd: FloatArray, distribution: Distribution
    ) -> tuple[FloatArray, FloatArray]:
        """Return mean and sd of exp(Y*)."""
        first, second = np.zeros((2, *mean.shape))
        masses = np.diff(distribution(_EDGES), prepend=0.0, append=1.0)
        for e, mass in zip(_NODES, masses, strict=True):
            shown = self.show(mean + sd * e)
            first += mass * shown
            second += mass * shown * shown
        return first, np.sqrt(np.maximum(second - first**2, 0.0))

    def threshold(self, value: float, *, below: bool) -> float:
        """Return the logarithm of ``value``."""
        return float(np.log(value)) if value > 0 else -np.inf


def make_views(observed: Observed) -> Mapping[int, View]:
    """Return the views of the columns that need one."""
    views: dict[int, View] = {}
    for j, name in enumerate(observed.names):
        is_log = name in observed.log_columns
        if name in observed.levels:
            views[j] = Grid(observed.levels[name], is_log)
        elif is_log:
            low, high = observed.summary.loc[name, ["min", "max"]]
            views[j] = LogView(float(low), float(high))
    return views
