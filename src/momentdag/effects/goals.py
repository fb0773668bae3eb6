"""What a design is to achieve: goals that are weighed against each other, and constraints.

Every goal is a gain in standard deviations of today, so that goals in different units add up:

    maximise  (E Y - E Y today) / sd today          minimise  the same, negative
    steady    1 - sd / sd today
    aim       (r today - r) / sd today,  r² = (E Y - aim)² + sd²   (Taguchi's loss, as a distance)

or any function of mean and sd that the user finds desirable. A constraint holds in a posterior
sample or it does not: a mean stays within its tolerance, the risk of being outside limits stays
below a bound.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from momentdag.effects.inputs import EffectInputs
from momentdag.effects.interventions import Limits
from momentdag.effects.tolerance import parse_tolerance
from momentdag.errors import OptionError, did_you_mean, quote

__all__ = ["Desirability", "Goals", "States", "parse_goals"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
Desirability: TypeAlias = Callable[[FloatArray, FloatArray], FloatArray]
"""From mean and sd of an outcome to a number to be large; both arrays have one shape."""


class States(NamedTuple):
    """Outcomes in settings, (n_draws, n_settings, n_outcomes) each; the baseline has one setting.

    Parameters
    ----------
    mean, sd : float array
    risk : float array
        Probability of being outside the limits; NaN without.
    """

    mean: FloatArray
    sd: FloatArray
    risk: FloatArray


@dataclass(frozen=True)
class Goals:
    """Goals and constraints over named outcomes.

    Parameters
    ----------
    outcomes : tuple of str
    directions : mapping from outcome to 1 or -1
        Means to be raised or lowered.
    steady : tuple of str
        Outcomes whose sd is to fall.
    aims : mapping from outcome to float
    desirability : mapping from outcome to function
    weights : mapping from outcome to float
        1 for those not named.
    tolerances : mapping from outcome to float
        How far a mean that is held may move, in its units.
    tolerance_texts : mapping from outcome to str
    limits : float array, shape (n_outcomes, 2)
        NaN for none.
    max_risk : float
        Largest probability of being outside the limits.
    """

    outcomes: tuple[str, ...]
    directions: Mapping[str, int]
    steady: tuple[str, ...]
    aims: Mapping[str, float]
    desirability: Mapping[str, Desirability]
    weights: Mapping[str, float]
    tolerances: Mapping[str, float]
    tolerance_texts: Mapping[str, str]
    limits: FloatArray
    max_risk: float

    def gains(self, states: States, today: States) -> FloatArray:
        """Return the weighted gain of each setting in each sample, (n_draws, n_settings)."""
        total = np.zeros(states.mean.shape[:2])
        for k, name in enumerate(self.outcomes):
            mean, sd = states.mean[:, :, k], states.sd[:, :, k]
            mean_today, sd_today = today.mean[:, :, k], today.sd[:, :, k]
            unit = max(float(sd_today.mean()), np.finfo(float).tiny)
            gain = np.zeros_like(total)
            if name in self.directions:
                gain += self.directions[name] * (mean - mean_today) / unit
            if name in self.steady:
                gain += 1 - sd / np.maximum(sd_today, np.finfo(float).tiny)
            if name in self.aims:
                before = np.hypot(mean_today - self.aims[name], sd_today)
                gain += (before - np.hypot(mean - self.aims[name], sd)) / unit
            if name in self.desirability:
                wanted = self.desirability[name]
                gain += np.asarray(wanted(mean, sd)) - np.asarray(wanted(mean_today, sd_today))
            total += self.weights.get(name, 1.0) * gain
        return total

    def satisfied(self, states: States, today: States) -> BoolArray:
        """Return in which samples a setting respects every constraint, (n_draws, n_settings)."""
        good = np.ones(states.mean.shape[:2], dtype=bool)
        for k, name in enumerate(self.outcomes):
            if name in self.tolerances:
                change = np.abs(states.mean[:, :, k] - today.mean[:, :, k])
                good &= change <= self.tolerances[name]
            if not np.isnan(self.limits[k]).any():
                good &= states.risk[:, :, k] <= self.max_risk
        return good

    @property
    def any_limits(self) -> bool:
        """Whether some outcome has limits."""
        return bool((~np.isnan(self.limits)).any())

    def describe(self) -> str:
        """Return the goals in words."""
        said = [
            f"{'raise' if sign > 0 else 'lower'} {name}" for name, sign in self.directions.items()
        ]
        said += [f"steady {name}" for name in self.steady]
        said += [f"bring {name} to {aim:g}" for name, aim in self.aims.items()]
        said += [f"desirable {name}" for name in self.desirability]
        said += [f"hold the mean of {name} within {t}" for name, t in self.tolerance_texts.items()]
        for name, (low, high) in zip(self.outcomes, self.limits, strict=True):
            if not np.isnan([low, high]).any():
                ends = f"{low:g} to {high:g}".replace("-inf to ", "below ").replace(
                    " to inf", " up"
                )
                said.append(f"keep {name} within {ends} but for {self.max_risk:.3g} of rows")
        return "; ".join(said)


def parse_goals(
    inputs: EffectInputs,
    maximise: Sequence[str],
    minimise: Sequence[str],
    steady: Sequence[str],
    aims: Mapping[str, float],
    desirability: Mapping[str, Desirability],
    weights: Mapping[str, float],
    hold: Mapping[str, float | str | None] | Sequence[str],
    limits: Limits,
    max_risk: float,
) -> Goals:
    """Check goals and constraints.

    Raises
    ------
    OptionError
        If a name is unknown, nothing is to be achieved, or a number is out of range.
    """
    for argument, names in (("maximise", maximise), ("minimise", minimise), ("steady", steady)):
        if isinstance(names, str):
            raise OptionError(f"Expected {argument} as a list of names; got {names!r}.")
    wanted = [*maximise, *minimise, *steady, *aims, *desirability]
    if not wanted:
        raise OptionError("Expected a goal: maximise, minimise, steady, aim or desirability.")
    both = sorted(set(maximise) & set(minimise))
    if both:
        raise OptionError(f"{both[0]!r} is to be maximised and minimised. Choose one.")
    held: Mapping[str, float | str | None]
    if isinstance(hold, str):
        raise OptionError(f"Expected hold as a list of names, or a mapping; got {hold!r}.")
    held = dict(hold) if isinstance(hold, Mapping) else dict.fromkeys(hold)
    outcomes = tuple(dict.fromkeys([*wanted, *held, *limits]))
    for name in outcomes:
        inputs.target(name)
    for name, weight in weights.items():
        if name not in outcomes:
            raise OptionError(
                f"Weight given for {name!r}, which is none of {list(outcomes)}."
                f"{did_you_mean(name, outcomes)}"
            )
        if not (np.isfinite(weight) and weight > 0):
            raise OptionError(f"Expected weights[{name!r}] to be positive; got {quote(weight)}.")
    for name, aim in aims.items():
        if not np.isfinite(aim):
            raise OptionError(f"Expected a finite aim for {name!r}; got {quote(aim)}.")
    if not 0 < max_risk < 1:
        raise OptionError(f"Expected max_risk between 0 and 1; got {max_risk!r}.")
    tolerances, texts = {}, {}
    for name, given in held.items():
        column = inputs.names[inputs.target(name).column]
        mean, sd = (float(inputs.summary.loc[column, part]) for part in ("mean", "sd"))
        tolerance = parse_tolerance(given, mean, sd)
        tolerances[name], texts[name] = tolerance.value, tolerance.text
    bounds = np.full((len(outcomes), 2), np.nan)
    for name, pair in limits.items():
        low = -np.inf if pair[0] is None else float(pair[0])
        high = np.inf if pair[1] is None else float(pair[1])
        if not low < high:
            raise OptionError(f"Expected limits[{name!r}] with low < high; got {pair!r}.")
        bounds[outcomes.index(name)] = low, high
    return Goals(
        outcomes,
        {**dict.fromkeys(maximise, 1), **dict.fromkeys(minimise, -1)},
        tuple(steady),
        dict(aims),
        dict(desirability),
        dict(weights),
        tolerances,
        texts,
        bounds,
        float(max_risk),
    )
