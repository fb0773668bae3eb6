"""What happens to the mean, spread and risk of an outcome if one cause or two are set.

Outcomes are computed on grids of settings, in the posterior samples that `effects.intervene` takes
by default but with fewer noise rows, and interpolated between. How far the page is then from
`intervene` is measured in some settings between the nodes; where it is too far, more rows are
taken.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from momentdag.effects import MonteCarlo
from momentdag.effects.inputs import EffectInputs, read_world
from momentdag.effects.trust import judge
from momentdag.report.axes import Axis, make_axis
from momentdag.report.response_table import pack
from momentdag.report.robust_setting import RobustSetting, find_robust_setting
from momentdag.report.whatif_grids import (
    Accuracy,
    Target,
    WhatIfEffort,
    compute_tables,
    first_limits,
    ranked_causes,
)

if TYPE_CHECKING:
    from momentdag.estimator import MomentDAG

__all__ = ["OutcomeContent", "WhatIfContent", "describe_what_if"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

_MIN_CAUSE = 0.1  # least probability of a path from a cause to an outcome
_REACH = 2.3  # thresholds reach sinh of this, about 5 sds, to either side of the mean
_SECOND = 1.1  # a second lever must cut the variance by a tenth more
_MOST_LEVELS = 8  # of a discrete outcome at which its distribution is computed


@dataclass(frozen=True)
class OutcomeContent:
    """One outcome.

    Parameters
    ----------
    name : str
    is_binary : bool
        Its mean is then the probability of the higher value, its sd follows, and there is no risk.
    centre, unit : str
        Mean and sd in the data, packed.
    grade, message : str
        How far answers about it can be trusted, and why.
    is_refused : bool
        Whether nothing is to be recommended.
    limits : tuple of float
        From 5 % to 95 % of the data: where the limits stand at first.
    thresholds : str
        Where its distribution is known, packed; all its values if it ``has_levels``.
    has_levels : bool
    step : float
        Smallest distance of its values if it takes whole ones, else 0.
    causes : list of str
        Those that move it most come first.
    today : dict
        Without intervention, as a table.
    tables : dict
        For each cause and each pair of causes (names joined by a tab) what was computed.
    robust : dict
        In the same way the setting with the least variance that keeps the mean.
    best, best_text : str
        The best of these, and its setting in words; empty if there is none.
    accuracy : Accuracy
    n_rows : int
        Noise rows in each draw.
    """

    name: str
    is_binary: bool
    centre: str
    unit: str
    grade: str
    message: str
    is_refused: bool
    limits: tuple[float, float]
    thresholds: str
    has_levels: bool
    step: float
    causes: list[str]
    today: dict[str, Any]
    tables: dict[str, dict[str, Any]]
    robust: dict[str, RobustSetting | None]
    best: str
    best_text: str
    accuracy: Accuracy
    n_rows: int


@dataclass(frozen=True)
class WhatIfContent:
    """Outcomes that can be asked about, and the causes that can be set.

    Parameters
    ----------
    outcomes : list of OutcomeContent
    axes : dict
        For each cause kind, labels, steps, is_log, typical (``first``: the node nearest to it), and
        packed positions of its nodes: ``nodes`` alone, ``map_nodes`` in a map.
    n_draws : int
    run : str
        The run folder that the command names.
    """

    outcomes: list[OutcomeContent]
    axes: dict[str, dict[str, Any]]
    n_draws: int
    run: str


def describe_what_if(
    estimator: MomentDAG,
    run: str = "RUN",
    outcomes: Sequence[str] | None = None,
    effort: WhatIfEffort | None = None,
) -> WhatIfContent | None:
    """Return what the page can answer; None without mechanisms or without causes.

    Parameters
    ----------
    estimator : MomentDAG
    run : str
        The run folder, for the command.
    outcomes : sequence of str, optional
        By default those that causes move most probably.
    effort : WhatIfEffort, optional

    Raises
    ------
    OptionError
        If an outcome is unknown or a category.
    """
    if estimator.scm_ is None:
        return None
    how = WhatIfEffort() if effort is None else effort
    inputs = read_world(estimator)
    chosen = _choose(inputs, outcomes, how)
    axes = {name: make_axis(inputs, name, how.n_nodes) for _, causes in chosen for name in causes}
    known = {name: axis for name, axis in axes.items() if axis is not None}
    targets = [
        Target(
            name,
            inputs.names.index(name),
            _thresholds(inputs, name, how),
            tuple(cause for cause in causes if cause in known),
        )
        for name, causes in chosen
    ]
    targets = [target for target in targets if target.causes]
    if not targets:
        return None
    rows = dict.fromkeys([target.name for target in targets], how.n_rows)
    accuracies = compute_tables(inputs, targets, known, how, how.n_rows)
    poor = [
        target
        for target in targets
        if max(accuracies[target.name].mean, accuracies[target.name].sd) > how.worst
    ]
    if poor:
        rows |= dict.fromkeys([target.name for target in poor], how.most_rows)
        accuracies |= compute_tables(inputs, poor, known, how, how.most_rows)
    described = [
        _describe(estimator, inputs, target, accuracies[target.name], rows[target.name])
        for target in targets
    ]
    return WhatIfContent(described, _axes_for_page(inputs, known, how), MonteCarlo().n_draws, run)


def _choose(
    inputs: EffectInputs, outcomes: Sequence[str] | None, how: WhatIfEffort
) -> list[tuple[str, list[str]]]:
    """Return outcomes with their causes, most probable first."""
    posterior, kinds = inputs.posterior, inputs.observed.kinds
    paths = posterior.ancestor_probabilities("either")
    spread = posterior.edge_probabilities("variance").sum()
    found = []
    for name in inputs.names if outcomes is None else outcomes:
        if outcomes is not None:
            inputs.number(name)
        elif kinds.get(name) == "category":
            continue
        ranked = paths[name].sort_values(ascending=False, kind="stable")
        causes = [
            str(cause)
            for cause in ranked.index[ranked >= _MIN_CAUSE]
            if kinds.get(str(cause)) != "time"  # nobody can set a date
        ]
        weight = float(ranked.sum()) + 2 * float(spread[name])
        found.append((weight, name, causes[: how.n_causes]))
    if outcomes is None:
        found = sorted((one for one in found if one[2]), key=lambda one: -one[0])
        found = found[: how.n_outcomes]
    return [(name, causes) for _, name, causes in found]


def _thresholds(inputs: EffectInputs, name: str, how: WhatIfEffort) -> FloatArray:
    """Return values at which the distribution of an outcome is computed, rising."""
    if inputs.observed.kinds.get(name) == "binary":
        return np.empty(0)
    levels = inputs.levels(name)
    if levels is not None and len(levels) <= _MOST_LEVELS:
        return levels
    low, q05, median, q95, high = (
        float(inputs.observed.summary.loc[name, q]) for q in ("min", "q05", "median", "q95", "max")
    )
    if inputs.observed.kinds.get(name) == "count":
        most = np.unique(np.round(np.linspace(low, 2 * high - low, _MOST_LEVELS)))
        return np.unique(np.concatenate([most, np.round([q05, median, q95])]))
    unit = max((q95 - q05) / 3.3, (high - low) / 20)
    steps = np.sinh(np.linspace(-_REACH, _REACH, how.n_thresholds))
    return inputs.to_file(name, median + unit * steps)


def _describe(
    estimator: MomentDAG, inputs: EffectInputs, target: Target, accuracy: Accuracy, n_rows: int
) -> OutcomeContent:
    name = target.name
    mean, sd = (float(inputs.summary.loc[name, key]) for key in ("mean", "sd"))
    trust = judge(estimator, [name])
    is_binary = inputs.observed.kinds.get(name) == "binary"
    is_refused = trust.grade == "do not use"
    tables = {"\t".join(key): table.to_page(mean, sd) for key, table in target.tables.items()}
    robust = {
        "\t".join(key): None
        if is_refused or is_binary
        else find_robust_setting(table.axes, target.responses[key], target.responses[()], 0.1 * sd)
        for key, table in target.tables.items()
        if key
    }
    levels = inputs.levels(name)
    has_levels = levels is not None and len(levels) == len(target.thresholds)
    steps = np.diff(levels) if levels is not None else np.zeros(1)
    return OutcomeContent(
        name,
        is_binary,
        pack([mean], "<f8"),
        pack([sd], "<f8"),
        trust.grade,
        trust.message(),
        is_refused,
        first_limits(inputs, name),
        pack(target.thresholds, "<f8"),
        has_levels,
        float(steps.min(initial=np.inf)) if levels is not None else 0.0,
        ranked_causes(target),
        tables.pop(""),
        tables,
        robust,
        *_best(target, robust),
        accuracy,
        n_rows,
    )


def _best(target: Target, robust: Mapping[str, RobustSetting | None]) -> tuple[str, str]:
    """Return which robust setting is the best, and the setting in words."""
    found = {key: one for key, one in robust.items() if one is not None}
    if not found:
        return "", ""
    best = min(found, key=lambda key: found[key].variance_ratio * (_SECOND if "\t" in key else 1))
    table = target.tables[tuple(best.split("\t"))]
    settings = [
        f"{axis.name} to {axis.spell(position)}"
        for axis, position in zip(table.axes, found[best].positions, strict=True)
    ]
    return best, " and ".join(settings)


def _axes_for_page(
    inputs: EffectInputs, axes: Mapping[str, Axis], how: WhatIfEffort
) -> dict[str, dict[str, Any]]:
    return {
        name: {
            "kind": axis.kind,
            "labels": axis.labels,
            "steps": pack(axis.steps, "<f8"),
            "is_log": axis.is_log,
            "typical": pack([inputs.typical(name)], "<f8"),
            "first": int(np.abs(axis.shown - inputs.typical(name)).argmin()),
            "nodes": pack(axis.positions, "<f8"),
            "map_nodes": pack(axis.coarse(how.n_map_nodes).positions, "<f8"),
        }
        for name, axis in axes.items()
    }
