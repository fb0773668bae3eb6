"""The commands that read data: demo, screen, fit, report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from momentdag.cli.program import JsonOption, RunArgument, SchedulerOption

__all__ = ["demo", "fit", "report", "screen"]

DataArgument = Annotated[
    Path,
    typer.Argument(
        metavar="DATA", help="A CSV, TSV or Parquet file; one row for each observation."
    ),
]
KnowledgeOption = Annotated[
    Path | None,
    typer.Option("--knowledge", "-k", help="What is known: a .toml, .json or Tetrad file."),
]
LogOption = Annotated[
    str | None,
    typer.Option(
        "--log-scale",
        metavar="COLUMNS",
        help="Take natural logarithms of these columns (a,b,c) or of 'all'.",
    ),
]
DrawsOption = Annotated[int, typer.Option("--draws", min=1, help="Graph pairs to draw.")]
SeedOption = Annotated[
    int, typer.Option("--seed", min=0, help="The same seed gives the same result.")
]
ReportOption = Annotated[bool, typer.Option("--report/--no-report", help="Also write report.html.")]
JobsOption = Annotated[
    int,
    typer.Option(
        "--jobs", "-j", help="Processes, -1 for all cores; the result does not depend on it."
    ),
]


def demo(
    folder: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for the run and its report.")
    ] = Path("momentdag-demo"),
    cells: Annotated[
        int, typer.Option("--cells", min=50, max=853, help="Use the first so many cells only.")
    ] = 853,
    draws: DrawsOption = 2000,
    seed: SeedOption = 0,
    jobs: JobsOption = 2,
    report: ReportOption = True,
) -> None:
    """Learn both graphs of the embedded Sachs protein data."""
    from momentdag.cli.demo import run_demo

    run_demo(folder, cells, draws, seed, jobs, report)


def screen(
    data: DataArgument,
    knowledge: KnowledgeOption = None,
    level: Annotated[
        float, typer.Option("--level", help="Chance of any false alarm, over all columns.")
    ] = 0.05,
    log_scale: LogOption = None,
    seed: SeedOption = 0,
    jobs: JobsOption = 1,
    json: JsonOption = False,
) -> None:
    """Test whether the spread of any column depends on the others."""
    from momentdag.cli.screen import run_screen

    run_screen(data, knowledge, level, log_scale, seed, jobs, json)


def fit(
    data: DataArgument,
    folder: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for the run; made if need be.")
    ],
    engine: Annotated[
        Literal["evidence", "variational"],
        typer.Option("--engine", help="How the posterior is found."),
    ] = "evidence",
    knowledge: KnowledgeOption = None,
    draws: DrawsOption = 2000,
    seed: SeedOption = 0,
    jobs: JobsOption = 1,
    scheduler: SchedulerOption = None,
    log_scale: LogOption = None,
    option: Annotated[
        list[str] | None,
        typer.Option(
            "--option", metavar="NAME=VALUE", help="An option of the engine; may be repeated."
        ),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Go on with an interrupted fit (start if there is none)."),
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Replace the run that is in the folder.")
    ] = False,
    report: ReportOption = True,
    json: JsonOption = False,
) -> None:
    """Learn the mean graph and the variance graph of a table.

    Example: momentdag fit cells.csv -o run --knowledge lab.toml --jobs 2

    The folder holds all there is to the result; ctrl-C, a kill or a power cut leave it valid, and
    the same command with --resume goes on.
    """
    from momentdag.cli.fit import FitRequest, run_fit

    request = FitRequest(
        data,
        folder,
        engine,
        knowledge,
        draws,
        seed,
        jobs,
        scheduler,
        log_scale,
        [] if option is None else option,
        resume,
        force,
        report,
    )
    run_fit(request, json)


def report(
    run: RunArgument,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="By default report.html in the folder.")
    ] = None,
    title: Annotated[str | None, typer.Option("--title", help="Heading of the report.")] = None,
    json: JsonOption = False,
) -> None:
    """Write the report of a run: one HTML file for any browser."""
    from momentdag.cli.report import run_report

    run_report(run, output, title, json)
