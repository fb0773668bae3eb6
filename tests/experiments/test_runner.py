"""The runner on real experiments with fast methods: resumed, interrupted, failing."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pandas as pd
import pytest

from momentdag.errors import OptionError
from momentdag.experiments import EXPERIMENTS
from momentdag.experiments.case import Task
from momentdag.experiments.experiment import Metric, View
from momentdag.experiments.runner import INTERRUPTED, reproduce
from momentdag.experiments.simulated import simulated
from momentdag.experiments.store import Store

SETS = 3
SCRIPT = f"""
from pathlib import Path
from rich.console import Console
from momentdag.experiments.runner import reproduce

reproduce(
    ["table-posterior"], quick=True, n_sets={SETS}, folder=Path("."), console=Console(),
    methods=["mc3", "evidence-linear"],
)
"""


def kept(folder):
    return {path: path.stat().st_mtime_ns for path in (folder / "results").rglob("*.json")}


def test_a_killed_run_goes_on_without_losing_or_repeating_anything(tmp_path, console):
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT],
        cwd=tmp_path,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
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
    arguments = {"quick": True, "n_sets": SETS, "folder": tmp_path, "console": console}
    assert reproduce(["table-posterior"], **arguments, methods=["mc3", "evidence-linear"]) == 0
    after = kept(tmp_path)
    assert len(after) == n_runs
    assert {path: after[path] for path in before} == before
    # Nothing is left to do: the third time writes only the page.
    assert reproduce(["table-posterior"], **arguments, methods=["mc3", "evidence-linear"]) == 0
    assert kept(tmp_path) == after


def test_the_page_has_every_table_and_figure(tmp_path, console):
    status = reproduce(
        ["all"],
        quick=True,
        n_sets=1,
        folder=tmp_path / "work",
        console=console,
        methods=["varsort", "evidence-linear"],
        page_folder=tmp_path / "docs",
    )
    assert status == 0
    page = (tmp_path / "docs" / "reproduction.md").read_text(encoding="utf-8")
    assert not (tmp_path / "work" / "reproduction.md").exists()
    for name, experiment in EXPERIMENTS.items():
        assert f"`{name}`" in page
        assert experiment.left_open in page
        for view in experiment.views:
            assert f"**{view.title}**" in page
            for row, cells in view.printed.items():
                assert f"| paper: {row} | {' | '.join(cells)} |" in page
        figure = tmp_path / "docs" / "_static" / "reproduction" / f"{name}.svg"
        assert figure.exists() == experiment.is_figure
        if experiment.is_figure:
            assert f"({figure.relative_to(tmp_path / 'docs').as_posix()})" in page
            assert figure.read_text(encoding="utf-8").count("<path") > 10
    assert "## Where our numbers differ" in page
    assert "## What the paper does not state" in page
    assert "## Every number beside the paper's" in page
    assert "**quick** run" in page
    assert "**Not complete.**" in page  # two methods of eight
    assert "- MC3: sparse-5, " in page
    assert "- VarSort: " not in page
    assert "- Every method: sachs-log-100-told-25, " in page
    runs = pd.read_csv(tmp_path / "docs" / "_static" / "reproduction" / "runs.csv")
    assert len(runs) == len(kept(tmp_path / "work"))
    assert (runs["status"] == "complete").all()
    varsort = runs.query("case == 'sparse-5' and method == 'varsort'")
    assert f"| VarSort | {varsort['shd_mean'].item():.2f} |" in page


def tiny(draw):
    case = replace(simulated("sparse-5"), name="tiny", draw=draw)
    view = View("SHD", (case,), (Metric("shd_mean", "SHD", "lower"),))
    return replace(
        EXPERIMENTS["table-varsort"],
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
    page = (tmp_path / "reproduction.md").read_text(encoding="utf-8")
    assert "**Failed:** VarSort on tiny, set 0: DataError" in page
    assert "(1 failed)" in page
    assert "2 run(s) failed" in console.file.getvalue()
    before = kept(tmp_path)
    assert complete([tiny(good)], tmp_path, n_sets=2) == 0
    assert "Not complete" not in (tmp_path / "reproduction.md").read_text(encoding="utf-8")
    changed = {path.name for path, written in kept(tmp_path).items() if before[path] != written}
    assert changed == {"000.json"}


def test_a_page_goes_on_from_its_own_runs(tmp_path, complete, console):
    page = tmp_path / "docs"
    assert complete([tiny(good)], tmp_path / "first", n_sets=2, page_folder=page) == 0
    before = (page / "reproduction.md").read_text(encoding="utf-8")
    # In a new folder, as in a new clone, nothing is run again and nothing is lost from the page.
    assert complete([tiny(never)], tmp_path / "second", n_sets=2, page_folder=page) == 0
    said = console.file.getvalue()
    assert f"4 finished run(s) taken over from {page / '_static'}" in said
    assert (page / "reproduction.md").read_text(encoding="utf-8") == before
    # One's own page begins afresh.
    assert complete([tiny(good)], tmp_path / "third", n_sets=1) == 0
    assert said.count("taken over") == console.file.getvalue().count("taken over")


def killed(number):
    """Draw a data set, of which the second is too much for any process but the one of the tests."""
    if number == 1 and multiprocessing.parent_process() is not None:
        os.kill(os.getpid(), signal.SIGKILL)
    return good(number)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such signal here")
def test_a_run_that_kills_its_process_is_recorded_and_the_others_go_on(tmp_path, complete):
    experiment = replace(tiny(killed), methods=("varsort",))
    (case,) = experiment.cases
    store = Store(tmp_path, quick=True)
    assert complete([experiment], tmp_path, n_sets=4, n_jobs=2) == 1
    records = store.records(case, "varsort")
    assert [run.failed for run in records] == [False, True, False, False]
    assert "The process was killed" in records[1].reason
    # In this process it is well: what failed is made again.
    assert complete([experiment], tmp_path, n_sets=4) == 0
    assert not store.records(case, "varsort")[1].failed


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
    assert {path: written for path, written in kept(tmp_path).items() if path in before} == before


@pytest.mark.slow
def test_processes_give_the_same_numbers(tmp_path, console):
    folders = (tmp_path / "one", tmp_path / "two")
    for n_jobs, folder in enumerate(folders, start=1):
        status = reproduce(
            ["table-posterior"],
            quick=True,
            n_sets=1,
            n_jobs=n_jobs,
            folder=folder,
            console=console,
            methods=["mc3"],
            max_variables=3,
        )
        assert status == 0
    cases = [c for c in EXPERIMENTS["table-posterior"].cases if c.n_variables <= 3]
    one, two = (
        [Store(folder, quick=True).records(case, "mc3")[0].measures for case in cases]
        for folder in folders
    )
    assert one == two
    assert len(kept(folders[1])) == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"names": ["fig-sprase"]}, "fig-sprase"),
        ({"names": ["fig-sparse"], "methods": ["ges"]}, "ges"),
        ({"names": ["fig-sparse"], "n_sets": 0}, "at least one data set"),
        ({"names": ["fig-sparse"], "n_jobs": 0}, "positive number of processes"),
    ],
)
def test_what_there_is_not_is_refused_before_anything_runs(tmp_path, console, arguments, said):
    with pytest.raises(OptionError, match=said):
        reproduce(**{"quick": True, "folder": tmp_path, "console": console, **arguments})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_every_method_takes_part(tmp_path, console):
    experiment = EXPERIMENTS["fig-sparse"]
    reproduce(["fig-sparse"], quick=True, folder=tmp_path, console=console, max_variables=5)
    store = Store(tmp_path, quick=True)
    case = experiment.cases[0]
    for method in experiment.methods:
        (record,) = store.records(case, method)
        assert not record.failed, record.reason
