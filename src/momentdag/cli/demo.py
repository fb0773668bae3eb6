"""`momentdag demo`: the main task on the embedded Sachs data."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import momentdag as md
from momentdag.cli.console import fit_progress, print_line
from momentdag.cli.options import DrawsOption, JobsOption, ReportOption, SeedOption
from momentdag.cli.report import write_into_run
from momentdag.cli.summary import doubt_line, draws_check, edge_records, print_edges, world_line
from momentdag.errors import DataWarning, StorageError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["demo"]

_SOURCE = "Sachs et al. 2005, embedded in momentdag"
_TITLE = "Sachs protein signalling (demo)"


def demo(
    folder: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for the run and its report.")
    ] = Path("momentdag-demo"),
    cells: Annotated[
        int, typer.Option("--cells", min=50, max=853, help="Number of cells to use.")
    ] = 853,
    draws: DrawsOption = 2000,
    seed: SeedOption = 0,
    jobs: JobsOption = 2,
    report: ReportOption = True,
) -> None:
    """Learn both graphs of the embedded Sachs protein data."""
    import numpy as np

    _check_folder(folder)
    sachs = md.datasets.load_sachs(truth="17")
    estimator = md.MomentDAG(n_draws=draws, random_state=seed, n_jobs=jobs)
    with warnings.catch_warnings():
        # The outlying cells of the raw data are well known, and logarithms tame them.
        warnings.simplefilter("ignore", DataWarning)
        data = md.Dataset.from_table(np.log(sachs.data.iloc[:cells]))
        print_line(
            f"Sachs et al. 2005: {data.n_variables} proteins measured in {data.n_samples} single "
            "cells, on the log scale."
        )
        print_line("Learning who moves the mean of whom, and who moves its variance ...")
        with fit_progress() as progress:
            md.runs.fit(
                estimator,
                data,
                folder,
                force=True,
                source=_SOURCE,
                log_columns=data.names,
                progress=progress,
            )
        path = None
        if report:
            print_line("Writing the report ...")
            path = write_into_run(folder, estimator, data, _TITLE)
    records = edge_records(estimator.posterior_)
    for record in records:
        record["accepted"] = _accepted(sachs.union_graph, record["cause"], record["effect"])
    print_edges(records)
    print_line(
        "'accepted' says whether the 17-edge reference network of Sachs et al. has the edge, has "
        "it reversed, or does not join the two proteins."
    )
    print_line(world_line(estimator))
    print_line(doubt_line(estimator.posterior_))
    print_line(draws_check(estimator.posterior_))
    if path is not None:
        print_line(f"Open the report in a browser: {path}")
    print_line(f'Or ask the run: momentdag query {folder} "mek ~> erk [variance]"')


def _check_folder(folder: Path) -> None:
    """Refuse to replace anything but an earlier demo."""
    from momentdag.storage.run_info import INFO_NAME

    if (folder / INFO_NAME).exists():
        taken = md.runs.read_info(folder).data.source != _SOURCE
        content = "another run"
    else:
        taken = folder.is_dir() and any(
            not entry.name.startswith(".") for entry in folder.iterdir()
        )
        content = "other files"
    if taken:
        raise StorageError(
            f"Expected an empty folder or an earlier demo; {folder} holds {content}. Choose "
            "another with --output."
        )


def _accepted(reference: pd.DataFrame | None, cause: str, effect: str) -> str:
    if reference is None:
        return ""
    if reference.loc[cause, effect]:
        return "yes"
    return "reversed" if reference.loc[effect, cause] else "no"
