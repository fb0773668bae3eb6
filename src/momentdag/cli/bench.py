"""`momentdag bench`: a quick look at speed and accuracy on this machine."""

from __future__ import annotations

import sys
import time
import warnings
from typing import Any, Literal

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from tqdm.auto import tqdm

from momentdag.cli.console import print_json, print_records
from momentdag.cli.parsing import parse_names
from momentdag.errors import DataWarning
from momentdag.estimator import MomentDAG
from momentdag.metrics import expected_f1, expected_shd
from momentdag.simulate import preset

__all__ = ["run_bench"]


def run_bench(
    presets: str,
    n_sets: int,
    engine: Literal["evidence", "variational"],
    n_draws: int,
    n_jobs: int,
    as_json: bool,
) -> None:
    """Fit simulated data sets and print times and distances from the truth."""
    tasks = [(name, number) for name in parse_names(presets) for number in range(n_sets)]
    records = [
        _measure(name, number, engine, n_draws, n_jobs)
        for name, number in tqdm(tasks, desc="fits", disable=not sys.stderr.isatty(), leave=False)
    ]
    if as_json:
        print_json({"engine": engine, "n_draws": n_draws, "n_jobs": n_jobs, "fits": records})
    else:
        print_records(records)


def _measure(
    name: str, seed: int, engine: Literal["evidence", "variational"], n_draws: int, n_jobs: int
) -> dict[str, Any]:
    simulation = preset(name, np.random.default_rng(seed))
    estimator = MomentDAG(engine=engine, n_draws=n_draws, n_jobs=n_jobs, random_state=seed)
    started = time.perf_counter()
    with warnings.catch_warnings():
        # Whether the draws are good is a column of the table.
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", DataWarning)
        posterior = estimator.fit(simulation.data).posterior_
    seconds = time.perf_counter() - started
    truth = simulation.graph
    return {
        "preset": name,
        "seed": seed,
        "rows": len(simulation.data),
        "variables": truth.n_variables,
        "seconds": seconds,
        "mean_shd": expected_shd(posterior, truth, moment="mean"),
        "variance_shd": expected_shd(posterior, truth, moment="variance"),
        "mean_f1": expected_f1(posterior, truth, moment="mean"),
        "variance_f1": expected_f1(posterior, truth, moment="variance"),
        "draws_are_good": not posterior.diagnostics().is_poor,
    }
