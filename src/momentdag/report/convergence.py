"""Convergence of the draws as a sentence, numbers and traces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from momentdag.posterior import Posterior
from momentdag.posterior.diagnostics import Grade

__all__ = ["Convergence", "Trace", "check_convergence"]

_MOST_TRACE_POINTS = 300
_N_EDGES = 10


@dataclass(frozen=True)
class Trace:
    """One chain.

    Parameters
    ----------
    chain : int
    steps : list of int
        Positions in the chain.
    log_posterior : float array
        Unnormalised log posterior there; empty if the engine gives none.
    edges : float array
        Probability of each edge of `Convergence.probabilities` in this chain alone.
    """

    chain: int
    steps: Any
    log_posterior: Any
    edges: Any


@dataclass(frozen=True)
class Convergence:
    """Convergence diagnostics of the draws.

    Parameters
    ----------
    is_poor : bool
    grade : {"fine", "weak", "do not use"}
    message : str
    n_draws, n_chains : int
    worst_r_hat, smallest_ess, chain_disagreement : float
    edges : list of dict
        The uncertain edges with the worst mixing: cause, effect, moment, probability, r_hat, ess.
    labels, probabilities : list
        Name and probability of each edge that occurs in any draw.
    traces : list of Trace
        One for each chain; of worlds one for either half of them, without a log posterior.
    n_worlds : int or None
        Worlds that the draws come from, if not from chains.
    """

    is_poor: bool
    grade: Grade
    message: str
    n_draws: int
    n_chains: int
    worst_r_hat: float
    smallest_ess: float
    chain_disagreement: float
    edges: list[dict[str, Any]]
    labels: list[str]
    probabilities: Any
    traces: list[Trace]
    n_worlds: int | None = None


def check_convergence(posterior: Posterior) -> Convergence:
    """Compute diagnostics of the draws and what their plots need."""
    diagnostics = posterior.diagnostics()
    uncertain = diagnostics.edges[diagnostics.edges["uncertain"]].head(_N_EDGES)
    both = np.stack([posterior.mean_graphs, posterior.variance_graphs], axis=-1)
    causes, effects, moments = np.nonzero(both.any(axis=0))
    drawn = both[:, causes, effects, moments]
    names = posterior.names
    labels = [
        f"{names[i]} → {names[j]} ({('mean', 'variance')[k]})"
        for i, j, k in zip(causes, effects, moments, strict=True)
    ]
    columns = ["cause", "effect", "moment", "probability", "r_hat", "ess", "disagreement"]
    return Convergence(
        diagnostics.is_poor,
        diagnostics.grade,
        diagnostics.message(),
        diagnostics.n_draws,
        diagnostics.n_chains,
        diagnostics.worst_r_hat,
        diagnostics.smallest_ess,
        diagnostics.chain_disagreement,
        uncertain[columns].to_dict("records"),
        labels,
        drawn.mean(axis=0),
        _traces(posterior, drawn) if diagnostics.n_worlds is None else _halves(drawn),
        diagnostics.n_worlds,
    )


def _halves(drawn: Any) -> list[Trace]:
    """Return the edges in either half of the worlds; their log posteriors are not comparable."""
    return [Trace(k, [], [], half.mean(axis=0)) for k, half in enumerate(np.array_split(drawn, 2))]


def _traces(posterior: Posterior, drawn: Any) -> list[Trace]:
    chains = posterior.chains
    if chains is None:
        chains = np.zeros(posterior.n_draws, dtype=np.int32)
    traces = []
    for chain in np.unique(chains):
        rows = np.flatnonzero(chains == chain)
        kept = np.unique(np.linspace(0, len(rows) - 1, _MOST_TRACE_POINTS).astype(np.intp))
        trace = posterior.log_posterior
        traces.append(
            Trace(
                int(chain),
                kept if trace is not None else [],
                trace[rows[kept]] if trace is not None else [],
                drawn[rows].mean(axis=0),
            )
        )
    return traces
