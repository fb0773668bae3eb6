"""Parent sets: the prior over edges, and the sets from which each variable draws its parents.

Edges without a stated probability are present with an unknown rate of their graph, which is
Beta(π, 1 - π): its mean π is the option ``edge_probability``. Integrated out, k edges among N
pairs of variables have B(k + π, N - k + 1 - π), which lets the data say how dense a graph is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.special import betaln

from momentdag.graph import BoolArray

__all__ = ["EdgePrior", "Evidence", "Pool", "pools_of"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]
Evidence: TypeAlias = Callable[[IntArray, BoolArray, BoolArray], FloatArray]
"""Variables (k,) and their mean and variance parents (k, d), to log evidences (k,)."""

_MOST_SETS = 128  # of a variable
_TURNS = 8  # sets whose neighbours are looked at before the next are chosen


@dataclass(frozen=True)
class EdgePrior:
    """Prior over graph pairs.

    Parameters
    ----------
    log_odds : float array, shape (2, d, d)
        Of edges of mean and variance graph with a stated probability.
    free : bool array, shape (2, d, d)
        The edges of unknown rate.
    open : bool array, shape (2, d, d)
        The edges that may be there or not.
    required_either : bool array, shape (d, d)
        Edges of which one graph or both must have each.
    probability : float
        π.
    """

    log_odds: FloatArray
    free: BoolArray
    open: BoolArray
    required_either: BoolArray
    probability: float

    @property
    def n_pairs(self) -> IntArray:
        """Pairs of variables between which an edge of unknown rate may be, by graph, (2,)."""
        return np.asarray(np.triu(self.free | self.free.swapaxes(1, 2), 1).sum(axis=(1, 2)))

    def log_weight(self, graphs: BoolArray) -> FloatArray:
        """Return log p(A) of pairs (2, k, d, d) up to a constant, (k,)."""
        stated = np.where(self.free, 0.0, self.log_odds)[:, None]
        n_edges = (graphs & self.free[:, None]).sum(axis=(2, 3))
        rate = betaln(
            n_edges + self.probability,
            self.n_pairs[:, None] - n_edges + 1.0 - self.probability,
        )
        return np.asarray((rate + (graphs * stated).sum(axis=(2, 3))).sum(axis=0))

    def log_odds_at(self, graphs: BoolArray) -> FloatArray:
        """Return log odds (2, d, d) with each rate at its posterior mean given k pairs."""
        n_edges = (graphs & self.free[:, None]).sum(axis=(2, 3)).mean(axis=1)
        rate = (n_edges + self.probability) / (self.n_pairs + 1.0)
        return np.where(self.free, np.log(rate / (1.0 - rate))[:, None, None], self.log_odds)


class Pool(NamedTuple):
    """Parent sets (2, m, d) of one variable, their log evidence and prior log odds, each (m,)."""

    sets: BoolArray
    log_evidence: FloatArray
    log_odds: FloatArray

    @property
    def members(self) -> IntArray:
        """Bit masks of all parents of each set, (m,)."""
        union = self.sets[0] | self.sets[1]
        return np.asarray(union @ (1 << np.arange(union.shape[1])))


def pools_of(
    graphs: BoolArray, evidence: Evidence, prior: EdgePrior, log_odds: FloatArray
) -> list[Pool]:
    """Return the parent sets from which each variable draws.

    They begin with the sets that ``graphs`` (2, k, d, d) have most often, and grow by the
    neighbours, an edge more or less, of the most probable ones, up to `_MOST_SETS`. Where no more
    than that are possible, all of them are there in the end.

    Parameters
    ----------
    graphs : bool array, shape (2, k, d, d)
    evidence : Evidence
    prior : EdgePrior
    log_odds : float array, shape (2, d, d)
        Of every edge.
    """
    d = graphs.shape[-1]
    new = [_most_often(graphs[..., j]) for j in range(d)]
    pools = [Pool(own[:, :0], np.empty(0), np.empty(0)) for own in new]
    grown: list[set[bytes]] = [set() for _ in range(d)]
    while any(own.shape[1] for own in new):
        sizes = [own.shape[1] for own in new]
        values = evidence(np.repeat(np.arange(d), sizes), *np.concatenate(new, axis=1))
        for j, value in enumerate(np.split(values, np.cumsum(sizes)[:-1])):
            sets, old_values, old_odds = pools[j]
            odds = (new[j] * log_odds[:, None, :, j]).sum(axis=(0, 2))
            pools[j] = Pool(
                np.concatenate([sets, new[j]], axis=1),
                np.concatenate([old_values, value]),
                np.concatenate([old_odds, odds]),
            )
        new = [_neighbours(pool, prior, j, grown[j]) for j, pool in enumerate(pools)]
    return pools


def _most_often(sets: BoolArray) -> BoolArray:
    """Return the distinct sets among drawn (2, k, d), at most half of a pool, (2, m, d)."""
    together = np.concatenate(list(sets), axis=1)
    _, first, counts = np.unique(together, axis=0, return_index=True, return_counts=True)
    return sets[:, first[np.argsort(-counts, kind="stable")[: _MOST_SETS // 2]]]


def _neighbours(pool: Pool, prior: EdgePrior, variable: int, grown: set[bytes]) -> BoolArray:
    """Return sets that are new to a pool and one edge from its best that had no turn yet."""
    columns = pool.sets.swapaxes(0, 1)
    known = {own.tobytes() for own in columns}
    changes = np.argwhere(prior.open[:, :, variable])
    found: list[BoolArray] = []
    turns = 0
    for at in np.argsort(-(pool.log_evidence + pool.log_odds), kind="stable"):
        if turns == _TURNS or len(known) >= _MOST_SETS:
            break
        own = columns[at]
        if own.tobytes() in grown:
            continue
        grown.add(own.tobytes())
        turns += 1
        for graph, cause in changes:
            near = own.copy()
            near[graph, cause] ^= True
            lost = prior.required_either[:, variable] & ~near.any(axis=0)
            if near.tobytes() not in known and not lost.any() and len(known) < _MOST_SETS:
                known.add(near.tobytes())
                found.append(near)
    d = pool.sets.shape[2]
    return np.array(found, dtype=bool).reshape(-1, 2, d).swapaxes(0, 1)
