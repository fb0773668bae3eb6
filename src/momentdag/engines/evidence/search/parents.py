"""The best parent sets of a variable given who may precede it, with every score remembered.

A parent set is a bit mask; a pair (mean parents, variance parents) of one variable is the unit of
scoring. `ParentSearch.best` optimises the pair over subsets of the predecessors by toggles: cheap
additive screens rank them, local fits decide.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from momentdag.engines.evidence.local.protocol import Evidences, Parents, Scorer
from momentdag.engines.evidence.prior import ModularPrior
from momentdag.engines.evidence.search.tuning import TUNING
from momentdag.engines.evidence.support.bitmasks import everyone_but, members
from momentdag.engines.evidence.support.cache import BudgetedCache
from momentdag.engines.evidence.support.shared_cache import SharedCache

__all__ = ["Best", "ParentSearch"]


class Best(NamedTuple):
    """The best parents found and their score (evidence plus prior)."""

    score: float
    parents: Parents


class ParentSearch:
    """Scores with memory, and the optimisation of parents within a set of predecessors."""

    def __init__(
        self,
        scorer: Scorer,
        prior: ModularPrior,
        candidates: tuple[int, ...] | None = None,
        evidence: Evidences | None = None,
        shared_cache: SharedCache | None = None,
        record: Callable[[Any, int, Parents, Any], Any] | None = None,
        fits: BudgetedCache[tuple[int, Parents], Any] | None = None,
    ) -> None:
        self.scorer = scorer
        self.prior = prior
        d = scorer.n_variables
        self.candidates = candidates or everyone_but(d)
        # Evidence is a pure function of data and parents, so several searches may share it.
        self.evidence = [{} for _ in range(d)] if evidence is None else evidence
        self._shared_cache = shared_cache
        self._record = record  # told of every new fit
        if fits is None:
            fits = BudgetedCache(max(64, TUNING.cached_fit_bytes // scorer.fit_bytes))
        self.fits = fits
        self._best: list[dict[int, Best]] = [{} for _ in range(d)]

    def fit(self, variable: int, parents: Parents) -> Any:
        """Return the local fit, from memory if it was used lately."""
        return self.fits.get((variable, parents), lambda: self._new_fit(variable, parents))

    def _new_fit(self, variable: int, parents: Parents) -> Any:
        fit = self.scorer.fit(variable, parents)
        self.evidence[variable][parents] = fit.log_evidence
        if self._shared_cache is not None:
            self._shared_cache.publish(variable, parents, fit.log_evidence)
        if self._record is not None:
            self._record(self.scorer, variable, parents, fit)
        return fit

    def log_evidence(self, variable: int, parents: Parents) -> float:
        """Return the log evidence of one variable's parents."""
        known = self.evidence[variable]
        if parents not in known and self._shared_cache is not None:
            self._shared_cache.refresh(self.evidence)
        evidence = known.get(parents)
        return self.fit(variable, parents).log_evidence if evidence is None else evidence

    def score(self, variable: int, parents: Parents) -> float:
        """Return evidence plus log prior of one variable's parents."""
        return self.log_evidence(variable, parents) + self.prior.log_weight(variable, parents)

    def best(self, variable: int, predecessors: int) -> Best:
        """Return the best parents of ``variable`` among ``predecessors`` (a bit mask)."""
        within = predecessors & self.candidates[variable]
        memory = self._best[variable]
        found = memory.get(within)
        if found is None:
            found = self._from_neighbours(variable, within)
            memory[within] = found
        return found

    def _from_neighbours(self, variable: int, within: int) -> Best:
        memory = self._best[variable]
        outside = self.candidates[variable] & ~within
        for i in members(outside):
            larger = memory.get(within | 1 << i)
            if larger is not None and not (larger.parents.mean | larger.parents.variance) >> i & 1:
                return larger
        start: Best | None = None
        newcomer = 0
        for i in members(within):
            smaller = memory.get(within & ~(1 << i))
            if smaller is not None and (start is None or smaller.score > start.score):
                start, newcomer = smaller, 1 << i
        if start is not None:
            return self.climb(variable, within, start, newcomer)
        parents = self.prior.smallest(variable)
        for i in members(outside):
            larger = memory.get(within | 1 << i)
            if larger is not None:
                kept = Parents(larger.parents.mean & within, larger.parents.variance & within)
                if self.prior.permits(variable, kept):
                    parents = kept
                    break
        return self.climb(variable, within, Best(self.score(variable, parents), parents), within)

    def climb(self, variable: int, within: int, start: Best, focus: int) -> Best:
        """Improve ``start`` by toggles; the first round tries only variables in ``focus``."""
        current = start
        losses: dict[tuple[str, int], float] = {}
        while True:
            improved = self._step(variable, within, current, focus, losses)
            if improved is None:
                return current
            gain = improved.score - current.score
            # A parent whose loss was large is not tried again at once: a change that gained g
            # nats rarely makes another parent redundant that was worth much more than g.
            for key in losses:
                losses[key] -= 2 * gain
            current, focus = improved, within

    def _step(
        self,
        variable: int,
        within: int,
        current: Best,
        focus: int,
        losses: dict[tuple[str, int], float],
    ) -> Best | None:
        best = current

        def attempt(mean: int, variance: int) -> float:
            nonlocal best
            parents = Parents(mean, variance)
            if not self.prior.permits(variable, parents):
                return -np.inf
            score = self.score(variable, parents)
            if score > best.score + TUNING.improvement:
                best = Best(score, parents)
            return score - current.score

        self._try_removals(current.parents, focus, losses, attempt)
        self._try_additions(variable, within & focus, current.parents, attempt)
        return best if best is not current else None

    def _try_removals(
        self,
        parents: Parents,
        focus: int,
        losses: dict[tuple[str, int], float],
        attempt: Callable[[int, int], float],
    ) -> None:
        mean, variance = parents
        for i in members(mean & focus):
            if losses.get(("mean", i), 0.0) > TUNING.safe_loss:
                continue
            bit = 1 << i
            loss = -attempt(mean & ~bit, variance)
            if loss < np.inf:
                losses["mean", i] = loss
            # Knowledge may forbid to drop a parent and yet allow to move it.
            if loss < TUNING.transferable_loss or loss == np.inf:
                attempt(mean & ~bit, variance ^ bit)
        for i in members(variance & focus):
            if losses.get(("variance", i), 0.0) > TUNING.safe_loss:
                continue
            bit = 1 << i
            loss = -attempt(mean, variance & ~bit)
            if loss < np.inf:
                losses["variance", i] = loss
            if (loss < TUNING.transferable_loss or loss == np.inf) and not mean & bit:
                attempt(mean | bit, variance & ~bit)

    def _try_additions(
        self,
        variable: int,
        among: int,
        parents: Parents,
        attempt: Callable[[int, int], float],
    ) -> None:
        mean, variance = parents
        mean_gains, variance_gains = self.screen(variable, parents, among)
        ranked_mean, ranked_variance = _leading(mean_gains), _leading(variance_gains)
        for i in ranked_mean:
            attempt(mean | 1 << i, variance)
        for i in ranked_variance:
            attempt(mean, variance | 1 << i)
        both = {i: mean_gains[i] + variance_gains[i] for i in mean_gains if i in variance_gains}
        for i in _leading(both)[:2]:
            attempt(mean | 1 << i, variance | 1 << i)
        # Swaps: a newcomer that adds something in the place of each present parent.
        if ranked_mean and mean_gains[ranked_mean[0]] > TUNING.promising:
            for i in members(mean):
                attempt(mean & ~(1 << i) | 1 << ranked_mean[0], variance)
        if ranked_variance and variance_gains[ranked_variance[0]] > TUNING.promising:
            for i in members(variance):
                attempt(mean, variance & ~(1 << i) | 1 << ranked_variance[0])

    def screen(
        self, variable: int, parents: Parents, among: int
    ) -> tuple[dict[int, float], dict[int, float]]:
        """Estimate the gain of adding each variable to the mean, and to the variance parents.

        Prior log odds are included.
        """
        fit = self.fit(variable, parents)
        prior = self.prior
        mean = members(among & ~parents.mean & prior.allowed_mean[variable])
        variance = members(among & ~parents.variance & prior.allowed_variance[variable])
        mean_gains, variance_gains = self.scorer.screen(variable, fit, parents, mean, variance)
        for i in mean_gains:
            mean_gains[i] += float(prior.mean_log_odds[i, variable])
        for i in variance_gains:
            variance_gains[i] += float(prior.variance_log_odds[i, variable])
        return mean_gains, variance_gains


def _leading(gains: dict[int, float]) -> list[int]:
    ranked = sorted(gains, key=lambda i: -gains[i])
    return [i for i in ranked[: TUNING.exact_additions] if gains[i] > TUNING.hopeless]
