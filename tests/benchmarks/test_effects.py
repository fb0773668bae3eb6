"""The benchmark of effects runs, and its tables hold what the runs measured."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_every_case_runs_and_is_tabled(tmp_path):
    arguments = ("--sets", 1, "--worlds", 8, "--draws", 60)
    folders = ("--output", tmp_path / "results", "--raw", tmp_path / "raw")
    result = subprocess.run(
        [sys.executable, "-m", "benchmarks", "effects", *map(str, (*arguments, *folders))],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env={**os.environ, "COLUMNS": "200", "PYTHONIOENCODING": "utf-8"},
        encoding="utf-8",
    )
    assert result.returncode == 0, result.stderr
    text = (tmp_path / "results" / "effects.md").read_text(encoding="utf-8")
    content = json.loads((tmp_path / "results" / "effects.json").read_text(encoding="utf-8"))
    assert content["failures"] == []
    (run,) = content["runs"]["true graph"]
    assert len(run["cases"]) == 20  # five variables set, four asked about
    covered = sum(case["sd_covered"] for case in run["cases"])
    assert "| true graph, all | 20 | " in text
    assert f"| {covered / 20:.1%} |" in text
    (lever,) = content["runs"]["levers"]
    assert (
        f"| a true variance cause is ranked first | {int(lever['variance_cause_first'])} of 1"
        in text
    )


def test_an_unknown_case_is_refused():
    result = subprocess.run(
        [sys.executable, "-m", "benchmarks", "effects", "--cases", "rumours"],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env={**os.environ, "COLUMNS": "200", "PYTHONIOENCODING": "utf-8"},
        encoding="utf-8",
    )
    assert result.returncode == 2
    assert "rumours" in result.stderr
