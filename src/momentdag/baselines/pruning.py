"""Edges along an order by conditional independence, tested on residuals of location and scale.

An edge i -> j is kept if i and j are dependent given all other variables before j: residuals of
both, from regressions whose location and scale are networks, go through the Hilbert-Schmidt test.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from momentdag.baselines.independence import centred_gram, hsic_p_value
from momentdag.baselines.one_graph import GraphLimits
from momentdag.baselines.regression import affine_residuals
from momentdag.graph import BoolArray

__all__ = ["Residuals", "dependent_edges"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

_NORMALITY_ROWS = 5000


class Residuals:
    """Residuals of any variable given any others, at the rows that tests use.

    Parameters
    ----------
    rng : numpy Generator
    values : float array, shape (n, d)
        Standardised.
    n_hidden, shrinkage, max_steps
        Of every regression: see `momentdag.baselines.regression.affine_residuals`.
    max_test_rows : int
    """

    def __init__(
        self,
        rng: np.random.Generator,
        values: FloatArray,
        *,
        n_hidden: int,
        shrinkage: float,
        max_steps: int,
        max_test_rows: int,
    ) -> None:
        self._rng = rng
        self._columns = np.ascontiguousarray(values.T)
        self._regression = (n_hidden, shrinkage, max_steps)
        n = len(values)
        n_rows = min(n, max_test_rows, _NORMALITY_ROWS)
        self._rows = np.sort(rng.choice(n, n_rows, replace=False))
        self.n_fits = self.n_stopped = 0

    def given(self, variable: int, others: Sequence[int]) -> FloatArray:
        """Return (x - μ) / σ, with μ and σ functions of the other variables."""
        found = affine_residuals(
            self._rng, self._columns[variable], self._columns[list(others)], *self._regression
        )
        self.n_fits += 1
        self.n_stopped += not found.converged
        return found.values[self._rows]

    @property
    def status(self) -> str:
        """The word "complete", or what to change if most regressions stopped early."""
        if 2 * self.n_stopped <= self.n_fits:
            return "complete"
        return (
            f"{self.n_stopped} of {self.n_fits} regressions stopped before they converged; raise "
            "max_steps"
        )


def dependent_edges(
    residuals: Residuals, limits: GraphLimits, order: Sequence[int], alpha: float
) -> BoolArray:
    """Return the edges along ``order`` that tests of level ``alpha`` keep, (d, d).

    Required edges are always included.
    """
    graph = limits.required.copy()
    for place, effect in enumerate(order):
        before = order[:place]
        for cause in before:
            if graph[cause, effect] or not limits.allowed[cause, effect]:
                continue
            others = [k for k in before if k != cause]
            grams = (centred_gram(residuals.given(j, others)) for j in (cause, effect))
            graph[cause, effect] = hsic_p_value(*grams) < alpha
    return graph
