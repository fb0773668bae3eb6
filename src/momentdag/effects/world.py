"""The world check: whether the model reproduces the data it was fitted to.

Rows are drawn from the fitted model without any intervention and compared with the observed
columns: mean, sd, quantiles, and the correlation of each pair. A model that misses these gives
answers about interventions that cannot be right either.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from momentdag.effects.alignment import Alignment, WorldMoments, realign, within_limits
from momentdag.effects.inputs import EffectInputs
from momentdag.effects.posterior_samples import PosteriorSample, draw_samples
from momentdag.effects.propagation import propagate
from momentdag.effects.settings import Settings
from momentdag.engines.thresholds import MAX_LEVELS
from momentdag.posterior.diagnostics import Grade

__all__ = ["MAX_MEAN_GAP", "MAX_SD_GAP", "World", "check_world", "describe_world"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]

MAX_MEAN_GAP = 0.2
"""Largest difference of the means, in observed sds, of a column that is reproduced."""
MAX_SD_GAP = 0.2
"""Largest difference of the sds, as a fraction of the observed one."""
_MAX_CORRELATION_GAP = 0.3
_MAX_QUANTILE_GAP = 0.5  # in observed sds
_FINE = 0.5  # share of each of these at which a column is "fine" rather than "weak"
_N_DRAWS, _N_ROWS = 48, 128
_ROUNDS = 5  # of alignment: what a column is moved by moves those it causes
_QUANTILES = {"q05": 0.05, "median": 0.5, "q95": 0.95}


class World(NamedTuple):
    """The modelled world of a fit."""

    alignment: Mapping[int, Alignment]
    check: pd.DataFrame  # see `MomentDAG.world_check`


def check_world(inputs: EffectInputs) -> World:
    """Simulate rows without intervention, align columns that need it, and compare with the data."""
    # On the scale of the fit: an exponential of rare values would drown everything else.
    observed = inputs.observed
    inputs = inputs._replace(observed=observed.on_fitted_scale())
    summary = observed.summary
    unit = summary["sd"].to_numpy()
    alignment = _align(inputs, summary["mean"].to_numpy(), unit)
    # Draws of its own: what was aligned is not its own judge.
    samples = _draw(np.random.default_rng(0), inputs._replace(alignment=alignment))
    world, drawn, outside = _simulate(samples)
    sd = np.sqrt(world.variance)
    quantiles = np.quantile(drawn, list(_QUANTILES.values()), axis=0)
    quantile_gap = np.abs(quantiles - summary[list(_QUANTILES)].to_numpy().T).max(axis=0) / unit
    numbers = [observed.kinds.get(name) != "category" for name in inputs.names]
    gaps, partners = _correlation_gaps(drawn, observed.correlations, np.array(numbers))
    shares = _gap_shares(world, summary["mean"].to_numpy(), unit).max(axis=0)
    doubts = np.maximum(quantile_gap / _MAX_QUANTILE_GAP, gaps / _MAX_CORRELATION_GAP)
    moved = [alignment.get(j, Alignment()) for j in range(len(unit))]
    table = pd.DataFrame(
        {
            "column": list(inputs.names),
            "kind": [observed.kinds.get(name, "continuous") for name in inputs.names],
            "observed_mean": summary["mean"].to_numpy(),
            "modelled_mean": world.mean,
            "observed_sd": unit,
            "modelled_sd": sd,
            "quantile_gap": quantile_gap,
            "correlation_gap": gaps,
            "correlated_with": ["" if k < 0 else inputs.names[k] for k in partners],
            "outside_data": outside,
            "shifted_by": [one.shift for one in moved],
            "noise_times": [one.factor for one in moved],
            "verdict": [
                _verdict(share, doubt, j in alignment)
                for j, (share, doubt) in enumerate(zip(shares, doubts, strict=True))
            ],
        }
    )
    return World(alignment, table)


def _align(inputs: EffectInputs, mean: FloatArray, sd: FloatArray) -> Mapping[int, Alignment]:
    """Return alignments of the columns that come out wrong, found in a few rounds."""
    # Levels of a grid have the frequencies of the data by their thresholds; the mean of a count
    # stays, and its dispersion is free.
    kinds = [inputs.observed.kinds.get(name, "continuous") for name in inputs.names]
    free = [
        j
        for j, name in enumerate(inputs.names)
        if kinds[j] not in ("count", "category", "binary")
        and not 1 < len(inputs.observed.levels.get(name, ())) <= MAX_LEVELS
    ]
    counts = [j for j, kind in enumerate(kinds) if kind == "count"]
    alignment: dict[int, Alignment] = {}
    samples = _draw(np.random.default_rng(1), inputs)
    for _ in range(_ROUNDS):
        # Views know the mechanisms' thresholds and noise, which alignment leaves as they are.
        samples = [replace(sample, alignment=alignment) for sample in samples]
        world, _, _ = _simulate(samples)
        mean_shares, sd_shares = _gap_shares(world, mean, sd)
        # A column is left alone while it is fine, and brought well inside once it is not.
        border = np.array([_FINE / 2 if j in alignment else _FINE for j in range(len(sd))])
        shifted = [j for j in free if mean_shares[j] > border[j]]
        scaled = [j for j in [*free, *counts] if sd_shares[j] > border[j]]
        if not shifted and not scaled:
            break
        alignment = realign(alignment, shifted, scaled, world, mean, sd)
    return within_limits(alignment, sd)


def _draw(rng: np.random.Generator, inputs: EffectInputs) -> list[PosteriorSample]:
    return draw_samples(rng, inputs, _N_DRAWS, _N_ROWS, "both")


def _simulate(samples: list[PosteriorSample]) -> tuple[WorldMoments, FloatArray, float]:
    """Return moments of the columns, simulated rows, and the share that left the data."""
    d = len(samples[0].graph.names)
    means, variances, noises, rows, outside = [], [], [], [], []
    for sample in samples:
        conditional = propagate(sample, Settings.none(), range(d), count_outside=True)
        mean, variance = conditional.moments()
        means.append(mean[0])
        variances.append(variance[0])
        noises.append(np.mean(conditional.sd[0] ** 2, axis=-1))
        rows.append(conditional.values[0].T)
        outside.append(conditional.outside[0])
    # A sample's world has its own mean; what is compared is the world of an average sample.
    moments = WorldMoments(*(np.mean(part, axis=0) for part in (means, variances, noises)))
    return moments, np.concatenate(rows), float(np.mean(outside))


def _gap_shares(world: WorldMoments, mean: FloatArray, sd: FloatArray) -> FloatArray:
    """Return the gaps of means and of sds as shares of what is allowed, (2, d)."""
    mean_gap = np.abs(world.mean - mean) / sd
    sd_gap = np.abs(np.sqrt(world.variance) / sd - 1)
    return np.array([mean_gap / MAX_MEAN_GAP, sd_gap / MAX_SD_GAP])


def describe_world(table: pd.DataFrame) -> str:
    """Say in one sentence whether the model reproduces the data."""
    wrong = table[table["verdict"] == "do not use"]
    weak = int((table["verdict"] == "weak").sum())
    n = len(table)
    if wrong.empty:
        doubt = f", {weak} of them roughly" if weak else ""
        return f"The model reproduces the mean and spread of all {n} columns{doubt}."
    named = "; ".join(_complaint(row, row["kind"]) for _, row in wrong.head(3).iterrows())
    more = f" and {len(wrong) - 3} more" if len(wrong) > 3 else ""
    return (
        f"The model does not reproduce {len(wrong)} of {n} columns ({named}{more}). Answers that "
        "rest on them are not to be used."
    )


def _complaint(row: pd.Series, kind: str) -> str:
    name = row["column"]
    if kind == "category":
        return f"{name}: the shares of its levels"
    if abs(row["modelled_sd"] / row["observed_sd"] - 1) > MAX_SD_GAP:
        return f"{name}: sd {row['observed_sd']:.3g} observed, {row['modelled_sd']:.3g} modelled"
    if abs(row["modelled_mean"] - row["observed_mean"]) > MAX_MEAN_GAP * row["observed_sd"]:
        means = f"{row['observed_mean']:.3g} observed, {row['modelled_mean']:.3g} modelled"
        return f"{name}: mean {means}"
    return f"{name}: correlation with {row['correlated_with']} off by {row['correlation_gap']:.2f}"


def _correlation_gaps(
    drawn: FloatArray, observed: FloatArray | None, numbers: BoolArray
) -> tuple[FloatArray, npt.NDArray[np.intp]]:
    """Return the largest error of a correlation of each column, and with which other column.

    Codes of a category, which are no ``numbers`` (d,), are correlated with nothing.
    """
    d = drawn.shape[1]
    if observed is None or d < 2:
        return np.zeros(d), np.full(d, -1, dtype=np.intp)
    # A column on a grid may come out constant; then it is correlated with nothing.
    spread = drawn.std(axis=0)
    z = (drawn - drawn.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    gaps = np.abs(z.T @ z / len(z) - observed)
    np.fill_diagonal(gaps, 0.0)
    gaps[~numbers] = gaps[:, ~numbers] = 0.0
    return gaps.max(axis=1), gaps.argmax(axis=1)


def _verdict(share: float, doubt: float, aligned: bool) -> Grade:
    if not share <= 1:  # also where something is not a number
        return "do not use"
    # Quantiles of lumpy columns are lumpy, and one pair of many may be off: only a doubt.
    return "fine" if share <= _FINE and doubt <= 1 and not aligned else "weak"
