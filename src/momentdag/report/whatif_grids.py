"""What outcomes do on grids of settings, and how far that is from `intervene` between nodes."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from momentdag.effects import MonteCarlo
from momentdag.effects.inputs import EffectInputs
from momentdag.effects.posterior_samples import PosteriorSample, draw_samples
from momentdag.effects.responses import Response, respond
from momentdag.effects.settings import Settings
from momentdag.report.axes import Axis
from momentdag.report.response_table import ResponseTable

__all__ = ["Accuracy", "Target", "WhatIfEffort", "compute_tables", "first_limits", "ranked_causes"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
Key: TypeAlias = tuple[str, ...]


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
class Target:
    """An outcome with its causes and, once computed, its tables and responses by what is set."""

    name: str
    column: int
    thresholds: FloatArray
    causes: tuple[str, ...]
    tables: dict[Key, ResponseTable] = field(default_factory=dict)
    responses: dict[Key, Response] = field(default_factory=dict)


def compute_tables(
    inputs: EffectInputs,
    targets: Sequence[Target],
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
    singles: dict[Key, list[Target]] = {}
    for target in targets:
        for cause in target.causes:
            singles.setdefault((cause,), []).append(target)
    _fill(inputs, samples, targets, singles, axes)
    coarse = {name: axis.coarse(how.n_map_nodes) for name, axis in axes.items()}
    _fill(inputs, samples, targets, _pairs(inputs, targets, how), coarse)
    return _measure(inputs, targets, how)


def _pairs(
    inputs: EffectInputs, targets: Sequence[Target], how: WhatIfEffort
) -> dict[Key, list[Target]]:
    """Return the pairs of causes that have maps, and of which targets."""
    ranked = [
        list(itertools.combinations(ranked_causes(target)[: how.n_mapped], 2)) for target in targets
    ]
    edges = sum(
        float(inputs.posterior.edge_probabilities(moment).to_numpy().sum())
        for moment in ("mean", "variance")
    )
    share = len(targets) / max(how.n_outcomes, 1)
    room = max(len(targets), int(share * how.n_map_edges / max(edges, 1.0)))
    pairs: dict[Key, list[Target]] = {}
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
    targets: Sequence[Target],
    groups: Mapping[Key, Sequence[Target]],
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


def ranked_causes(target: Target) -> list[str]:
    """Return the causes, those first that move mean or sd most."""
    today = target.tables[()].moments
    spread = float(np.exp(today[3]))

    def strength(cause: str) -> float:
        moments = target.tables[(cause,)].moments
        return float(np.ptp(moments[:, 0]) / max(spread, 1e-300) + np.ptp(moments[:, 3]))

    return sorted(target.causes, key=strength, reverse=True)


def _measure(
    inputs: EffectInputs, targets: Sequence[Target], how: WhatIfEffort
) -> dict[str, Accuracy]:
    """Compare interpolated tables with `intervene` in settings between their nodes."""
    default, rng = MonteCarlo(), np.random.default_rng(0)
    samples = draw_samples(default.rng, inputs, default.n_draws, default.n_rows, "both")
    kept = np.unique(np.linspace(0, default.n_draws - 1, how.n_check_draws).round().astype(int))
    samples = [samples[k] for k in kept]
    accuracies = {}
    for target in targets:
        limits = first_limits(inputs, target.name)
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


def first_limits(inputs: EffectInputs, name: str) -> tuple[float, float]:
    """Return where the limits of an outcome stand at first: at 5 % and 95 % of the data."""
    low, high = (float(inputs.summary.loc[name, q]) for q in ("q05", "q95"))
    return (float(f"{low:.4g}"), float(f"{high:.4g}"))
