"""A tiny run, and two ways to call the program: in this process and as people do."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from momentdag.cli.main import app

COMMAND = str(Path(sys.executable).with_name("momentdag"))
QUICK = ["--option", "n_starts=1", "--option", "n_inducing=10", "--option", "noise=gaussian"]


@pytest.fixture(scope="session")
def command():
    """Run the installed program in a process of its own."""

    def run(*arguments, **options):
        return subprocess.run(
            [COMMAND, *map(str, arguments)], capture_output=True, text=True, check=False, **options
        )

    return run


@pytest.fixture(scope="session")
def invoke():
    """Run a command in this process."""

    def run(*arguments):
        return CliRunner().invoke(app, [str(argument) for argument in arguments])

    return run


@pytest.fixture(scope="session")
def refused():
    """Check that a command was refused in one sentence that holds all the words."""

    def check(result, *words, code=2):
        assert getattr(result, "exit_code", None) == code, result.output
        assert "Traceback" not in result.output
        for word in words:
            assert word in result.stderr
        assert not result.stdout

    return check


@pytest.fixture(scope="session")
def table():
    rng = np.random.default_rng(5)
    dose, stress = rng.uniform(1, 3, (2, 90))
    response = 20 + 3 * np.sin(dose) + 0.3 * np.exp(0.8 * stress) * rng.normal(size=90)
    return pd.DataFrame({"dose": dose, "stress [%]": stress, "response": response})


@pytest.fixture(scope="session")
def csv(table, tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "cells.csv"
    table.to_csv(path, index=False)
    return path


@pytest.fixture(scope="session")
def run(csv, invoke, tmp_path_factory):
    """Return a complete run folder; tests that alter it take a copy."""
    folder = tmp_path_factory.mktemp("runs") / "run"
    result = invoke(
        "fit", csv, "-o", folder, "--draws", "300", "--seed", "1", "--no-report", *QUICK
    )
    assert result.exit_code == 0, result.output
    return folder
