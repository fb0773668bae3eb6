import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import momentdag as md
from momentdag import runs
from momentdag.errors import StorageError

LINEAR = ("--option", "family=linear", "--no-report")
COMMAND = str(Path(sys.executable).with_name("momentdag"))
# Long enough in the Markov chains (a second and more) to be caught there.
SLOW = (
    *("--draws", "2000", "--no-report", "--option", "method=chain", "--option", "n_chains=2"),
    *("--option", "posterior=plain"),
    *("--option", "n_starts=1", "--option", "n_inducing=40", "--option", "thinning=60"),
)


def test_the_run_is_what_python_would_give(run, table):
    options = {"n_starts": 1, "n_inducing": 10, "noise": "gaussian"}
    fitted = md.MomentDAG(n_draws=300, random_state=1, engine_options=options).fit(table)
    loaded = runs.load(run)
    np.testing.assert_array_equal(loaded.posterior_.mean_graphs, fitted.posterior_.mean_graphs)
    np.testing.assert_array_equal(
        loaded.posterior_.variance_graphs, fitted.posterior_.variance_graphs
    )
    assert runs.read_info(run).data.source == "cells.csv"


@pytest.mark.parametrize(
    "is_process",
    [False, pytest.param(True, marks=pytest.mark.slow)],
    ids=["here", "the real program"],
)
def test_a_fit_ends_in_a_report(command, invoke, is_process, csv, tmp_path):
    folder = tmp_path / "deep" / "run"
    knowledge = tmp_path / "lab.toml"
    knowledge.write_text('tiers = [["dose", "stress [%]"], ["response"]]')
    result = (command if is_process else invoke)(
        *("fit", csv, "-o", folder, "--draws", "300", "--knowledge", knowledge),
        *("--log-scale", "dose", "--option", "n_starts=1", "--option", "n_inducing=10"),
        *("--option", "noise=gaussian"),
    )
    assert (result.returncode if is_process else result.exit_code) == 0, result.stderr
    assert "moves the variance" in result.stdout
    assert "Check of the certainty:" in result.stdout
    assert "report.html" in result.stdout
    assert "stress" in (folder / "report.html").read_text(encoding="utf-8")
    loaded = runs.load(folder)
    assert loaded.details_["misfit"] == loaded.posterior_.doubt.misfit_by_name(
        loaded.posterior_.names
    )
    assert loaded.knowledge.tiers == (("dose", "stress [%]"), ("response",))
    assert runs.read_info(folder).data.log_columns == ("dose",)
    assert not loaded.posterior_.graphs("either")[:, 2, :].any()  # response causes nothing


def test_json_for_machines(invoke, csv, tmp_path):
    result = invoke("fit", csv, "-o", tmp_path / "run", "--draws", "500", *LINEAR, "--json")
    assert result.exit_code == 0, result.output
    output = json.loads(result.stdout)
    assert output["status"] == "complete"
    assert output["n_draws"] == 500
    assert output["report"] is None
    assert {"cause", "effect", "mean", "variance"} == set(output["edges"][0])
    assert output["doubt"] is None  # the linear family has no worlds


def test_what_cannot_be_used_is_refused_and_leaves_nothing(invoke, refused, csv, tmp_path):
    folder = tmp_path / "run"
    refused(invoke("fit", tmp_path / "none.csv", "-o", folder), "none.csv", "Check the path")
    refused(invoke("fit", csv, "-o", folder, "--log-scale", "nobody"), "'nobody'", "'dose'")
    refused(invoke("fit", csv, "-o", folder, "--option", "n_startz=1"), "n_startz", "n_starts")
    refused(invoke("fit", csv, "-o", folder, "--option", "n_starts"), "NAME=VALUE")
    refused(invoke("fit", csv, "-o", folder, "--resume", "--force"), "--resume or --force")
    for name, text, words in (
        ("a.toml", "tiers = [[", ("a.toml", "TOML")),
        ("b.toml", "teirs = []", ("teirs", "tiers")),
        ("c.toml", 'roots = ["nobody"]', ("nobody",)),
        ("d.toml", 'order = [["dose", "response"], ["response", "dose"]]', ("cycle",)),
        ("e.docx", "", ("e.docx", ".toml")),
    ):
        (tmp_path / name).write_text(text)
        refused(invoke("fit", csv, "-o", folder, "--knowledge", tmp_path / name), *words)
    assert not folder.exists()


