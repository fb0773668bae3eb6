import io

import pytest
from rich.console import Console
from studies.runner import Selection, run_studies
from studies.store import Store


@pytest.fixture
def console():
    return Console(file=io.StringIO(), width=160)


@pytest.fixture
def complete(console):
    """Make quick runs of studies in a folder; return the exit status."""

    def run(studies, folder, n_jobs=1, again=False, **selected):
        return run_studies(
            studies,
            Store(folder, quick=True),
            Selection(**selected),
            n_jobs=n_jobs,
            console=console,
            again=again,
        )

    return run
