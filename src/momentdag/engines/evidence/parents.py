"""The best parent sets of a variable given who may precede it, with every score remembered.

A parent set is a bit mask; a pair (mean parents, variance parents) of one variable is the unit of
scoring. `ParentSearch.best` optimises the pair over subsets of the predecessors by toggles: cheap
additive screens rank them, local fits decide.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from momentdag.engines.evidence.exchange import Exchange
from momentdag.engines.evidence.family import Evidences, Parents, Scorer
from momentdag.engines.evidence.features import members

__all__ = ["Best", "ModularPrior", "ParentSearch"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

_N_EXACT = 3  # additions of each kind that are scored exactly after the screen
_HOPELESS = -4.5  # screened gains below this are not worth an exact score
_PROMISING = -1.5  # screened gain from which a newcomer is tried in others' places
_IMPROVEMENT = 1e-3
_SAFE = 10.0  # a parent estimated to be worth more than this is not tried for removal
_TRANSFERABLE = 25.0  # a parent worth less than this may belong to the other moment
_FIT_BUDGET_BYTES = 200 * 2**20


class Best(NamedTuple):
    """The best parents found and their score (evidence plus prior)."""

    score: float
    parents: Parents


@dataclass(frozen=True)
class ModularPrior:
    """Log prior odds of each edge and the edges that hard knowledge fixes.

    Parameters
    ----------
    mean_log_odds, variance_log_odds : float array, shape (d, d)
    required_mean, required_variance, required_either : sequence of int
        For each effect the bit mask of the causes it must have.
    allowed_mean, allowed_variance : sequence of int
        For each effect the bit mask of the causes it may have.
    """

    mean_log_odds: FloatArray
    variance_log_odds: FloatArray
    required_mean: tuple[int, ...]
    required_variance: tuple[int, ...]
    required_either: tuple[int, ...]
    allowed_mean: tuple[int, ...]
    allowed_variance: tuple[int, ...]

    def log_weight(self, variable: int, parents: Parents) -> float:
        """Return the sum of the log odds of the edges into ``variable``."""
        mean = sum(self.mean_log_odds[i, variable] for i in members(parents.mean))
        variance = sum(self.variance_log_odds[i, variable] for i in members(parents.variance))
        return float(mean + variance)

    def permits(self, variable: int, parents: Parents) -> bool:
        """Tell whether hard knowledge allows these parents."""
        union = parents.mean | parents.variance
        return (
            parents.mean & ~self.allowed_mean[variable] == 0
            and parents.variance & ~self.allowed_variance[variable] == 0
            and self.required_mean[variable] & ~parents.mean == 0
            and self.required_variance[variable] & ~parents.variance == 0
            and self.required_either[variable] & ~union == 0
        )

    def smallest(self, variable: int) -> Parents:
        """Return the smallest parents that hard knowledge allows."""
        missing = self.required_either[variable] & ~(
            self.required_mean[variable] | self.required_variance[variable]
        )
        in_mean = missing & self.allowed_mean[variable]
        return Parents(
            self.required_mean[variable] | in_mean,
            self.required_variance[variable] | (missing & ~in_mean),
        )


class ParentSearch:
    """Scores with memory, and the optimisation of parents within a set of predecessors."""

    def __init__(
        self,
        scorer: Scorer,
        prior: ModularPrior,
        candidates: tuple[int, ...] | None = None,
        evidence: Evidences | None = None,
        exchange: Exchange | None = None,
    ) -> None:
        self.scorer = scorer
        self.prior = prior
        d = scorer.n_variables
        everyone = (1 << d) - 1
        self.candidates = candidates or tuple(everyone & ~(1 << j) for j in range(d))
        # Evidence is a pure function of data and parents, so several searches may share it.
        self.evidence = [{} for _ in range(d)] if evidence is None else evidence
        self._exchange = exchange
        self._fits: OrderedDict[tuple[int, Parents], Any] = OrderedDict()
        self._best: list[dict[int, Best]] = [{} for _ in range(d)]
        self._n_kept_fits = max(64, _FIT_BUDGET_BYTES // scorer.fit_bytes)

    def fit(self, variable: int, parents: Parents) -> Any:
        """Return the local fit, from memory if it was used lately."""
        key = (variable, parents)
        fit = self._fits.get(key)
        if fit is not None:
            self._fits.move_to_end(key)
            return fit
        fit = self.scorer.fit(variable, parents)
        self._fits[key] = fit
        if len(self._fits) > self._n_kept_fits:
            self._fits.popitem(last=False)
        self.evidence[variable][parents] = fit.log_evidence
        if self._exchange is not None:
            self._exchange.tell(variable, parents, fit.log_evidence)
        return fit

    def log_evidence(self, variable: int, parents: Parents) -> float:
        """Return the log evidence of one variable's parents."""
        known = self.evidence[variable]
        if parents not in known and self._exchange is not None:
            self._exchange.listen(self.evidence)
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
            if score > best.score + _IMPROVEMENT:
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
            if losses.get(("mean", i), 0.0) > _SAFE:
                continue
            bit = 1 << i
            loss = -attempt(mean & ~bit, variance)
            if loss < np.inf:
                losses["mean", i] = loss
            # Knowledge may forbid to drop a parent and yet allow to move it.
            if loss < _TRANSFERABLE or loss == np.inf:
                attempt(mean & ~bit, variance ^ bit)
        for i in members(variance & focus):
            if losses.get(("variance", i), 0.0) > _SAFE:
                continue
            bit = 1 << i
            loss = -attempt(mean, variance & ~bit)
            if loss < np.inf:
                losses["variance", i] = loss
            if (loss < _TRANSFERABLE or loss == np.inf) and not mean & bit:
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
        if ranked_mean and mean_gains[ranked_mean[0]] > _PROMISING:
            for i in members(mean):
                attempt(mean & ~(1 << i) | 1 << ranked_mean[0], variance)
        if ranked_variance and variance_gains[ranked_variance[0]] > _PROMISING:
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
    return [i for i in ranked[:_N_EXACT] if gains[i] > _HOPELESS]
