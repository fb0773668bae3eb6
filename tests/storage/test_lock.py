import subprocess
import sys

import pytest

from momentdag.errors import StorageError
from momentdag.storage.lock import locked

HOLD = """
import sys, pathlib
from momentdag.storage.lock import locked
with locked(pathlib.Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_another_process_is_refused_until_the_first_is_dead(tmp_path):
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert holder.stdout.readline() == b"held\n"
    with (
        pytest.raises(StorageError, match=r"Another process is working in .*Wait"),
        locked(tmp_path),
    ):
        pass
    holder.kill()  # no clean-up can run: the system must give the lock back
    holder.communicate()
    with locked(tmp_path):
        pass


def test_it_is_given_back_after_an_error(tmp_path):
    with pytest.raises(ZeroDivisionError), locked(tmp_path):
        _ = 1 / 0
    with locked(tmp_path):
        pass


def test_a_place_that_cannot_be_written_is_a_clear_error(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StorageError, match="Could not write into"), locked(tmp_path / "file"):
        pass


def test_a_lock_that_is_a_link_leaves_its_target_alone(tmp_path):
    precious = tmp_path / "precious"
    precious.write_text("mine")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / ".lock").symlink_to(precious)
    with pytest.raises(StorageError, match="is a link"), locked(tmp_path / "run"):
        pass
    assert precious.read_text() == "mine"
