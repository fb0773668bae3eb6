"""``python -m studies list | run NAME... | page``."""

from __future__ import annotations

import json
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

import studies as package
from momentdag.errors import MomentdagError, OptionError
from momentdag.parallel import cluster
from studies.methods import METHODS
from studies.page import write_pages
from studies.registry import STUDIES, find_studies
from studies.runner import INTERRUPTED, Selection, run_studies
from studies.store import Store
from studies.tables import Table

__all__ = ["RESULTS", "app", "main"]

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "studies" / "results"
TRIALS = ROOT / "artefacts" / "studies"
_REFUSED = 2

app = typer.Typer(
    name="python -m studies",
    help="Reproduce the paper's tables and figures, and measure the library.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.command("list")
def list_studies() -> None:
    """Print every study with what it shows, and the methods."""
    for title, in_paper in (("In the paper", True), ("Benchmarks", False)):
        studies = [s for s in STUDIES.values() if (s.kind == "paper") == in_paper]
        lines = tuple((study.name, study.shows) for study in studies)
        _console().print(Table(title, ("study", "what"), lines, n_labels=2).to_rich())
    _console().print(f"Methods: {', '.join(METHODS)}", markup=False)


@app.command()
def run(
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME...", help="Studies; 'all' for the paper's, 'benchmarks' for the others."
        ),
    ],
    quick: Annotated[
        bool,
        typer.Option(
            "--quick",
            help="Few small data sets: checks in minutes that everything runs, not how good it is.",
        ),
    ] = False,
    sets: Annotated[
        int | None,
        typer.Option("--sets", min=1, help="Number of data sets of each case; 20 in the paper."),
    ] = None,
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", help="Number of processes, -1 for all cores.")
    ] = 1,
    scheduler: Annotated[
        str | None,
        typer.Option(
            "--scheduler",
            metavar="ADDRESS",
            help="Run on this Dask cluster (tcp://host:port) instead of --jobs processes.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Folder for the tables of runs: studies/results, or artefacts/studies for looks "
            "and for runs with --quick, --draws or --options.",
        ),
    ] = None,
    methods: Annotated[
        str,
        typer.Option(
            "--methods", metavar="NAMES", help="Only these methods, such as evidence,mc3."
        ),
    ] = "",
    cases: Annotated[
        str, typer.Option("--cases", metavar="NAMES", help="Only these cases, such as sparse-5.")
    ] = "",
    max_variables: Annotated[
        int | None, typer.Option("--max-variables", min=1, help="Leave out larger cases.")
    ] = None,
    draws: Annotated[
        int | None,
        typer.Option("--draws", min=1, help="Number of draws, instead of the published one."),
    ] = None,
    options: Annotated[
        str, typer.Option("--options", help="Further options of the methods, as a JSON object.")
    ] = "{}",
    again: Annotated[bool, typer.Option("--again", help="Also repeat finished runs.")] = False,
) -> None:
    """Make the missing runs of studies and print their tables.

    Example: python -m studies run table-sachs --sets 5 --jobs 2

    Finished runs are kept: after an interruption, the same command continues. All studies with 20
    data sets each take days on one processor core; a single small study takes minutes.
    """
    chosen = find_studies(names)
    is_look = any(study.kind == "look" for study in chosen)
    settings: dict[str, Any] = {"quick": quick, "n_draws": draws, "options": _object(options)}
    is_trial = Store(RESULTS, **settings).is_trial
    folder = output or (TRIALS if is_trial or is_look else RESULTS)
    selection = Selection(sets, _split(methods), _split(cases), max_variables)
    if scheduler is not None:
        import cloudpickle

        # Workers have momentdag, but no checkout with this package.
        cloudpickle.register_pickle_by_value(package)
    with nullcontext() if scheduler is None else cluster(scheduler):
        code = run_studies(
            chosen,
            Store(folder, **settings),
            selection,
            n_jobs=jobs,
            console=_console(),
            again=again or is_look,
        )
    raise typer.Exit(code)


@app.command()
def page(
    results: Annotated[
        Path, typer.Option("--results", help="Folder with the tables of runs.")
    ] = RESULTS,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for the pages and figures.")
    ] = ROOT / "docs" / "generated",
    quick: Annotated[bool, typer.Option("--quick", help="Show quick runs.")] = False,
) -> None:
    """Write the pages of the documentation, with figures, from finished runs."""
    for path in write_pages(Store(results, quick), output):
        _console().print(f"Written to {path}", markup=False, highlight=False)


def main() -> None:
    """Run the command line; invalid input ends in one sentence and exit code 2."""
    try:
        app()
    except MomentdagError as error:
        sys.stderr.write(f"studies: {error}\n")
        sys.exit(_REFUSED)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


def _console() -> Console:
    # In a file or a pipe, wide tables must not be wrapped.
    console = Console()
    return console if console.is_terminal else Console(width=200)


def _split(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _object(text: str) -> dict[str, Any]:
    try:
        parsed = json.loads(text)
    except json.JSONDecodeError as error:
        raise OptionError(f"Expected --options as JSON; got {text!r} ({error}).") from None
    if not isinstance(parsed, dict):
        raise OptionError(f"Expected --options as a JSON object; got {text!r}.")
    return parsed
