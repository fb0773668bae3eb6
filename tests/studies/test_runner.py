"""The runner on real studies with fast methods: resumed, interrupted, failing."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from studies.case import Task
from studies.registry import STUDIES
from studies.runner import INTERRUPTED, Selection, jobs_of
from studies.simulated import simulated
from studies.store import Store
from studies.study import Metric, View

from momentdag.errors import OptionError

ROOT = Path(__file__).parents[2]
SETS = 2
METHODS = ("mc3", "evidence-linear")


def kept(folder, table="runs"):
    """Return the lines of a table of runs."""
    path = folder / f"{table}.csv"
    return path.read_text(encoding="utf-8").splitlines()[1:] if path.exists() else []


def test_a_killed_command_goes_on_without_losing_or_repeating_anything(tmp_path, complete):
    arguments = ("--quick", "--sets", SETS, "--methods", ",".join(METHODS), "-o", tmp_path)
    process = subprocess.Popen(
        [sys.executable, "-m", "studies", "run", "table-posterior", *map(str, arguments)],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
    )
    try:
        deadline = time.monotonic() + 60
        while len(kept(tmp_path)) < 3 and time.monotonic() < deadline:
            assert process.poll() in (None, 0), "the run broke off by itself"
            time.sleep(0.01)
    finally:
        process.send_signal(signal.SIGKILL if hasattr(signal, "SIGKILL") else signal.SIGTERM)
        process.wait()
    before = kept(tmp_path)
    n_runs = 3 * SETS * 2
    assert 3 <= len(before) <= n_runs
    study = STUDIES["table-posterior"]
    assert complete([study], tmp_path, n_sets=SETS, methods=METHODS) == 0
    after = kept(tmp_path)
    assert len(after) == n_runs
    assert set(before) <= set(after)
    # Nothing is left to do.
    assert complete([study], tmp_path, n_sets=SETS, methods=METHODS) == 0
    assert kept(tmp_path) == after


def tiny(draw):
    case = replace(simulated("sparse-5"), name="tiny", draw=draw)
    view = View("SHD", (case,), (Metric("shd_mean", "SHD", "lower"),))
    return replace(
        STUDIES["table-varsort"],
        name="tiny",
        views=(view,),
        methods=("varsort", "mc3"),
        quick=("tiny",),
    )


def good(number):
    return simulated("sparse-5").draw(number)


def never(number):
    raise AssertionError(f"set {number} was finished")


def test_a_failed_run_is_recorded_shown_and_tried_again(tmp_path, complete, console):
    def constant_column(number):
        task = good(number)
        return task if number else Task(task.data.assign(x2=1.0), task.truths)

    broken = tiny(constant_column)
    assert complete([broken], tmp_path, n_sets=2) == 1
    store = Store(tmp_path, quick=True)
    (case,) = broken.cases
    for method in broken.methods:
        failed, fine = store.records(case, method)
        assert failed.failed
        assert "x2" in failed.reason
        assert not fine.failed
    printed = console.file.getvalue()
    assert "failed: varsort on tiny, set 0: DataError" in printed
    assert "(1 failed)" in printed
    assert "2 run(s) failed" in printed
    before = kept(tmp_path)
    assert complete([tiny(good)], tmp_path, n_sets=2) == 0
    gone = set(before) - set(kept(tmp_path))
    assert len(gone) == 2
    assert all("failed: DataError" in line for line in gone)


def test_finished_runs_are_made_again_only_on_request(tmp_path, complete, console):
    assert complete([tiny(good)], tmp_path, n_sets=1) == 0
    assert complete([tiny(never)], tmp_path, n_sets=1) == 0
    assert "0 run(s) made, 2 already finished" in console.file.getvalue()
    assert complete([tiny(never)], tmp_path, n_sets=1, again=True) == 1


def test_a_run_that_lacks_a_measure_is_made_again(tmp_path, complete):
    assert complete([tiny(good)], tmp_path, n_sets=1) == 0
    (view,) = tiny(never).views
    asks_more = replace(tiny(never), views=(replace(view, metrics=(Metric("new", "New"),)),))
    assert complete([asks_more], tmp_path, n_sets=1) == 1


def killed(number):
    """Draw a data set, of which the second is too much for any process but the one of the tests."""
    if number == 1 and multiprocessing.parent_process() is not None:
        os.kill(os.getpid(), signal.SIGKILL)
    return good(number)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such signal here")
def test_a_run_that_kills_its_process_is_recorded_and_the_others_go_on(tmp_path, complete):
    study = replace(tiny(killed), methods=("varsort",))
    (case,) = study.cases
    assert complete([study], tmp_path, n_sets=4, n_jobs=2) == 1
    records = Store(tmp_path, quick=True).records(case, "varsort")
    assert [run.failed for run in records] == [False, True, False, False]
    assert "The process was killed" in records[1].reason
    # In this process it is well: what failed is made again.
    assert complete([study], tmp_path, n_sets=4) == 0
    assert not Store(tmp_path, quick=True).records(case, "varsort")[1].failed


def test_an_interrupt_keeps_what_is_done(tmp_path, complete, console):
    def interrupted(number):
        if number == 2:
            raise KeyboardInterrupt
        return good(number)

    assert complete([tiny(interrupted)], tmp_path, n_sets=3) == INTERRUPTED
    assert len(kept(tmp_path)) == 4
    assert "4 of 6 runs are kept" in console.file.getvalue()
    before = kept(tmp_path)
    assert complete([tiny(good)], tmp_path, n_sets=3) == 0
    assert set(before) <= set(kept(tmp_path))


@pytest.mark.slow
def test_processes_give_the_same_numbers(tmp_path, complete):
    study = STUDIES["table-posterior"]
    folders = (tmp_path / "one", tmp_path / "two")
    for n_jobs, folder in enumerate(folders, start=1):
        selected = {"n_sets": 1, "methods": ["mc3"], "max_variables": 3}
        assert complete([study], folder, n_jobs=n_jobs, **selected) == 0
    one, two = (
        [Store(folder, quick=True).records(case, "mc3")[0].measures for case in study.cases[:2]]
        for folder in folders
    )
    assert one == two
    assert len(kept(folders[1])) == 2


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"methods": ["ges"]}, "ges"),
        ({"cases": ["sparse-7"]}, "sparse-7"),
        ({"n_sets": 0}, "at least one data set"),
        ({"n_jobs": 0}, "positive number of processes"),
    ],
)
def test_what_there_is_not_is_refused_before_anything_runs(tmp_path, complete, arguments, reason):
    with pytest.raises(OptionError, match=reason):
        complete([STUDIES["fig-sparse"]], tmp_path, **arguments)
    assert list(tmp_path.iterdir()) == []


def test_what_is_on_request_only_runs_by_name():
    study = STUDIES["look"]

    def wanted(**selected):
        return {job.key[:2] for job in jobs_of([study], Selection(**selected), quick=False)}

    assert wanted() == {("look-sparse-5", "evidence"), ("look-sparse-10", "evidence")}
    assert wanted(cases=["anm-5"]) == {("look-anm-5", "evidence")}
    assert ("look-sparse-5", "variational") in wanted(methods=["variational"])


@pytest.mark.slow
def test_every_method_takes_part(tmp_path, complete):
    study = STUDIES["fig-sparse"]
    complete([study], tmp_path, max_variables=5)
    store = Store(tmp_path, quick=True)
    for method in study.methods:
        (record,) = store.records(study.cases[0], method)
        assert not record.failed, record.reason
