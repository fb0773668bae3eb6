"""Missing cells: what to do about them, and whether they depend on other columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import scipy.stats

from momentdag.errors import quote
from momentdag.table.checks import MIN_SAMPLES
from momentdag.table.encoding import EncodedColumn
from momentdag.table.recipe import MissingPolicy

__all__ = ["MAX_LOST", "choose_policy", "find_dependence", "rows_to_keep"]

MAX_LOST = 0.05
"""Rows with missing cells are left out where they are fewer than this share, else imputed."""

_LEVEL = 0.01
_MIN_CELLS = 10

BoolArray = npt.NDArray[np.bool_]


def choose_policy(missing: BoolArray, policy: MissingPolicy) -> MissingPolicy:
    """Return "drop" or "impute" for "auto" where cells (n, d) are missing, else the policy."""
    rows = missing.any(axis=1)
    if policy != "auto" or not rows.any():
        return policy
    few = rows.mean() < MAX_LOST and (~rows).sum() >= MIN_SAMPLES
    return "drop" if few else "impute"


def rows_to_keep(missing: BoolArray, policy: MissingPolicy) -> BoolArray:
    """Return which rows stay: the complete ones, or for "impute" those with any cell, (n,)."""
    if policy == "drop":
        return np.asarray(~missing.any(axis=1))
    return np.asarray(~missing.all(axis=1))


def find_dependence(columns: Sequence[EncodedColumn]) -> dict[str, str]:
    """Return columns whose cells are missing more often for some values of another column.

    Each column with at least 10 missing and 10 observed cells is tested against every other one:
    a rank test for numbers, a chi-squared test for categories, corrected for their number
    (Bonferroni) at the level 0.01.

    Returns
    -------
    mapping from name to a sentence
    """
    tested = [
        column
        for column in columns
        if min((holes := np.isnan(column.values)).sum(), (~holes).sum()) >= _MIN_CELLS
    ]
    n_tests = max(len(tested) * (len(columns) - 1), 1)
    found = {}
    for column in tested:
        holes = np.isnan(column.values)
        results = []
        for other in columns:
            if other is column:
                continue
            present = ~np.isnan(other.values)
            groups = other.values[present & holes], other.values[present & ~holes]
            if min(len(group) for group in groups) >= _MIN_CELLS:
                results.append((_test(*groups, other.kind == "category"), other.name))
        if results and min(results)[0] * n_tests < _LEVEL:
            found[column.name] = (
                f"Its cells are missing more often for some values of {quote(min(results)[1])}: "
                "rows without it are not like the others."
            )
    return found


def _test(one: npt.NDArray[np.float64], two: npt.NDArray[np.float64], is_category: bool) -> float:
    """Return the p-value of the hypothesis that both groups have one distribution."""
    both = np.concatenate([one, two])
    if both.min() == both.max():
        return 1.0
    if not is_category:
        return float(scipy.stats.mannwhitneyu(one, two).pvalue)
    levels = np.unique(both)
    counts = np.array([[(group == level).sum() for level in levels] for group in (one, two)])
    return float(scipy.stats.chi2_contingency(counts).pvalue)
