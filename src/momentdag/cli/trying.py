"""The commands that need no data of one's own: simulate, bench, reproduce."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from momentdag.cli.program import JsonOption, SchedulerOption, on_cluster

__all__ = ["bench", "reproduce", "simulate"]


def simulate(
    preset: Annotated[
        str | None,
        typer.Argument(metavar="PRESET", help="Which simulation; without it all are listed."),
    ] = None,
    folder: Annotated[
        Path | None, typer.Option("--output", "-o", help="Folder for data and truth.")
    ] = None,
    rows: Annotated[int, typer.Option("--rows", min=2, help="Rows to draw.")] = 500,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Same seed, same data.")] = 0,
    json: JsonOption = False,
) -> None:
    """Write simulated data whose graphs are known.

    Example: momentdag simulate sparse-5 -o made

    The folder gets data.csv, mean_graph.csv and variance_graph.csv (the row causes the column).
    """
    from momentdag.cli.simulate import list_presets, run_simulate

    if preset is None:
        list_presets(json)
    else:
        run_simulate(preset, folder, rows, seed, json)


def reproduce(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME",
            help="Experiments, such as fig-sparse, or 'all'; without any they are listed.",
        ),
    ] = None,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick",
            help="Few small data sets: shows that everything runs, in minutes, not how good it is.",
        ),
    ] = False,
    sets: Annotated[
        int | None, typer.Option("--sets", min=1, help="Data sets of each case; the paper has 20.")
    ] = None,
    jobs: Annotated[int, typer.Option("--jobs", "-j", help="Processes; -1 for all.")] = 1,
    scheduler: SchedulerOption = None,
    folder: Annotated[
        Path, typer.Option("--output", "-o", help="Where results and their page are kept.")
    ] = Path("reproduction"),
    methods: Annotated[
        str | None,
        typer.Option("--methods", metavar="NAMES", help="Run only these: evidence,mc3 and so on."),
    ] = None,
    max_variables: Annotated[
        int | None, typer.Option("--max-variables", min=1, help="Leave out larger cases.")
    ] = None,
    page: Annotated[
        Path | None,
        typer.Option(
            "--page", help="Write the page to another folder, and go on from the runs of one there."
        ),
    ] = None,
) -> None:
    """Reproduce tables and figures of the paper.

    Example: momentdag reproduce table-sachs --sets 5 --jobs 2

    Finished runs are kept: the same command goes on after an interruption. All experiments with 20
    data sets each take days of a processor core; a single one at small size takes minutes.
    """
    from momentdag.cli.console import console
    from momentdag.cli.parsing import parse_names
    from momentdag.cli.reproduce import list_experiments
    from momentdag.experiments.runner import reproduce as run_reproduce

    if not names:
        list_experiments()
        return
    with on_cluster(scheduler):
        code = run_reproduce(
            names,
            quick=quick,
            n_sets=sets,
            n_jobs=jobs,
            folder=folder,
            console=console(),
            methods=None if methods is None else parse_names(methods),
            max_variables=max_variables,
            page_folder=page,
        )
    raise typer.Exit(code)


def bench(
    presets: Annotated[
        str, typer.Option("--presets", metavar="NAMES", help="Simulations to fit: a,b,c.")
    ] = "sparse-5,sparse-10",
    sets: Annotated[int, typer.Option("--sets", min=1, help="Data sets of each.")] = 1,
    engine: Annotated[
        Literal["evidence", "variational"], typer.Option("--engine", help="Engine to measure.")
    ] = "evidence",
    draws: Annotated[int, typer.Option("--draws", min=1, help="Graph pairs to draw.")] = 2000,
    jobs: Annotated[int, typer.Option("--jobs", "-j", help="Processes; -1 for all.")] = 1,
    json: JsonOption = False,
) -> None:
    """Measure speed and accuracy of fits on this machine.

    A look, not a study: the figures that momentdag stands by come from `python -m benchmarks` in a
    checkout of the source.
    """
    from momentdag.cli.bench import run_bench

    run_bench(presets, sets, engine, draws, jobs, json)
