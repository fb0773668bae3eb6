"""Search over orders: insertion moves to every position, restarts, and kicks out of optima.

For one order the score is Σ_j best(j, predecessors of j). Moving a variable through all positions
needs only the optima of each other variable with and without it among its predecessors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from momentdag.engines.evidence.local.protocol import Parents
from momentdag.engines.evidence.search.parents import Best, ParentSearch
from momentdag.engines.evidence.search.tuning import TUNING

__all__ = ["OrderResult", "order_score", "search_order", "sequential_order", "solve_order"]


class OrderResult(NamedTuple):
    """An order, its score and the parents that reach it."""

    score: float
    order: tuple[int, ...]
    parents: tuple[Parents, ...]  # by variable


def solve_order(search: ParentSearch, order: tuple[int, ...]) -> OrderResult:
    """Return the best parents of every variable under one order."""
    found: list[Best | None] = [None] * len(order)
    before = 0
    for variable in order:
        found[variable] = search.best(variable, before)
        before |= 1 << variable
    bests = [best for best in found if best is not None]
    return OrderResult(
        sum(best.score for best in bests), order, tuple(best.parents for best in bests)
    )


def order_score(search: ParentSearch, order: tuple[int, ...]) -> float:
    """Return the score of one order."""
    return solve_order(search, order).score


def best_insertion(
    search: ParentSearch, order: tuple[int, ...], variable: int, positions: range
) -> tuple[float, tuple[int, ...]]:
    """Return the best order (and its score) reached by moving ``variable`` within ``positions``."""
    others = [v for v in order if v != variable]
    bit = 1 << variable
    own, without, with_it = [], [], []
    before = 0
    for other in others:
        own.append(search.best(variable, before).score)
        without.append(search.best(other, before).score)
        with_it.append(search.best(other, before | bit).score)
        before |= 1 << other
    own.append(search.best(variable, before).score)
    ahead = np.concatenate([[0.0], np.cumsum(without)])
    behind = np.concatenate([np.cumsum(with_it[::-1])[::-1], [0.0]])
    totals = np.array(own) + ahead + behind
    at = max(positions, key=lambda position: totals[position])
    return float(totals[at]), (*others[:at], variable, *others[at:])


def sequential_order(
    search: ParentSearch, may_follow: Callable[[int, int], bool]
) -> tuple[int, ...]:
    """Place first whoever loses least by preceding all that are left.

    ``may_follow(variable, placed)`` says whether hard knowledge lets ``variable`` come next.
    """
    d = len(search.candidates)
    left, placed, order = list(range(d)), 0, []
    while left:
        everyone = sum(1 << v for v in left) | placed
        choices = [v for v in left if may_follow(v, placed)]
        chosen = _least_loss(search, choices, everyone, placed)
        order.append(chosen)
        left.remove(chosen)
        placed |= 1 << chosen
    return tuple(order)


def _least_loss(search: ParentSearch, choices: list[int], everyone: int, placed: int) -> int:
    """Return the variable that loses least by preceding all that are left."""
    if len(choices) == 1:
        return choices[0]
    losses = {
        v: search.best(v, everyone & ~(1 << v)).score - search.best(v, placed).score
        for v in choices
    }
    return min(choices, key=lambda v: losses[v])


def search_order(
    search: ParentSearch,
    rng: np.random.Generator,
    start: tuple[int, ...],
    positions_of: Callable[[tuple[int, ...], int], range],
    n_kicks: int,
    tick: Callable[[int, int], None],
) -> OrderResult:
    """Climb by insertions from ``start``, then kick and climb again ``n_kicks`` times.

    ``positions_of(order, variable)`` gives the positions that hard knowledge leaves open.
    """
    order = _climb(search, rng, start, positions_of, tick)
    score = order_score(search, order)
    for _ in range(n_kicks):
        kicked = order
        for variable in rng.choice(
            len(order), size=min(TUNING.kick_size, len(order)), replace=False
        ):
            open_positions = positions_of(kicked, int(variable))
            at = int(rng.choice(np.array(open_positions)))
            others = [v for v in kicked if v != variable]
            kicked = (*others[:at], int(variable), *others[at:])
        kicked = _climb(search, rng, kicked, positions_of, tick)
        kicked_score = order_score(search, kicked)
        if kicked_score > score + 1e-6:
            order, score = kicked, kicked_score
    return solve_order(search, order)


def _climb(
    search: ParentSearch,
    rng: np.random.Generator,
    order: tuple[int, ...],
    positions_of: Callable[[tuple[int, ...], int], range],
    tick: Callable[[int, int], None],
) -> tuple[int, ...]:
    score = order_score(search, order)
    unchanged = 0
    queue = [int(v) for v in rng.permutation(len(order))]
    while unchanged < len(order):
        variable = queue.pop(0)
        queue.append(variable)
        positions = positions_of(order, variable)
        # What can stand at one place only, as a regime, need not be moved.
        found, moved = score, order
        if len(positions) > 1:
            found, moved = best_insertion(search, order, variable, positions)
        if found > score + 1e-6:
            order, score, unchanged = moved, found, 0
        else:
            unchanged += 1
        tick(unchanged, len(order))
    return order
