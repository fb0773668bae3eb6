"""What happens to the mean, spread and risk of an outcome if one cause or two are set.

Outcomes are computed on grids of settings, in the posterior samples that `effects.intervene` takes
by default but with fewer noise rows, and interpolated between. How far the page is then from
`intervene` is measured in some settings between the nodes; where it is too far, more rows are
taken.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from momentdag.effects import MonteCarlo
from momentdag.effects.inputs import EffectInputs, read_world
from momentdag.effects.posterior_samples import PosteriorSample, draw_samples
from momentdag.effects.responses import Response, respond
from momentdag.effects.settings import Settings
from momentdag.effects.trust import judge
from momentdag.report.axes import Axis, make_axis
from momentdag.report.response_table import ResponseTable, pack
from momentdag.report.robust_setting import RobustSetting, find_robust_setting

if TYPE_CHECKING:
    from momentdag.estimator import MomentDAG

__all__ = ["Accuracy", "WhatIfContent", "WhatIfEffort", "describe_what_if"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
Key: TypeAlias = tuple[str, ...]

_MIN_CAUSE = 0.1  # least probability of a path from a cause to an outcome
_REACH = 2.3  # thresholds reach sinh of this, about 5 sds, to either side of the mean
_SECOND = 1.1
_MOST_LEVELS = 8  # of a discrete outcome at which its distribution is computed


@dataclass(frozen=True)
class WhatIfEffort:
    """How much is computed.

    Parameters
    ----------
    n_outcomes, n_causes, n_mapped : int
        Outcomes; causes of each; causes of which every pair has a map if there is room for it.
    n_map_edges : int
        Room for maps: their number times the expected number of edges, for a dense graph takes
        longer to simulate. Each outcome has one map at least.
    n_nodes, n_map_nodes : int
        Settings of a cause that are computed, alone and in a map.
    n_thresholds : int
        Values at which the distribution of an outcome is computed.
    n_rows, most_rows : int
        Noise rows in each sample; and if these are not exact enough.
    n_checks, n_check_draws : int
        Settings between the nodes that are compared with `intervene`, for each outcome, and samples
        in which they are.
    worst : float
        Largest difference at which few rows are enough.
    """

    n_outcomes: int = 3
    n_causes: int = 6
    n_mapped: int = 3
    n_map_edges: int = 150
    n_nodes: int = 11
    n_map_nodes: int = 7
    n_thresholds: int = 29
    n_rows: int = 16
    most_rows: int = 32
    n_checks: int = 3
    n_check_draws: int = 50
    worst: float = 0.01


@dataclass(frozen=True)
class Accuracy:
    """How far the page is from `intervene` at worst, in settings between the nodes.

    Parameters
    ----------
    mean : float
        In sds of the outcome.
    sd : float
        As a share of the sd.
    risk : float
        Of being outside the limits, as a difference of probabilities.
    n_settings : int
    """

    mean: float
    sd: float
    risk: float
    n_settings: int


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


@dataclass(frozen=True)
class _Target:
    name: str
    column: int
    thresholds: FloatArray
    causes: tuple[str, ...]
    tables: dict[Key, ResponseTable] = field(default_factory=dict)
    responses: dict[Key, Response] = field(default_factory=dict)


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
        _Target(
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
    accuracies = _compute(inputs, targets, known, how, how.n_rows)
    poor = [
        target
        for target in targets
        if max(accuracies[target.name].mean, accuracies[target.name].sd) > how.worst
    ]
    if poor:
        rows |= dict.fromkeys([target.name for target in poor], how.most_rows)
        accuracies |= _compute(inputs, poor, known, how, how.most_rows)
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


def _compute(
    inputs: EffectInputs,
    targets: Sequence[_Target],
    axes: Mapping[str, Axis],
    how: WhatIfEffort,
    n_rows: int,
) -> dict[str, Accuracy]:
    """Fill the tables of the targets; return how accurate they are."""
    default = MonteCarlo()
    samples = draw_samples(default.rng, inputs, default.n_draws, n_rows, "both")
    for target in targets:
        target.tables.clear()
    _fill(inputs, samples, targets, {(): targets}, axes)
    singles: dict[Key, list[_Target]] = {}
    for target in targets:
        for cause in target.causes:
            singles.setdefault((cause,), []).append(target)
    _fill(inputs, samples, targets, singles, axes)
    coarse = {name: axis.coarse(how.n_map_nodes) for name, axis in axes.items()}
    _fill(inputs, samples, targets, _pairs(inputs, targets, how), coarse)
    return _measure(inputs, targets, how)


def _pairs(
    inputs: EffectInputs, targets: Sequence[_Target], how: WhatIfEffort
) -> dict[Key, list[_Target]]:
    """Return the pairs of causes that have maps, and of which targets."""
    ranked = [
        list(itertools.combinations(_ranked(target)[: how.n_mapped], 2)) for target in targets
    ]
    edges = sum(
        float(inputs.posterior.edge_probabilities(moment).to_numpy().sum())
        for moment in ("mean", "variance")
    )
    share = len(targets) / max(how.n_outcomes, 1)
    room = max(len(targets), int(share * how.n_map_edges / max(edges, 1.0)))
    pairs: dict[Key, list[_Target]] = {}
    # The first pair of every target comes before the second one of any.
    for place in itertools.zip_longest(*ranked):
        for target, pair in zip(targets, place, strict=True):
            if pair is None or room == 0:
                continue
            first, second = sorted(pair, key=inputs.names.index)
            pairs.setdefault((first, second), []).append(target)
            room -= 1
    return pairs


def _fill(
    inputs: EffectInputs,
    samples: Sequence[PosteriorSample],
    targets: Sequence[_Target],
    groups: Mapping[Key, Sequence[_Target]],
    axes: Mapping[str, Axis],
) -> None:
    """Compute what groups of causes do to targets."""
    for key, members in groups.items():
        grid = [axes[name] for name in key]
        crossed = np.meshgrid(*(axis.nodes for axis in grid), indexing="ij")
        values = np.stack([part.ravel() for part in crossed], axis=1) if key else np.zeros((1, 0))
        settings = _settings(inputs, key, values)
        found = respond(samples, settings, {one.column: one.thresholds for one in members})
        for target in members:
            target.tables[key] = ResponseTable.of(grid, found[target.column])
            target.responses[key] = found[target.column]


def _settings(inputs: EffectInputs, key: Key, values: FloatArray) -> Settings:
    return Settings(key, tuple(inputs.names.index(name) for name in key), values)


def _ranked(target: _Target) -> list[str]:
    """Return the causes, those first that move mean or sd most."""
    today = target.tables[()].moments
    spread = float(np.exp(today[3]))

    def strength(cause: str) -> float:
        moments = target.tables[(cause,)].moments
        return float(np.ptp(moments[:, 0]) / max(spread, 1e-300) + np.ptp(moments[:, 3]))

    return sorted(target.causes, key=strength, reverse=True)


def _measure(
    inputs: EffectInputs, targets: Sequence[_Target], how: WhatIfEffort
) -> dict[str, Accuracy]:
    """Compare interpolated tables with `intervene` in settings between their nodes."""
    default, rng = MonteCarlo(), np.random.default_rng(0)
    samples = draw_samples(default.rng, inputs, default.n_draws, default.n_rows, "both")
    kept = np.unique(np.linspace(0, default.n_draws - 1, how.n_check_draws).round().astype(int))
    samples = [samples[k] for k in kept]
    accuracies = {}
    for target in targets:
        limits = _limits(inputs, target.name)
        keys = sorted((key for key in target.tables if key), key=len, reverse=True)
        worst = np.zeros(3)
        for key in keys[: how.n_checks]:
            axes = target.tables[key].axes
            positions = [float(rng.choice(axis.fine(2 * len(axis.nodes)))) for axis in axes]
            at = np.array([[a.fitted(p) for a, p in zip(axes, positions, strict=True)]])
            exact = respond(samples, _settings(inputs, key, at), {target.column: np.array(limits)})
            response = target.responses[key]
            part = Response(*(values[kept] for values in response))
            moments, below = ResponseTable.of(axes, part).at(positions)
            found = exact[target.column]
            mean, sd = float(found.means.mean()), float(found.sds.mean())
            unit = float(inputs.summary.loc[target.name, "sd"])
            gaps = [abs(moments[0] - mean) / unit, abs(moments[3] / sd - 1) if sd else 0.0, 0.0]
            if below.shape[-1] > 2:
                page = np.interp(limits, target.thresholds, below[0])
                gaps[2] = float(np.abs(page - found.below.mean(axis=(0, 1))).max())
            worst = np.maximum(worst, gaps)
        accuracies[target.name] = Accuracy(
            float(worst[0]), float(worst[1]), float(worst[2]), len(keys[: how.n_checks])
        )
    return accuracies


def _limits(inputs: EffectInputs, name: str) -> tuple[float, float]:
    low, high = (float(inputs.summary.loc[name, q]) for q in ("q05", "q95"))
    return (float(f"{low:.4g}"), float(f"{high:.4g}"))


def _describe(
    estimator: MomentDAG, inputs: EffectInputs, target: _Target, accuracy: Accuracy, n_rows: int
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
        _limits(inputs, name),
        pack(target.thresholds, "<f8"),
        has_levels,
        float(steps.min(initial=np.inf)) if levels is not None else 0.0,
        _ranked(target),
        tables.pop(""),
        tables,
        robust,
        *_best(target, robust),
        accuracy,
        n_rows,
    )


def _best(target: _Target, robust: Mapping[str, RobustSetting | None]) -> tuple[str, str]:
    """Return which robust setting is the best, and the setting in words."""
    found = {key: one for key, one in robust.items() if one is not None}
    if not found:
        return "", ""
    # A second lever must be worth its trouble.
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
