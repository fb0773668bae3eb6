"""Candidate parents for many variables: chosen with and without what is already known.

A pairwise screen alone misses parents that only show once others are in the model, so candidates
are collected along each variable's own greedy path, then again given the parents found so far.
"""

from __future__ import annotations

from collections.abc import Sequence

from momentdag.engines.evidence.family import Parents
from momentdag.engines.evidence.features import members
from momentdag.engines.evidence.parents import ParentSearch

__all__ = ["ALL_UP_TO", "candidates_of", "either_way", "find_candidates"]

ALL_UP_TO = 14  # variables up to which everyone is a candidate
_PER_SCREEN = 8


def find_candidates(search: ParentSearch, current: tuple[Parents, ...] | None) -> tuple[int, ...]:
    """Return for each variable the bit mask of its candidate parents.

    ``current`` adds what a screen given the present parents still finds; None is the first round.
    """
    d = len(search.candidates)
    if d <= ALL_UP_TO:
        everyone = (1 << d) - 1
        return tuple(everyone & ~(1 << j) for j in range(d))
    present = [None] * d if current is None else current
    return either_way([candidates_of(search, j, own) for j, own in enumerate(present)])


def candidates_of(search: ParentSearch, variable: int, current: Parents | None) -> int:
    """Return the candidate parents of one variable, which nothing but its own scores decides."""
    others = ((1 << len(search.candidates)) - 1) & ~(1 << variable)
    if current is None:
        chosen = 0
        starts = [search.prior.smallest(variable), search.best(variable, others).parents]
    else:
        chosen = search.candidates[variable] | current.union
        starts = [current]
    for parents in starts:
        chosen |= parents.union
        for gains in search.screen(variable, parents, others):
            for i in sorted(gains, key=lambda i: -gains[i])[:_PER_SCREEN]:
                chosen |= 1 << i
    return chosen


def either_way(chosen: Sequence[int]) -> tuple[int, ...]:
    """Make whoever may be a cause a possible effect: directions are for the search to decide."""
    masks = list(chosen)
    for j, mask in enumerate(chosen):
        for i in members(mask):
            masks[i] |= 1 << j
    return tuple(mask & ~(1 << j) for j, mask in enumerate(masks))
