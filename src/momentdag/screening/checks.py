"""The tests behind a criticism: shape of residuals, remaining dependence, pairs of noises."""

from __future__ import annotations

from itertools import combinations
from typing import Any, TypeAlias, get_args

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.stats import cramervonmises, kurtosis, normaltest, skew, spearmanr
from statsmodels.stats.diagnostic import normal_ad

from momentdag.graph import reachability
from momentdag.posterior import Posterior
from momentdag.posterior.queries import Moment
from momentdag.screening.predictors import predictor_columns
from momentdag.screening.residuals import Residuals
from momentdag.screening.spread import combine, explains, normal_scores

__all__ = ["FITTED", "dependence", "noise_pairs", "shapes"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

FITTED = "(fitted mean)"
_MOMENTS: tuple[Moment, ...] = get_args(Moment)
_MIN_ROWS = 20  # for the tests of skewness and kurtosis


def shapes(residuals: Residuals) -> pd.DataFrame:
    """Return the shape of each variable's residual, with unadjusted p_gaussian and p_noise.

    Normality is tested by Anderson-Darling (any departure) and D'Agostino-Pearson (skewness and
    tails), combined; the fitted noise by Cramér-von Mises. Discrete variables have no noise that
    could be normal, and the noise of a time or another root, which is never an effect, does not
    matter: NaN.
    """
    rows = {}
    roots = residuals.dataset.roots
    for name in residuals.standardised:
        e = residuals.standardised[name].to_numpy()
        tests = [float(normal_ad(e)[1])]
        if len(e) >= _MIN_ROWS:
            tests.append(float(normaltest(e).pvalue))
        rows[name] = {
            "skewness": float(skew(e)),
            "asymmetry": _asymmetry(e),
            "excess_kurtosis": float(kurtosis(e)),
            "p_gaussian": combine(tests),
            "p_noise": float(cramervonmises(residuals.pit[name].to_numpy(), "uniform").pvalue),
        }
        if name in residuals.discrete or name in roots:
            rows[name]["p_gaussian"] = float("nan")
        if name in roots:
            rows[name]["p_noise"] = float("nan")
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
    normal scores of the other column, or on the levels of a category; the size also on the fitted
    mean. The size of a binary variable's residual says nothing; that of a category's, whose codes
    have no order, is tested together with its value. Times and other roots are never an effect,
    so they have no rows.
    """
    graph, names = residuals.graph, residuals.dataset.names
    kinds = residuals.dataset.kinds
    later = reachability(graph.union_graph)
    scores = [predictor_columns(residuals.dataset, i) for i in range(len(names))]
    probabilities = {moment: posterior.edge_probabilities(moment).to_numpy() for moment in _MOMENTS}
    rows: list[dict[str, Any]] = []
    for j, name in enumerate(names):
        if name in residuals.dataset.roots:
            continue
        levels_only = name in residuals.discrete and kinds[j] in ("binary", "category")
        e = residuals.standardised[name].to_numpy()[:, None]
        targets: dict[Moment, FloatArray] = {
            "mean": normal_scores(e)[:, 0],
            "variance": normal_scores(np.abs(e))[:, 0],
        }
        for i, other in enumerate(names):
            if i == j or later[j, i]:
                continue
            p_values: dict[Moment, float] = {}
            for moment in targets:
                powers = (1, 2, 3) if moment == "mean" else (1, 2)
                p_values[moment] = explains(
                    np.hstack([scores[i] ** k for k in powers]), targets[moment]
                )
            if levels_only:
                size = p_values.pop("variance")
                if kinds[j] == "category":
                    p_values["mean"] = combine([p_values["mean"], size])
            for moment, p_value in p_values.items():
                adjacency = graph.mean_graph if moment == "mean" else graph.variance_graph
                rows.append(
                    {
                        "variable": name,
                        "other": other,
                        "moment": moment,
                        "role": "parent" if adjacency[i, j] else "non-parent",
                        "probability": float(probabilities[moment][i, j]),
                        "p_value": p_value,
                    }
                )
        if graph.mean_graph[:, j].any() and not levels_only:  # else the fitted mean is one number
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
