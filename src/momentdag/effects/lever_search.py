"""Settings that do most for a goal while they hold what must be held.

The goal and the constraint are judged in worlds drawn from the posterior. One lever is searched on
a grid between its bounds, refined by splines through each world's answers; several levers one
after the other, each given the others, in two rounds.
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

from momentdag.effects.fitted import Fitted
from momentdag.effects.holding import variance_held_still
from momentdag.effects.propagation import propagate
from momentdag.effects.settings import Settings
from momentdag.effects.worlds import World

__all__ = ["Answers", "Goal", "Judge", "LeverSearch"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
Goal: TypeAlias = Literal["lower_variance", "raise_mean", "lower_mean"]
"""Cut the variance and hold the mean, or move the mean and hold the sd."""

_N_FINE = 81
_ROUNDS = 2
_MOST_PROMISING = 4  # single levers that are tried together


class Answers(NamedTuple):
    """Change of the mean and ratio of variances against the baseline, (n_worlds, n_settings)."""

    mean_change: FloatArray
    variance_ratio: FloatArray


@dataclass(frozen=True)
class Judge:
    """What is wanted, and what must hold.

    Parameters
    ----------
    goal : {"lower_variance", "raise_mean", "lower_mean"}
    tolerance : float
        Largest change of the mean in the target's units, or of the sd as a fraction.
    """

    goal: Goal
    tolerance: float

    def loss(self, answers: Answers) -> FloatArray:
        """Return what is to be made small, in each world: (n_worlds, n_settings)."""
        if self.goal == "lower_variance":
            return answers.variance_ratio
        return answers.mean_change * (-1.0 if self.goal == "raise_mean" else 1.0)

    def improves(self, answers: Answers) -> npt.NDArray[np.bool_]:
        """Tell where the goal is served at all."""
        neutral = 1.0 if self.goal == "lower_variance" else 0.0
        return np.asarray(self.loss(answers) < neutral)

    def held(self, answers: Answers) -> npt.NDArray[np.bool_]:
        """Tell where the constraint holds."""
        if self.goal == "lower_variance":
            return np.asarray(np.abs(answers.mean_change) <= self.tolerance)
        return np.asarray(np.abs(np.sqrt(answers.variance_ratio) - 1) <= self.tolerance)


@dataclass(frozen=True, eq=False)
class LeverSearch:
    """A search in given worlds.

    Parameters
    ----------
    fitted : Fitted
    target : str
    worlds : sequence of World
        Of equal weight.
    judge : Judge
    bounds : mapping from name to (low, high)
        The levers, each with the range it may be set in.
    n_settings : int
        Grid points between the bounds.
    confidence : float
        Probability with which the constraint must hold.
    """

    fitted: Fitted
    target: str
    worlds: Sequence[World]
    judge: Judge
    bounds: Mapping[str, tuple[float, float]]
    n_settings: int
    confidence: float

    def answers(self, names: Sequence[str], values: FloatArray) -> Answers:
        """Ask every world about settings ``values`` (n_settings, n_levers) of the levers."""
        names_ = self.fitted.names
        settings = Settings(tuple(names), tuple(names_.index(name) for name in names), values)
        target = [names_.index(self.target)]
        change, ratio = np.empty((2, len(self.worlds), len(values)))
        for k, world in enumerate(self.worlds):
            mean, variance = propagate(world, settings, target).moments()
            change[k], ratio[k] = mean[:, 0], variance[:, 0]
        mean_now, variance_now = self._baseline
        return Answers(change - mean_now, ratio / variance_now)

    def ratio_by_holding(self, rng: np.random.Generator, names: Sequence[str]) -> FloatArray:
        """Return E_x Var(Y | do x) / Var(Y) in every world, shape (n_worlds,); see `holding`."""
        columns = [self.fitted.names.index(name) for name in names]
        target = self.fitted.names.index(self.target)
        held = [variance_held_still(rng, world, columns, target) for world in self.worlds]
        return np.asarray(held / self._baseline[1][:, 0])

    @cached_property
    def _baseline(self) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of the target in each world as it is, both (n_worlds, 1)."""
        target = [self.fitted.names.index(self.target)]
        moments = [propagate(world, Settings.nothing(), target).moments() for world in self.worlds]
        mean, variance = np.array(moments)[:, :, 0, 0].T
        return mean[:, None], variance[:, None]

    def best(self, max_levers: int) -> list[dict[str, float]]:
        """Return the best setting of each lever and of the most promising joint levers."""
        singles: list[tuple[float, dict[str, float]]] = []
        for name in self.bounds:
            middle = {name: float(np.mean(self.bounds[name]))}
            singles.append(self._along(name, middle))
        singles.sort(key=lambda found: found[0])
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
        """Move one lever of a setting to its best place; return that with its penalised loss."""
        grid = np.linspace(*self.bounds[name], self.n_settings)
        names = tuple(setting)
        values = np.tile(list(setting.values()), (len(grid), 1))
        values[:, names.index(name)] = grid
        coarse = self.answers(names, values)
        fine = np.linspace(*self.bounds[name], _N_FINE)
        # In each world both answers are smooth in the setting; a ratio stays positive in logs.
        change = CubicSpline(grid, coarse.mean_change, axis=1)(fine)
        log_ratio = CubicSpline(grid, np.log(coarse.variance_ratio), axis=1)(fine)
        answers = Answers(change, np.exp(log_ratio))
        loss = self._penalised(answers)
        k = int(np.argmin(loss))
        return float(loss[k]), {**setting, name: float(fine[k])}

    def _penalised(self, answers: Answers) -> FloatArray:
        """Return the expected loss; settings that do not hold come after all that do."""
        loss = self.judge.loss(answers)
        lacking = np.maximum(self.confidence - self.judge.held(answers).mean(axis=0), 0.0)
        # Larger than any difference in loss, and growing with what is lacking.
        penalty = np.where(lacking > 0, (1.0 + lacking) * (1.0 + np.ptp(loss)), 0.0)
        return np.asarray(loss.mean(axis=0) + penalty)
