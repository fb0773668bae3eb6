"""Speed on one thread, in Gram products: one local score, whole fits, and growth with rows."""

from __future__ import annotations

import resource
import sys
import time
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from threadpoolctl import threadpool_limits
from tqdm.auto import tqdm

import momentdag as md
from benchmarks.accuracy import FIRST_SEED
from benchmarks.gram import gram_seconds, timed
from benchmarks.order_search import parents_of
from benchmarks.tables import Table, mean_sd, publish
from momentdag.data import Dataset
from momentdag.engines.evidence.family import Parents, Scorer
from momentdag.engines.evidence.options import EvidenceOptions
from momentdag.engines.evidence.score import LocalScorer, NoiseFamily
from momentdag.engines.evidence.scoring import (
    Hyperparameters,
    choose_hyperparameters,
    evidence_at,
    make_scorer,
)
from momentdag.simulate import Simulation, preset

__all__ = ["run_speed"]

_NOISES: tuple[NoiseFamily, ...] = ("gaussian", "flexible")
_REPEATS = 7
_LONGEST_FIT = 10_000  # rows


class ScoreTime(NamedTuple):
    """Median time of one score and of its features, in Gram products."""

    score: float
    features: float
    n_functions: int
    has_both: bool


def run_speed(
    console: Console,
    folder: Path,
    sizes: tuple[int, ...] = (5, 10, 20),
    n_fits: int = 3,
    n_score_sets: int = 5,
    n_draws: int = 2000,
    rows: tuple[int, ...] = (500, 2000, 10_000, 50_000, 100_000),
    engine_options: dict[str, Any] | None = None,
) -> None:
    """Measure, print and write the tables."""
    unit = gram_seconds()
    scores = {
        noise: [
            t for k in range(n_score_sets) for t in _score_times(_simulate("sparse-10", k), noise)
        ]
        for noise in tqdm(_NOISES, desc="local scores")
    }
    fits: dict[int, list[dict[str, float]]] = {}
    # Memory only ever rises, so small problems come first.
    for d in sorted(sizes):
        numbers = tqdm(range(n_fits), desc=f"fits, d = {d}")
        fits[d] = [_fit(_simulate(f"sparse-{d}", k), k, n_draws, engine_options) for k in numbers]
    growth = [
        _at_rows(n, n_draws, engine_options) for n in tqdm(sorted(rows), desc="growth with rows")
    ]
    tables = [
        _score_table(scores, unit),
        _fit_table(fits, n_draws, engine_options),
        _growth_table(growth),
    ]
    content = {
        "settings": {"n_draws": n_draws, "engine_options": engine_options},
        "gram_seconds": unit,
        "scores": {noise: [t._asdict() for t in found] for noise, found in scores.items()},
        "fits": {str(d): found for d, found in fits.items()},
        "growth": growth,
    }
    publish(console, folder, "speed", tables, content)


def _simulate(name: str, number: int, n_samples: int = 500) -> Simulation:
    return preset(name, np.random.default_rng(FIRST_SEED + number), n_samples)


def _peak_megabytes() -> float:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 2**20 if sys.platform == "darwin" else peak / 2**10


def _true_parents(simulation: Simulation) -> list[Parents]:
    return parents_of(simulation.graph, simulation.graph.names)


