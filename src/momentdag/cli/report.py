"""`momentdag report`: one HTML file about a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import momentdag as md
from momentdag.cli.console import print_json, print_line
from momentdag.cli.options import JsonOption, RunArgument
from momentdag.errors import StorageError

__all__ = ["report", "write_into_run"]


def report(
    run: RunArgument,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="File to write. By default report.html in the run."),
    ] = None,
    title: Annotated[
        str | None,
        typer.Option("--title", help="Heading of the report. By default the name of the data."),
    ] = None,
    outcome: Annotated[
        list[str] | None,
        typer.Option(
            "--outcome",
            metavar="NAME",
            help="What can be asked about in the section “What if?”; may be repeated. By default "
            "the three variables that others move most probably.",
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Write the report of a run: one HTML file for any browser."""
    fitted = md.runs.load_run(run, with_data=True)
    if fitted.data is None:
        raise StorageError(
            f"Expected a run with its table, which the report needs; {run} was saved without its "
            "data. Fit the table again with `momentdag fit`."
        )
    heading = fitted.info.data.source if title is None else title
    if output is None:
        path = write_into_run(run, fitted.estimator, fitted.data, heading, outcome)
    else:
        path = md.report.write_report(
            fitted.estimator, fitted.data, output, title=heading, outcomes=outcome
        )
    if json:
        print_json({"report": str(path)})
    else:
        print_line(f"Open the report in a browser: {path}")


def write_into_run(
    run: Path,
    estimator: md.MomentDAG,
    data: md.Dataset,
    title: str,
    outcomes: list[str] | None = None,
) -> Path:
    """Write the report of a run into its folder, holding the folder's lock."""
    from momentdag.storage.folder import REPORT
    from momentdag.storage.lock import locked

    with locked(run):
        return md.report.write_report(estimator, data, run / REPORT, title=title, outcomes=outcomes)
