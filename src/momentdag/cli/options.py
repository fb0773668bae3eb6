"""Arguments and options shared by several commands."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

__all__ = [
    "ColumnsOption",
    "DataArgument",
    "DrawsOption",
    "DropOption",
    "ForceOption",
    "JobsOption",
    "JsonOption",
    "KindOption",
    "KnowledgeOption",
    "LevelOption",
    "LogScaleOption",
    "MissingOption",
    "ReportOption",
    "RunArgument",
    "SeedOption",
    "SheetOption",
    "TransformOption",
    "WorldsOption",
]


def _check_jobs(jobs: int) -> int:
    if jobs == -1 or jobs >= 1:
        return jobs
    raise typer.BadParameter(f"{jobs} is neither a positive number nor -1 (all cores).")


DataArgument = Annotated[
    Path,
    typer.Argument(
        metavar="DATA", help="A CSV, Excel or Parquet file with one row for each observation."
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
ColumnsOption = Annotated[
    str | None,
    typer.Option("--columns", metavar="COLUMNS", help="Use only these columns (a,b,c)."),
]
DropOption = Annotated[
    str | None, typer.Option("--drop", metavar="COLUMNS", help="Leave out these columns (a,b,c).")
]
KindOption = Annotated[
    list[str],
    typer.Option(
        "--kind",
        metavar="NAME=KIND",
        default_factory=list,
        show_default=False,
        help="The kind of a column, if it is not to be guessed: continuous, ordered, count, "
        "binary, category, time or identifier; may be repeated.",
    ),
]
TransformOption = Annotated[
    list[str],
    typer.Option(
        "--transform",
        metavar="NAME=log",
        default_factory=list,
        show_default=False,
        help="Fit the logarithm of a column; may be repeated.",
    ),
]
MissingOption = Annotated[
    Literal["auto", "impute", "drop", "refuse"],
    typer.Option(
        "--missing",
        help="Leave out rows with missing cells, or impute these; auto leaves out rows where that "
        "costs less than 5 % of them.",
    ),
]
SheetOption = Annotated[
    str | None, typer.Option("--sheet", help="Sheet of an Excel file; the first by default.")
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
