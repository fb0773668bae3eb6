"""Signals, full disks, folders that cannot be written, and two processes in one run."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import momentdag as md
from momentdag import runs
from momentdag.errors import StorageError
from momentdag.storage.archive import read_archive
from momentdag.storage.run_info import write_info

COMMAND = str(Path(sys.executable).with_name("momentdag"))
EVIDENCE = (
    *("--draws=2000", "--option=method=chain", "--option=n_chains=2", "--option=n_starts=1"),
    *("--option=n_inducing=40", "--option=thinning=60"),
)
VARIATIONAL = (
    *("--engine=variational", "--draws=200", "--option=n_hidden=4", "--option=n_restarts=2"),
    *("--option=n_graphs=2", "--option=warm_up_steps=500", "--option=max_steps=6000"),
)
LINEAR = ("--draws", "500", "--option", "family=linear")


@pytest.fixture(scope="module")
def csv(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "cells.csv"
    rng = np.random.default_rng(5)
    dose, stress = rng.uniform(1, 3, (2, 90))
    response = 20 + 3 * np.sin(dose) + 0.3 * np.exp(0.8 * stress) * rng.normal(size=90)
    frame = pd.DataFrame({"dose": dose, "stress": stress, "response": response})
    frame.to_csv(path, index=False)
    return path


# The program; whoever runs the tests in the background may have had ctrl-C ignored.
PROGRAM = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from momentdag.cli import main
main()
"""


def start(csv, folder, *options):
    return subprocess.Popen(
        [
            sys.executable,
            "-c",
            PROGRAM,
            "fit",
            csv,
            "-o",
            folder,
            "--no-report",
            "--resume",
            *options,
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


def wait_for(process, path, text=""):
    deadline = time.monotonic() + 200
    while time.monotonic() < deadline:
        if path.exists() and text in path.read_text():
            return
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.02)
    process.kill()
    pytest.fail(f"{path} never came")


def check_whole(folder):
    """Every file under a final name is whole, whatever became of the process."""
    for path in folder.rglob("*.npz"):
        kind = "checkpoint" if path.parent.name == "checkpoints" else None
        read_archive(path, kind or {"data.npz": "data", "mechanisms.npz": "mechanisms"}[path.name])
    if (folder / "posterior.zip").exists():
        md.Posterior.load(folder / "posterior.zip")
    if (folder / "knowledge.json").exists():
        md.Knowledge.from_file(folder / "knowledge.json")
    if (folder / "run.json").exists():
        return runs.read_info(folder).status
    return None


def same_draws(folder, other):
    one, two = runs.load(folder).posterior_, runs.load(other).posterior_
    np.testing.assert_array_equal(one.mean_graphs, two.mean_graphs)
    np.testing.assert_array_equal(one.variance_graphs, two.variance_graphs)


@pytest.mark.slow
def test_control_c_leaves_a_run_that_resumes_and_a_second_process_is_refused(
    csv, tmp_path, is_command_refused
):
    folder = tmp_path / "run"
    process = start(csv, folder, *EVIDENCE)
    wait_for(process, folder / "log.txt", "Stage: the Markov chains")
    before = runs.read_info(folder)
    assert is_command_refused("fit", csv, "-o", folder, "--no-report", "--resume", *EVIDENCE)
    assert is_command_refused("fit", csv, "-o", folder, "--no-report", "--force", *LINEAR)
    assert runs.read_info(folder) == before
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=100)
    assert process.returncode == 130, errors
    assert b"Traceback" not in errors
    assert b"--resume" in errors
    assert check_whole(folder) == "interrupted"
    assert not list(folder.rglob("*.part"))
    again = ("--no-report", *EVIDENCE)
    assert not is_command_refused("fit", csv, "-o", folder, "--resume", *again)
    assert not is_command_refused("fit", csv, "-o", tmp_path / "undisturbed", *again)
    same_draws(folder, tmp_path / "undisturbed")


# The program again and again in one process, each time with a smaller disk: the system lets no file
# grow beyond the limit, and writing more fails as it does on a full one.
FULL_DISK = """
import json, resource, sys
from typer.testing import CliRunner
from momentdag.cli.main import app
csv, folder, sizes, rest = sys.argv[1], sys.argv[2], json.loads(sys.argv[3]), sys.argv[4:]
for size in [None, *sizes]:
    if size is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
    into = f"{folder}/{size}"
    for command in (
        ["fit", csv, "-o", into, *rest],
        ["report", f"{folder}/None", "-o", f"{folder}/{size}.html"],
        ["simulate", "linear-anm-2", "-o", f"{folder}/made-{size}"],
    ):
        if command[0] == "report" and size != sizes[0]:
            continue  # takes seconds
        result = CliRunner().invoke(app, command)
        print(json.dumps([size, command[0], result.exit_code, result.stderr]), flush=True)
"""


def test_a_full_disk_is_one_sentence_and_leaves_nothing_half_written(
    csv, tmp_path, is_command_refused
):
    sizes = [4000, 2500, 300, 0]
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, csv, tmp_path, json.dumps(sizes), "--no-report", *LINEAR],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    results = [json.loads(line) for line in done.stdout.splitlines()]
    codes = {(size, name): code for size, name, code, _ in results}
    assert codes[None, "fit"] == codes[None, "simulate"] == 0
    assert codes[4000, "report"] == codes[2500, "simulate"] == codes[0, "fit"] == 2
    for size, name, code, errors in results:
        assert code in (0, 2), errors
        if code == 2:
            assert "File too large" in errors, (size, name, errors)
            assert len(errors.splitlines()) == 1
    assert not list(tmp_path.rglob("*.part"))
    assert not list(tmp_path.glob("*.html"))
    for size in sizes:
        folder = tmp_path / str(size)
        status = check_whole(folder)
        assert (status == "complete") == (codes[size, "fit"] == 0)
        assert not is_command_refused("fit", csv, "-o", folder, "--resume", "--no-report", *LINEAR)
        same_draws(folder, tmp_path / "None")


