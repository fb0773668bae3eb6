"""Worlds of reweighted rows: how far a score rests on a few of them.

A world is a vector of row weights w ~ Gamma(1/τ², 1/τ²), scaled to sum n. Where l_i is the log
density of row i under a local fit, its evidence in a world is

    log p_w(y) = log p(y) + Σ_i (w_i - 1) l_i.

Each world has a posterior of its own, and what is reported is their average. Between two wrong
models the difference of log-likelihoods is a sum of n terms that scatter (Vuong 1989): a difference
that rests on few rows changes its sign from world to world, one to which all rows contribute does
not. τ = 1 is the Bayesian bootstrap; with τ = 2 every row stands for a cluster of τ² rows that go
together, which is what rows of a wrong model do. How large these clusters are is not known either,
so worlds differ in τ: it spreads evenly in its logarithm around the one that is asked for. With one
τ for all, a model that is wrong by nine standard errors would be as sure as one that is right.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from momentdag.engines.evidence.local.protocol import Parents
from momentdag.engines.evidence.local.rows import row_log_densities
from momentdag.engines.evidence.search.parents import ParentSearch

__all__ = [
    "WorldSearch",
    "Worlds",
    "canonical_rows",
    "draw_worlds",
    "spread_taus",
    "world_weights",
]

FloatArray: TypeAlias = npt.NDArray[np.float64]

_SEED = 2026
"""Worlds are the same for every seed and every order of the rows: what changes from fit to fit is
data, never chance."""
_MOST_BALANCE = 4.0
"""Nats: the price of a needless parent, about."""
_LARGE_APART = 10.0
"""Nats: two models that differ by this much from world to world are no small matter."""
_LOG_SPREAD = 0.8
"""Standard deviation of log τ over worlds: two in three lie between τ / 2.2 and 2.2 τ."""
_LEAST_CLUSTERS = 60
"""Clusters of rows that a world has at least: of fewer, nothing at all could be learned."""
_GOLDEN = (5**0.5 - 1) / 2


@dataclass(frozen=True, eq=False)
class Worlds:
    """Row weights of every world, and what local scores come to in them.

    Parameters
    ----------
    deviations : float32 array, shape (K, n)
        Weights less one, before they are stretched.
    taus : float array, shape (K,)
        Standard deviations of the weights in each world, over that of the middle one.
    book : list of dict
        For each variable, by parents, Σ_i (w_i - 1) l_i in each world, (K,).
    factor : float
        By which weights are stretched.
    """

    deviations: npt.NDArray[np.float32]
    taus: FloatArray
    book: list[dict[Parents, FloatArray]] = field(default_factory=list)
    factor: float = 1.0

    @property
    def n_worlds(self) -> int:
        """Number of worlds."""
        return len(self.deviations)

    def scores(self, search: ParentSearch, variable: int, parents: Parents) -> FloatArray:
        """Return what a local score adds to its evidence in each world, from the book or anew."""
        noted = self.book[variable].get(parents)
        if noted is None:
            fit = search.fit(variable, parents)
            noted = self.record(search.scorer, variable, parents, fit)
        return noted

    def balanced(
        self, search: ParentSearch, variable: int, parents: Parents, reference: Parents
    ) -> FloatArray:
        """Return `scores` less what reweighting alone gives to parents other than the best ones.

        With s the standard deviation of a score relative to the reference, Bayes factors of worlds
        are e^{s²/2} times too large on average: needless parents would be found in some worlds,
        as in any resampled table. That is taken away where differences are small. Where they are
        large, the average is one of worlds that never occur, and nothing is.

        The ``reference`` is the best score with the same parents or fewer. It depends on this
        variable alone, so no direction of an edge is favoured.
        """
        own = self.scores(search, variable, parents)
        if parents == reference:
            return own
        relative = (own - self.scores(search, variable, reference)) / self.taus
        variance = float((relative * relative).mean())
        balance = min(0.5 * variance, _MOST_BALANCE) * np.exp(-variance / _LARGE_APART**2)
        return np.asarray(own - balance * self.taus**2)

    def record(self, scorer: Any, variable: int, parents: Parents, fit: Any) -> FloatArray:
        """Note what a local fit comes to in each world, (K,)."""
        rows = row_log_densities(scorer, variable, parents, fit)
        # Their mean counts nothing, as weights sum to n, and would only cost digits.
        centred = (rows - rows.mean()).astype(np.float32)
        # The factor comes last: what another process makes anew is then the same to the bit.
        noted: FloatArray = self.factor * (self.deviations @ centred).astype(np.float64)
        self.book[variable][parents] = noted
        return noted

    def stretched(self, factor: float) -> Worlds:
        """Return worlds that differ by ``factor`` more, with what was noted."""
        book = [{own: factor * noted for own, noted in each.items()} for each in self.book]
        return Worlds(self.deviations, factor * self.taus, book, factor * self.factor)

    def __reduce__(self) -> tuple[Any, ...]:
        # Sent to another process the book is empty: its content can be computed again.
        return type(self), (self.deviations, self.taus, [{} for _ in self.book], self.factor)


def world_weights(rng: np.random.Generator, taus: FloatArray, n: int) -> FloatArray:
    """Draw the row weights of worlds (K, n), each with sum n, given their standard deviations."""
    weights = np.ones((len(taus), n))
    for world, tau in enumerate(taus):
        if tau > 0:
            drawn = rng.gamma(1 / tau**2, tau**2, size=n)
            weights[world] = drawn * (n / drawn.sum())
    return weights


def spread_taus(n_worlds: int, tau: float, n: int) -> FloatArray:
    """Return τ of each world of n rows, (K,), around the one that is asked for.

    Any first worlds are like all of them.
    """
    quantiles = (0.5 + _GOLDEN * np.arange(n_worlds)) % 1.0
    taus = tau * np.exp(_LOG_SPREAD * ndtri(quantiles))
    return np.asarray(np.minimum(taus, max(tau, np.sqrt(n / _LEAST_CLUSTERS))))


def draw_worlds(values: FloatArray, n_worlds: int, tau: float) -> Worlds:
    """Return worlds of standardised rows (n, d), whatever order these stand in."""
    n, d = values.shape
    taus = spread_taus(n_worlds, tau, n)
    weights = np.empty((n_worlds, n), dtype=np.float32)
    drawn = world_weights(np.random.default_rng(_SEED), taus, n)
    weights[:, canonical_rows(values)] = drawn - 1
    relative = taus / tau if tau > 0 else np.ones(n_worlds)
    return Worlds(weights, relative, [{} for _ in range(d)])


def canonical_rows(values: FloatArray) -> npt.NDArray[np.intp]:
    """Return an order of rows (n, d) that depends neither on their places nor on signs, (n,)."""
    signs = np.where((values**3).sum(axis=0) < 0, -1.0, 1.0)
    return np.lexsort((signs * values).T[::-1])


class WorldSearch(ParentSearch):
    """The search for parents in one world; scores, fits and the book are shared with others.

    Parameters
    ----------
    search : ParentSearch
        That of the rows as they are.
    worlds : Worlds
    world : int
    """

    def __init__(self, search: ParentSearch, worlds: Worlds, world: int) -> None:
        super().__init__(
            search.scorer, search.prior, search.candidates, search.evidence, fits=search.fits
        )
        self._worlds = worlds
        self._world = world

    def log_evidence(self, variable: int, parents: Parents) -> float:
        """Return the log evidence of one variable's parents in this world."""
        evidence = super().log_evidence(variable, parents)
        return evidence + float(self._worlds.scores(self, variable, parents)[self._world])
