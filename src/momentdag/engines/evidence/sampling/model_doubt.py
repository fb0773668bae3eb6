"""What the model alone says, and how far rows contradict it: nothing here is fitted anew.

The plain posterior is that of a world in which every row has weight one, from the same pools. The
misfit index of a variable compares two ways to be sure. Turn an edge i -> j of the best pair round;
D is the log evidence lost, V the variance of the sum over rows of the differences of their log
densities. Under a right model that explains the rows a little better than the other one,

    E[D] = n KL,    V = n Var(l_a - l_b) ≈ 2 n KL,

so V / 2D is about 1: the information identity, in Vuong's (1989) terms. If both are wrong, their
rows contradict each other: V stays large and D is what is left when the rows have been added up.
Worlds know V already: it is how far they differ, each over its own τ.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from momentdag.engines.evidence.local.protocol import Parents
from momentdag.engines.evidence.prior import GraphPrior
from momentdag.engines.evidence.sampling.draws import Draws
from momentdag.engines.evidence.sampling.exact import ExactPosterior
from momentdag.engines.evidence.sampling.world_draws import WorldPool, draw_in_world
from momentdag.engines.evidence.sampling.worlds import Worlds
from momentdag.engines.evidence.search.orders import OrderResult
from momentdag.engines.evidence.search.parents import ParentSearch
from momentdag.graph import BoolArray
from momentdag.parallel import run, shared

__all__ = ["draw_plain", "exact_plain", "misfit_indices"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

_TASKS = 4
_DRAWS_PER_TASK = 250
_USUAL = 20.0
"""Nats² of V, and of 2D, that count as seen beforehand: a comparison of 10 nats that came out as
the model says. Without it the ratio of two small numbers would be anything."""
_LEAST_WORLDS = 10
"""From fewer no variance is known."""


def exact_plain(posterior: ExactPosterior) -> FloatArray:
    """Return the edge probabilities of an enumerated posterior, (3, d, d): see `ModelDoubt`."""
    p = np.exp(posterior.log_probability)
    return _shares(posterior.mean_graphs, posterior.variance_graphs, p / p.sum())


def draw_plain(
    rng: np.random.Generator,
    prior: GraphPrior,
    pools: list[WorldPool],
    order: tuple[int, ...],
    n_jobs: int,
) -> FloatArray:
    """Draw from the plain posterior over pools; return its edge probabilities, (3, d, d)."""
    with shared(pools):
        tasks = [(own, prior, pools, order) for own in rng.spawn(_TASKS)]
        draws = Draws.joined(list(run(_draw_task, tasks, n_jobs)))
    n = len(draws.mean_graphs)
    return _shares(draws.mean_graphs, draws.variance_graphs, np.full(n, 1 / n))


def _draw_task(
    rng: np.random.Generator, prior: GraphPrior, pools: list[WorldPool], order: tuple[int, ...]
) -> Draws:
    return draw_in_world(rng, prior, pools, None, _DRAWS_PER_TASK, order)[0]


def _shares(mean_graphs: BoolArray, variance_graphs: BoolArray, share: FloatArray) -> FloatArray:
    kinds = (mean_graphs, variance_graphs, mean_graphs | variance_graphs)
    return np.stack([np.tensordot(share, graphs, 1) for graphs in kinds])


def misfit_indices(
    search: ParentSearch,
    worlds: Worlds,
    entries: Sequence[Sequence[Parents]],
    best: OrderResult,
    tau: float,
) -> FloatArray:
    """Return the misfit index of every variable, (d,); NaN if worlds are few or all alike (τ = 0).

    Parameters
    ----------
    search : ParentSearch
    worlds : Worlds
    entries : sequence of sequences of Parents
        Scored parents of each variable, among which the other explanation of an edge is looked up.
    best : OrderResult
        The best pair on the rows as they are.
    tau : float
        Standard deviation of the weights in the middle world.
    """
    d = search.prior.n_variables
    if tau == 0 or worlds.n_worlds < _LEAST_WORLDS:
        return np.full(d, np.nan)
    variances, gains = np.zeros(d), np.zeros(d)
    # Who precedes i in the best order; regimes, which come last, precede everyone.
    ahead = sum(1 << regime for regime in range(d, len(best.parents)))
    for i in (variable for variable in best.order if variable < d):
        for j in range(d):
            if best.parents[j].union >> i & 1:
                turned = _turn_round(search, entries, best, i, j, ahead)
                if turned is not None:
                    gain, spread = _compare(search, worlds, best, turned)
                    variances[j] += spread / tau**2
                    gains[j] += gain
        ahead |= 1 << i
    return np.asarray((variances + _USUAL) / (2 * gains + _USUAL))


def _turn_round(
    search: ParentSearch,
    entries: Sequence[Sequence[Parents]],
    best: OrderResult,
    i: int,
    j: int,
    ahead: int,
) -> dict[int, Parents] | None:
    """Return the best parents of i and j with j just before i, and its parent; None without any.

    All others keep theirs, so that this is a pair of graphs, too.
    """
    without = [each for each in entries[j] if not each.union & ~ahead]
    within = ahead | 1 << j
    into = [each for each in entries[i] if each.union >> j & 1 and not each.union & ~within]
    turned = {}
    for variable, among in ((j, without), (i, into)):
        ranked = [
            (search.score(variable, each), each)
            for each in among
            if search.prior.permits(variable, each)
        ]
        if not ranked or not np.isfinite(max(ranked)[0]):
            return None
        turned[variable] = max(ranked)[1]
    return turned


def _compare(
    search: ParentSearch, worlds: Worlds, best: OrderResult, turned: dict[int, Parents]
) -> tuple[float, float]:
    """Return how much evidence the best pair gains over another, and its variance over worlds."""
    gain, deviations = 0.0, np.zeros(worlds.n_worlds)
    for variable, other in turned.items():
        own = best.parents[variable]
        gain += search.log_evidence(variable, own) - search.log_evidence(variable, other)
        deviations += worlds.scores(search, variable, own)
        deviations -= worlds.scores(search, variable, other)
    return max(gain, 0.0), float(np.mean((deviations / worlds.taus) ** 2))
