"""Orders drawn from their posterior with parents summed out, then parents given the order.

With pools of parents and their weights, an order has the weight Π_j α_j(predecessors of j), where
α_j(U) sums the weights of the parents of j within U. Up to `MAX_EXACT` variables orders are drawn
exactly, by a recursion over all sets of variables (Koivisto and Sood 2004); beyond that by Gibbs
sampling, in which a variable takes a new place given the order of all others (all places at once,
so nothing is refused).

A graph is found under each of its orders, hence a draw counts 1 / (number of its orders): see
`log_order_count`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from momentdag.engines.evidence.support.bitmasks import Words, members, to_words

__all__ = ["MAX_EXACT", "OrderPool", "draw_orders", "draw_parents", "log_order_count"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
IndexArray: TypeAlias = npt.NDArray[np.int64]

MAX_EXACT = 12
"""Variables up to which orders are drawn exactly: the recursion has d 2^d terms."""
_MOST_SETS = 20_000
"""Sets of predecessors up to which the orders of a graph are counted exactly."""
_COUNTING_RUNS = 400
_BURN_IN = 6
"""Sweeps before the first draw. The first two go to the best place instead of drawing one."""


class OrderPool(NamedTuple):
    """Parents of one variable in one world."""

    unions: Words  # (E, W) all parents of each entry
    log_weight: FloatArray  # (E,) evidence in the world plus modular prior


def draw_orders(
    rng: np.random.Generator,
    pools: list[OrderPool],
    before: list[int],
    n_draws: int,
    start: tuple[int, ...],
) -> IndexArray:
    """Draw orders, (n_draws, d).

    Parameters
    ----------
    rng : numpy Generator
    pools : list of OrderPool
    before : list of int
        For each variable the bit mask of those that knowledge puts before it.
    n_draws : int
    start : tuple of int
        An order to start from where orders are not drawn exactly.
    """
    if len(pools) <= MAX_EXACT:
        return _draw_exactly(rng, pools, before, n_draws)
    return _OrderChain(rng, pools, before, start).draw(n_draws)


@lru_cache(maxsize=4)
def _layers(d: int) -> list[IndexArray]:
    """Return the sets of variables as bit masks, by their size."""
    masks = np.arange(1 << d, dtype=np.int64)
    sizes = np.array([int(mask).bit_count() for mask in masks])
    return [masks[sizes == size] for size in range(d + 1)]


def _log_sums(pools: list[OrderPool], before: list[int]) -> FloatArray:
    """Return log α_j(U) for every set U, (d, 2^d); minus infinity where j may not follow U."""
    d = len(pools)
    sums = np.full((d, 1 << d), -np.inf)
    for j, pool in enumerate(pools):
        np.logaddexp.at(sums[j], pool.unions[:, 0].astype(np.int64), pool.log_weight)
    for bit in range(d):
        halves = sums.reshape(d, -1, 2, 1 << bit)
        halves[:, :, 1] = np.logaddexp(halves[:, :, 1], halves[:, :, 0])
    masks = np.arange(1 << d, dtype=np.int64)
    for j, mask in enumerate(before):
        if mask:
            sums[j, (masks & mask) != mask] = -np.inf
    return sums


def _draw_exactly(
    rng: np.random.Generator, pools: list[OrderPool], before: list[int], n_draws: int
) -> IndexArray:
    d = len(pools)
    sums = _log_sums(pools, before)
    total = np.full(1 << d, -np.inf)  # log sum over the orders of a set
    total[0] = 0.0
    for layer in _layers(d)[1:]:
        for j in range(d):
            with_j = layer[(layer >> j & 1).astype(bool)]
            rest = with_j ^ (1 << j)
            total[with_j] = np.logaddexp(total[with_j], total[rest] + sums[j, rest])
    # Backwards: who comes last, who before, ...
    bits = 1 << np.arange(d, dtype=np.int64)
    left = np.full(n_draws, (1 << d) - 1, dtype=np.int64)
    orders = np.empty((n_draws, d), dtype=np.int64)
    for place in reversed(range(d)):
        rest = left[:, None] ^ bits
        inside = (left[:, None] & bits) != 0
        rest = np.where(inside, rest, 0)
        scores = np.where(inside, total[rest] + sums[np.arange(d), rest], -np.inf)
        last = (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)
        orders[:, place] = last
        left ^= bits[last]
    return orders


@dataclass(eq=False)
class _OrderChain:
    """Gibbs sampling of orders, one variable's place at a time."""

    rng: np.random.Generator
    pools: list[OrderPool]
    before: list[int]
    start: tuple[int, ...]
    _known: list[dict[int, float]] = field(init=False)

    def __post_init__(self) -> None:
        d = len(self.pools)
        self._known = [{} for _ in self.pools]
        # Only who is some entry's parent matters, which makes sets alike.
        self._relevant = [_any_union(pool.unions) for pool in self.pools]
        self._d = d

    def draw(self, n_draws: int) -> IndexArray:
        """Return orders, (n_draws, d)."""
        order = list(self.start)
        for sweep in range(_BURN_IN):
            self._sweep(order, greedy=sweep < 2)
        orders = np.empty((n_draws, self._d), dtype=np.int64)
        for k in range(n_draws):
            self._sweep(order)
            orders[k] = order
        return orders

    def _sweep(self, order: list[int], greedy: bool = False) -> None:
        for variable in self.rng.permutation(self._d).tolist():
            self._move(order, variable, greedy)

    def _move(self, order: list[int], variable: int, greedy: bool) -> None:
        """Give one variable a new place."""
        order.remove(variable)
        d, bit = self._d, 1 << variable
        own, without, with_it = np.empty(d), np.empty(d), np.empty(d)
        placed, first, last = 0, 0, d - 1
        for place, other in enumerate(order):
            own[place] = self._log_sum(variable, placed)
            without[place] = self._log_sum(other, placed)
            with_it[place] = self._log_sum(other, placed | bit)
            if self.before[variable] >> other & 1:
                first = place + 1
            if self.before[other] & bit and last == d - 1:
                last = place
            placed |= 1 << other
        own[d - 1] = self._log_sum(variable, placed)
        ahead = np.append(0.0, np.cumsum(without[:-1]))
        behind = np.append(np.cumsum(with_it[:-1][::-1])[::-1], 0.0)
        totals = (own + ahead + behind)[first : last + 1]
        if not greedy:
            totals = totals + self.rng.gumbel(size=len(totals))
        order.insert(first + int(totals.argmax()), variable)

    def _log_sum(self, variable: int, placed: int) -> float:
        """Return log α of one variable given who is placed before it."""
        within = placed & self._relevant[variable]
        known = self._known[variable].get(within)
        if known is None:
            pool = self.pools[variable]
            usable = pool.log_weight[_inside(pool.unions, within, self._d)]
            known = _log_sum_exp(usable)
            self._known[variable][within] = known
        return known


