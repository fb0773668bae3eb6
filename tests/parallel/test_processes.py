"""Worker processes that are killed, and whose parent is."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from momentdag.errors import ClusterError, ClusterWarning
from momentdag.parallel.leftovers import held, sweep_folders
from momentdag.parallel.processes import run_in_processes


def dies_once(mark, k):
    """Kill the process that runs it, the first time."""
    if k == 3 and not Path(mark).exists():
        Path(mark).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return k * k


def dies(k):
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize("ordered", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_the_tasks_of_a_killed_worker_are_run_again_once(ordered, tmp_path):
    tasks = [(str(tmp_path / f"mark {ordered}"), k) for k in range(8)]
    with pytest.warns(ClusterWarning, match=r"SIGKILL.*memory runs out.*run again"):
        results = list(run_in_processes(dies_once, tasks, 2, ordered=ordered))
    assert sorted(results) == [k * k for k in range(8)]
    assert not ordered or results == sorted(results)


@pytest.mark.slow
def test_a_worker_that_dies_again_ends_the_work_and_says_what_to_do():
    with (
        pytest.warns(ClusterWarning, match="once|run again"),
        pytest.raises(ClusterError, match=r"twice.*memory.*fewer processes.*resumed"),
    ):
        list(run_in_processes(dies, [(1,), (2,)], 2, ordered=True))


PARENT = """
import os, sys, time
from momentdag.parallel.local import common_folder
from momentdag.parallel.processes import run_in_processes
def wait(k):
    print("worker", os.getpid(), flush=True)
    time.sleep(1000)
with common_folder() as folder:
    print("folder", folder.parent, flush=True)
    list(run_in_processes(wait, [(1,), (2,)], 2, ordered=True))
"""


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self").exists(), reason="there is no /proc")
def test_workers_of_a_killed_parent_leave_and_its_folder_is_swept(tmp_path, monkeypatch):
    script = tmp_path / "parent.py"
    script.write_text(PARENT)
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    parent = subprocess.Popen(
        [sys.executable, script], stdout=subprocess.PIPE, text=True, env=environment
    )
    said = [parent.stdout.readline().split(maxsplit=1) for _ in range(3)]
    workers = [int(value) for kind, value in said if kind == "worker"]
    folder = Path(next(value for kind, value in said if kind == "folder").strip())
    assert len(workers) == 2
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    sweep_folders()
    assert folder.exists()  # in use
    parent.kill()
    parent.wait()
    parent.stdout.close()
    deadline = time.monotonic() + 60  # seconds suffice; the machine may be busy
    while any(map(is_alive, workers)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not any(map(is_alive, workers))
    sweep_folders()
    assert not folder.exists()


def test_sweeping_leaves_what_is_not_marked_or_is_a_link(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / "momentdag-unmarked").mkdir()
    precious = tmp_path / "precious"
    precious.mkdir()
    with held(precious):
        pass
    (tmp_path / "momentdag-link").symlink_to(precious)
    sweep_folders()
    assert (tmp_path / "momentdag-unmarked").exists()
    assert precious.exists()
