"""Joint settings of several levers for several outcomes: robust parameter design."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from momentdag.effects.design_search import DesignSearch
from momentdag.effects.goals import Desirability, Goals, States, parse_goals
from momentdag.effects.inputs import EffectInputs, FittedEstimator, read_world
from momentdag.effects.intervals import check_level, summarise
from momentdag.effects.interventions import Limits, intervene_in
from momentdag.effects.lever_ranges import Bounds, LeverRange, find_ranges
from momentdag.effects.optimum import Optimum
from momentdag.effects.posterior_samples import MonteCarlo, draw_samples
from momentdag.effects.settings import Settings
from momentdag.effects.trust import judge
from momentdag.errors import OptionError, quote

__all__ = ["optimise"]

_SEARCH_DRAWS, _SEARCH_ROWS = 48, 128
_STAYS = 0.1  # sds that a mean may move and still stays where no tolerance was given
_MAX_LEVERS = 4


def optimise(
    estimator: FittedEstimator,
    *,
    maximise: Sequence[str] = (),
    minimise: Sequence[str] = (),
    steady: Sequence[str] = (),
    aim: Mapping[str, float] | None = None,
    desirability: Mapping[str, Desirability] | None = None,
    weights: Mapping[str, float] | None = None,
    hold: Mapping[str, float | str | None] | Sequence[str] = (),
    limits: Limits | None = None,
    max_risk: float = 0.05,
    candidates: Sequence[str] | None = None,
    fixed: Sequence[str] = (),
    bounds: Bounds | None = None,
    costs: Mapping[str, float] | None = None,
    max_levers: int = 3,
    confidence: float = 0.9,
    n_proposals: int = 5,
    n_settings: int = 7,
    level: float = 0.9,
    force: bool = False,
    monte_carlo: MonteCarlo | None = None,
) -> Optimum:
    """Find settings of several levers that serve several outcomes at once.

    Goals are weighed against each other in standard deviations of today; the docstring of
    `momentdag.effects.goals` has the formulas. Settings must respect the constraints (``hold``,
    ``limits``) with probability ``confidence`` over the posterior.

    Parameters
    ----------
    estimator : MomentDAG
        Fitted.
    maximise, minimise : sequence of str
        Outcomes whose mean is to rise or fall; levels of a category as "outcome=good".
    steady : sequence of str
        Outcomes whose sd is to fall.
    aim : mapping from outcome to number
        Outcomes to bring to a value, mean and spread together.
    desirability : mapping from outcome to function
        Functions of mean and sd (arrays) that are to be large.
    weights : mapping from outcome to number
        Weight of an outcome's gain; 1 for those not named.
    hold : sequence of str, or mapping from outcome to tolerance
        Outcomes whose mean is to stay: within 0.3 units, "5%", or "0.1sd" (the default).
    limits : mapping from outcome to (low, high)
        Limits that an outcome may leave with probability ``max_risk``; None leaves a side open.
    max_risk : float
    candidates, fixed, bounds
        As in `levers`. Outcomes are no levers.
    costs : mapping from name to number
        What setting a variable costs, in sds of gain; 0 for those not named.
    max_levers : {1, 2, 3, 4}
        Maximum number of levers set jointly.
    confidence : float
    n_proposals : int
        Number of proposals to return, each of other levers.
    n_settings : int
        Settings of each lever that are computed; curves interpolate between them.
    level : float
        Probability of the central intervals.
    force : bool
        Recommend although the answer is not to be used (see `Optimum.trust`).
    monte_carlo : MonteCarlo, optional
        For the reported numbers; the search uses 48 draws of its own.

    Returns
    -------
    Optimum

    Raises
    ------
    OptionError
        If a name is unknown, there is no goal, or an option is out of range.

    Examples
    --------
    With a fitted ``estimator``::

        md.effects.optimise(
            estimator, maximise=["yield"], steady=["thickness"], hold=["thickness"]
        ).recommended
    """
    inputs = read_world(estimator)
    goals = parse_goals(
        inputs,
        maximise,
        minimise,
        steady,
        {} if aim is None else aim,
        {} if desirability is None else desirability,
        {} if weights is None else weights,
        hold,
        {} if limits is None else limits,
        max_risk,
    )
    check_level(level)
    if not 0 < confidence < 1:
        raise OptionError(f"Expected confidence between 0 and 1; got {confidence!r}.")
    for name, value, least, most in (
        ("max_levers", max_levers, 1, _MAX_LEVERS),
        ("n_proposals", n_proposals, 1, 100),
        ("n_settings", n_settings, 4, 100),
    ):
        if value not in range(least, most + 1):
            raise OptionError(f"Expected {name} from {least} to {most}; got {quote(value)}.")
    prices = {} if costs is None else dict(costs)
    for name, cost in prices.items():
        inputs.column(name, "costs")
        if not (np.isfinite(cost) and cost >= 0):
            raise OptionError(f"Expected costs[{name!r}] to be at least 0; got {quote(cost)}.")
    ranges = _ranges(inputs, goals, candidates, fixed, bounds, n_settings)
    if not ranges:
        raise OptionError("No candidate causes an outcome in any draw, so nothing can be set.")
    how = MonteCarlo() if monte_carlo is None else monte_carlo
    search_rng, final_rng = how.rng.spawn(2)
    samples = draw_samples(search_rng, inputs, _SEARCH_DRAWS, _SEARCH_ROWS, "both")
    # The best of many settings looks a little better than it is, so the search takes half the risk.
    stricter = (1 + confidence) / 2
    found = DesignSearch(inputs, samples, goals, ranges, prices, stricter).best(max_levers)
    # The reported numbers come from samples that had no part in the choice.
    samples = draw_samples(final_rng, inputs, how.n_draws, how.n_rows, "both")
    final = DesignSearch(inputs, samples, goals, ranges, prices, confidence)
    scored = sorted(
        (_Proposal(final, setting, level) for setting in found), key=lambda one: one.rank
    )[: int(n_proposals)]
    involved = [inputs.names[inputs.target(name).column] for name in goals.outcomes]
    return Optimum(
        goals.describe(),
        confidence,
        tuple(one.in_file for one in scored),
        pd.DataFrame([{"proposal": k, **one.row()} for k, one in enumerate(scored, 1)]),
        pd.DataFrame(
            [{"proposal": k, **row} for k, one in enumerate(scored, 1) for row in one.outcomes()]
        ),
        judge(estimator, involved),
        force,
    )


def _ranges(
    inputs: EffectInputs,
    goals: Goals,
    candidates: Sequence[str] | None,
    fixed: Sequence[str],
    bounds: Bounds | None,
    n_settings: int,
) -> dict[str, LeverRange]:
    """Return the levers of any outcome; outcomes themselves are none."""
    outcomes = {inputs.names[inputs.target(name).column] for name in goals.outcomes}
    for name in [*(() if candidates is None else candidates), *({} if bounds is None else bounds)]:
        inputs.column(name, "candidates or bounds")
        if name in outcomes:
            raise OptionError(f"The outcome {name!r} cannot be a lever. Name other variables.")
    ranges: dict[str, LeverRange] = {}
    for outcome in sorted(outcomes):
        others = [name for name in outcomes if name != outcome]
        found = find_ranges(inputs, outcome, candidates, (*fixed, *others), bounds, n_settings)
        ranges |= {name: values for name, values in found.items() if name not in ranges}
    return ranges


class _Proposal:
    """One setting with its numbers in samples that had no part in the choice."""

    def __init__(self, search: DesignSearch, setting: Mapping[str, float], level: float) -> None:
        self.search, self.setting, self.level = search, setting, level
        names, values = tuple(setting), np.array([list(setting.values())])
        self.states = search.states(names, values)
        self.gains = search.goals.gains(self.states, search.today)[:, 0] - search.cost(names)
        self.p_holds = float(search.goals.satisfied(self.states, search.today).mean())

    @property
    def holds(self) -> bool:
        """Whether the constraints hold with the confidence."""
        return self.p_holds >= self.search.confidence

    @property
    def rank(self) -> tuple[bool, float]:
        """Feasible ones first, then by gain."""
        return not self.holds, -float(self.gains.mean())

    @property
    def in_file(self) -> dict[str, float | str]:
        """The setting in the units of the file, levels of text by their names."""
        inputs = self.search.inputs
        shown: dict[str, float | str] = {}
        for name, value in self.setting.items():
            number = float(inputs.to_file(name, np.array([value]))[0])
            shown[name] = inputs.spell(name, number) if name in inputs.observed.labels else number
        return shown

    def row(self) -> dict[str, Any]:
        """Return the proposal's row of the table."""
        search, names = self.search, tuple(self.setting)
        weights = np.full(len(self.gains), 1 / len(self.gains))
        gain = summarise(self.gains, weights, self.level).columns("gain")
        texts = [
            f"{name}={value if isinstance(value, str) else f'{value:.4g}'}"
            for name, value in self.in_file.items()
        ]
        columns = tuple(search.inputs.names.index(name) for name in names)
        at = Settings(names, columns, np.array([list(self.setting.values())]))
        few = intervene_in(search.samples[:20], search.inputs, at, search.goals.outcomes)
        outside = few.outside_data
        return {
            "setting": ", ".join(texts),
            **{label: float(part) for label, part in gain.items()},
            "cost": search.cost(names),
            "p_better": float(np.mean(self.gains > 0)),
            "p_holds": self.p_holds,
            "holds": self.holds,
            "outside_data": np.nan if outside is None else float(outside[0] / few.weights.sum()),
        }

    def outcomes(self) -> list[dict[str, Any]]:
        """Return a row for each outcome."""
        goals, today = self.search.goals, self.search.today
        weights = np.full(len(self.gains), 1 / len(self.gains))
        rows = []
        for k, name in enumerate(goals.outcomes):
            one, before = (_of(states, k) for states in (self.states, today))
            stays = goals.tolerances.get(name, _STAYS * float(before.sd.mean()))
            change = one.mean - before.mean
            row: dict[str, Any] = {"outcome": name}
            for label, values in (
                ("mean", one.mean),
                ("sd", one.sd),
                ("mean_change", change),
                ("sd_ratio", one.sd / np.maximum(before.sd, np.finfo(float).tiny)),
            ):
                parts = summarise(values, weights, self.level).columns(label)
                row |= {key: float(part) for key, part in parts.items()}
            row["p_spread_falls"] = float(np.mean(one.sd < before.sd))
            row["p_mean_stays"] = float(np.mean(np.abs(change) <= stays))
            if goals.any_limits:
                row["risk"] = float(one.risk.mean())
            rows.append(row)
        return rows


def _of(states: States, outcome: int) -> States:
    """Return one outcome in the first setting, (n_draws,) each."""
    return States(*(part[:, 0, outcome] for part in states))
