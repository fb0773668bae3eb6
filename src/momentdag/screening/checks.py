"""The tests behind a criticism: shape of residuals, remaining dependence, pairs of noises."""

from __future__ import annotations

from itertools import combinations
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.stats import cramervonmises, kurtosis, normaltest, skew, spearmanr
from statsmodels.stats.diagnostic import normal_ad

from momentdag.graph import reachability
from momentdag.posterior import Posterior
from momentdag.screening.residuals import Residuals
from momentdag.screening.spread import combine, explains, normal_scores

__all__ = ["FITTED", "dependence", "noise_pairs", "shapes"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

FITTED = "(fitted mean)"
_MIN_ROWS = 20  # for the tests of skewness and kurtosis


def shapes(standardised: pd.DataFrame, pit: pd.DataFrame) -> pd.DataFrame:
    """Return the shape of each variable's residual, with unadjusted p_gaussian and p_noise.

    Normality is tested by Anderson-Darling (any departure) and D'Agostino-Pearson (skewness and
    tails), combined; the fitted noise by Cramér-von Mises.
    """
    rows = {}
    for name in standardised:
        e = standardised[name].to_numpy()
        tests = [float(normal_ad(e)[1])]
        if len(e) >= _MIN_ROWS:
            tests.append(float(normaltest(e).pvalue))
        rows[name] = {
            "skewness": float(skew(e)),
            "asymmetry": _asymmetry(e),
            "excess_kurtosis": float(kurtosis(e)),
            "p_gaussian": combine(tests),
            "p_noise": float(cramervonmises(pit[name].to_numpy(), "uniform").pvalue),
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("variable")


def _asymmetry(e: FloatArray) -> float:
    """Return (q95 + q05 - 2 q50) / (q95 - q05), which is robust against a few extreme values."""
    low, middle, high = np.quantile(e, [0.05, 0.5, 0.95])
    if low == high:  # nearly all residuals are equal
        return 0.0
    return float((low + high - 2 * middle) / (high - low))


def dependence(residuals: Residuals, posterior: Posterior) -> pd.DataFrame:
    """Test each residual, and its size, against every column that is not an effect of the variable.

    Normal scores of the residual are regressed on a cubic, and those of its size on a quadratic, in
    normal scores of the other column; the size also on the fitted mean.
    """
    graph, names = residuals.graph, residuals.dataset.names
    later = reachability(graph.union_graph)
    scores = normal_scores(residuals.dataset.values)
    probabilities = {
        moment: posterior.edge_probabilities(moment).to_numpy() for moment in ("mean", "variance")
    }
    rows: list[dict[str, Any]] = []
    for j, name in enumerate(names):
        e = residuals.standardised[name].to_numpy()[:, None]
        targets = {"mean": normal_scores(e)[:, 0], "variance": normal_scores(np.abs(e))[:, 0]}
        for i, other in enumerate(names):
            if i == j or later[j, i]:
                continue
            for moment, adjacency in (
                ("mean", graph.mean_graph),
                ("variance", graph.variance_graph),
            ):
                powers = (1, 2, 3) if moment == "mean" else (1, 2)
                terms = np.column_stack([scores[:, i] ** k for k in powers])
                rows.append(
                    {
                        "variable": name,
                        "other": other,
                        "moment": moment,
                        "role": "parent" if adjacency[i, j] else "non-parent",
                        "probability": float(probabilities[moment][i, j]),
                        "p_value": explains(terms, targets[moment]),
                    }
                )
        if graph.mean_graph[:, j].any():  # else the fitted mean is one number
            fitted = normal_scores(residuals.mean[name].to_numpy()[:, None])
            rows.append(
                {
                    "variable": name,
                    "other": FITTED,
                    "moment": "variance",
                    "role": "",
                    "probability": np.nan,
                    "p_value": explains(np.hstack([fitted, fitted**2]), targets["variance"]),
                }
            )
    columns = ["variable", "other", "moment", "role", "probability", "p_value"]
    return pd.DataFrame(rows, columns=columns)


def noise_pairs(standardised: pd.DataFrame) -> pd.DataFrame:
    """Return rank correlations of residuals, and of their sizes, for each pair of variables."""
    rows = []
    for first, second in combinations(standardised.columns, 2):
        values = spearmanr(standardised[first], standardised[second])
        sizes = spearmanr(standardised[first].abs(), standardised[second].abs())
        rows.append(
            {
                "first": first,
                "second": second,
                "correlation": float(values.statistic),
                "size_correlation": float(sizes.statistic),
                "p_value": combine([float(values.pvalue), float(sizes.pvalue)]),
            }
        )
    columns = ["first", "second", "correlation", "size_correlation", "p_value"]
    return pd.DataFrame(rows, columns=columns)
