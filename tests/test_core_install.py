"""Without any extra the core works, and what needs one says so in one line."""

import os
import subprocess
import sys

import pytest

# The import system as it is where these packages are not installed.
WITHOUT_EXTRAS = """
import sys
from importlib.machinery import PathFinder

HIDDEN = {
    "arviz", "causalchamber", "daqp", "dask", "distributed", "dowhy", "jax",
    "jaxlib", "matplotlib", "optax", "optuna", "pgmpy", "pyarrow",
}

class Core(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name.partition(".")[0] in HIDDEN else super().find_spec(name, path, target)

sys.meta_path[:] = [Core if finder is PathFinder else finder for finder in sys.meta_path]
"""

TABLE = """
import numpy as np
import pandas as pd
import momentdag as md

QUICK = {"n_starts": 1, "n_inducing": 10, "noise": "gaussian"}
x, e = np.random.default_rng(0).normal(size=(2, 80))
table = pd.DataFrame({"x": x, "y": 2 * x + np.exp(x / 2) * e})
model = md.MomentDAG(n_draws=50, random_state=0, engine_options=QUICK).fit(table)
"""

ABILITIES = """
import warnings
from momentdag.cli import main

model.score(table)
md.effects.intervene(model, do={"x": 1.0}, targets=["y"])
md.report.write_report(model, table, "report.html")
md.screening.criticise(model, table).figure("y")
warnings.simplefilter("ignore")  # so few draws are too few
for method in ("host", "mc3", "varsort"):
    md.baselines.fit(method, table, n_draws=20, random_state=0)
table.to_csv("table.csv", index=False)
quick = [f"--option={name}={value}" for name, value in QUICK.items()]
sys.argv = ["momentdag", "fit", "table.csv", "-o", "run", "--draws=50", "--no-report", *quick]
try:
    main()
except SystemExit as end:
    assert not end.code
print("Extras:")
"""

EXTRAS = """
from importlib import import_module
from momentdag.effects import export

for call in (
    lambda: md.MomentDAG(engine="variational").fit(table),
    lambda: import_module("momentdag.engines.variational.tune"),
    lambda: md.baselines.fit("dds", table),
    lambda: md.Dataset.from_file("table.parquet"),
    lambda: md.parallel.cluster("tcp://127.0.0.1:1").__enter__(),
    lambda: md.datasets.load_light_tunnel(),
    lambda: export.to_arviz(model),
    lambda: export.to_dowhy(model),
    lambda: export.to_pgmpy(model),
):
    try:
        call()
    except md.MomentdagError as error:
        assert isinstance(error, ImportError)
        print(error)

for option in ("--engine variational", "--scheduler tcp://127.0.0.1:1"):
    sys.argv = f"momentdag fit table.csv -o another {option}".split()
    try:
        main()
    except SystemExit as end:
        assert end.code == 2
"""

MESSAGES = """\
The variational engine needs jax; install momentdag[variational].
The variational engine needs jax; install momentdag[variational].
DDS needs jax; install momentdag[variational].
Reading Parquet needs pyarrow; install momentdag[parquet].
A Dask cluster needs distributed; install momentdag[distributed].
Downloading lt_interventions_standard_v1 needs causalchamber; install momentdag[chambers].
Export to ArviZ needs arviz; install momentdag[arviz].
Export to DoWhy needs dowhy; install momentdag[dowhy].
Export to pgmpy needs pgmpy; install momentdag[pgmpy].
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("core")


@pytest.fixture(scope="module")
def outcome(folder):
    """Try everything in one process, as starting one and fitting take longer than the rest."""
    (folder / "table.parquet").write_bytes(b"PAR1")
    # Started where the tests are, so that a relative PYTHONPATH means the same.
    enter = f"import os; os.chdir({str(folder)!r})"
    done = subprocess.run(
        [sys.executable, "-c", "\n".join([enter, WITHOUT_EXTRAS, TABLE, ABILITIES, EXTRAS])],
        env={**os.environ, "MOMENTDAG_CACHE": str(folder / "cache")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done


def test_the_core_fits_reports_compares_and_has_a_command_line(outcome, folder):
    assert "Check of the draws" in outcome.stdout
    assert (folder / "report.html").stat().st_size > 1e6
    assert (folder / "run" / "posterior.zip").is_file()


def test_a_missing_extra_is_one_line(outcome):
    assert outcome.stdout.partition("Extras:\n")[2] == MESSAGES
    lines = [line for line in outcome.stderr.splitlines() if line.startswith("momentdag: ")]
    assert lines == [
        "momentdag: The variational engine needs jax; install momentdag[variational].",
        "momentdag: A Dask cluster needs distributed; install momentdag[distributed].",
    ]
