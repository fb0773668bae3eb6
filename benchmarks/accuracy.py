"""Accuracy on simulated data with default settings: distances, F1, order search, calibration."""

from __future__ import annotations

import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

import momentdag as md
from benchmarks.calibration import CALIBRATED, calibration, calibration_tables
from benchmarks.gram import timed
from benchmarks.order_search import order_gap
from benchmarks.records import Records
from benchmarks.tables import Table, mean_sd, publish
from momentdag.engines.evidence.options import EvidenceOptions
from momentdag.graph import Selection
from momentdag.metrics import expected_shd, f1, shd
from momentdag.simulate import preset

__all__ = ["DEFAULT_CASES", "FIRST_SEED", "run_accuracy", "run_set"]

FIRST_SEED = 20260
# "preset" or "preset:noise family"; the second kind shows what the flexible default costs.
DEFAULT_CASES = (
    "sparse-5",
    "sparse-5:gaussian",
    "sparse-10",
    "dense-10",
    "sparse-20",
    "literal-5",
    "anm-5",
    "laplace-5",
    "student-5",
)
_MOMENTS: tuple[tuple[str, Selection], ...] = (
    ("mean", "mean"),
    ("variance", "variance"),
    ("union", "either"),
)
_BOTH: tuple[Selection, Selection] = ("mean", "variance")
_TOLERATED_GAP = 5.0  # nats


def run_accuracy(
    console: Console,
    folder: Path,
    raw: Path,
    cases: tuple[str, ...] = DEFAULT_CASES,
    n_sets: int = 20,
    n_calibration_sets: int = 50,
    n_draws: int = 2000,
    n_samples: int = 500,
    jobs: int = 1,
    engine_options: dict[str, Any] | None = None,
) -> int:
    """Run what is missing, print and write the tables; return the number of failed runs."""
    given = {} if engine_options is None else engine_options
    settings: dict[str, Any] = {"n_draws": n_draws, "n_samples": n_samples, "engine_options": given}
    records = Records(raw, "accuracy", settings)
    wanted = [
        (case, number)
        for case in cases
        for number in range(max(n_sets, n_calibration_sets) if case in CALIBRATED else n_sets)
    ]
    records.complete(partial(run_set, **settings), wanted, jobs)
    # Cases finished earlier stay in the table: the long ones are run one at a time.
    known = dict.fromkeys((*DEFAULT_CASES, *records.cases()))
    runs = {case: found for case in known if (found := records.finished(case))}
    pooled = [run for case in CALIBRATED for run in runs.get(case, [])]
    failures = records.failures()
    tables = _tables(runs, failures, settings)
    calibrated: dict[str, Any] = {}
    if pooled:
        calibrated = {"n_sets": len(pooled)}
        calibrated |= {moment: calibration(pooled, moment) for moment in _BOTH}
        tables += calibration_tables(calibrated)
    content = {
        "settings": {**settings, "first_seed": FIRST_SEED},
        "summary": {case: _summary(found) for case, found in runs.items()},
        "calibration": calibrated,
        "runs": {case: [_without_edges(run) for run in found] for case, found in runs.items()},
        "failures": failures,
    }
    publish(console, folder, "accuracy", tables, content)
    return len(failures)


def run_set(
    case: str, number: int, n_draws: int, n_samples: int, engine_options: dict[str, Any]
) -> dict[str, Any]:
    """Simulate one data set, fit it, and compare with the truth."""
    name, _, noise = case.partition(":")
    options = {**engine_options, **({"noise": noise} if noise else {})}
    simulation = preset(name, np.random.default_rng(FIRST_SEED + number), n_samples)
    estimator = md.MomentDAG(n_draws=n_draws, random_state=number, engine_options=options)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        _, timing = timed(lambda: estimator.fit(simulation.data))
    truth, posterior = simulation.graph, estimator.posterior_
    consensus = posterior.consensus()
    record: dict[str, Any] = {
        "seed": FIRST_SEED + number,
        "random_state": number,
        "n_variables": truth.n_variables,
        "status": estimator.status_,
        "warnings": [f"{w.category.__name__}: {w.message}" for w in caught],
        "is_poor": bool(posterior.diagnostics().is_poor),
        "seconds": timing.seconds,
        "gram_seconds": timing.gram_seconds,
        "gram_units": timing.units,
        "order_gap": order_gap(estimator, simulation, EvidenceOptions.from_mapping(options)),
    }
    for label, moment in _MOMENTS:
        found, true = consensus.to_frame(moment), truth.to_frame(moment)
        record[f"shd_{label}"] = shd(found, true)
        record[f"expected_shd_{label}"] = expected_shd(posterior, truth, moment=moment)
        record[f"f1_{label}"] = f1(found, true)
        record[f"n_edges_{label}"] = int(found.to_numpy().sum())
        record[f"n_true_edges_{label}"] = int(true.to_numpy().sum())
    outside = ~np.eye(truth.n_variables, dtype=bool)
    for label in _BOTH:
        probabilities = posterior.edge_probabilities(label).to_numpy()
        record[f"probabilities_{label}"] = probabilities[outside].round(6).tolist()
        record[f"truth_{label}"] = truth.adjacency(label)[outside].astype(int).tolist()
    return record