def _any_union(unions: Words) -> int:
    words = np.bitwise_or.reduce(unions, axis=0).tolist()
    return sum(word << (64 * w) for w, word in enumerate(words))


def _inside(unions: Words, mask: int, d: int) -> npt.NDArray[np.bool_]:
    """Return which entries have all their parents in ``mask``, (E,)."""
    if unions.shape[1] == 1:
        return np.asarray((unions[:, 0] & np.uint64(~mask & (2**64 - 1))) == 0)
    return np.asarray(~np.any(unions & ~to_words([mask], d), axis=1))


def _log_sum_exp(values: FloatArray) -> float:
    if not len(values):
        return -np.inf
    largest = float(values.max())
    if largest == -np.inf:
        return -np.inf
    return largest + float(np.log(np.exp(values - largest).sum()))


def draw_parents(
    rng: np.random.Generator, pools: list[OrderPool], orders: IndexArray
) -> npt.NDArray[np.intp]:
    """Draw the entry of each variable's pool given orders (n, d), (n, d)."""
    n, d = orders.shape
    chosen = np.empty((n, d), dtype=np.intp)
    uniforms = rng.random((n, d))
    groups: dict[tuple[int, int], list[int]] = {}
    for k, order in enumerate(orders.tolist()):
        placed = 0
        for variable in order:
            groups.setdefault((variable, placed), []).append(k)
            placed |= 1 << variable
    for (variable, placed), draws in groups.items():
        pool = pools[variable]
        open_entries = np.flatnonzero(_inside(pool.unions, placed, d))
        weights = pool.log_weight[open_entries]
        cumulative = np.cumsum(np.exp(weights - weights.max()))
        points = uniforms[draws, variable] * cumulative[-1]
        places = np.minimum(np.searchsorted(cumulative, points, side="right"), len(weights) - 1)
        chosen[draws, variable] = open_entries[places]
    return chosen


def log_order_count(parents: tuple[int, ...]) -> float:
    """Return the log number of orders of a graph, given the mask of each variable's parents.

    Exact, by counting along sets of predecessors; where there are more than some thousands of
    these, estimated from random orders with a fixed seed.

    Examples
    --------
    >>> round(float(np.exp(log_order_count((0, 0b1, 0b1)))))
    2
    """
    d = len(parents)
    layer: dict[int, float] = {0: 1.0}
    log_scale = 0.0
    for _ in range(d):
        following: dict[int, float] = {}
        for placed, count in layer.items():
            for j in range(d):
                if not placed >> j & 1 and not parents[j] & ~placed:
                    larger = placed | 1 << j
                    following[larger] = following.get(larger, 0.0) + count
        if len(following) > _MOST_SETS:
            return _estimate_order_count(parents)
        largest = max(following.values())
        log_scale += float(np.log(largest))
        layer = {placed: count / largest for placed, count in following.items()}
    return log_scale + float(np.log(next(iter(layer.values()))))


def _estimate_order_count(parents: tuple[int, ...]) -> float:
    """Return the log of the mean of Π (choices), which is unbiased for the number of orders."""
    d = len(parents)
    rng = np.random.default_rng(0)
    children = [[j for j in range(d) if parents[j] >> i & 1] for i in range(d)]
    degrees = [len(members(mask)) for mask in parents]
    logs = np.empty(_COUNTING_RUNS)
    for run in range(_COUNTING_RUNS):
        waiting = degrees.copy()
        ready = [j for j in range(d) if not waiting[j]]
        value = 0.0
        while ready:
            value += float(np.log(len(ready)))
            i = ready.pop(int(rng.random() * len(ready)))
            for j in children[i]:
                waiting[j] -= 1
                if not waiting[j]:
                    ready.append(j)
        logs[run] = value
    return _log_sum_exp(logs) - float(np.log(_COUNTING_RUNS))
