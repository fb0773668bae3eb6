"""`momentdag fit`: from a file to a run folder."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from sklearn.exceptions import ConvergenceWarning

from momentdag import runs
from momentdag.cli.console import console, plain, print_json
from momentdag.cli.parsing import parse_options
from momentdag.cli.program import Interrupted, on_cluster
from momentdag.cli.reading import read_data, read_knowledge
from momentdag.cli.report import report_into
from momentdag.cli.summary import edge_records, print_edges
from momentdag.errors import OptionError
from momentdag.estimator import MomentDAG
from momentdag.progress import ProgressBar

__all__ = ["FitRequest", "run_fit"]


@dataclass(frozen=True)
class FitRequest:
    """Everything that `momentdag fit` was asked for."""

    data: Path
    folder: Path
    engine: Literal["evidence", "variational"]
    knowledge: Path | None
    n_draws: int
    seed: int
    n_jobs: int
    scheduler: str | None
    log_scale: str | None
    options: Sequence[str]
    resume: bool
    force: bool
    report: bool


def run_fit(request: FitRequest, as_json: bool) -> None:
    """Fit, write the run folder and its report, and say what was found."""
    started = time.monotonic()
    if request.scheduler is not None and request.engine != "evidence":
        raise OptionError(
            f"Expected --scheduler with the evidence engine; got --engine {request.engine}, whose "
            "restarts share one process. Leave --scheduler out."
        )
    dataset, log_columns = read_data(request.data, request.log_scale)
    estimator = MomentDAG(
        engine=request.engine,
        knowledge=read_knowledge(request.knowledge),
        n_draws=request.n_draws,
        n_jobs=request.n_jobs,
        random_state=request.seed,
        engine_options=parse_options(request.options),
    )
    try:
        with (
            on_cluster(request.scheduler),
            warnings.catch_warnings(),
            ProgressBar(disable=not sys.stderr.isatty()) as bar,
        ):
            # How good the draws are is part of the answer.
            warnings.simplefilter("ignore", ConvergenceWarning)
            estimator = runs.fit(
                estimator,
                dataset,
                request.folder,
                resume=request.resume,
                force=request.force,
                source=request.data.name,
                log_columns=log_columns,
                progress=bar,
            )
    except KeyboardInterrupt as error:
        kind = Interrupted if isinstance(error, Interrupted) else KeyboardInterrupt
        raise kind(
            f"Interrupted. What is finished is kept in {request.folder}; the same command with "
            "--resume goes on from there."
        ) from None
    report = None
    if request.report:
        report = report_into(request.folder, estimator, dataset, request.data.name)
    posterior = estimator.posterior_
    diagnostics = posterior.diagnostics()
    n_for_structure = posterior.provenance.options.get("n_samples_for_structure", dataset.n_samples)
    edges = edge_records(posterior)
    if as_json:
        print_json(
            {
                "folder": str(request.folder),
                "report": None if report is None else str(report),
                "status": estimator.status_,
                "n_samples": dataset.n_samples,
                "n_samples_for_structure": n_for_structure,
                "n_variables": dataset.n_variables,
                "n_draws": posterior.n_draws,
                "seconds": round(time.monotonic() - started, 3),
                "edges": edges,
                "consensus": {
                    "mean": [list(edge) for edge in estimator.mean_graph_.edges],
                    "variance": [list(edge) for edge in estimator.variance_graph_.edges],
                },
                "draws_are_poor": diagnostics.is_poor,
            }
        )
        return
    out = console()
    print_edges(edges)
    out.print("A probability is the share of drawn graph pairs that hold the edge.")
    if n_for_structure < dataset.n_samples:
        out.print(
            f"Graphs were learned from {n_for_structure} of the {dataset.n_samples} rows, drawn at "
            "random; functions are fitted to all. --option max_rows=... takes more."
        )
    out.print(f"Check of the draws: {plain(diagnostics.message())}", markup=False)
    if estimator.status_ != "complete":
        out.print(f"The fit was {estimator.status_}.", style="yellow")
    out.print(f"The run is in {request.folder}", markup=False)
    if report is not None:
        out.print(f"Open the report in a browser: {report}", markup=False)
