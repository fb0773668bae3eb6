"""The benchmarks run, resume, and report what a fit by hand gives. Settings are reduced."""

import json
import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import momentdag as md
from momentdag.metrics import expected_shd, shd

ROOT = Path(__file__).resolve().parents[2]
REDUCED = {"n_starts": 1, "n_kicks": 0, "n_chains": 2, "thinning": 5}


def run(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "benchmarks", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        # Numbers are parsed from the files; what is printed must not depend on the terminal.
        env={**os.environ, "COLUMNS": "200", "PYTHONIOENCODING": "utf-8"},
        encoding="utf-8",
    )


def accuracy(folder, *arguments):
    return run(
        "accuracy",
        *("--sets", 1, "--calibration-sets", 0, "--draws", 60),
        *("--options", json.dumps(REDUCED)),
        *("--output", folder / "results", "--raw", folder / "raw"),
        *arguments,
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("benchmarks")
    result = accuracy(folder, "--presets", "sparse-5")
    assert result.returncode == 0, result.stderr
    assert "Accuracy on simulated data" in result.stdout
    assert "Reliability" in result.stdout
    return folder


def read(folder):
    return json.loads((folder / "results" / "accuracy.json").read_text(encoding="utf-8"))


def test_the_figures_are_those_of_a_fit_by_hand(folder):
    content = read(folder)
    (record,) = content["runs"]["sparse-5"]
    simulation = md.simulate.preset("sparse-5", np.random.default_rng(record["seed"]))
    estimator = md.MomentDAG(n_draws=60, random_state=0, engine_options=REDUCED)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # sixty draws never look converged
        estimator.fit(simulation.data)
    posterior, truth = estimator.posterior_, simulation.graph
    for moment in ("mean", "variance"):
        found = posterior.consensus().to_frame(moment)
        assert record[f"shd_{moment}"] == shd(found, truth.to_frame(moment))
        expected = expected_shd(posterior, truth, moment=moment)
        assert record[f"expected_shd_{moment}"] == pytest.approx(expected, abs=1e-12)
        p = posterior.edge_probabilities(moment).to_numpy()
        t = truth.adjacency(moment)
        outside = ~np.eye(5, dtype=bool)
        brier = np.mean((p - t)[outside] ** 2)
        # Probabilities are stored to six digits.
        assert content["calibration"][moment]["brier_score"] == pytest.approx(brier, abs=1e-5)
    assert record["gram_units"] == pytest.approx(record["seconds"] / record["gram_seconds"])
    assert content["summary"]["sparse-5"]["n_sets"] == 1


def test_the_found_order_is_compared_with_the_true_one(folder):
    (record,) = read(folder)["runs"]["sparse-5"]
    # Hundreds of nats would part the two if they were scored on different footings.
    assert -5 <= record["order_gap"] < 50


def test_markdown_has_the_same_rows(folder):
    text = (folder / "results" / "accuracy.md").read_text(encoding="utf-8")
    assert "| sparse-5 | 1 |" in text
    assert str(REDUCED) in text, "a table of reduced settings must say so"


def test_finished_runs_are_kept_and_new_cases_join_them(folder):
    (kept,) = (folder / "raw").rglob("sparse-5_000.json")
    before = kept.stat().st_mtime_ns
    result = accuracy(folder, "--presets", "sparse-5,anm-5:gaussian")
    assert result.returncode == 0, result.stderr
    assert kept.stat().st_mtime_ns == before
    assert list(read(folder)["summary"]) == ["sparse-5", "anm-5:gaussian"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--presets", "spars-5"], "spars-5"),
        (["--presets", "sparse-5:cauchy"], "cauchy"),
        (["--options", "{"], "JSON"),
        (["--options", '{"n_startz": 1}'], "n_startz"),
    ],
)
def test_misspelt_choices_are_refused(tmp_path, arguments, said):
    result = accuracy(tmp_path, *arguments)
    assert result.returncode == 2
    assert said in result.stderr
    assert "Traceback" not in result.stderr
    assert not (tmp_path / "raw").exists()


def test_a_failed_run_is_recorded_and_tried_again(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(ROOT)
    from benchmarks.records import Records

    records = Records(tmp_path, "made-up", {"n_draws": 1})
    attempts = []

    def fail_once(case, number):
        attempts.append((case, number))
        if attempts == [("a:b", 0)]:
            raise ValueError("out of luck")
        return {"value": number}

    records.complete(fail_once, [("a:b", 0), ("a:b", 1)], jobs=1)
    assert [run["set"] for run in records.finished("a:b")] == [1]
    assert "out of luck" in records.failures()[0]["failure"]
    records.complete(fail_once, [("a:b", 0), ("a:b", 1)], jobs=1)
    assert [run["value"] for run in records.finished("a:b")] == [0, 1]
    assert records.failures() == []
    assert attempts == [("a:b", 0), ("a:b", 1), ("a:b", 0)]
    assert Records(tmp_path, "made-up", {"n_draws": 2}).cases() == []


def test_quality_beats_the_paper_by_far(tmp_path):
    result = run("quality", "--sets", 1, "--draws", 500, "--output", tmp_path)
    assert result.returncode == 0, result.stderr
    content = json.loads((tmp_path / "quality.json").read_text(encoding="utf-8"))
    for record in content["runs"]:
        # Systematic draws miss each of the few probable graphs by at most one draw in 500.
        assert record["enumeration (default)"]["total_variation"] < 0.06
        # Five hundred independent draws over some ten graphs are off by about 0.05.
        assert record["Markov chains"]["total_variation"] < 0.2


@pytest.mark.slow
def test_the_other_parts_run(tmp_path):
    reduced = ("--draws", 40, "--options", json.dumps(REDUCED), "--output", tmp_path)
    for arguments in (
        ("speed", "--sizes", 5, "--fits", 1, "--rows", "500,2000", *reduced),
        ("real", "--rows", 300, *reduced),
        ("knowledge", "--sets", 1, "--presets", "sparse-5", "--raw", tmp_path / "raw", *reduced),
    ):
        result = run(*arguments)
        assert result.returncode == 0, result.stderr
        assert (tmp_path / f"{arguments[0]}.md").stat().st_size > 200
    speed = json.loads((tmp_path / "speed.json").read_text(encoding="utf-8"))
    assert all(1 < t["score"] < 500 for t in speed["scores"]["gaussian"])
    knowledge = json.loads((tmp_path / "knowledge.json").read_text(encoding="utf-8"))
    assert knowledge["runs"]["sparse-5"][0]["violations"] == 0