def _without_edges(run: dict[str, Any]) -> dict[str, Any]:
    return {key: v for key, v in run.items() if not key.startswith(("probabilities_", "truth_"))}


def _gaps(runs: list[dict[str, Any]]) -> list[float]:
    return [run["order_gap"] for run in runs if run["order_gap"] is not None]


def _summary(runs: list[dict[str, Any]]) -> dict[str, Any]:
    measured = [
        *(f"{what}_{label}" for what in ("shd", "expected_shd", "f1") for label, _ in _MOMENTS),
        *(f"n_edges_{label}" for label, _ in _MOMENTS),
        "seconds",
        "gram_units",
    ]
    summary: dict[str, Any] = {"n_sets": len(runs)}
    for key in measured:
        values = [run[key] for run in runs]
        sd = float(np.std(values, ddof=1)) if len(values) > 1 else None
        summary[key] = {"mean": float(np.mean(values)), "sd": sd}
    gaps = _gaps(runs)
    summary["order_gap_worst"] = min(gaps, default=None)
    summary["order_within_5_nats"] = (
        float(np.mean([gap >= -_TOLERATED_GAP for gap in gaps])) if gaps else None
    )
    summary["n_poor"] = sum(run["is_poor"] for run in runs)
    summary["n_incomplete"] = sum(run["status"] != "complete" for run in runs)
    return summary


def _tables(
    runs: dict[str, list[dict[str, Any]]],
    failures: list[dict[str, Any]],
    settings: dict[str, Any],
) -> list[Table]:
    accuracy: list[tuple[str, ...]] = []
    search: list[tuple[str, ...]] = []
    for case, found in runs.items():
        gaps = _gaps(found)

        def column(key: str, digits: int = 2, found: list[dict[str, Any]] = found) -> str:
            return mean_sd([run[key] for run in found], digits)

        accuracy.append(
            (
                case,
                str(len(found)),
                *(column(f"shd_{label}") for label, _ in _MOMENTS),
                *(column(f"expected_shd_{label}") for label in _BOTH),
                *(column(f"f1_{label}") for label, _ in _MOMENTS),
                column("n_edges_variance", 1),
            )
        )
        search.append(
            (
                case,
                f"{sum(gap >= -_TOLERATED_GAP for gap in gaps)} of {len(gaps)}",
                f"{min(gaps):.1f}" if gaps else "-",
                f"{sum(run['is_poor'] for run in found)} of {len(found)}",
                column("seconds", 1),
                mean_sd([run["gram_units"] / 1000 for run in found], 0),
            )
        )
    columns = ("case", "sets", *(f"SHD {label}" for label, _ in _MOMENTS), "E-SHD mean")
    columns += ("E-SHD variance", *(f"F1 {label}" for label, _ in _MOMENTS), "variance edges")
    note = (
        f"Mean ± sd over data sets, {settings['n_samples']} rows, {settings['n_draws']} draws, "
        f"engine options {settings['engine_options'] or 'as by default'}, seeds from {FIRST_SEED}. "
        "SHD, F1 and variance edges: of the consensus pair; E-SHD: averaged over draws."
    )
    if failures:
        named = ", ".join(f"{run['case']} {run['set']}" for run in failures)
        note += f" FAILED RUNS: {named}."
    search_note = (
        "Order found: sets whose best pair scores at most 5 nats below the best pair under the "
        "true order; worst: the smallest difference in nats. Poor chains: sets whose diagnostics "
        "warn. Units: thousands of Gram products on one thread; other work on the machine counts "
        "here, `speed` measures it alone."
    )
    search_columns = ("case", "order found", "worst", "poor chains", "seconds", "thousand units")
    return [
        Table("Accuracy on simulated data", columns, accuracy, note),
        Table("Search and chains on the same data", search_columns, search, search_note),
    ]
