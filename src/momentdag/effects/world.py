"""The world check: whether the model reproduces the data it was fitted to.

Rows are drawn from the fitted model without any intervention and compared with the observed
columns: mean, sd, quantiles, and the correlation of each pair. A model that misses these gives
answers about interventions that cannot be right either.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from momentdag.effects.inputs import EffectInputs
from momentdag.effects.posterior_samples import draw_samples
from momentdag.effects.propagation import propagate
from momentdag.effects.settings import Settings
from momentdag.posterior.diagnostics import Grade

__all__ = ["MAX_MEAN_GAP", "MAX_SD_GAP", "check_world", "describe_world"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

MAX_MEAN_GAP = 0.2
"""Largest difference of the means, in observed sds, of a column that is reproduced."""
MAX_SD_GAP = 0.2
"""Largest difference of the sds, as a fraction of the observed one."""
_MAX_CORRELATION_GAP = 0.3
_MAX_QUANTILE_GAP = 0.5  # in observed sds
_FINE = 0.5  # share of each of these at which a column is "fine" rather than "weak"
_N_DRAWS, _N_ROWS = 48, 128
_QUANTILES = {"q05": 0.05, "median": 0.5, "q95": 0.95}


def check_world(inputs: EffectInputs) -> pd.DataFrame:
    """Return one row for each column of the data, see `MomentDAG.world_check`."""
    # On the scale of the fit: an exponential of rare values would drown everything else.
    observed = inputs.observed
    inputs = inputs._replace(observed=observed.on_fitted_scale())
    samples = draw_samples(np.random.default_rng(0), inputs, _N_DRAWS, _N_ROWS, "both")
    d = len(inputs.names)
    means, variances, rows, outside = [], [], [], []
    for sample in samples:
        conditional = propagate(sample, Settings.none(), range(d), count_outside=True)
        mean, variance = conditional.moments()
        means.append(mean[0])
        variances.append(variance[0])
        rows.append(conditional.values[0].T)
        outside.append(conditional.outside[0])
    # A sample's world has its own mean; what is compared is the world of an average sample.
    mean, sd = np.mean(means, axis=0), np.sqrt(np.mean(variances, axis=0))
    drawn = np.concatenate(rows)
    summary = observed.summary
    unit = summary["sd"].to_numpy()
    quantiles = np.quantile(drawn, list(_QUANTILES.values()), axis=0)
    quantile_gap = np.abs(quantiles - summary[list(_QUANTILES)].to_numpy().T).max(axis=0) / unit
    gaps, partners = _correlation_gaps(drawn, observed.correlations)
    mean_gap = np.abs(mean - summary["mean"].to_numpy()) / unit
    sd_gap = np.abs(sd / unit - 1)
    return pd.DataFrame(
        {
            "column": list(inputs.names),
            "observed_mean": summary["mean"].to_numpy(),
            "modelled_mean": mean,
            "observed_sd": unit,
            "modelled_sd": sd,
            "quantile_gap": quantile_gap,
            "correlation_gap": gaps,
            "correlated_with": ["" if k < 0 else inputs.names[k] for k in partners],
            "outside_data": float(np.mean(outside)),
            "verdict": [
                _verdict(*gap) for gap in zip(mean_gap, sd_gap, quantile_gap, gaps, strict=True)
            ],
        }
    )


def describe_world(table: pd.DataFrame) -> str:
    """Say in one sentence whether the model reproduces the data."""
    wrong = table[table["verdict"] == "do not use"]
    weak = int((table["verdict"] == "weak").sum())
    n = len(table)
    if wrong.empty:
        doubt = f", {weak} of them roughly" if weak else ""
        return f"The model reproduces the mean and spread of all {n} columns{doubt}."
    named = "; ".join(_complaint(row) for _, row in wrong.head(3).iterrows())
    more = f" and {len(wrong) - 3} more" if len(wrong) > 3 else ""
    return (
        f"The model does not reproduce {len(wrong)} of {n} columns ({named}{more}). Answers that "
        "rest on them are not to be used."
    )


def _complaint(row: pd.Series) -> str:
    name = row["column"]
    if abs(row["modelled_sd"] / row["observed_sd"] - 1) > MAX_SD_GAP:
        return f"{name}: sd {row['observed_sd']:.3g} observed, {row['modelled_sd']:.3g} modelled"
    if abs(row["modelled_mean"] - row["observed_mean"]) > MAX_MEAN_GAP * row["observed_sd"]:
        means = f"{row['observed_mean']:.3g} observed, {row['modelled_mean']:.3g} modelled"
        return f"{name}: mean {means}"
    return f"{name}: correlation with {row['correlated_with']} off by {row['correlation_gap']:.2f}"


def _correlation_gaps(
    drawn: FloatArray, observed: FloatArray | None
) -> tuple[FloatArray, npt.NDArray[np.intp]]:
    """Return the largest error of a correlation of each column, and with which other column."""
    d = drawn.shape[1]
    if observed is None or d < 2:
        return np.zeros(d), np.full(d, -1, dtype=np.intp)
    # A column on a grid may come out constant; then it is correlated with nothing.
    spread = drawn.std(axis=0)
    z = (drawn - drawn.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    gaps = np.abs(z.T @ z / len(z) - observed)
    np.fill_diagonal(gaps, 0.0)
    return gaps.max(axis=1), gaps.argmax(axis=1)


def _verdict(mean: float, sd: float, quantile: float, correlation: float) -> Grade:
    shares = (mean / MAX_MEAN_GAP, sd / MAX_SD_GAP)
    # Quantiles of lumpy columns are lumpy, and one pair of many may be off: only a doubt.
    doubts = (quantile / _MAX_QUANTILE_GAP, correlation / _MAX_CORRELATION_GAP)
    if not max(shares) <= 1:  # also where something is not a number
        return "do not use"
    return "fine" if max(shares) <= _FINE and max(doubts) <= 1 else "weak"