def test_errors_and_advice_speak_in_flags(invoke, refused, csv, tmp_path):
    wide = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 5)), columns=list("abcde"))
    wide.to_csv(tmp_path / "wide.csv", index=False)
    (tmp_path / "lab.toml").write_text('required = [["dose", "response", "variance"]]')
    known = ("--knowledge", tmp_path / "lab.toml")
    for table, given, words in (
        (tmp_path / "wide.csv", ("--option", "method=exact"), "Fit with --option method=chain."),
        (csv, (*known, "--option", "family=linear"), "Fit with --option family=gp."),
        (csv, ("--option", "n_inducing=2"), "Expected n_inducing to be an integer >= 5"),
    ):
        result = invoke("fit", table, "-o", tmp_path / "run", "--force", *given)
        refused(result, words)
        for python in ("engine_options", "n_draws", "n_jobs"):
            assert python not in result.stderr
    result = invoke("fit", csv, "-o", tmp_path / "short", "--draws", "20", *LINEAR)
    assert "Ask for more draws (--draws ...)" in " ".join(result.stdout.split())
    assert "--option n_starts=... --option n_chains=..." in " ".join(result.stdout.split())


def test_a_place_that_cannot_be_written_is_refused(invoke, refused, csv, tmp_path):
    (tmp_path / "file").write_text("in the way")
    refused(invoke("fit", csv, "-o", tmp_path / "file", *LINEAR), "file", "Choose another")
    refused(invoke("fit", csv, "-o", tmp_path / "file" / "run", *LINEAR), "Could not create")
    assert (tmp_path / "file").read_text() == "in the way"


def test_a_taken_folder_is_refused_resumed_or_replaced(invoke, refused, csv, tmp_path):
    arguments = ("fit", csv, "-o", tmp_path / "run", *LINEAR, "--draws", "500")
    assert invoke(*arguments, "--resume").exit_code == 0  # nothing there: it starts
    refused(invoke(*arguments), "already holds a run")
    assert invoke(*arguments, "--resume").exit_code == 0
    refused(invoke(*arguments, "--resume", "--seed", "7"), "other data, options")
    assert invoke(*arguments, "--force", "--seed", "7").exit_code == 0
    assert runs.load(tmp_path / "run").random_state == 7


def test_notes_are_printed_once_and_beside_the_answer(invoke, table, tmp_path):
    table.head(15).to_csv(tmp_path / "t.csv", index=False)
    result = invoke("fit", tmp_path / "t.csv", "-o", tmp_path / "run", *LINEAR, "--json")
    assert result.exit_code == 0
    assert "Note:" in result.stderr
    assert result.stderr.count("Few rows") == 1
    json.loads(result.stdout)


def same_draws(folder, fitted):
    loaded = runs.load(folder).posterior_
    for field in ("mean_graphs", "variance_graphs", "log_posterior", "chains"):
        np.testing.assert_array_equal(getattr(loaded, field), getattr(fitted.posterior_, field))


def chains_begun(folder):
    log = folder / "log.txt"
    return log.read_text().count("Stage: the Markov chains") if log.exists() else 0


def start(csv, folder):
    """Start a fit in a process of its own and wait until it is in its Markov chains."""
    before = chains_begun(folder)
    process = subprocess.Popen(
        [COMMAND, "fit", csv, "-o", folder, "--resume", *SLOW],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        if chains_begun(folder) > before:
            return process
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.02)
    process.kill()
    pytest.fail("the fit never came to its Markov chains")


@pytest.fixture(scope="module")
def undisturbed(table):
    options = {
        "method": "chain",
        "posterior": "plain",
        "n_chains": 2,
        "n_starts": 1,
        "n_inducing": 40,
        "thinning": 60,
    }
    return md.MomentDAG(n_draws=2000, random_state=0, engine_options=options).fit(table)


TERMINATED = (signal.SIGTERM, 143, "interrupted", "interrupted")
KILLED = (signal.SIGKILL, -9, "fitting", "cut short")


@pytest.mark.parametrize(
    "signals",
    [[TERMINATED], pytest.param([TERMINATED, KILLED], marks=pytest.mark.slow)],
    ids=["terminated", "and killed"],
)
def test_signals_leave_a_valid_folder_that_resumes_to_the_same_bits(
    signals, csv, tmp_path, undisturbed, invoke, refused
):
    folder = tmp_path / "run"
    for number, code, status, said in signals:
        process = start(csv, folder)
        if number == signal.SIGTERM:
            with pytest.raises(StorageError, match="Another process is working in"):
                runs.save(undisturbed, folder, force=True)
        process.send_signal(number)
        _, errors = process.communicate(timeout=60)
        assert process.returncode == code, errors
        assert b"Traceback" not in errors
        if status == "interrupted":
            assert b"--resume" in errors
        assert runs.read_info(folder).status == status
        refused(invoke("query", folder, "dose -> response"), said, "--resume")
    result = invoke("fit", csv, "-o", folder, "--resume", *SLOW)
    assert result.exit_code == 0, result.output
    same_draws(folder, undisturbed)
    files = {path.name for path in folder.iterdir()} - {".lock", "log.txt", "run.json"}
    assert files == set(runs.read_info(folder).files)


