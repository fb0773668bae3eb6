"""`momentdag report`: one HTML file about a run."""

from __future__ import annotations

from pathlib import Path

from momentdag import runs
from momentdag.cli.console import console, print_json
from momentdag.data import Dataset
from momentdag.estimator import MomentDAG
from momentdag.report import write_report
from momentdag.runs.folder import REPORT
from momentdag.runs.lock import locked

__all__ = ["report_into", "run_report"]


def run_report(run: Path, output: Path | None, title: str | None, as_json: bool) -> None:
    """Write the report of a run and say where it is."""
    estimator, data = runs.load(run), runs.load_data(run)
    heading = runs.read_info(run).data.source if title is None else title
    if output is None:
        path = report_into(run, estimator, data, heading)
    else:
        path = write_report(estimator, data, output, title=heading)
    if as_json:
        print_json({"report": str(path)})
    else:
        console().print(f"Open the report in a browser: {path}", markup=False)


def report_into(run: Path, estimator: MomentDAG, data: Dataset, title: str) -> Path:
    """Write the report of a run into its folder, which nobody else may be writing into."""
    with locked(run):
        return write_report(estimator, data, run / REPORT, title=title)
