"""Resampling: from draws of q to draws of the posterior that the evidence of parents defines.

The target is p(order, A) ∝ p(A) ∏_j p(x_j | parents of j) for every order that admits the pair A,
with the evidences of `momentdag.engines.variational.last_layer`. Given an order it is nearly a
product over variables, so pairs are proposed anew rather than weighted as q drew them:

1. orders of q are resampled by ∏_j Z_j(order) / q(order), where Z_j is the sum of prior times
   evidence over the parent sets of j that the order admits, the rates of edges fixed at ρ;
2. each moves by Metropolis steps that leave ∏_j Z_j as it is (resample and move: Gilks and
   Berzuini 2001), as what q left out no ratio brings back;
3. each variable draws its parents among those that its order admits, and pairs are resampled by
   p(A) / p_ρ(A), as the rates are unknown.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from momentdag.engines.variational.parent_sets import EdgePrior, Evidence, pools_of
from momentdag.graph import BoolArray

__all__ = ["Proposals", "Resampled", "resample", "systematic"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]

_MOVES = 10  # Metropolis steps of each order, by variable


class Proposals(NamedTuple):
    """Draws of q: orders (k, d), the first cause first, log q of each (k,), pairs (2, k, d, d)."""

    orders: IntArray
    log_q: FloatArray
    graphs: BoolArray


class Resampled(NamedTuple):
    """Pairs (2, n_draws, d, d), log p(A, D) of each up to a constant, and 1 for equal ratios."""

    graphs: BoolArray
    log_joint: FloatArray
    efficiency: float


def resample(
    rng: np.random.Generator,
    proposals: Proposals,
    evidence: Evidence,
    prior: EdgePrior,
    precedes: BoolArray,
    n_draws: int,
) -> Resampled:
    """Draw pairs of the posterior with the help of draws of q.

    ``precedes`` (d, d) tells which variables must come before which. Ratios are truncated at √k
    times their mean (k the number of proposals), which bounds what a few may do.
    """
    k, d = proposals.orders.shape
    required = precedes.T @ (1 << np.arange(d))
    log_odds = prior.log_odds_at(proposals.graphs)
    pools = pools_of(proposals.graphs, evidence, prior, log_odds)
    # The second time with the rates that the first found, so that the last ratios are even.
    for again in (False, True):
        odds = [
            (pool.sets * log_odds[:, None, :, j]).sum(axis=(0, 2)) for j, pool in enumerate(pools)
        ]
        choices = [
            _Choice(pool.log_evidence + odds[j], pool.members) for j, pool in enumerate(pools)
        ]
        target = _OrderTarget(choices, required)
        ratios = _truncated(target.log_weight(proposals.orders) - proposals.log_q)
        orders = proposals.orders[systematic(rng, ratios, k)]
        if again:
            orders = _moved(rng, orders, target)
        drawn = np.zeros((2, k, d, d), dtype=bool)
        log_evidence, log_rest = np.zeros(k), np.zeros(k)
        for j, before in enumerate(_predecessors(orders).T):
            chosen = choices[j].draw(rng, before)
            drawn[..., j] = pools[j].sets[:, chosen]
            log_evidence += pools[j].log_evidence[chosen]
            log_rest -= odds[j][chosen]
        log_prior = prior.log_weight(drawn)
        kept = systematic(rng, _truncated(log_prior + log_rest), n_draws)
        log_odds = prior.log_odds_at(drawn[:, kept])
    rng.shuffle(kept)
    efficiency = float(1.0 / (ratios**2).sum() / k)
    return Resampled(drawn[:, kept], (log_evidence + log_prior)[kept], efficiency)


def _predecessors(orders: IntArray) -> IntArray:
    """Return for each order (k, d) and variable j a bit mask of what comes before j, (k, d)."""
    own = 1 << orders
    found = np.empty_like(orders)
    np.put_along_axis(found, orders, np.cumsum(own, axis=1) - own, axis=1)
    return found


class _Choice:
    """The parent sets of one variable: log p (m,) of each, and bit masks of their members (m,)."""

    def __init__(self, log_p: FloatArray, members: IntArray) -> None:
        self._log_p = log_p
        self._members = members
        # In order, behind them a number that is no mask: so every mask has a place among them.
        self._known: IntArray = np.array([np.iinfo(np.int64).max])
        self._log_sums: FloatArray = np.array([np.nan])

    def log_sum(self, before: IntArray) -> FloatArray:
        """Return log Σ p over the sets within each mask ``before`` (k,), (k,)."""
        at = np.searchsorted(self._known, before)
        new = np.unique(before[self._known[at] != before])
        if len(new):
            # Chains come back to the same masks: each is summed once.
            admitted = self._members & ~new[:, None] == 0
            log_p = np.where(admitted, self._log_p, -np.inf)
            largest = np.maximum(log_p.max(axis=1), np.finfo(np.float64).min)
            with np.errstate(divide="ignore"):  # no set kept that the mask admits
                sums = largest + np.log(np.exp(log_p - largest[:, None]).sum(axis=1))
            places = np.searchsorted(self._known, new)
            self._known = np.insert(self._known, places, new)
            self._log_sums = np.insert(self._log_sums, places, sums)
            at = np.searchsorted(self._known, before)
        return self._log_sums[at]

    def draw(self, rng: np.random.Generator, before: IntArray) -> IntArray:
        """Draw one of the sets within each mask, (k,)."""
        chosen = np.empty(len(before), dtype=np.int64)
        uniform = rng.random(len(before))
        given, which = np.unique(before, return_inverse=True)
        places = np.split(np.argsort(which, kind="stable"), np.cumsum(np.bincount(which))[:-1])
        for mask, here in zip(given, places, strict=True):
            admitted = np.flatnonzero(self._members & ~mask == 0)
            log_p = self._log_p[admitted]
            cumulative = np.cumsum(np.exp(log_p - log_p.max()))
            at = np.searchsorted(cumulative[:-1], uniform[here] * cumulative[-1])
            chosen[here] = admitted[at]
        return chosen


class _OrderTarget(NamedTuple):
    """p(order) ∝ ∏_j Z_j(order) where ``required`` (d,), masks of what must come before, holds."""

    choices: list[_Choice]
    required: IntArray

    def log_weight(self, orders: IntArray) -> FloatArray:
        """Return log p(order) up to a constant, (k,)."""
        before = _predecessors(orders)
        total = np.where((self.required & ~before).any(axis=1), -np.inf, 0.0)
        for own, choice in zip(before.T, self.choices, strict=True):
            total += choice.log_sum(own)
        return total


def _moved(rng: np.random.Generator, orders: IntArray, target: _OrderTarget) -> IntArray:
    """Return orders (k, d) after Metropolis steps, each of which swaps two variables."""
    k, d = orders.shape
    rows = np.arange(k)[:, None]
    now = target.log_weight(orders)
    for _ in range(_MOVES * d):
        # Both may be the same: if every step swapped, orders of one parity would be left out.
        places = rng.integers(d, size=(k, 2))
        swapped = orders.copy()
        swapped[rows, places] = orders[rows, places[:, ::-1]]
        then = target.log_weight(swapped)
        accepted = np.log(rng.random(k)) < then - now
        orders = np.where(accepted[:, None], swapped, orders)
        now = np.where(accepted, then, now)
    return orders


def systematic(rng: np.random.Generator, shares: FloatArray, n_draws: int) -> IntArray:
    """Return indices in proportion to ``shares``, each as often as it should to within one."""
    points = (np.arange(n_draws) + rng.uniform()) / n_draws
    return np.searchsorted(np.cumsum(shares)[:-1], points)


def _truncated(log_weights: FloatArray) -> FloatArray:
    weights = np.exp(log_weights - log_weights.max())
    weights = np.minimum(weights, np.sqrt(len(weights)) * weights.mean())
    return np.asarray(weights / weights.sum())
