"""Does knowing half of the true orderings help, or at least never hurt."""

from __future__ import annotations

import itertools
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

import momentdag as md
from benchmarks.accuracy import FIRST_SEED
from benchmarks.records import Records
from benchmarks.tables import Table, mean_sd, publish
from momentdag.graph import Selection
from momentdag.knowledge import Knowledge
from momentdag.metrics import expected_shd
from momentdag.simulate import preset

__all__ = ["run_knowledge"]

_MOMENTS: tuple[Selection, Selection] = ("mean", "variance")
_CASES = ("sparse-5", "sparse-10")


def run_knowledge(
    console: Console,
    folder: Path,
    raw: Path,
    cases: tuple[str, ...] = _CASES,
    n_sets: int = 10,
    share: float = 0.5,
    n_draws: int = 2000,
    n_samples: int = 500,
    jobs: int = 1,
    engine_options: dict[str, Any] | None = None,
) -> int:
    """Run what is missing, print and write the table; return the number of failed runs."""
    settings: dict[str, Any] = {
        "share": share,
        "n_draws": n_draws,
        "n_samples": n_samples,
        "engine_options": {} if engine_options is None else engine_options,
    }
    records = Records(raw, "knowledge", settings)
    records.complete(
        partial(_run, **settings), [(c, i) for c in cases for i in range(n_sets)], jobs
    )
    runs = {case: records.finished(case) for case in cases}
    rows = []
    for case, found in runs.items():
        cells = [case, str(len(found))]
        for moment in _MOMENTS:
            for key in ("without", "with"):
                cells.append(mean_sd([run[f"{moment}_{key}"] for run in found]))
        total = [sum(run[f"{m}_with"] - run[f"{m}_without"] for m in _MOMENTS) for run in found]
        rows.append((*cells, mean_sd(total), str(sum(run["violations"] for run in found))))
    columns = (
        "preset",
        "sets",
        "mean, without",
        "mean, with",
        "variance, without",
        "variance, with",
        "change of the sum",
        "broken",
    )
    failures = records.failures()
    note = (
        f"Expected SHD with {share:.0%} of all pairwise orderings of the true order given as hard "
        "knowledge, and without. Broken: draws that contradict what was given."
    ) + (f" FAILED RUNS: {len(failures)}." if failures else "")
    table = Table("Knowledge of orderings", columns, rows, note)
    content = {"settings": settings, "runs": runs, "failures": failures}
    publish(console, folder, "knowledge", [table], content)
    return len(failures)


def _run(
    case: str,
    number: int,
    share: float,
    n_draws: int,
    n_samples: int,
    engine_options: dict[str, Any],
) -> dict[str, Any]:
    rng = np.random.default_rng(FIRST_SEED + number)
    simulation = preset(case, rng, n_samples)
    pairs = list(itertools.combinations(simulation.order, 2))
    chosen = rng.choice(len(pairs), size=round(share * len(pairs)), replace=False)
    given = [pairs[k] for k in np.sort(chosen)]
    record: dict[str, Any] = {"given": given, "seed": FIRST_SEED + number}
    for key, knowledge in (("without", None), ("with", Knowledge(order=given))):
        estimator = md.MomentDAG(
            knowledge=knowledge,
            n_draws=n_draws,
            random_state=number,
            engine_options=engine_options,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            estimator.fit(simulation.data)
        posterior = estimator.posterior_
        for moment in _MOMENTS:
            record[f"{moment}_{key}"] = expected_shd(posterior, simulation.graph, moment=moment)
    # What is known is transitive: first before second rules out every path back.
    ancestors = estimator.posterior_.ancestor_probabilities()
    broken = [float(ancestors.loc[second, first]) for first, second in given]
    record["violations"] = round(sum(broken) * n_draws)
    return record
