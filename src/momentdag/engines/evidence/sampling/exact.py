"""Exact posteriors for up to four variables: every graph pair with an acyclic union."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from momentdag.engines.evidence.local.protocol import Parents
from momentdag.engines.evidence.prior import GraphPrior
from momentdag.graph import BoolArray, is_acyclic

__all__ = [
    "MAX_VARIABLES",
    "EnumeratedScores",
    "ExactPosterior",
    "enumerate_pairs",
    "enumerate_posterior",
    "enumerate_scores",
]

FloatArray: TypeAlias = npt.NDArray[np.float64]

MAX_VARIABLES = 4


class ExactPosterior(NamedTuple):
    """Every allowed pair with its log posterior, normalised."""

    mean_graphs: BoolArray  # (K, d, d)
    variance_graphs: BoolArray  # (K, d, d)
    log_probability: FloatArray  # (K,)

    def sample(
        self, rng: np.random.Generator, n_draws: int, offset: float | None = None
    ) -> npt.NDArray[np.intp]:
        """Draw indices so that each pair appears n·p times, rounded up or down, in random order.

        Systematic sampling: one uniform ``offset`` in (0, 1), equally spaced points on the
        cumulative probabilities. Frequencies are unbiased and far closer to the truth than
        independent draws.
        """
        if offset is None:
            offset = rng.random()
        order = np.argsort(-self.log_probability, kind="stable")
        cumulative = np.cumsum(np.exp(self.log_probability[order]))
        points = (np.arange(n_draws) + offset) / n_draws * cumulative[-1]
        return np.asarray(rng.permutation(order[np.searchsorted(cumulative, points)]))


@lru_cache(maxsize=8)
def enumerate_pairs(n_variables: int, with_variance_graph: bool) -> tuple[BoolArray, BoolArray]:
    """Return all (mean graph, variance graph) pairs over d <= 4 variables with an acyclic union.

    Returns
    -------
    mean_graphs, variance_graphs : bool array, shape (K, d, d)
        K is 7, 289 and 63 487 for d = 2, 3 and 4 with variance graphs; 3, 25, 543 without.

    Examples
    --------
    >>> [len(enumerate_pairs(d, True)[0]) for d in (2, 3)]
    [7, 289]
    """
    d = n_variables
    pairs = [(i, j) for i in range(d) for j in range(d) if i < j]
    # Between two variables: nothing, or one of two directions with one of the moment labels.
    labels = [(1, 0), (0, 1), (1, 1)] if with_variance_graph else [(1, 0)]
    states = [(0, 0, 0), *((way, *label) for way in (1, -1) for label in labels)]
    codes = np.array(list(itertools.product(range(len(states)), repeat=len(pairs))), dtype=np.int8)
    table = np.array(states)
    mean_graphs, variance_graphs = np.zeros((2, len(codes), d, d), dtype=bool)
    for position, (i, j) in enumerate(pairs):
        way, mean, variance = table[codes[:, position]].T
        for graphs, present in ((mean_graphs, mean), (variance_graphs, variance)):
            graphs[:, i, j] = (way == 1) & (present == 1)
            graphs[:, j, i] = (way == -1) & (present == 1)
    kept = is_acyclic(mean_graphs | variance_graphs)
    return mean_graphs[kept], variance_graphs[kept]


class EnumeratedScores(NamedTuple):
    """Every allowed pair with its unnormalised log posterior in each of several worlds."""

    mean_graphs: BoolArray  # (G, d, d)
    variance_graphs: BoolArray  # (G, d, d)
    log_weight: FloatArray  # (G, K)

    def in_world(self, world: int) -> ExactPosterior:
        """Return the posterior of one world, normalised."""
        own = self.log_weight[:, world]
        own = own - own.max()
        log_probability = own - np.log(np.exp(own).sum())
        return ExactPosterior(self.mean_graphs, self.variance_graphs, log_probability)


def enumerate_scores(
    scores: Callable[[int, Parents], FloatArray], prior: GraphPrior
) -> EnumeratedScores:
    """Return every pair from local log evidences ``scores(variable, parents)`` (K,) in K worlds."""
    d = prior.n_variables
    mean_graphs, variance_graphs = enumerate_pairs(d, prior.with_variance_graph)
    allowed = prior.knowledge.allows(mean_graphs, variance_graphs)
    mean_graphs, variance_graphs = mean_graphs[allowed], variance_graphs[allowed]
    log_weight = prior.log_weight(mean_graphs, variance_graphs)[:, None]
    powers = 1 << np.arange(d)
    for j in range(d):
        mean_codes = mean_graphs[:, :, j] @ powers
        variance_codes = variance_graphs[:, :, j] @ powers
        keys, inverse = np.unique(
            np.stack([mean_codes, variance_codes], axis=1), axis=0, return_inverse=True
        )
        values = np.stack([scores(j, Parents(int(m), int(v))) for m, v in keys])
        log_weight = log_weight + values[inverse.reshape(-1)]
    return EnumeratedScores(mean_graphs, variance_graphs, log_weight)


def enumerate_posterior(
    score: Callable[[int, Parents], float], prior: GraphPrior
) -> ExactPosterior:
    """Return the exact posterior from local log evidences ``score(variable, parents)``."""
    return enumerate_scores(lambda j, parents: np.array([score(j, parents)]), prior).in_world(0)