def _scorer(
    simulation: Simulation, noise: NoiseFamily, hyperparameters: Hyperparameters | None
) -> LocalScorer:
    """Return a scorer with as many inducing rows as a fit takes; kernels by evidence if None."""
    values = Dataset(simulation.data.to_numpy(), simulation.graph.names).standardised
    n = len(values)
    inducing_rows = np.linspace(0, n - 1, min(max(40, n // 20), 80)).astype(np.intp)
    options = EvidenceOptions(noise=noise)

    def scorer_with(hyperparameters: Hyperparameters) -> Scorer:
        return make_scorer(values, values, inducing_rows, hyperparameters, options)

    if hyperparameters is None:
        parents = tuple(_true_parents(simulation))
        hyperparameters = choose_hyperparameters(
            lambda each: [evidence_at(scorer_with(one), parents) for one in each]
        )
    scorer = scorer_with(hyperparameters)
    assert isinstance(scorer, LocalScorer)
    return scorer


def _score_times(
    simulation: Simulation, noise: NoiseFamily, hyperparameters: Hyperparameters | None = None
) -> list[ScoreTime]:
    """Time the score of every variable that has parents, given its true ones."""
    found = []
    with threadpool_limits(1):
        scorer = _scorer(simulation, noise, hyperparameters)
        before = gram_seconds()
        for variable, parents in enumerate(_true_parents(simulation)):
            if not parents.union:
                continue
            start = time.perf_counter()
            for features, mask in (
                (scorer.mean_features, parents.mean),
                (scorer.variance_features, parents.variance),
            ):
                if mask:
                    features.evaluate(mask)
            built = time.perf_counter() - start
            scorer.fit(variable, parents)  # from here on the features are at hand
            times = []
            for _ in range(_REPEATS):
                start = time.perf_counter()
                scorer.fit(variable, parents)
                times.append(time.perf_counter() - start)
            n_functions = scorer.mean_features(parents.mean).functions.shape[1]
            both = bool(parents.mean and parents.variance)
            found.append(ScoreTime(float(np.median(times)), built, n_functions, both))
        unit = (before + gram_seconds()) / 2
    return [t._replace(score=t.score / unit, features=t.features / unit) for t in found]


def _fit(
    simulation: Simulation, seed: int, n_draws: int, engine_options: dict[str, Any] | None
) -> dict[str, float]:
    estimator = md.MomentDAG(n_draws=n_draws, random_state=seed, engine_options=engine_options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # `accuracy` tells which fits have poor chains
        _, timing = timed(lambda: estimator.fit(simulation.data))
    return {
        "seconds": timing.seconds,
        "gram_seconds": timing.gram_seconds,
        "units": timing.units,
        "peak_megabytes": _peak_megabytes(),
    }


def _at_rows(n: int, n_draws: int, engine_options: dict[str, Any] | None) -> dict[str, Any]:
    result: dict[str, Any] = {"n_samples": n}
    for noise in _NOISES:
        # The same kernels for all n, so that only the rows differ.
        times = _score_times(_simulate("sparse-10", 0, n), noise, Hyperparameters())
        result[f"score_{noise}"] = float(np.mean([t.score for t in times]))
        result["n_functions"] = float(np.mean([t.n_functions for t in times]))
        result["features"] = float(np.mean([t.features for t in times]))
    result["fit"] = None
    if n <= _LONGEST_FIT:
        result["fit"] = _fit(_simulate("sparse-5", 0, n), 0, n_draws, engine_options)["units"]
    result["peak_megabytes"] = _peak_megabytes()
    return result


def _score_table(scores: dict[NoiseFamily, list[ScoreTime]], unit: float) -> Table:
    rows: list[tuple[str, ...]] = []
    for noise, times in scores.items():
        both = [t for t in times if t.has_both]
        rows.append(
            (
                noise,
                mean_sd([t.score for t in times], 1),
                mean_sd([t.score for t in both], 1),
                mean_sd([t.features for t in times], 1),
                mean_sd([t.n_functions for t in times], 0),
                f"{len(times)} / {len(both)}",
            )
        )
    note = (
        "Converged scores at the true parents, sparse-10 data, 500 rows, features at hand, as "
        f"multiples of F'DF (n = 500, p = 45), here {1e6 * unit:.0f} microseconds. Features are "
        "built once for each parent set."
    )
    columns = ("noise", "one score", "both moments", "features", "functions", "n / n both")
    return Table("One local score, in Gram products", columns, rows, note)


def _fit_table(
    fits: dict[int, list[dict[str, float]]], n_draws: int, engine_options: dict[str, Any] | None
) -> Table:
    rows: list[tuple[str, ...]] = [
        (
            f"sparse-{d}",
            str(len(found)),
            mean_sd([fit["units"] for fit in found], 0),
            f"{max(fit['units'] for fit in found):.0f}",
            mean_sd([fit["seconds"] for fit in found], 1),
            f"{max(fit['peak_megabytes'] for fit in found):.0f}",
        )
        for d, found in fits.items()
    ]
    columns = ("preset", "fits", "Gram products", "slowest", "seconds", "peak MB")
    note = (
        f"Engine options {engine_options or 'as by default'}, 500 rows, {n_draws} draws, one "
        "thread. Peak memory of the process."
    )
    return Table("A whole fit, in Gram products", columns, rows, note)


def _growth_table(growth: list[dict[str, Any]]) -> Table:
    rows: list[tuple[str, ...]] = []
    for at in growth:
        per_row = at["score_flexible"] / at["n_samples"] * 1000
        rows.append(
            (
                f"{at['n_samples']}",
                f"{at['n_functions']:.0f}",
                f"{at['score_gaussian']:.1f}",
                f"{at['score_flexible']:.1f}",
                f"{per_row:.1f}",
                f"{at['features']:.1f}",
                "-" if at["fit"] is None else f"{at['fit']:.0f}",
                f"{at['peak_megabytes']:.0f}",
            )
        )
    columns = (
        "rows",
        "functions",
        "gaussian score",
        "flexible score",
        "flexible per 1000 rows",
        "features",
        "fit, d = 5",
        "peak MB",
    )
    note = "Gram products (n = 500, p = 45); scores at the true parents of sparse-10 data with the "
    note += "default kernels, fits of sparse-5 data. From 40 inducing rows at n <= 800 to "
    note += "80 at n >= 1600; from there on only the rows grow."
    steady = [at for at in growth if at["n_samples"] >= 1600]
    if len(steady) > 1:
        log_n = np.log([at["n_samples"] for at in steady])
        slope = np.polyfit(log_n, np.log([at["score_flexible"] for at in steady]), 1)[0]
        note += f" Fitted exponent of n for the flexible score from there on: {slope:.2f}."
    return Table("Growth with the number of rows", columns, rows, note)
