import io
from pathlib import Path

import pytest
from rich.console import Console

from momentdag.experiments.runner import run_experiments
from momentdag.experiments.store import Store


@pytest.fixture
def console():
    return Console(file=io.StringIO(), width=160)


@pytest.fixture
def complete(console):
    """Run experiments given as values in a folder; return the exit status."""

    def run(experiments, folder: Path, n_sets=1, n_jobs=1, methods=None, page_folder=None):
        return run_experiments(
            experiments,
            store=Store(folder, quick=True),
            n_sets=n_sets,
            n_jobs=n_jobs,
            console=console,
            methods=methods,
            max_variables=None,
            page_folder=folder if page_folder is None else page_folder,
        )

    return run
