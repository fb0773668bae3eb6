"""Arguments and options shared by several commands."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = [
    "DataArgument",
    "DrawsOption",
    "ForceOption",
    "JobsOption",
    "JsonOption",
    "KnowledgeOption",
    "LevelOption",
    "LogScaleOption",
    "ReportOption",
    "RunArgument",
    "SeedOption",
    "WorldsOption",
]


def _check_jobs(jobs: int) -> int:
    if jobs == -1 or jobs >= 1:
        return jobs
    raise typer.BadParameter(f"{jobs} is neither a positive number nor -1 (all cores).")


DataArgument = Annotated[
    Path,
    typer.Argument(
        metavar="DATA", help="A CSV, TSV or Parquet file with one row for each observation."
    ),
]
RunArgument = Annotated[
    Path, typer.Argument(metavar="RUN", help="The folder that `momentdag fit` wrote.")
]
KnowledgeOption = Annotated[
    Path | None,
    typer.Option("--knowledge", "-k", help="File with prior knowledge: .toml, .json or Tetrad."),
]
LogScaleOption = Annotated[
    str | None,
    typer.Option(
        "--log-scale",
        metavar="COLUMNS",
        help="Take natural logarithms of these columns (a,b,c) or of 'all'.",
    ),
]
DrawsOption = Annotated[
    int, typer.Option("--draws", min=1, help="Number of draws (pairs of graphs).")
]
SeedOption = Annotated[
    int, typer.Option("--seed", min=0, help="Random seed; the same seed gives the same result.")
]
JobsOption = Annotated[
    int,
    typer.Option(
        "--jobs",
        "-j",
        help="Number of processes, -1 for all cores; the result does not depend on it.",
        callback=_check_jobs,
    ),
]
ReportOption = Annotated[bool, typer.Option("--report/--no-report", help="Also write report.html.")]
LevelOption = Annotated[float, typer.Option("--level", help="Probability of the intervals.")]
WorldsOption = Annotated[
    int,
    typer.Option(
        "--worlds", min=2, help="Number of posterior samples (graphs, functions) to average over."
    ),
]
ForceOption = Annotated[
    bool,
    typer.Option("--force", help="Show the answer even where the model does not fit the data."),
]
JsonOption = Annotated[
    bool, typer.Option("--json", help="Print one JSON object, for other programs.")
]
