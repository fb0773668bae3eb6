"""Cases that time one local score: a variable given its true parents."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from momentdag.engines.evidence.local.hyperparameters import (
    Hyperparameters,
    choose_hyperparameters,
    evidence_at,
    make_scorer,
)
from momentdag.engines.evidence.local.location_scale import LocalScorer
from momentdag.engines.evidence.local.protocol import Parents, Scorer
from momentdag.engines.evidence.options import EvidenceOptions
from momentdag.simulate import Simulation, preset
from momentdag.table import Dataset
from studies.case import FIRST_SEED, Case, Measures, Outcome
from studies.methods import Method
from studies.order_gap import parents_of
from studies.timing import gram_seconds, peak_megabytes

__all__ = ["ScoreCase"]

_REPEATS = 7


@dataclass(frozen=True, kw_only=True)
class ScoreCase(Case):
    """Local scores of simulated data, each timed with its features already computed."""

    preset: str
    n_samples: int
    default_kernels: bool  # not those that evidence prefers

    def run(self, method: Method, number: int, n_draws: int, options: Mapping[str, Any]) -> Outcome:
        """Time the score of every variable that has parents, in Gram products."""
        rng = np.random.default_rng(FIRST_SEED + number)
        simulation = preset(self.preset, rng, self.n_samples)
        parents = parents_of(simulation.graph, simulation.graph.names)
        with threadpool_limits(1):
            start = time.perf_counter()
            scorer = self._scorer(simulation, parents, EvidenceOptions.from_mapping(options))
            before = gram_seconds()
            rows = [_time_score(scorer, j, each) for j, each in enumerate(parents) if each.union]
            unit = (before + gram_seconds()) / 2
            seconds = time.perf_counter() - start
        for row in rows:
            row["score"] /= unit
            row["features"] /= unit
        measures = {
            key: float(np.mean([row[key] for row in rows]))
            for key in ("score", "features", "n_functions")
        }
        measures |= {"gram_seconds": unit, "peak_megabytes": peak_megabytes()}
        return Outcome(measures, seconds, parts=tuple(rows))

    def _scorer(
        self, simulation: Simulation, parents: list[Parents], options: EvidenceOptions
    ) -> LocalScorer:
        """Return a scorer with the number of inducing rows that a fit uses."""
        values = Dataset(simulation.data.to_numpy(), simulation.graph.names).standardised
        n = len(values)
        inducing_rows = np.linspace(0, n - 1, min(max(40, n // 20), 80)).astype(np.intp)

        def scorer_with(hyperparameters: Hyperparameters) -> Scorer:
            return make_scorer(values, values, inducing_rows, hyperparameters, options)

        hyperparameters = Hyperparameters()
        if not self.default_kernels:
            hyperparameters = choose_hyperparameters(
                lambda each: [evidence_at(scorer_with(one), tuple(parents)) for one in each]
            )
        scorer = scorer_with(hyperparameters)
        assert isinstance(scorer, LocalScorer)
        return scorer


def _time_score(scorer: LocalScorer, variable: int, parents: Parents) -> Measures:
    """Return the median seconds of a score and the seconds that its features take."""
    start = time.perf_counter()
    for features, mask in (
        (scorer.mean_features, parents.mean),
        (scorer.variance_features, parents.variance),
    ):
        if mask:
            features.evaluate(mask)
    built = time.perf_counter() - start
    scorer.fit(variable, parents)  # from here on the features are cached
    times = []
    for _ in range(_REPEATS):
        start = time.perf_counter()
        scorer.fit(variable, parents)
        times.append(time.perf_counter() - start)
    return {
        "score": float(np.median(times)),
        "features": built,
        "n_functions": float(scorer.mean_features(parents.mean).functions.shape[1]),
        "has_both": float(bool(parents.mean and parents.variance)),
    }
