import subprocess
import sys
from pathlib import Path

import momentdag

COMMAND = str(Path(sys.executable).with_name("momentdag"))


def run(*arguments, cwd=None):
    return subprocess.run(
        [COMMAND, *arguments], capture_output=True, text=True, check=False, cwd=cwd
    )


def test_demo_fits_prints_and_saves(tmp_path):
    result = run("demo", "--draws", "300", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    for expected in ("853 single cells", "moves the variance", "erk", "Check of the draws"):
        assert expected in result.stdout
    assert "Traceback" not in result.stderr
    posterior = momentdag.Posterior.load(tmp_path / "momentdag-demo" / "sachs-posterior.zip")
    assert posterior.n_draws == 300
    assert posterior.names[0] == "raf"


def test_demo_into_a_place_that_cannot_be_written_is_one_sentence(tmp_path):
    (tmp_path / "taken").write_text("a file")
    result = run("demo", "--draws", "5", "-o", str(tmp_path / "taken" / "inside"))
    assert result.returncode == 2
    assert "Traceback" not in result.stderr
    assert "taken" in result.stderr


def test_help_and_version():
    assert "demo" in run("--help").stdout
    assert run("--version").stdout.strip() == f"momentdag {momentdag.__version__}"


def test_unknown_command_is_refused():
    result = run("dance")
    assert result.returncode == 2
    assert "dance" in result.stderr
    assert "Traceback" not in result.stderr
