"""Both engines on the same data sets, in one table, beside the paper's figures."""

from __future__ import annotations

import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

import momentdag as md
from benchmarks.accuracy import FIRST_SEED
from benchmarks.gram import timed
from benchmarks.records import Records
from benchmarks.tables import Table, mean_sd, publish
from momentdag.engines.variational.options import VariationalOptions
from momentdag.graph import Selection
from momentdag.metrics import expected_shd, f1
from momentdag.simulate import preset

__all__ = ["DEFAULT_PRESETS", "SETTINGS", "run_engines", "run_set"]

DEFAULT_PRESETS = ("sparse-5", "sparse-10")
SETTINGS: dict[str, tuple[str, dict[str, Any]]] = {
    "evidence": ("evidence", {}),
    "variational": ("variational", {}),
    "variational-relaxed": ("variational", {"gradient": "relaxed"}),
    "variational-published": ("variational", VariationalOptions.published().to_dict()),
}
"""Engine and options by the name of a setting."""
# Expected SHD of the mean and the variance graph as the paper gives them (its own draw of data).
_PAPER = {"sparse-5": (2.34, 3.33), "sparse-10": (15.5, 19.3)}
_BOTH: tuple[Selection, Selection] = ("mean", "variance")
_NEW_ROWS = 1000


def run_engines(
    console: Console,
    folder: Path,
    raw: Path,
    presets: tuple[str, ...] = DEFAULT_PRESETS,
    settings: tuple[str, ...] = tuple(SETTINGS),
    n_sets: int = 20,
    n_draws: int = 2000,
    n_samples: int = 500,
    jobs: int = 1,
) -> int:
    """Run what is missing, print and write the table; return the number of failed runs."""
    common = {"n_draws": n_draws, "n_samples": n_samples}
    records = Records(raw, "engines", common)
    wanted = [
        (f"{name}:{setting}", number)
        for name in presets
        for setting in settings
        for number in range(n_sets)
    ]
    records.complete(partial(run_set, **common), wanted, jobs)
    runs = {case: records.finished(case) for case in records.cases()}
    failures = records.failures()
    table = _table(runs, failures, n_draws, n_samples)
    content = {"settings": {**common, "first_seed": FIRST_SEED}, "runs": runs, "failures": failures}
    publish(console, folder, "engines", [table], content)
    return len(failures)


def run_set(case: str, number: int, n_draws: int, n_samples: int) -> dict[str, Any]:
    """Simulate one data set, fit it with one setting, and compare with the truth."""
    name, _, setting = case.partition(":")
    engine, options = SETTINGS[setting]
    simulation = preset(name, np.random.default_rng(FIRST_SEED + number), n_samples)
    estimator = md.MomentDAG(
        engine=engine, n_draws=n_draws, random_state=number, engine_options=options
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        _, timing = timed(lambda: estimator.fit(simulation.data))
    posterior, consensus = estimator.posterior_, estimator.posterior_.consensus()
    new = simulation.sample(np.random.default_rng(FIRST_SEED + 10_000 + number), _NEW_ROWS)
    record: dict[str, Any] = {
        "seed": FIRST_SEED + number,
        "status": estimator.status_,
        "warnings": [f"{w.category.__name__}: {w.message}" for w in caught],
        "seconds": timing.seconds,
        "score": estimator.score(new),
        "details": {
            key: estimator.details_[key]
            for key in ("objectives", "restart_spread", "n_steps", "converged")
            if key in estimator.details_
        },
    }
    for moment in _BOTH:
        record[f"expected_shd_{moment}"] = expected_shd(posterior, simulation.graph, moment=moment)
        found, true = consensus.to_frame(moment), simulation.graph.to_frame(moment)
        record[f"f1_{moment}"] = f1(found, true)
    return record


def _table(
    runs: dict[str, list[dict[str, Any]]],
    failures: list[dict[str, Any]],
    n_draws: int,
    n_samples: int,
) -> Table:
    keys = ("expected_shd_mean", "expected_shd_variance", "f1_mean", "f1_variance", "score")
    rows: list[tuple[str, ...]] = []
    for name in dict.fromkeys(case.partition(":")[0] for case in runs):
        for setting in SETTINGS:
            if found := runs.get(f"{name}:{setting}"):
                cells = [mean_sd([run[key] for run in found]) for key in keys]
                seconds = mean_sd([run["seconds"] for run in found], 1)
                rows.append((f"{name}, {setting}", str(len(found)), *cells, seconds))
        if name in _PAPER:
            paper = tuple(f"{value:g}" for value in _PAPER[name])
            rows.append((f"{name}, in the paper", "-", *paper, *["-"] * 4))
    columns = ("preset, engine", "sets", "E-SHD mean", "E-SHD variance", "F1 mean", "F1 variance")
    note = (
        f"Mean ± sd over data sets, {n_samples} rows, {n_draws} draws, seeds from {FIRST_SEED}. "
        f"E-SHD: averaged over draws; F1: of the consensus pair; score: log density of one of "
        f"{_NEW_ROWS} new rows. 'relaxed' changes nothing but the gradients of edges and order to "
        "the published ones; 'published' is algorithm 1 from one start. Other work on the machine "
        "counts in the seconds."
    )
    if failures:
        named = ", ".join(f"{run['case']} {run['set']}" for run in failures)
        note += f" FAILED RUNS: {named}."
    return Table("Both engines on the same data", (*columns, "score", "seconds"), rows, note)
