"""The benchmark of scale runs the real program, and its tables hold what was measured."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_rows_variables_and_processes_are_measured(tmp_path):
    arguments = ("--rows", "100,400", "--variables", 3, "--sizes", "3,4", "--samples", 100)
    options = ("--draws", 100, "--options", '{"family": "linear", "max_rows": 200}')
    folders = ("--output", tmp_path / "results", "--raw", tmp_path / "raw")
    result = subprocess.run(
        [sys.executable, "-m", "benchmarks", "scale", *map(str, (*arguments, *options, *folders))],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env={**os.environ, "COLUMNS": "200", "PYTHONIOENCODING": "utf-8"},
        encoding="utf-8",
    )
    assert result.returncode == 0, result.stderr
    content = json.loads((tmp_path / "results" / "scale.json").read_text(encoding="utf-8"))
    text = (tmp_path / "results" / "scale.md").read_text(encoding="utf-8")
    assert content["failures"] == []
    assert set(content["runs"]) == {"3x100x2", "3x400x2", "3x100x1", "4x100x1", "4x100x2"}
    long = content["runs"]["3x400x2"]
    assert long["n_samples_for_structure"] == 200
    assert long["peak_megabytes"] > 50  # Python with NumPy and pandas alone takes more
    assert long["cpu_seconds"] > 0
    assert f"| 400 | 200 | {long['seconds']:.0f} |" in text
    one, two = content["runs"]["4x100x1"], content["runs"]["4x100x2"]
    assert f"| {one['seconds'] / two['seconds']:.2f} |" in text
