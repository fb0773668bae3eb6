"""`momentdag demo`: the main job on the embedded Sachs data."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning

from momentdag import runs
from momentdag.cli.console import console
from momentdag.cli.report import report_into
from momentdag.cli.summary import edge_records, print_edges
from momentdag.data import Dataset
from momentdag.datasets import load_sachs
from momentdag.errors import DataWarning, StorageError
from momentdag.estimator import MomentDAG
from momentdag.progress import ProgressBar

__all__ = ["run_demo"]

_SOURCE = "Sachs et al. 2005, embedded in momentdag"


def run_demo(
    folder: Path, n_cells: int, n_draws: int, seed: int, n_jobs: int, with_report: bool
) -> None:
    """Fit the Sachs data on the log scale, show the most probable edges, write run and report."""
    _check_own(folder)
    out = console()
    sachs = load_sachs(truth="17")
    estimator = MomentDAG(n_draws=n_draws, random_state=seed, n_jobs=n_jobs)
    with warnings.catch_warnings():
        # Logarithms tame the outlying cells that the raw data are known for; how good the draws
        # are is printed below.
        warnings.simplefilter("ignore", DataWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        data = Dataset.from_table(pd.DataFrame(np.log(sachs.data.iloc[:n_cells])))
        out.print(
            f"Sachs et al. 2005: {data.n_variables} proteins measured in {data.n_samples} single "
            "cells, on the log scale."
        )
        out.print("Learning who moves the mean of whom, and who moves its variance ...")
        with ProgressBar(disable=not sys.stderr.isatty()) as bar:
            runs.fit(
                estimator,
                data,
                folder,
                force=True,
                source=_SOURCE,
                log_columns=data.names,
                progress=bar,
            )
        if with_report:
            out.print("Writing the report ...")
            title = "Sachs protein signalling (demo)"
            report_into(folder, estimator, data, title)
    records = edge_records(estimator.posterior_)
    for record in records:
        record["accepted"] = _accepted(sachs.union_graph, record["cause"], record["effect"])
    print_edges(records)
    out.print(
        "A probability is the share of drawn graph pairs that hold the edge. 'accepted' says what "
        "the 17-edge reference network of Sachs et al. has between the two proteins."
    )
    diagnostics = estimator.posterior_.diagnostics()
    out.print(f"Check of the draws: {diagnostics.message()}", markup=False)
    if with_report:
        out.print(f"Open the report in a browser: {folder / 'report.html'}", markup=False)
    out.print(f'Or ask the run: momentdag query {folder} "mek ~> erk [variance]"', markup=False)


def _check_own(folder: Path) -> None:
    """Refuse to replace anything but an earlier demo."""
    if not (folder / "run.json").exists():
        if folder.is_dir() and any(not entry.name.startswith(".") for entry in folder.iterdir()):
            raise StorageError(
                f"Expected an empty folder for the demo; {folder} holds other files. Choose "
                "another with --output."
            )
        return
    if runs.read_info(folder).data.source != _SOURCE:
        raise StorageError(
            f"Expected a folder for the demo; {folder} holds another run. Choose another with "
            "--output."
        )


def _accepted(reference: pd.DataFrame | None, cause: str, effect: str) -> str:
    if reference is None:
        return ""
    if reference.loc[cause, effect]:
        return "yes"
    return "reversed" if reference.loc[effect, cause] else "no"