@pytest.mark.slow
def test_a_fit_killed_at_random_moments_resumes_to_the_same_bits(
    csv, tmp_path, undisturbed, invoke
):
    arguments = ["fit", str(csv), *SLOW, "-o"]
    start = time.monotonic()
    subprocess.run([COMMAND, *arguments, tmp_path / "whole"], check=True, capture_output=True)
    duration = time.monotonic() - start
    states = set()
    for k, moment in enumerate(np.random.default_rng(0).uniform(0, duration, 20)):
        folder = tmp_path / str(k)
        process = subprocess.Popen(
            [COMMAND, *arguments, folder], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        time.sleep(moment)
        process.kill()
        process.wait()
        if (folder / "run.json").exists():
            states.add(runs.read_info(folder).status)
        result = invoke(*arguments, folder, "--resume")
        assert result.exit_code == 0, result.output
        same_draws(folder, undisturbed)
    assert "fitting" in states  # or all were killed before they began


def test_a_corrupted_run_folder_is_refused_by_every_command(invoke, refused, run, tmp_path):
    broken = tmp_path / "broken"
    shutil.copytree(run, broken)
    content = bytearray((broken / "posterior.zip").read_bytes())
    content[len(content) // 2] ^= 1
    (broken / "posterior.zip").write_bytes(content)
    for arguments in (
        ("query", broken, "dose -> response"),
        ("effects", broken, "--do", "dose=1"),
        ("levers", broken, "--target", "response"),
        ("report", broken),
    ):
        refused(invoke(*arguments), "posterior.zip", "altered or damaged")
    (broken / "run.json").write_text("{")
    refused(invoke("query", broken, "dose -> response"), "run.json is malformed")


@pytest.mark.parametrize(
    "processes", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["threads", "processes"]
)
def test_a_fit_on_a_cluster(invoke, command, csv, tmp_path, processes):
    """In this process on workers that are threads, or the real program on worker processes."""
    distributed = pytest.importorskip("distributed")
    options = ("--draws", "120", "--seed", "4", "--no-report", "--option", "family=linear")
    options += ("--option", "method=chain")
    assert invoke("fit", csv, "-o", tmp_path / "here", *options).exit_code == 0
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=processes,
        protocol="tcp",
        dashboard_address=":0",
    ) as cluster:
        fit = ("fit", csv, "-o", tmp_path / "there", "--scheduler", cluster.scheduler_address)
        if processes:
            result = command(*fit, *options)
            code = result.returncode
        else:
            result = invoke(*fit, *options)
            code = result.exit_code
        worked = cluster.scheduler.transition_counter
    assert code == 0, result.stderr
    assert worked > 0  # tasks went through the scheduler
    here, there = (runs.load_posterior(tmp_path / name) for name in ("here", "there"))
    np.testing.assert_array_equal(here.mean_graphs, there.mean_graphs)
    np.testing.assert_array_equal(here.log_posterior, there.log_posterior)


def test_a_scheduler_that_cannot_be_used_is_refused(invoke, refused, csv, tmp_path, monkeypatch):
    folder = tmp_path / "run"
    monkeypatch.setattr("momentdag.parallel.cluster.__wrapped__.__defaults__", (0.5,))
    nobody = ("--scheduler", "tcp://127.0.0.1:1")
    refused(
        invoke("fit", csv, "-o", folder, *nobody), "No Dask scheduler answered", "dask scheduler"
    )
    refused(invoke("fit", csv, "-o", folder, "--engine", "variational", *nobody), "evidence engine")
    assert not folder.exists()


def test_long_tables_say_which_rows_were_used(invoke, tmp_path):
    rng = np.random.default_rng(0)
    cause = rng.normal(size=400)
    table = pd.DataFrame({"x": cause, "y": cause + rng.normal(size=400)})
    table.to_parquet(tmp_path / "long.parquet")
    options = ("--draws", "100", "--option", "max_rows=150", *LINEAR)
    result = invoke("fit", tmp_path / "long.parquet", "-o", tmp_path / "run", *options)
    assert result.exit_code == 0, result.output
    assert "150 of the 400 rows" in " ".join(result.stdout.split())
