"""A Markov chain over graph pairs, from local scores.

Three kinds of moves, each reversible on its own:

* *toggle*: flip a mean edge, a variance edge or both, the edge chosen with fixed weights;
* *redraw*: give one variable new parents from its pool, in proportion to their score;
* *reverse*: turn an edge around and redraw the parents of both its ends from their pools
  (Grzegorczyk and Husmeier 2008).

A pool is a fixed list of well-scoring parents of one variable that the search has met; toggles
reach everything else, so pools speed the chain up and never confine it.
"""

from __future__ import annotations

import math
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from momentdag.engines.evidence.local.protocol import Parents
from momentdag.engines.evidence.prior import GraphPrior, adjacency
from momentdag.engines.evidence.sampling.pools import Pool
from momentdag.engines.evidence.search.parents import ParentSearch
from momentdag.engines.evidence.search.tuning import TUNING
from momentdag.engines.evidence.support.bitmasks import column_mask, members, to_words
from momentdag.engines.evidence.support.cache import BudgetedCache

__all__ = ["Chain"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

_ANYONE = -1


class _Proposal(NamedTuple):
    """A distribution over the entries of a pool."""

    log_probability: FloatArray  # (K,), minus infinity for entries that are closed
    cumulative: FloatArray  # (K,)

    @classmethod
    def over(cls, usable: npt.NDArray[np.bool_], log_weight: FloatArray) -> _Proposal | None:
        """Return the distribution in proportion to the weights of the usable entries."""
        if not usable.any():
            return None
        masked = np.where(usable, log_weight, -np.inf)
        weights = np.exp(masked - masked.max())
        cumulative = np.cumsum(weights)
        return cls(masked - masked.max() - np.log(cumulative[-1]), cumulative)

    def draw(self, rng: np.random.Generator) -> int:
        """Draw an entry."""
        point = rng.random() * self.cumulative[-1]
        return int(self.cumulative.searchsorted(point, side="right"))


class Chain:
    """The state of one chain and its moves.

    Parameters
    ----------
    rng : numpy Generator
    search : ParentSearch
        Scores with memory.
    prior : GraphPrior
    pools : list of Pool
    toggle_weights : float array, shape (3, d, d)
        How often a toggle of the mean edge, the variance edge, or both is proposed.
    start : tuple of Parents
    """

    def __init__(
        self,
        rng: np.random.Generator,
        search: ParentSearch,
        prior: GraphPrior,
        pools: list[Pool],
        toggle_weights: FloatArray,
        start: tuple[Parents, ...],
    ) -> None:
        self._rng = rng
        self._search = search
        self._prior = prior
        self.use(pools)
        self.met: list[dict[Parents, float]] = [{} for _ in start]
        self._toggle_cumulative = np.cumsum(toggle_weights.ravel())
        self.parents = list(start)
        d = len(start)
        self._d = d
        self._is_soft = prior.knowledge.is_soft
        known = prior.knowledge
        self._precedes = [column_mask(known.precedes[i]) for i in range(d)]
        self._free = [
            [column_mask(np.isnan(odds[:, j])) for j in range(d)]
            for odds in (known.log_odds_mean, known.log_odds_variance)
        ]
        self._stated = [
            np.where(np.isnan(odds), 0.0, odds)
            for odds in (known.log_odds_mean, known.log_odds_variance)
        ]
        self._children = [0] * d
        for j, parents in enumerate(start):
            for i in members(parents.union):
                self._children[i] |= 1 << j
        self._log_rate = prior.log_rate(np.arange(d * (d - 1) // 2 + 1)).tolist()
        self._evidence = [search.log_evidence(j, parents) for j, parents in enumerate(start)]
        self._counts = [self._count(j, parents) for j, parents in enumerate(start)]
        self._log_prior = self._prior_of(self.parents, self._counts)
        self.n_accepted = 0
        self.n_steps = 0

    def use(self, pools: list[Pool]) -> None:
        """Propose from other pools from now on; only before the draws that count."""
        self._pools = pools
        self._pool_index = [
            {parents: k for k, parents in enumerate(pool.parents)} for pool in pools
        ]
        self._proposals: BudgetedCache[tuple[int, int, int], _Proposal | None] = BudgetedCache(
            TUNING.cached_proposals
        )

    @property
    def acceptance_rate(self) -> float:
        """Share of the moves so far that were accepted."""
        return self.n_accepted / max(self.n_steps, 1)

    @property
    def log_posterior(self) -> float:
        """Unnormalised log posterior of the current pair."""
        return sum(self._evidence) + self._log_prior

    def step(self) -> None:
        """Make one move."""
        self.n_steps += 1
        kind = self._rng.random()
        if kind < TUNING.toggle_share:
            self._toggle()
        elif kind < TUNING.toggle_share + TUNING.redraw_share:
            self._redraw()
        else:
            self._reverse()

    def _count(self, variable: int, parents: Parents) -> tuple[int, int, float]:
        """Return unstated mean and variance edges and the log odds of the stated ones."""
        stated = 0.0
        for odds, mask, free in zip(self._stated, parents, self._free, strict=True):
            if mask & ~free[variable]:
                stated += float(sum(odds[i, variable] for i in members(mask & ~free[variable])))
        return (
            (parents.mean & self._free[0][variable]).bit_count(),
            (parents.variance & self._free[1][variable]).bit_count(),
            stated,
        )

    def _prior_of(self, parents: list[Parents], counts: list[tuple[int, int, float]]) -> float:
        mean, variance, stated = (sum(column) for column in zip(*counts, strict=True))
        value = self._log_rate[int(mean)] + self._log_rate[int(variance)] + stated
        if self._is_soft:
            graphs = adjacency(tuple(parents))
            value += float(self._prior.knowledge.soft_log_weight(*graphs))
        return float(value)

    def _descendants(self, variable: int, without_parents_of: int = 0) -> int:
        """Return who is reached from ``variable`` (itself included), knowledge's order counted.

        Edges into the variables in ``without_parents_of`` are treated as absent.
        """
        children, precedes = self._children, self._precedes
        reached = frontier = 1 << variable
        while frontier:
            lowest = frontier & -frontier
            i = lowest.bit_length() - 1
            following = (children[i] & ~without_parents_of) | precedes[i]
            frontier = (frontier ^ lowest) | (following & ~reached)
            reached |= following
        return reached

    def _change(self, changes: dict[int, Parents], log_proposal_ratio: float) -> None:
        """Accept or refuse new parents; the ratio is log q(back) - log q(there)."""
        parents, counts = self.parents, self._counts
        new_parents, new_counts = parents.copy(), counts.copy()
        gain = 0.0
        evidence = {}
        for j, new in changes.items():
            if not self._search.prior.permits(j, new):
                return
            evidence[j] = self._search.log_evidence(j, new)
            self.met[j][new] = evidence[j]
            gain += evidence[j] - self._evidence[j]
            new_parents[j] = new
            new_counts[j] = self._count(j, new)
        log_prior = self._prior_of(new_parents, new_counts)
        gain += log_prior - self._log_prior + log_proposal_ratio
        # Written so that a gain which is not a number is refused.
        if not gain >= 0 and not self._rng.random() < math.exp(gain):
            return
        self.n_accepted += 1
        for j, new in changes.items():
            for i in members(parents[j].union & ~new.union):
                self._children[i] &= ~(1 << j)
            for i in members(new.union & ~parents[j].union):
                self._children[i] |= 1 << j
            self._evidence[j] = evidence[j]
        self.parents, self._counts, self._log_prior = new_parents, new_counts, log_prior

    def _toggle(self) -> None:
        total = self._toggle_cumulative[-1]
        flat = int(self._toggle_cumulative.searchsorted(self._rng.random() * total, "right"))
        kind, rest = divmod(flat, self._d * self._d)
        i, j = divmod(rest, self._d)
        mean, variance = self.parents[j]
        bit = 1 << i
        new = Parents(mean ^ bit if kind != 1 else mean, variance ^ bit if kind != 0 else variance)
        if new.union & bit and not self.parents[j].union & bit and self._descendants(j) & bit:
            return
        self._change({j: new}, 0.0)

    def _proposal(self, variable: int, closed: int, parent: int) -> _Proposal | None:
        """Return the pool's distribution given what is closed; None if nothing is left.

        Entries may have no parent in ``closed`` and must have ``parent``, unless it is _ANYONE.
        """
        return self._proposals.get(
            (variable, closed, parent), lambda: self._new_proposal(variable, closed, parent)
        )

    def _new_proposal(self, variable: int, closed: int, parent: int) -> _Proposal | None:
        pool = self._pools[variable]
        usable = ~np.any(pool.unions & to_words([closed], self._d), axis=1)
        if parent != _ANYONE:
            has = pool.unions[:, parent // 64] >> np.uint64(parent % 64) & np.uint64(1)
            usable &= has.astype(bool)
        return _Proposal.over(usable, pool.log_weight)

    def _redraw(self) -> None:
        j = int(self._rng.random() * self._d)
        current = self._pool_index[j].get(self.parents[j])
        proposal = self._proposal(j, self._descendants(j), _ANYONE)
        if current is None or proposal is None:
            return
        chosen = proposal.draw(self._rng)
        if chosen == current:
            return
        ratio = proposal.log_probability[current] - proposal.log_probability[chosen]
        self._change({j: self._pools[j].parents[chosen]}, float(ratio))

    def _reverse(self) -> None:
        sizes = [parents.union.bit_count() for parents in self.parents]
        n_edges = sum(sizes)
        if n_edges == 0:
            return
        which = int(self._rng.random() * n_edges)
        j = 0
        while which >= sizes[j]:
            which -= sizes[j]
            j += 1
        i = members(self.parents[j].union)[which]
        here_i = self._pool_index[i].get(self.parents[i])
        here_j = self._pool_index[j].get(self.parents[j])
        if here_i is None or here_j is None:
            return
        orphaned = 1 << i | 1 << j
        # There: i gets parents among which is j, then j gets parents.
        below_i = self._descendants(i, orphaned)
        if below_i >> j & 1:
            return
        to_i = self._proposal(i, below_i, j)
        if to_i is None:
            return
        chosen_i = to_i.draw(self._rng)
        new_i = self._pools[i].parents[chosen_i]
        to_j = self._proposal(j, self._descendants_given(j, orphaned, i, new_i), _ANYONE)
        if to_j is None:
            return
        chosen_j = to_j.draw(self._rng)
        new_j = self._pools[j].parents[chosen_j]
        # Back: j gets its old parents, i among them, then i gets its old ones.
        back_j = self._proposal(j, self._descendants(j, orphaned), i)
        back_i = self._proposal(
            i, self._descendants_given(i, orphaned, j, self.parents[j]), _ANYONE
        )
        if back_j is None or back_i is None:
            return
        n_edges_after = n_edges + (
            new_i.union.bit_count()
            + new_j.union.bit_count()
            - self.parents[i].union.bit_count()
            - self.parents[j].union.bit_count()
        )
        ratio = (
            back_j.log_probability[here_j]
            + back_i.log_probability[here_i]
            - to_i.log_probability[chosen_i]
            - to_j.log_probability[chosen_j]
            + math.log(n_edges / n_edges_after)
        )
        self._change({i: new_i, j: new_j}, float(ratio))

    def _descendants_given(
        self, variable: int, orphaned: int, effect: int, parents: Parents
    ) -> int:
        """Return who is reached from ``variable`` if ``effect`` is the only orphan with parents."""
        children = self._children
        self._children = [c & ~orphaned for c in children]
        for i in members(parents.union):
            self._children[i] |= 1 << effect
        reached = self._descendants(variable)
        self._children = children
        return reached
