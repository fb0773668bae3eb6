"""``python -m studies`` as people call it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from studies.cli import main
from studies.linear_gaussian import linear_gaussian
from studies.registry import STUDIES
from studies.runner import Job, make_run
from studies.store import Store

import momentdag
import studies


@pytest.fixture
def call(monkeypatch, capsys):
    """Call the program; return its exit code and what it printed."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["studies", *map(str, arguments)])
        with pytest.raises(SystemExit) as exited:
            main()
        return exited.value.code, *capsys.readouterr()

    return run


def test_every_study_and_method_is_listed(call):
    code, out, _ = call("list")
    assert code == 0
    for name, study in STUDIES.items():
        assert name in out
        assert study.shows[:40] in out
    assert "variational-alternating" in out


def test_a_study_is_run_and_its_page_written(call, tmp_path):
    arguments = ("--quick", "--sets", 1, "--methods", "evidence-linear", "--max-variables", 2)
    code, out, errors = call("run", "table-posterior", *arguments, "-o", tmp_path)
    assert code == 0, errors
    assert "Evidence, linear" in out
    assert "1 run(s) made" in out
    code, _, errors = call("page", "--quick", "--results", tmp_path, "-o", tmp_path / "docs")
    assert code == 0, errors
    assert "| Evidence, linear |" in (tmp_path / "docs" / "reproduction.md").read_text("utf-8")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["table-nothing"], "'table-nothing'"),
        (["table-posterior", "--methods", "magic"], "'magic'"),
        (["accuracy", "--cases", "spars-5"], "'spars-5'"),
        (["accuracy", "--options", "{"], "JSON"),
        (["accuracy", "--options", '{"n_startz": 1}'], "n_startz"),
    ],
)
def test_misspelt_choices_are_refused(call, tmp_path, arguments, reason):
    code, _, errors = call("run", *arguments, "-o", tmp_path / "runs")
    assert code == 2
    assert reason in errors
    assert not (tmp_path / "runs").exists()


@pytest.mark.slow
def test_workers_of_a_cluster_need_no_checkout(tmp_path):
    cloudpickle = pytest.importorskip("cloudpickle")
    case = linear_gaussian(2)
    job = Job(case, "evidence-linear", 0, ())
    cloudpickle.register_pickle_by_value(studies)
    try:
        task = cloudpickle.dumps((make_run, job, Store(tmp_path, quick=True)))
    finally:
        cloudpickle.unregister_pickle_by_value(studies)
    (tmp_path / "task").write_bytes(task)
    code = (
        "import pickle, sys; make_run, *task = pickle.load(open('task', 'rb')); "
        "is_well = make_run(*task).status == 'complete'; "
        "sys.exit(not is_well or 'studies' in sys.modules)"
    )
    library = Path(momentdag.__file__).parents[1]
    env = {**os.environ, "PYTHONPATH": str(library)}
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=env, check=True)
