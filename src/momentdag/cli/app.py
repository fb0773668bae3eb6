"""The `momentdag` command."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from momentdag._version import __version__
from momentdag.errors import MomentdagError

__all__ = ["app", "main"]

app = typer.Typer(
    name="momentdag",
    help="Learn from a table who moves the mean of whom, and who moves its variance.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        Console().print(f"momentdag {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version and exit.", callback=_print_version),
    ] = False,
) -> None:
    """Learn from a table who moves the mean of whom, and who moves its variance."""


@app.command()
def demo(
    folder: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for the saved posterior.")
    ] = Path("momentdag-demo"),
    draws: Annotated[int, typer.Option(min=1, help="Graph pairs to draw.")] = 2000,
    seed: Annotated[int, typer.Option(min=0, help="Seed; the same seed, the same result.")] = 0,
    jobs: Annotated[int, typer.Option(help="Processes; the result does not depend on it.")] = 2,
) -> None:
    """Learn both graphs from the embedded Sachs protein data: 853 cells, 11 proteins."""
    from momentdag.cli.demo import run_demo

    run_demo(Console(), folder, draws, seed, jobs)


def main() -> None:
    """Run the command line; a refusal is one sentence and exit code 2, never a traceback."""
    try:
        app()
    except MomentdagError as error:
        Console(stderr=True).print(f"momentdag: {error}", style="red", markup=False)
        sys.exit(2)
