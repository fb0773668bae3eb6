"""`momentdag report`: one HTML file about a run."""

from __future__ import annotations

from pathlib import Path

from momentdag import runs
from momentdag.cli.console import console, print_json
from momentdag.report import write_report

__all__ = ["run_report"]


def run_report(run: Path, output: Path | None, title: str | None, as_json: bool) -> None:
    """Write the report of a run and say where it is."""
    estimator, data = runs.load(run), runs.load_data(run)
    source = runs.read_info(run).data.source
    path = write_report(
        estimator,
        data,
        run / "report.html" if output is None else output,
        title=source if title is None else title,
        knowledge=estimator.knowledge,
    )
    if as_json:
        print_json({"report": str(path)})
    else:
        console().print(f"Open the report in a browser: {path}", markup=False)
