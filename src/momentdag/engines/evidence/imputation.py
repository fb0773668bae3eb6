"""Missing cells, drawn from the model while it is learned.

Scores on different rows cannot be compared, so every fit needs a complete table. Several
completions are made; each begins with cells taken from similar rows, and is then redrawn
once or twice from models fitted to it: given a drawn graph pair and functions, a missing x_j has
the density

    p(x_j | everything else in its row) ∝ p(x_j | parents of j) Π_c p(x_c | parents of c),

c its children, from which it is drawn by importance resampling, one column after the other. What is
uncertain about missing cells is then in the posterior: its draws come from all completions alike.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

from momentdag.engines.protocol import (
    AnyMechanism,
    Checkpoint,
    FitRequest,
    FitResult,
    as_continuous,
    as_discrete,
)
from momentdag.graph import MomentGraph
from momentdag.posterior import ModelDoubt, Posterior
from momentdag.table import Dataset

__all__ = ["N_COMPLETIONS", "QUICK_ROWS", "Fit", "fit_completions", "redraw", "start_completion"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
Fit: TypeAlias = Callable[[FitRequest], FitResult]

N_COMPLETIONS = 4
"""Completions of a table: enough to see what missing cells leave open."""
QUICK_ROWS = 1_500
"""Rows that fits learn from whose graphs only serve to redraw cells."""
_MANY_MISSING = 0.1
"""Share of cells beyond which cells are redrawn twice: the first model learns from what similar
rows had, which hardly matters where few are missing."""
_QUICK_DRAWS = 40
_DONORS = 5
_CANDIDATES = 24
_SWEEPS = 2


def fit_completions(fit: Fit, quick_fit: Fit, request: FitRequest) -> FitResult:
    """Fit several completions of a table with missing cells, and join their draws.

    Parameters
    ----------
    fit, quick_fit : function
        From a request with a complete table to a result; the quick one only to redraw cells from.
    request : FitRequest
        With missing cells.
    """
    n = min(N_COMPLETIONS, request.n_draws)
    results = []
    for k, rng in enumerate(request.rng.spawn(n)):
        own = _Part(request, k, n)
        dataset = _complete(quick_fit, own, rng)
        share = request.n_draws * (k + 1) // n - request.n_draws * k // n
        results.append(fit(own.request(dataset, share, rng.spawn(1)[0], "")))
    return _join(results, request)


@dataclass(frozen=True)
class _Part:
    """One completion's share of a fit."""

    whole: FitRequest
    number: int
    n: int

    def request(
        self, dataset: Dataset, n_draws: int, rng: np.random.Generator, prefix: str
    ) -> FitRequest:
        """Return the request for a complete table, with progress and checkpoint of its own."""

        def progress(stage: str, done: int, total: int) -> None:
            self.whole.progress(f"completion {self.number + 1} of {self.n}: {stage}", done, total)

        return replace(
            self.whole,
            dataset=dataset,
            n_draws=n_draws,
            rng=rng,
            progress=progress,
            checkpoint=_Prefixed(self.whole.checkpoint, f"completion {self.number} {prefix}"),
        )


@dataclass(frozen=True)
class _Prefixed:
    """A checkpoint whose stages have names of their own."""

    checkpoint: Checkpoint
    prefix: str

    def load(self, stage: str) -> tuple[Mapping[str, Any], Mapping[str, npt.NDArray[Any]]] | None:
        """Return what was stored of a stage, or None."""
        return self.checkpoint.load(f"{self.prefix}{stage}")

    def save(
        self, stage: str, content: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]
    ) -> None:
        """Store a stage."""
        self.checkpoint.save(f"{self.prefix}{stage}", content, arrays)


def _complete(quick_fit: Fit, part: _Part, rng: np.random.Generator) -> Dataset:
    """Return one completion of the table."""
    whole = part.whole
    n_rounds = 2 if whole.dataset.missing.mean() > _MANY_MISSING else 1
    start_rng, *round_rngs = rng.spawn(1 + n_rounds)
    dataset = whole.dataset.with_values(start_completion(start_rng, whole.dataset))
    for k, round_rng in enumerate(round_rngs):
        fit_rng, draw_rng = round_rng.spawn(2)
        request = part.request(dataset, _QUICK_DRAWS, fit_rng, f"round {k} ")
        values = redraw(draw_rng, dataset, whole.dataset.missing, quick_fit(request))
        dataset = whole.dataset.with_values(values)
    return dataset


def start_completion(rng: np.random.Generator, dataset: Dataset) -> FloatArray:
    """Return the table with each missing cell taken from one of the most similar rows, (n, d).

    Rows are compared in the columns that both have, missing cells of the row standing at the mean.
    """
    values = dataset.values.copy()
    missing = dataset.missing
    z = np.where(missing, 0.0, dataset.standardised)
    for j in np.flatnonzero(missing.any(axis=0)):
        known = np.flatnonzero(~missing[:, j])
        wanted = np.flatnonzero(missing[:, j])
        others = np.delete(z, j, axis=1)
        # A hair of noise: rows of a discrete table are often equal, and one must not always win.
        jittered = others + 1e-3 * rng.standard_normal(others.shape)
        k = min(_DONORS, len(known))
        _, donors = cKDTree(jittered[known]).query(jittered[wanted], k=k)
        chosen = donors.reshape(len(wanted), k)[
            np.arange(len(wanted)), rng.integers(k, size=len(wanted))
        ]
        values[wanted, j] = dataset.values[known[chosen], j]
    return values


