"""Hostile inputs by the thousand: each is refused in our own words or used, and leaves no trace.

A case is made from its number alone, so that a failure can be seen again. The whole ordeal, 5 000
cases in a few minutes: ``pytest -m slow tests/faults -k hostile``.
"""

import faulthandler
import hashlib
import resource
import shutil
import signal
import sys
import tempfile
import traceback
import warnings
import zlib
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from typer.testing import CliRunner

from momentdag.cli.main import app
from momentdag.errors import MomentdagError, MomentdagWarning

# A case takes milliseconds, or a second if it ends in a fit; the machine may be busy.
SECONDS = 30
BYTES = 3 * 2**30  # the compiler of JAX alone reserves one
# A message is for people, however long the name or the cell that it is about.
LONGEST_MESSAGE = 2500


class TookTooLong(BaseException):
    """Not an `Exception`, so that no reader of damaged files can take it for damage."""


@contextmanager
def memory_limit(n_bytes):
    """Let no case take the whole machine with it."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + n_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


@contextmanager
def time_limit(seconds):
    def ring(number, frame):
        raise TookTooLong(f"more than {seconds} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(seconds)
    # Compiled code does not come back to be interrupted: then the whole run of the tests ends.
    faulthandler.dump_traceback_later(4 * seconds, exit=True, file=sys.__stderr__)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
        faulthandler.cancel_dump_traceback_later()


def listing(folder):
    """Return every path below a folder with a hash of what it holds."""
    found = {}
    for path in sorted(folder.rglob("*")):
        regular = path.is_file() and not path.is_symlink()
        found[str(path)] = hashlib.sha256(path.read_bytes()).digest() if regular else None
    return found


def refused(action):
    """Tell whether an action was refused; any error but our own passes through."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MomentdagWarning)
            warnings.simplefilter("ignore", ConvergenceWarning)
            action()
    except MomentdagError as error:
        message = str(error)
    else:
        return False
    assert 0 < len(message.strip()) <= LONGEST_MESSAGE, f"{len(message)} characters"
    return True


def command_refused(*arguments):
    """Tell whether the program refused a command; it may do nothing worse."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code in (0, 2), f"{arguments}: exit code {result.exit_code}: {result.output}"
    assert "Traceback" not in result.output
    if result.exit_code == 2:
        assert not result.stdout
        assert 0 < len(result.stderr) <= 2 * LONGEST_MESSAGE, f"{len(result.stderr)} characters"
    return result.exit_code == 2


@pytest.fixture(scope="session")
def within_memory():
    return memory_limit


@pytest.fixture(scope="session")
def is_refused():
    return refused


@pytest.fixture(scope="session")
def is_command_refused():
    return command_refused


@pytest.fixture
def endure(tmp_path, monkeypatch):
    """Return a function that runs cases and fails with a list of those that went wrong.

    ``prepare(rng, folder)`` puts the hostile input into a folder and returns an action, which tells
    whether the input was refused. What the action makes it takes away again.
    """
    scratch = tmp_path / "temporary"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    monkeypatch.setenv("TMPDIR", str(scratch))
    monkeypatch.chdir(scratch)  # so that a file under a bare name is noticed too

    def run(sort, numbers, prepare):
        outcomes, failures = Counter(), []
        for number in numbers:
            folder = tmp_path / f"{sort}-{number}"
            folder.mkdir()
            rng = np.random.default_rng([zlib.crc32(sort.encode()), number])
            try:
                action = prepare(rng, folder)
                before = listing(folder)
                with time_limit(SECONDS), memory_limit(BYTES):
                    outcomes["refused" if action() else "used"] += 1
                assert listing(folder) == before, "files were left or changed"
                assert not list(scratch.iterdir()), "temporary files were left"
            except (Exception, TookTooLong) as error:
                where = traceback.extract_tb(error.__traceback__)[-1]
                said = f"{type(error).__name__} at {where.filename}:{where.lineno}: {error}"
                failures.append(f"case {number} (its input is in {folder}): {said[:600]}")
            else:
                shutil.rmtree(folder)
        if failures:
            shown = "\n".join(failures[:40])
            pytest.fail(f"{len(failures)} of {len(numbers)} {sort} went wrong:\n{shown}")
        return outcomes

    return run
