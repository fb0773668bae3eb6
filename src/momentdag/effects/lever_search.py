"""Search for the settings of levers that serve a goal best while a constraint holds.

Goal and constraint are evaluated in posterior samples. One lever is searched over the values it can
have, with splines through each sample's outcomes between those that are computed; several levers
are searched in turn, each given the others, in two rounds.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.interpolate import CubicSpline

from momentdag.effects.lever_ranges import LeverRange
from momentdag.effects.posterior_samples import PosteriorSample
from momentdag.effects.propagation import propagate
from momentdag.effects.settings import Settings

__all__ = ["Goal", "LeverCriterion", "LeverSearch", "Outcomes"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
Goal: TypeAlias = Literal["lower_variance", "raise_mean", "lower_mean"]
"""Lower the variance and keep the mean, or move the mean and keep the sd."""

_ROUNDS = 2
_MOST_PROMISING = 4  # single levers that are also tried jointly


class Outcomes(NamedTuple):
    """Change of the mean and ratio of variances against no intervention, (n_draws, n_settings)."""

    mean_change: FloatArray
    variance_ratio: FloatArray


@dataclass(frozen=True)
class LeverCriterion:
    """The goal of a lever and the constraint it must respect.

    Parameters
    ----------
    goal : {"lower_variance", "raise_mean", "lower_mean"}
    tolerance : float
        Largest change of the mean in the target's units, or of the sd as a fraction.
    """

    goal: Goal
    tolerance: float

    def loss(self, outcomes: Outcomes) -> FloatArray:
        """Return the quantity to minimise, shape (n_draws, n_settings)."""
        if self.goal == "lower_variance":
            return outcomes.variance_ratio
        return outcomes.mean_change * (-1.0 if self.goal == "raise_mean" else 1.0)

    def improves(self, outcomes: Outcomes) -> npt.NDArray[np.bool_]:
        """Return where a setting is better than no intervention."""
        neutral = 1.0 if self.goal == "lower_variance" else 0.0
        return np.asarray(self.loss(outcomes) < neutral)

    def is_satisfied(self, outcomes: Outcomes) -> npt.NDArray[np.bool_]:
        """Return where the mean (or the sd) stays within the tolerance."""
        if self.goal == "lower_variance":
            return np.asarray(np.abs(outcomes.mean_change) <= self.tolerance)
        return np.asarray(np.abs(np.sqrt(outcomes.variance_ratio) - 1) <= self.tolerance)


@dataclass(frozen=True, eq=False)
class LeverSearch:
    """A search in given posterior samples.

    Parameters
    ----------
    target : str
    samples : sequence of PosteriorSample
        Of equal weight.
    criterion : LeverCriterion
    ranges : mapping from name to LeverRange
        The levers, each with the values it may be set to.
    confidence : float
        Probability with which the constraint must hold.
    """

    target: str
    samples: Sequence[PosteriorSample]
    criterion: LeverCriterion
    ranges: Mapping[str, LeverRange]
    confidence: float

    def column(self, name: str) -> int:
        """Return the column of a variable."""
        return self.samples[0].graph.index(name)

    def outcomes(self, names: Sequence[str], values: FloatArray) -> Outcomes:
        """Return what settings ``values`` (n_settings, n_levers) of the levers do."""
        settings = Settings(tuple(names), tuple(map(self.column, names)), values)
        target = [self.column(self.target)]
        means, variances = np.empty((2, len(self.samples), len(values)))
        for k, sample in enumerate(self.samples):
            mean, variance = propagate(sample, settings, target).moments()
            means[k], variances[k] = mean[:, 0], variance[:, 0]
        mean_before, variance_before = self.baseline
        return Outcomes(means - mean_before, variances / variance_before)

    def outside_data(self, names: Sequence[str], values: FloatArray) -> float:
        """Return the share of simulated rows that leave the data in one setting, (n_levers,)."""
        settings = Settings(tuple(names), tuple(map(self.column, names)), values[None])
        target = [self.column(self.target)]
        shares = [
            propagate(sample, settings, target, count_outside=True).outside
            for sample in self.samples
        ]
        return float(np.mean(shares))

    @cached_property
    def baseline(self) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of the target without intervention, both (n_draws, 1)."""
        target = [self.column(self.target)]
        moments = [propagate(sample, Settings.none(), target).moments() for sample in self.samples]
        mean, variance = np.array(moments)[:, :, 0, 0].T
        return mean[:, None], variance[:, None]

    def best(self, max_levers: int) -> list[dict[str, float]]:
        """Return the best setting of each lever and of the most promising joint levers."""
        singles: list[tuple[float, dict[str, float]]] = []
        for name, values in self.ranges.items():
            singles.append(self._along(name, {name: values.middle}))
        singles.sort(key=lambda single: single[0])
        settings = [setting for _, setting in singles]
        promising = settings[:_MOST_PROMISING]
        for size in range(2, max_levers + 1):
            for group in itertools.combinations(promising, size):
                setting = {name: value for single in group for name, value in single.items()}
                for name in list(setting) * _ROUNDS:
                    _, setting = self._along(name, setting)
                settings.append(setting)
        return settings

    def _along(self, name: str, setting: Mapping[str, float]) -> tuple[float, dict[str, float]]:
        """Move one lever of a setting to its best value; return the penalised loss there too."""
        grid, fine = self.ranges[name]
        names = tuple(setting)
        values = np.tile(list(setting.values()), (len(grid), 1))
        values[:, names.index(name)] = grid
        outcomes = self.outcomes(names, values)
        if fine is not grid:
            # Both outcomes of a sample are smooth in the setting; logs keep the ratio positive.
            # Without units: powers of those that lie far apart are beyond floats.
            span = grid[-1] - grid[0]
            x, at = (grid - grid[0]) / span, (fine - grid[0]) / span
            largest = float(np.abs(outcomes.mean_change).max())
            unit = largest if largest > 0 else 1.0
            change = CubicSpline(x, outcomes.mean_change / unit, axis=1)(at) * unit
            log_ratio = CubicSpline(x, np.log(outcomes.variance_ratio), axis=1)(at)
            outcomes = Outcomes(change, np.exp(log_ratio))
        loss = self._penalised(outcomes)
        k = int(np.argmin(loss))
        return float(loss[k]), {**setting, name: float(fine[k])}

    def _penalised(self, outcomes: Outcomes) -> FloatArray:
        """Return the expected loss, with a penalty that puts infeasible settings last."""
        loss = self.criterion.loss(outcomes)
        probability = self.criterion.is_satisfied(outcomes).mean(axis=0)
        shortfall = np.maximum(self.confidence - probability, 0.0)
        # Exceeds any difference in loss, and grows with the shortfall.
        penalty = np.where(shortfall > 0, (1.0 + shortfall) * (1.0 + np.ptp(loss)), 0.0)
        return np.asarray(loss.mean(axis=0) + penalty)
