"""MC3: a Markov chain over graphs with linear Gaussian evidence.

Structure Markov chain Monte Carlo (Madigan and York 1995) with reversals (Giudici and Castelo
2003): a step adds, removes or turns round one edge and is accepted by the Metropolis rule. The
evidence is the BGe score of the linear family, the prior that of the evidence engine. Several
copies at rising temperatures exchange their graphs (Metropolis coupling, Geyer 1991), so that the
cold one, whose graphs are the draws, can cross valleys that single-edge steps do not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from momentdag.baselines.one_graph import GraphLimits
from momentdag.baselines.options import Options, number, whole
from momentdag.baselines.protocol import Estimate
from momentdag.engines.evidence.local.linear import LinearScorer
from momentdag.engines.evidence.local.protocol import Parents
from momentdag.engines.evidence.prior import GraphPrior, adjacency
from momentdag.engines.evidence.support.bitmasks import column_mask
from momentdag.knowledge import Knowledge
from momentdag.posterior import Posterior, Provenance
from momentdag.table import Dataset

__all__ = ["METHOD_VERSION", "MC3Options", "Target", "Walker", "learn_mc3"]

METHOD_VERSION = 1
"""Raised by hand when drawn graphs change: finished runs of studies carry it."""

FloatArray: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True)
class MC3Options(Options):
    """Options of MC3.

    Parameters
    ----------
    n_chains : int
        Number of independent chains; the draws are divided among them.
    n_temperatures : int
        Number of coupled copies of each chain; 1 is the uncoupled method.
    heat : float
        Copy k has the posterior to the power 1 / (1 + heat · k) as its target.
    thinning : int or None
        Number of steps of a chain between two draws; None means four for each ordered pair of
        variables, at least 40.
    burn_in : float
        Steps before the first draw, as a share of those of the draws.
    """

    n_chains: int = whole(4, at_least=1)
    n_temperatures: int = whole(3, at_least=1)
    heat: float = number(0.5, above=0.0)
    thinning: int | None = whole(None, at_least=1)
    burn_in: float = number(0.25, above=0.0, closed=True)


class Target:
    """The log posterior of graphs, by variable.

    Parameters
    ----------
    values : float array, shape (n, d)
        Standardised columns.
    names : tuple of str
    limits : GraphLimits
    """

    def __init__(self, values: FloatArray, names: tuple[str, ...], limits: GraphLimits) -> None:
        scorer = LinearScorer(values)
        d = len(names)
        prior = GraphPrior(Knowledge().compile(names), with_variance_graph=False)
        self.limits = limits
        self.log_rate: list[float] = prior.log_rate(np.arange(d * (d - 1) // 2 + 1)).tolist()
        self.open = limits.allowed & ~limits.required
        self.required = [column_mask(limits.required[:, j]) for j in range(d)]
        self.precedes = [column_mask(limits.precedes[i]) for i in range(d)]

        @cache
        def evidence(variable: int, parents: int) -> float:
            return scorer.fit(variable, Parents(parents, 0)).log_evidence

        self.evidence = evidence

    @property
    def n_scores(self) -> int:
        """Number of parent sets that have been scored."""
        return self.evidence.cache_info().currsize


class Walker:
    """One copy of a chain: its graph as bit masks of parents and of children.

    Parameters
    ----------
    target : Target
    power : float
        The posterior is raised to this power.
    """

    def __init__(self, target: Target, power: float) -> None:
        self._target = target
        self.power = power
        self.parents = list(target.required)
        d = len(self.parents)
        self._children = [
            sum(1 << j for j in range(d) if self.parents[j] >> i & 1) for i in range(d)
        ]

    @property
    def log_posterior(self) -> float:
        """Unnormalised log posterior of the graph."""
        evidence = sum(self._target.evidence(j, own) for j, own in enumerate(self.parents))
        return evidence + self._target.log_rate[self._n_edges]

    @property
    def _n_edges(self) -> int:
        return sum(own.bit_count() for own in self.parents)

    def exchange(self, other: Walker) -> None:
        """Swap graphs with another copy."""
        self.parents, other.parents = other.parents, self.parents
        self._children, other._children = other._children, self._children

    def walk(self, rng: np.random.Generator, n_steps: int) -> int:
        """Take steps; return the number that were accepted.

        A step draws an ordered pair i, j and, with equal chance, toggles i -> j or reverses it.
        Every proposal is as likely as the one that undoes it, so no ratio of proposals is needed.
        """
        d = len(self.parents)
        causes = rng.integers(d, size=n_steps).tolist()
        shifts = rng.integers(1, d, size=n_steps).tolist()
        turns = (rng.random(n_steps) < 0.5).tolist()
        # Metropolis rule: accept if power * gain > log U, where -log U is exponential.
        bars = (-rng.exponential(size=n_steps) / self.power).tolist()
        target, parents, children = self._target, self.parents, self._children
        log_rate, evidence, is_open = target.log_rate, target.evidence, target.open.tolist()
        n_edges, n_accepted = self._n_edges, 0
        for i, shift, turn, bar in zip(causes, shifts, turns, bars, strict=True):
            j = (i + shift) % d
            present = parents[j] >> i & 1
            if not is_open[i][j] or (turn and not (present and is_open[j][i])):
                continue
            own = parents[j] ^ 1 << i
            gain = evidence(j, own) - evidence(j, parents[j])
            if turn:
                if self._reaches(i, j, without=True):
                    continue
                gain += evidence(i, parents[i] | 1 << j) - evidence(i, parents[i])
            else:
                if not present and self._reaches(j, i):
                    continue
                gain += log_rate[n_edges + (-1 if present else 1)] - log_rate[n_edges]
            if not gain > bar:
                continue
            n_accepted += 1
            parents[j] = own
            children[i] ^= 1 << j
            if turn:
                parents[i] |= 1 << j
                children[j] |= 1 << i
            else:
                n_edges += -1 if present else 1
        return n_accepted

    def _reaches(self, start: int, end: int, without: bool = False) -> bool:
        """Tell whether a path leads to ``end``; ``without`` leaves out the edge start -> end."""
        children, precedes = self._children, self._target.precedes
        first = children[start] & ~(1 << end) if without else children[start]
        reached = frontier = first | precedes[start]
        while frontier:
            if reached >> end & 1:
                return True
            lowest = frontier & -frontier
            i = lowest.bit_length() - 1
            following = children[i] | precedes[i]
            frontier = (frontier ^ lowest) | (following & ~reached)
            reached |= following
        return False


def learn_mc3(
    rng: np.random.Generator,
    dataset: Dataset,
    limits: GraphLimits,
    n_draws: int,
    options: MC3Options,
) -> Estimate:
    """Draw graphs from the posterior under linear Gaussian mechanisms."""
    d = limits.n_variables
    target = Target(dataset.standardised, dataset.names, limits)
    thinning = max(40, 4 * d * (d - 1)) if options.thinning is None else options.thinning
    n_chains = min(options.n_chains, n_draws)
    shares = [len(part) for part in np.array_split(np.arange(n_draws), n_chains)]
    graphs = np.zeros((n_draws, d, d), dtype=bool)
    log_posterior = np.empty(n_draws)
    n_accepted, at = 0, 0
    for share, chain_rng in zip(shares, rng.spawn(n_chains), strict=True):
        powers = [1.0 / (1.0 + options.heat * k) for k in range(options.n_temperatures)]
        walkers = [Walker(target, power) for power in powers]
        for _ in range(math.ceil(options.burn_in * share)):
            _advance(chain_rng, walkers, thinning)
        for _ in range(share):
            n_accepted += _advance(chain_rng, walkers, thinning)
            graphs[at] = adjacency(tuple(Parents(own, 0) for own in walkers[0].parents))[0]
            log_posterior[at] = walkers[0].log_posterior
            at += 1
    chains = np.repeat(np.arange(n_chains, dtype=np.int32), shares)
    # Used for diagnostics only: its names and provenance do not matter.
    draws = Posterior(
        dataset.names,
        graphs,
        graphs,
        Provenance("mc3"),
        log_posterior=log_posterior,
        chains=chains,
    )
    diagnostics = draws.diagnostics()
    status = "complete"
    if diagnostics.is_poor:
        status = (
            f"the chains mix poorly: {'; '.join(diagnostics.complaints)}; raise n_draws, thinning "
            "or n_temperatures"
        )
    details = {"acceptance": n_accepted / (n_draws * thinning), "n_scores": target.n_scores}
    return Estimate(graphs, status, details, log_posterior, chains)


def _advance(rng: np.random.Generator, walkers: list[Walker], n_steps: int) -> int:
    """Move every copy, propose one exchange, and return the steps the cold one accepted."""
    n_accepted = [walker.walk(rng, n_steps) for walker in walkers]
    if len(walkers) > 1:
        k = int(rng.integers(len(walkers) - 1))
        cold, warm = walkers[k], walkers[k + 1]
        gain = (cold.power - warm.power) * (warm.log_posterior - cold.log_posterior)
        if math.log(1.0 - rng.random()) < gain:
            cold.exchange(warm)
    return n_accepted[0]
