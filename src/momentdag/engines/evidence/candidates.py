"""Candidate parents for many variables: chosen with and without what is already known.

A pairwise screen alone misses parents that only show once others are in the model, so candidates
are collected along each variable's own greedy path, then again given the parents found so far.
"""

from __future__ import annotations

from momentdag.engines.evidence.family import Parents
from momentdag.engines.evidence.parents import ParentSearch

__all__ = ["ALL_UP_TO", "find_candidates"]

ALL_UP_TO = 14  # variables up to which everyone is a candidate
_PER_SCREEN = 8


def find_candidates(search: ParentSearch, current: tuple[Parents, ...] | None) -> tuple[int, ...]:
    """Return for each variable the bit mask of its candidate parents.

    ``current`` adds what a screen given the present parents still finds; None is the first round.
    """
    d = len(search.candidates)
    everyone = (1 << d) - 1
    if d <= ALL_UP_TO:
        return tuple(everyone & ~(1 << j) for j in range(d))
    chosen = [0] * d
    for j in range(d):
        others = everyone & ~(1 << j)
        if current is None:
            starts = [search.prior.smallest(j), search.best(j, others).parents]
        else:
            chosen[j] |= search.candidates[j] | current[j].union
            starts = [current[j]]
        for parents in starts:
            chosen[j] |= parents.union
            for gains in search.screen(j, parents, others):
                ranked = sorted(gains, key=lambda i: -gains[i])
                for i in ranked[:_PER_SCREEN]:
                    chosen[j] |= 1 << i
    # Whoever may be a cause may be an effect: directions are for the search to decide.
    for j in range(d):
        for i in range(d):
            if chosen[j] >> i & 1 and i != j:
                chosen[i] |= 1 << j
    return tuple(mask & ~(1 << j) for j, mask in enumerate(chosen))
