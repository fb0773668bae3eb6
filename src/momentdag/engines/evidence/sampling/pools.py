"""Pools: well-scoring parents of each variable, from which chains propose."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from momentdag.engines.evidence.local.protocol import Parents
from momentdag.engines.evidence.search.parents import ParentSearch
from momentdag.engines.evidence.search.tuning import TUNING
from momentdag.engines.evidence.support.bitmasks import Words, to_words

__all__ = ["Pool", "enrich", "make_pools"]

FloatArray: TypeAlias = npt.NDArray[np.float64]


class Pool(NamedTuple):
    """Candidate parents of one variable."""

    parents: list[Parents]
    unions: Words  # (K, W) all parents of each entry
    log_weight: FloatArray  # (K,) evidence plus modular prior


def make_pools(search: ParentSearch) -> list[Pool]:
    """Collect, for each variable, the scored parents that no smaller ones dominate."""
    return [_make_pool(search, j, evidence) for j, evidence in enumerate(search.evidence)]


def enrich(pools: list[Pool], search: ParentSearch, met: list[dict[Parents, float]]) -> list[Pool]:
    """Return pools that also hold what a chain has met."""
    enriched = []
    for j, (pool, new) in enumerate(zip(pools, met, strict=True)):
        known = {parents: search.evidence[j][parents] for parents in pool.parents}
        enriched.append(_make_pool(search, j, known | new))
    return enriched


def _make_pool(search: ParentSearch, variable: int, evidence: dict[Parents, float]) -> Pool:
    scored = [
        (value + search.prior.log_weight(variable, parents), parents)
        for parents, value in evidence.items()
        if np.isfinite(value) and search.prior.permits(variable, parents)
    ]
    # Ties cannot depend on the order in which scores were made.
    scored.sort(key=lambda entry: (-entry[0], entry[1]))
    scored = scored[: 10 * TUNING.pool_size]
    values = np.array([value for value, _ in scored])
    unions = to_words((parents.union for _, parents in scored), len(search.candidates))
    kept: list[int] = []
    for k in range(len(scored)):
        # Entries before k score higher; one inside k's union is open wherever k is.
        inside = ~np.any(unions[:k] & ~unions[k], axis=1)
        first = int(np.argmax(inside)) if inside.any() else k
        if values[first] - values[k] < TUNING.pool_depth:
            kept.append(k)
        if len(kept) == TUNING.pool_size:
            break
    return Pool([scored[k][1] for k in kept], unions[kept], values[kept])
