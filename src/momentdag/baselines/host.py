"""HOST: order by the normality of residuals, edges by conditional independence.

Duong and Nguyen (2023). Under a location-scale model with Gaussian noise a variable is, given a set
that contains all its causes and none of its effects, Gaussian up to an affine map that depends on
the set; given a set that lacks a cause it is in general not. The order is therefore built from the
front: each place goes to the variable whose residuals, given everything placed before, look most
normal to the Shapiro-Wilk test. An edge i -> j is kept if i and j are dependent given all other
variables before j, which is tested on the residuals of both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.stats import shapiro

from momentdag.baselines.independence import centred_gram, hsic_p_value
from momentdag.baselines.one_graph import GraphLimits
from momentdag.baselines.options import Options, number, whole
from momentdag.baselines.protocol import Estimate
from momentdag.baselines.regression import affine_residuals
from momentdag.graph import BoolArray
from momentdag.table import Dataset

__all__ = ["METHOD_VERSION", "HOSTOptions", "learn_host"]

METHOD_VERSION = 1
"""Raised by hand when drawn graphs change: finished runs of studies carry it."""

FloatArray: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True)
class HOSTOptions(Options):
    """Options of HOST.

    Parameters
    ----------
    alpha : float
        Level of the tests of conditional independence.
    n_hidden : int
        Hidden units of each regression network.
    shrinkage : float
        Precision of the normal prior on the weights of the networks.
    max_steps : int
        Steps of L-BFGS in each regression.
    max_test_rows : int
        Maximum number of rows for the tests, a seeded random subset of larger tables: the memory
        of the independence test grows with its square, and the normality test takes at most 5000.
    """

    alpha: float = number(0.05, above=0.0, up_to=1.0)
    n_hidden: int = whole(10, at_least=1)
    shrinkage: float = number(1.0, above=0.0)
    max_steps: int = whole(300, at_least=1)
    max_test_rows: int = whole(2000, at_least=10)


def learn_host(
    rng: np.random.Generator,
    dataset: Dataset,
    limits: GraphLimits,
    n_draws: int,
    options: HOSTOptions,
) -> Estimate:
    """Find an order, then test every pair along it; ``n_draws`` is not used."""
    flows = _Flows(rng, dataset.standardised, options)
    order, normality = _find_order(flows, limits)
    graph = _find_edges(flows, limits, order, options.alpha)
    status = "complete"
    if 2 * flows.n_stopped > flows.n_fits:
        status = (
            f"{flows.n_stopped} of {flows.n_fits} regressions stopped before they converged; raise "
            "max_steps"
        )
    details = {
        "order": [dataset.names[j] for j in order],
        "normality": normality,
        "n_regressions": flows.n_fits,
        "n_stopped": flows.n_stopped,
    }
    return Estimate(graph[None], status, details)


class _Flows:
    """Residuals of any variable given any others, at the rows that the tests use."""

    def __init__(self, rng: np.random.Generator, values: FloatArray, options: HOSTOptions) -> None:
        self._rng = rng
        self._columns = np.ascontiguousarray(values.T)
        self._options = options
        n = len(values)
        n_rows = min(n, options.max_test_rows, 5000)
        self._rows = np.sort(rng.choice(n, n_rows, replace=False))
        self.n_fits = self.n_stopped = 0

    def residuals(self, variable: int, given: Sequence[int]) -> FloatArray:
        """Return (x - μ) / σ, with μ and σ functions of the variables in ``given``."""
        options = self._options
        found = affine_residuals(
            self._rng,
            self._columns[variable],
            self._columns[list(given)],
            options.n_hidden,
            options.shrinkage,
            options.max_steps,
        )
        self.n_fits += 1
        self.n_stopped += not found.converged
        return found.values[self._rows]


def _find_order(flows: _Flows, limits: GraphLimits) -> tuple[list[int], list[float]]:
    """Return the order, and the Shapiro-Wilk statistic with which each variable won its place."""
    order: list[int] = []
    normality: list[float] = []
    while len(order) < limits.n_variables:
        candidates = limits.may_come_next(order)
        statistics = [float(shapiro(flows.residuals(j, order)).statistic) for j in candidates]
        best = int(np.argmax(statistics))
        order.append(candidates[best])
        normality.append(statistics[best])
    return order, normality


def _find_edges(flows: _Flows, limits: GraphLimits, order: list[int], alpha: float) -> BoolArray:
    graph = limits.required.copy()
    for place, effect in enumerate(order):
        before = order[:place]
        for cause in before:
            if graph[cause, effect] or not limits.allowed[cause, effect]:
                continue
            others = [k for k in before if k != cause]
            grams = (centred_gram(flows.residuals(j, others)) for j in (cause, effect))
            graph[cause, effect] = hsic_p_value(*grams) < alpha
    return graph