NOWHERE = "/proc/momentdag"  # where not even the superuser can make anything


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="there is no /proc")
def test_a_place_that_cannot_be_written_is_one_sentence(csv, tmp_path, is_command_refused):
    assert is_command_refused("fit", csv, "-o", NOWHERE, *LINEAR)
    assert is_command_refused("simulate", "linear-anm-2", "-o", NOWHERE)
    assert not is_command_refused("fit", csv, "-o", tmp_path / "run", "--no-report", *LINEAR)
    assert is_command_refused("report", tmp_path / "run", "-o", f"{NOWHERE}.html")
    model = runs.load(tmp_path / "run")
    with pytest.raises(StorageError, match="Could not write"):
        model.posterior_.save(f"{NOWHERE}.zip")
    with pytest.raises(StorageError, match="Could not write"):
        md.Knowledge().to_file(f"{NOWHERE}.toml")
    with pytest.raises(StorageError, match="Could not create"):
        runs.save(model, NOWHERE)
    (tmp_path / "run" / "log.txt").unlink()
    (tmp_path / "run" / "log.txt").mkdir()
    assert is_command_refused("fit", csv, "-o", tmp_path / "run", "--force", *LINEAR)


@pytest.fixture
def read_only(tmp_path):
    """Return a function that runs the program in a world where one folder is read-only."""
    probe = "mount --bind {0} {0} && mount -o remount,ro,bind {0}"

    def run(folder, *arguments):
        command = [COMMAND, *map(str, arguments)]
        if os.geteuid() == 0:  # whom permissions do not bind: mount it read-only
            mounted = probe.format(folder) + ' && exec "$@"'
            command = ["unshare", "--mount", "sh", "-c", mounted, "sh", *command]
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=200)

    if os.geteuid() == 0:
        tried = subprocess.run(
            ["unshare", "--mount", "sh", "-c", probe.format(tmp_path)], capture_output=True
        )
        if tried.returncode:
            pytest.skip("the superuser of this machine may not mount")
    return run


@pytest.mark.slow
def test_a_read_only_run_can_be_asked_and_not_changed(csv, tmp_path, read_only, is_command_refused):
    folder = tmp_path / "run"
    assert not is_command_refused("fit", csv, "-o", folder, "--no-report", *LINEAR)
    before = {path: path.read_bytes() for path in folder.iterdir()}
    folder.chmod(0o555)
    asked = read_only(folder, "query", folder, "dose -> response")
    forced = read_only(folder, "fit", csv, "-o", folder, "--force", *LINEAR)
    folder.chmod(0o755)
    assert asked.returncode == 0, asked.stderr
    assert forced.returncode == 2, forced.stderr
    assert "Traceback" not in forced.stderr
    assert len(forced.stderr.splitlines()) == 1
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_links_in_a_run_folder_lead_nowhere(csv, tmp_path, is_command_refused):
    """A folder from somebody else must not make us write or delete outside of it."""
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "a.npz").write_text("mine")
    (precious / "log").write_text("mine")
    for name, target in (("log.txt", precious / "log"), ("checkpoints", precious)):
        folder = tmp_path / name
        assert not is_command_refused("fit", csv, "-o", folder, "--no-report", *LINEAR)
        shutil.rmtree(folder / name, ignore_errors=True)
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(target)
        info = runs.read_info(folder)
        write_info(folder, replace(info, status="interrupted"))
        is_command_refused("fit", csv, "-o", folder, "--no-report", "--resume", *LINEAR)
        is_command_refused("fit", csv, "-o", folder, "--no-report", "--force", *LINEAR)
    assert {path.name: path.read_text() for path in precious.iterdir()} == {
        "a.npz": "mine",
        "log": "mine",
    }


@pytest.mark.slow
@pytest.mark.parametrize(("options", "n_kills"), [(EVIDENCE, 6), (VARIATIONAL, 6)])
def test_a_killed_fit_leaves_whole_files_and_resumes_to_the_same_bits(
    options, n_kills, csv, tmp_path
):
    def begin(folder):
        before = (folder / "log.txt").read_text() if (folder / "log.txt").exists() else ""
        process = start(csv, folder, *options)
        wait_for(process, folder / "log.txt", before + "2")  # a line with its date
        return process, time.monotonic()

    process, began = begin(tmp_path / "whole")
    _, errors = process.communicate()
    assert process.returncode == 0, errors
    duration = time.monotonic() - began
    folder, states = tmp_path / "run", []
    for moment in np.random.default_rng(0).uniform(0, duration / 2, n_kills):
        # Again and again in one folder: each goes on where the last was killed.
        process, _ = begin(folder)
        time.sleep(moment)
        process.kill()
        process.communicate()
        states.append(check_whole(folder))
        if states[-1] == "complete":
            break
    process = start(csv, folder, *options)
    _, errors = process.communicate()
    assert process.returncode == 0, errors
    assert "fitting" in states  # or none was killed in the middle
    same_draws(folder, tmp_path / "whole")
    assert not list(folder.rglob("*.part"))
