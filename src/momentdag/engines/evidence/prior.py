"""The prior over graph pairs: a Beta hyper-prior on each edge rate, times knowledge.

Edges without a stated probability are present with an unknown rate of their graph, uniform on
(0, 1). Integrated out, k edges among N possible have log B(k + 1, N - k + 1): many candidates make
each of them less likely, and a dense graph pays less per edge than a sparse one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.special import betaln

from momentdag.engines.evidence.local.protocol import Parents
from momentdag.engines.evidence.support.bitmasks import column_mask, members
from momentdag.graph import BoolArray
from momentdag.knowledge import CompiledKnowledge

__all__ = ["GraphPrior", "ModularPrior", "adjacency"]

FloatArray: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True)
class ModularPrior:
    """Log prior odds of each edge and the edges that hard knowledge fixes.

    Parameters
    ----------
    mean_log_odds, variance_log_odds : float array, shape (d, d)
    required_mean, required_variance, required_either : sequence of int
        For each effect the bit mask of the causes it must have.
    allowed_mean, allowed_variance : sequence of int
        For each effect the bit mask of the causes it may have.
    n_regimes : int
        The last so many variables are regimes.
    """

    mean_log_odds: FloatArray
    variance_log_odds: FloatArray
    required_mean: tuple[int, ...]
    required_variance: tuple[int, ...]
    required_either: tuple[int, ...]
    allowed_mean: tuple[int, ...]
    allowed_variance: tuple[int, ...]
    n_regimes: int = 0

    @property
    def n_variables(self) -> int:
        """Number of variables that are no regimes."""
        return len(self.required_mean) - self.n_regimes

    def log_weight(self, variable: int, parents: Parents) -> float:
        """Return the sum of the log odds of the edges into ``variable``."""
        mean = sum(self.mean_log_odds[i, variable] for i in members(parents.mean))
        variance = sum(self.variance_log_odds[i, variable] for i in members(parents.variance))
        return float(mean + variance)

    def permits(self, variable: int, parents: Parents) -> bool:
        """Tell whether hard knowledge allows these parents."""
        union = parents.mean | parents.variance
        return (
            parents.mean & ~self.allowed_mean[variable] == 0
            and parents.variance & ~self.allowed_variance[variable] == 0
            and self.required_mean[variable] & ~parents.mean == 0
            and self.required_variance[variable] & ~parents.variance == 0
            and self.required_either[variable] & ~union == 0
        )

    def smallest(self, variable: int) -> Parents:
        """Return the smallest parents that hard knowledge allows."""
        missing = self.required_either[variable] & ~(
            self.required_mean[variable] | self.required_variance[variable]
        )
        in_mean = missing & self.allowed_mean[variable]
        return Parents(
            self.required_mean[variable] | in_mean,
            self.required_variance[variable] | (missing & ~in_mean),
        )


def adjacency(parents: tuple[Parents, ...]) -> tuple[BoolArray, BoolArray]:
    """Return the mean and the variance graph in which each variable has the given parents."""
    d = len(parents)
    mean_graph, variance_graph = np.zeros((2, d, d), dtype=bool)
    for j, (mean, variance) in enumerate(parents):
        mean_graph[members(mean), j] = True
        variance_graph[members(variance), j] = True
    return mean_graph, variance_graph


@dataclass(frozen=True)
class GraphPrior:
    """Prior over graph pairs.

    Parameters
    ----------
    knowledge : CompiledKnowledge
    with_variance_graph : bool
        False for families without variance parents: the variance graph is empty.
    n_regimes : int
        The last so many variables are regimes, whose edges have stated probabilities.
    prices : (float array, float array) or None
        Nats that mean and variance edges cost beyond that, each (d, d): see `sampling.decoys`.
    """

    knowledge: CompiledKnowledge
    with_variance_graph: bool
    n_regimes: int = 0
    prices: tuple[FloatArray, FloatArray] | None = None

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return self.knowledge.n_variables

    @property
    def _n_possible(self) -> int:
        """Number of pairs of variables that are no regimes."""
        n = self.n_variables - self.n_regimes
        return n * (n - 1) // 2

    def _log_odds(self) -> tuple[FloatArray, FloatArray]:
        return self.knowledge.log_odds_mean, self.knowledge.log_odds_variance

    def log_weight(self, mean_graphs: BoolArray, variance_graphs: BoolArray) -> FloatArray:
        """Return the log prior of graph pairs that hard knowledge allows, up to a constant.

        Parameters
        ----------
        mean_graphs, variance_graphs : bool array, shape (..., d, d)
        """
        value: FloatArray = np.zeros(mean_graphs.shape[:-2])
        for graphs, log_odds in zip((mean_graphs, variance_graphs), self._log_odds(), strict=True):
            stated = ~np.isnan(log_odds)
            free = graphs & ~stated
            value = value + self.log_rate(free.sum(axis=(-1, -2)))
            if stated.any():
                value = value + (graphs * np.where(stated, log_odds, 0.0)).sum(axis=(-1, -2))
        if self.knowledge.is_soft:
            value = value + self.knowledge.soft_log_weight(mean_graphs, variance_graphs)
        return value - self.cost(mean_graphs, variance_graphs)

    def cost(self, mean_graphs: BoolArray, variance_graphs: BoolArray) -> FloatArray:
        """Return the prices of all edges of graph pairs (..., d, d)."""
        value: FloatArray = np.zeros(mean_graphs.shape[:-2])
        for graphs, price in zip((mean_graphs, variance_graphs), self.prices or (), strict=False):
            value = value + (graphs * price).sum(axis=(-1, -2))
        return value

    def log_rate(self, n_edges: npt.ArrayLike) -> FloatArray:
        """Return the log prior of one graph with ``n_edges`` edges of unstated probability."""
        possible = self._n_possible
        k = np.minimum(np.asarray(n_edges), possible)
        return np.asarray(betaln(k + 1.0, possible - k + 1.0))

    def modular(self, n_mean_edges: float, n_variance_edges: float) -> ModularPrior:
        """Return the prior with its edge rates fixed at the given numbers of edges."""
        possible = self._n_possible
        odds = []
        for k, stated in zip((n_mean_edges, n_variance_edges), self._log_odds(), strict=True):
            base = np.log((k + 1) / (possible - k + 1))
            odds.append(np.where(np.isnan(stated), base, stated))
        known = self.knowledge
        if known.is_soft:
            # The order penalty is not a sum over edges; the chain applies it, the search does not.
            odds[0] = odds[0] + known.presence_penalty_mean - known.absence_penalty_mean
            odds[1] = odds[1] + known.presence_penalty_variance - known.absence_penalty_variance
            odds[0] = odds[0] - known.absence_penalty_either
        for k, price in enumerate(self.prices or ()):
            odds[k] = odds[k] - price
        d = self.n_variables
        off_diagonal = ~np.eye(d, dtype=bool)

        def masks(graph: BoolArray) -> tuple[int, ...]:
            return tuple(column_mask(graph[:, j]) for j in range(d))

        no_variance = np.zeros((d, d), dtype=bool)
        return ModularPrior(
            odds[0],
            odds[1],
            masks(known.required_mean),
            masks(known.required_variance),
            masks(known.required_either),
            masks(off_diagonal & ~known.forbidden_mean),
            masks(off_diagonal & ~known.forbidden_variance)
            if self.with_variance_graph
            else masks(no_variance),
            self.n_regimes,
        )
