"""Candidate parents for many variables: chosen with and without what is already known.

A pairwise screen alone misses parents that only show once others are in the model, so candidates
are collected along each variable's own greedy path, then again given the parents found so far.
"""

from __future__ import annotations

from collections.abc import Sequence

from momentdag.engines.evidence.local.protocol import Parents
from momentdag.engines.evidence.search.parents import ParentSearch
from momentdag.engines.evidence.search.tuning import TUNING
from momentdag.engines.evidence.support.bitmasks import everyone_but, members

__all__ = ["candidates_of", "find_candidates", "symmetrize"]


def find_candidates(search: ParentSearch, current: tuple[Parents, ...] | None) -> tuple[int, ...]:
    """Return for each variable the bit mask of its candidate parents.

    ``current`` adds what a screen given the present parents still finds; None is the first round.
    """
    d = len(search.candidates)
    if d <= TUNING.all_candidates_up_to:
        return everyone_but(d)
    present = [None] * d if current is None else current
    return symmetrize([candidates_of(search, j, parents) for j, parents in enumerate(present)])


def candidates_of(search: ParentSearch, variable: int, current: Parents | None) -> int:
    """Return the candidate parents of one variable; only its own scores decide."""
    others = everyone_but(len(search.candidates))[variable]
    if current is None:
        chosen = 0
        starts = [search.prior.smallest(variable), search.best(variable, others).parents]
    else:
        chosen = search.candidates[variable] | current.union
        starts = [current]
    for parents in starts:
        chosen |= parents.union
        for gains in search.screen(variable, parents, others):
            for i in sorted(gains, key=lambda i: -gains[i])[: TUNING.candidates_per_screen]:
                chosen |= 1 << i
    return chosen


def symmetrize(chosen: Sequence[int]) -> tuple[int, ...]:
    """Make candidates mutual, so that the search can decide directions."""
    masks = list(chosen)
    for j, mask in enumerate(chosen):
        for i in members(mask):
            masks[i] |= 1 << j
    return tuple(mask & ~(1 << j) for j, mask in enumerate(masks))
