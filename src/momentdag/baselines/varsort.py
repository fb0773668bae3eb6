"""VarSort: order the variables by their marginal variance (Reisach, Seiler, Weichwald 2021).

Each variable is then regressed on those before it by an adaptive lasso: coefficients of least
squares weight the columns, and the information criterion chooses the penalty. The method finds
directions from the scale of the columns alone; on standardised columns it cannot find any.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.linear_model import LassoLarsIC, LinearRegression

from momentdag.baselines.one_graph import GraphLimits
from momentdag.baselines.options import Options
from momentdag.baselines.protocol import Estimate
from momentdag.errors import DataError
from momentdag.table import Dataset

__all__ = ["METHOD_VERSION", "VarSortOptions", "learn_varsort"]

METHOD_VERSION = 1
"""Raised by hand when drawn graphs change: finished runs of studies carry it."""

FloatArray: TypeAlias = npt.NDArray[np.float64]
Criterion: TypeAlias = Literal["bic", "aic"]

_TIE = 1e-9  # relative; standardised columns differ in variance by rounding alone


@dataclass(frozen=True)
class VarSortOptions(Options):
    """Options of VarSort.

    Parameters
    ----------
    criterion : {"bic", "aic"}
        Information criterion that chooses the penalty of each regression.
    """

    criterion: Criterion = "bic"


def learn_varsort(
    rng: np.random.Generator,
    dataset: Dataset,
    limits: GraphLimits,
    n_draws: int,
    options: VarSortOptions,
) -> Estimate:
    """Sort by variance, then regress; neither ``rng`` nor ``n_draws`` is used.

    Raises
    ------
    DataError
        If there are too few rows for the information criterion.
    """
    if dataset.n_samples <= limits.n_variables:
        raise DataError(
            f"Expected more rows than columns; got {dataset.n_samples} rows and "
            f"{limits.n_variables} columns. Collect more rows, or drop columns."
        )
    variances = dataset.scale**2
    order: list[int] = []
    while len(order) < limits.n_variables:
        order.append(min(limits.may_come_next(order), key=lambda j: (variances[j], j)))
    graph = limits.required.copy()
    for place, effect in enumerate(order):
        causes = [i for i in order[:place] if limits.allowed[i, effect]]
        if causes:
            # Each column is weighted by its coefficient, so its units make no difference here.
            values = dataset.standardised
            selected = _select(values[:, causes], values[:, effect], options.criterion)
            graph[np.array(causes)[selected], effect] = True
    status = "complete"
    if np.ptp(variances) <= _TIE * variances.max():
        status = (
            "all columns have the same variance, so the variables are in the order of the columns; "
            "pass the table in its original units"
        )
    return Estimate(graph[None], status, {"order": [dataset.names[j] for j in order]})


def _select(causes: FloatArray, effect: FloatArray, criterion: Criterion) -> npt.NDArray[np.bool_]:
    """Return which columns of ``causes`` (n, k) the adaptive lasso keeps, (k,)."""
    weights = np.abs(LinearRegression().fit(causes, effect).coef_)
    lasso = LassoLarsIC(criterion=criterion).fit(causes * weights, effect)
    return np.asarray(lasso.coef_ * weights != 0)
