"""Search for settings of several levers that serve several outcomes at once.

As in `lever_search`, one lever is moved at a time over the values it can have, with curves between
those that are computed, and the levers of a group in turn, in a few rounds; the best single levers
are combined.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.interpolate import PchipInterpolator

from momentdag.effects.goals import Goals, States
from momentdag.effects.inputs import EffectInputs
from momentdag.effects.interventions import intervene_in
from momentdag.effects.lever_ranges import LeverRange
from momentdag.effects.posterior_samples import PosteriorSample
from momentdag.effects.settings import Settings

__all__ = ["DesignSearch"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

_ROUNDS = 2
_MOST_PROMISING = 5  # single levers that are combined


@dataclass(frozen=True, eq=False)
class DesignSearch:
    """A search in given posterior samples.

    Parameters
    ----------
    inputs : EffectInputs
    samples : sequence of PosteriorSample
        Of equal weight.
    goals : Goals
    ranges : mapping from name to LeverRange
        The levers, each with the values it may be set to, on the scale of the fit.
    costs : mapping from name to float
        What setting a lever costs, in the unit of the gains; 0 for those not named.
    confidence : float
        Probability with which the constraints must hold.
    """

    inputs: EffectInputs
    samples: Sequence[PosteriorSample]
    goals: Goals
    ranges: Mapping[str, LeverRange]
    costs: Mapping[str, float]
    confidence: float

    @cached_property
    def today(self) -> States:
        """The outcomes without intervention."""
        return self._states(Settings.none())

    def states(self, names: Sequence[str], values: FloatArray) -> States:
        """Return the outcomes under settings ``values`` (n_settings, n_levers) of levers."""
        columns = tuple(self.inputs.names.index(name) for name in names)
        return self._states(Settings(tuple(names), columns, values))

    def _states(self, settings: Settings) -> States:
        goals = self.goals
        limits = goals.limits if goals.any_limits else None
        answer = intervene_in(self.samples, self.inputs, settings, goals.outcomes, limits=limits)
        risk = np.full(answer.means.shape, np.nan) if answer.outside is None else answer.outside
        return States(answer.means, answer.sds, risk)

    def cost(self, names: Sequence[str]) -> float:
        """Return what setting the levers costs."""
        return sum(self.costs.get(name, 0.0) for name in names)

    def best(self, max_levers: int) -> list[dict[str, float]]:
        """Return the best setting of each lever, and of groups of the most promising ones."""
        singles = []
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
        states = self.states(names, values)
        if fine is not grid and len(grid) > 1:
            log_sd = np.log(np.maximum(states.sd, np.finfo(float).tiny))
            states = States(
                _between(grid, fine, states.mean),
                np.exp(_between(grid, fine, log_sd)),
                _between(grid, fine, states.risk),
            )
        loss = self._penalised(states) + self.cost(names)
        k = int(np.argmin(loss))
        return float(loss[k]), {**setting, name: float(fine[k])}

    def _penalised(self, states: States) -> FloatArray:
        """Return the expected loss, with a penalty that puts infeasible settings last."""
        loss = -self.goals.gains(states, self.today).mean(axis=0)
        probability = self.goals.satisfied(states, self.today).mean(axis=0)
        shortfall = np.maximum(self.confidence - probability, 0.0)
        # Exceeds any difference in loss, and grows with the shortfall.
        penalty = np.where(shortfall > 0, (1.0 + shortfall) * (10.0 + np.ptp(loss)), 0.0)
        return np.asarray(loss + penalty)


def _between(grid: FloatArray, fine: FloatArray, values: FloatArray) -> FloatArray:
    """Return values between those at ``grid`` (axis 1), monotone so that no risk leaves 0 to 1."""
    known = np.where(np.isnan(values), 0.0, values)
    # Slopes of next to nothing overflow in a harmonic mean, which is then 0 as it should be.
    with np.errstate(over="ignore"):
        found = PchipInterpolator(grid, known, axis=1)(fine)
    return np.where(np.isnan(values[:, :1]), np.nan, found)