def redraw(
    rng: np.random.Generator, dataset: Dataset, missing: BoolArray, result: FitResult
) -> FloatArray:
    """Draw the missing cells anew from a draw of the posterior, (n, d)."""
    posterior, model = result.posterior, result.model
    assert model is not None  # a family with mechanisms
    graph = posterior.draw(int(rng.integers(posterior.n_draws)))
    mechanisms = model.draw_functions(rng, graph)
    values = dataset.values.copy()
    observed = dataset.observe()
    order = [graph.index(name) for name in graph.order]
    for _ in range(_SWEEPS):
        for j in order:
            rows = np.flatnonzero(missing[:, j])
            if len(rows):
                levels = observed.levels.get(dataset.names[j])
                values[rows, j] = _redraw_column(rng, values[rows], j, graph, mechanisms, levels)
    return values


def _redraw_column(
    rng: np.random.Generator,
    rows: FloatArray,
    j: int,
    graph: MomentGraph,
    mechanisms: Mapping[str, AnyMechanism],
    levels: FloatArray | None,
) -> FloatArray:
    """Return new values of one column at these rows, (m,), by importance resampling."""
    names = graph.names
    children = [graph.index(name) for name in graph.children(names[j])]
    n = _CANDIDATES if children else 1
    repeated = np.repeat(rows, n, axis=0)
    repeated[:, j] = _draw(rng, mechanisms[names[j]], repeated, levels)
    if not children:
        return repeated[:, j]
    weights = np.zeros(len(repeated))
    for c in children:
        weights += _log_density(mechanisms[names[c]], repeated, repeated[:, c])
    # Gumbel noise on log weights picks each candidate with its weight.
    weights = np.nan_to_num(weights, nan=-np.inf, neginf=-1e300)
    weights += rng.gumbel(size=len(weights))
    best = weights.reshape(len(rows), n).argmax(axis=1)
    return np.asarray(repeated.reshape(len(rows), n, -1)[np.arange(len(rows)), best, j])


def _draw(
    rng: np.random.Generator,
    mechanism: AnyMechanism,
    values: FloatArray,
    levels: FloatArray | None,
) -> FloatArray:
    discrete = as_discrete(mechanism)
    if discrete is not None:
        return discrete.settle(values, rng.random(len(values)))
    mean, sd = mechanism.moments(values)
    drawn = mean + sd * as_continuous(mechanism).draw_noise(rng, len(values))
    if levels is None:
        return np.asarray(drawn)
    return np.asarray(levels[np.searchsorted(0.5 * (levels[1:] + levels[:-1]), drawn)])


def _log_density(mechanism: AnyMechanism, values: FloatArray, y: FloatArray) -> FloatArray:
    discrete = as_discrete(mechanism)
    if discrete is not None:
        return discrete.log_masses(values, y)
    mean, sd = mechanism.moments(values)
    return np.asarray(as_continuous(mechanism).noise_log_density((y - mean) / sd) - np.log(sd))


def _join(results: list[FitResult], request: FitRequest) -> FitResult:
    """Return one result with the draws of all completions, and the mechanisms of the first."""
    first = results[0]
    posteriors = [result.posterior for result in results]
    provenance = replace(
        first.posterior.provenance,
        data_hash=request.dataset.fingerprint,
        options={
            **first.posterior.provenance.options,
            "n_completions": len(results),
            "n_missing": int(request.dataset.missing.sum()),
        },
    )
    # A chain takes turns with the completions: what differs between these is no poor mixing.
    lengths = [p.n_draws for p in posteriors]
    completion = np.repeat(np.arange(len(posteriors)), lengths)
    chain = np.concatenate(
        [np.zeros(p.n_draws) if p.chains is None else p.chains for p in posteriors]
    )
    place = np.concatenate([_places(p) for p in posteriors])
    order = np.lexsort((completion, place, chain))
    known = [p.log_posterior for p in posteriors if p.log_posterior is not None]
    posterior = Posterior(
        first.posterior.names,
        np.concatenate([p.mean_graphs for p in posteriors])[order],
        np.concatenate([p.variance_graphs for p in posteriors])[order],
        provenance,
        log_posterior=np.concatenate(known)[order] if len(known) == len(posteriors) else None,
        chains=None if first.posterior.chains is None else chain[order].astype(np.int32),
        doubt=_join_doubts(posteriors),
    )
    details = {**first.details, "n_completions": len(results)}
    if posterior.doubt is not None:
        details["misfit"] = posterior.doubt.misfit_by_name(posterior.names)
    return replace(first, posterior=posterior, observed=request.dataset.observe(), details=details)


def _join_doubts(posteriors: list[Posterior]) -> ModelDoubt | None:
    """Return the average doubt of completions, each with the weight of its draws."""
    doubts = [posterior.doubt for posterior in posteriors if posterior.doubt is not None]
    if len(doubts) < len(posteriors):
        return None
    return ModelDoubt.average(doubts, [posterior.n_draws for posterior in posteriors])


def _places(posterior: Posterior) -> npt.NDArray[np.intp]:
    """Return the place of each draw within its chain, (n_draws,)."""
    if posterior.chains is None:
        return np.arange(posterior.n_draws)
    places = np.empty(posterior.n_draws, dtype=np.intp)
    for chain in np.unique(posterior.chains):
        inside = posterior.chains == chain
        places[inside] = np.arange(inside.sum())
    return places
