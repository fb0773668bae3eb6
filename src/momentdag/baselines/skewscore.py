"""SkewScore: order by the skewness of the score, edges by conditional independence.

Lin et al. (2025). Under X_j = m_j + σ_j E_j with symmetric noise, d log p(x) / d x_j of a variable
that causes no other is an odd function of its noise, at any values of the others: its third moment
is zero. That of a variable with effects in general is not. The order is therefore built from the
back: the last place goes to the variable whose component of the score has the smallest third moment
(relative to its second), the variable is removed, and the score estimated anew. Noise may have any
symmetric law; it is never extracted. Edges along the order are tested as in HOST.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from momentdag.baselines.one_graph import GraphLimits
from momentdag.baselines.options import Options, number, whole
from momentdag.baselines.protocol import Estimate
from momentdag.baselines.pruning import Residuals, dependent_edges
from momentdag.baselines.score_matching import estimate_scores
from momentdag.table import Dataset

__all__ = ["METHOD_VERSION", "SkewScoreOptions", "find_order", "learn_skewscore", "skewness"]

METHOD_VERSION = 1
"""Raised by hand when drawn graphs change: finished runs of studies carry it."""

FloatArray: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True)
class SkewScoreOptions(Options):
    """Options of SkewScore.

    Parameters
    ----------
    n_centres : int
        Kernels of the estimated score.
    alpha : float
        Level of the tests of conditional independence.
    n_hidden : int
        Hidden units of each regression network of the tests.
    shrinkage : float
        Precision of the normal prior on the weights of the networks.
    max_steps : int
        Steps of L-BFGS in each regression.
    max_test_rows : int
        Maximum number of rows for the tests, a seeded random subset of larger tables.
    """

    n_centres: int = whole(200, at_least=2)
    alpha: float = number(0.05, above=0.0, up_to=1.0)
    n_hidden: int = whole(10, at_least=1)
    shrinkage: float = number(1.0, above=0.0)
    max_steps: int = whole(300, at_least=1)
    max_test_rows: int = whole(2000, at_least=10)


def learn_skewscore(
    rng: np.random.Generator,
    dataset: Dataset,
    limits: GraphLimits,
    n_draws: int,
    options: SkewScoreOptions,
) -> Estimate:
    """Find an order, then test every pair along it; ``n_draws`` is not used."""
    order_rng, test_rng = rng.spawn(2)
    order, least = find_order(order_rng, dataset.standardised, limits, options.n_centres)
    residuals = Residuals(
        test_rng,
        dataset.standardised,
        n_hidden=options.n_hidden,
        shrinkage=options.shrinkage,
        max_steps=options.max_steps,
        max_test_rows=options.max_test_rows,
    )
    graph = dependent_edges(residuals, limits, order, options.alpha)
    details = {
        "order": [dataset.names[j] for j in order],
        "skewness": least,
        "n_regressions": residuals.n_fits,
        "n_stopped": residuals.n_stopped,
    }
    return Estimate(graph[None], residuals.status, details)


def find_order(
    rng: np.random.Generator, values: FloatArray, limits: GraphLimits, n_centres: int
) -> tuple[list[int], list[float]]:
    """Return the order, and the skewness with which each variable won its place.

    Parameters
    ----------
    rng : numpy Generator
    values : float array, shape (n, d)
        Standardised.
    limits : GraphLimits
    n_centres : int
    """
    waiting = list(range(limits.n_variables))
    backwards: list[int] = []
    least: list[float] = []
    while len(waiting) > 1:
        scores = estimate_scores(rng, values[:, waiting], n_centres).values
        found = dict(zip(waiting, skewness(scores).tolist(), strict=True))
        last = min(limits.may_come_last(waiting), key=found.__getitem__)
        waiting.remove(last)
        backwards.append(last)
        least.append(found[last])
    return [*waiting, *backwards[::-1]], [0.0, *least[::-1]]


def skewness(scores: FloatArray) -> FloatArray:
    """Return |E s³| / (E s²)^(3/2) of each column of ``scores`` (n, d), (d,).

    Examples
    --------
    >>> skewness(np.array([[-1.0, 3.0], [1.0, 0.0], [0.0, 0.0]])).round(2).tolist()
    [0.0, 1.73]
    """
    second = (scores**2).mean(axis=0)
    third = np.abs((scores**3).mean(axis=0))
    return np.asarray(np.divide(third, second**1.5, out=np.zeros_like(third), where=second > 0))
