"""HOST: order by the normality of residuals, edges by conditional independence.

Duong and Nguyen (2023). Under a location-scale model with Gaussian noise a variable is, given a set
that contains all its causes and none of its effects, Gaussian up to an affine map that depends on
the set; given a set that lacks a cause it is in general not. The order is therefore built from the
front: each place goes to the variable whose residuals, given everything placed before, look most
normal to the Shapiro-Wilk test. An edge i -> j is kept if i and j are dependent given all other
variables before j, which is tested on the residuals of both.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import shapiro

from momentdag.baselines.one_graph import GraphLimits
from momentdag.baselines.options import Options, number, whole
from momentdag.baselines.protocol import Estimate
from momentdag.baselines.pruning import Residuals, dependent_edges
from momentdag.table import Dataset

__all__ = ["METHOD_VERSION", "HOSTOptions", "learn_host"]

METHOD_VERSION = 1
"""Raised by hand when drawn graphs change: finished runs of studies carry it."""


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
    residuals = Residuals(
        rng,
        dataset.standardised,
        n_hidden=options.n_hidden,
        shrinkage=options.shrinkage,
        max_steps=options.max_steps,
        max_test_rows=options.max_test_rows,
    )
    order, normality = _find_order(residuals, limits)
    graph = dependent_edges(residuals, limits, order, options.alpha)
    details = {
        "order": [dataset.names[j] for j in order],
        "normality": normality,
        "n_regressions": residuals.n_fits,
        "n_stopped": residuals.n_stopped,
    }
    return Estimate(graph[None], residuals.status, details)


def _find_order(residuals: Residuals, limits: GraphLimits) -> tuple[list[int], list[float]]:
    """Return the order, and the Shapiro-Wilk statistic with which each variable won its place."""
    order: list[int] = []
    normality: list[float] = []
    while len(order) < limits.n_variables:
        candidates = limits.may_come_next(order)
        statistics = [float(shapiro(residuals.given(j, order)).statistic) for j in candidates]
        best = int(np.argmax(statistics))
        order.append(candidates[best])
        normality.append(statistics[best])
    return order, normality
