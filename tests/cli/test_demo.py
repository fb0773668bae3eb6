import subprocess
import sys
from pathlib import Path

import momentdag

COMMAND = str(Path(sys.executable).with_name("momentdag"))


def run(*arguments):
    return subprocess.run([COMMAND, *arguments], capture_output=True, text=True, check=False)


def test_demo_prints_a_readable_summary():
    result = run("demo")
    assert result.returncode == 0, result.stderr
    for expected in ("853", "11 proteins", "pka", "748"):
        assert expected in result.stdout
    assert result.stderr == ""


def test_help_and_version():
    assert "demo" in run("--help").stdout
    assert run("--version").stdout.strip() == f"momentdag {momentdag.__version__}"


def test_unknown_command_is_refused():
    result = run("dance")
    assert result.returncode == 2
    assert "dance" in result.stderr
    assert "Traceback" not in result.stderr
