"""The folder of a run: making it, taking it, and clearing only what is a run's own."""

from __future__ import annotations

import errno
import logging
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from momentdag.errors import StorageError
from momentdag.runs.info import INFO_NAME
from momentdag.runs.lock import LOCK_NAME, locked

__all__ = [
    "CHECKPOINTS",
    "DATA",
    "FILES",
    "KNOWLEDGE",
    "LOG",
    "MECHANISMS",
    "POSTERIOR",
    "REPORT",
    "check_free",
    "clear",
    "logged",
    "open_folder",
]

POSTERIOR, MECHANISMS = "posterior.zip", "mechanisms.npz"
KNOWLEDGE, DATA = "knowledge.json", "data.npz"
FILES = (POSTERIOR, MECHANISMS, KNOWLEDGE, DATA)
"""Files that `run.json` lists with their checksums; all but the first may be missing."""
REPORT, LOG, CHECKPOINTS = "report.html", "log.txt", "checkpoints"

_UNFINISHED = re.compile(r"\.[0-9a-f]{16}\.part")


@contextmanager
def open_folder(folder: str | os.PathLike[str]) -> Iterator[Path]:
    """Make a folder if need be, and hold its lock.

    Raises
    ------
    StorageError
        If it cannot be made or written, or another process holds it.
    """
    path = Path(folder)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(
            f"Could not make the folder {folder}: {error.strerror or error}. Choose another."
        ) from error
    with locked(path):
        # A process that was killed may have left these behind.
        for leftover in path.iterdir():
            if _UNFINISHED.fullmatch(leftover.name):
                leftover.unlink(missing_ok=True)
        yield path


class _Log(logging.FileHandler):
    """A log that is for people: on a full disk it loses lines, and the fit goes on."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802, logging's own name
        pass


@contextmanager
def logged(folder: Path) -> Iterator[None]:
    """Add what momentdag logs to the `log.txt` of a run.

    Raises
    ------
    StorageError
        If the log cannot be written.
    """
    try:
        if (folder / LOG).is_symlink():
            raise OSError(errno.ELOOP, "The log is a link", str(folder / LOG))
        handler = _Log(folder / LOG, encoding="utf-8")
    except OSError as error:
        raise StorageError(
            f"Could not write into {folder}: {error.strerror or error}. Choose another folder."
        ) from error
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    logger = logging.getLogger("momentdag")
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
        with suppress(OSError):
            handler.close()


def check_free(folder: Path, force: bool) -> None:
    """Refuse a folder that holds a run or anything else, unless it is to be replaced.

    Raises
    ------
    StorageError
        If the folder is taken.
    """
    if force:
        return
    if (folder / INFO_NAME).exists():
        raise StorageError(
            f"Expected an empty folder; {folder} holds a run already. Continue it with resume, "
            "replace it with force, or choose another folder."
        )
    others = sorted(entry.name for entry in folder.iterdir() if entry.name != LOCK_NAME)
    if others:
        raise StorageError(
            f"Expected an empty folder; {folder} holds {others[:3]}. Choose another one, or put "
            "the run beside them with force."
        )


def clear(folder: Path) -> None:
    """Remove the files of an earlier run, the description first, and nothing else.

    Raises
    ------
    StorageError
        If one cannot be removed.
    """
    try:
        # Without its description a run is none: whatever is left by a crash here misleads nobody.
        for name in (INFO_NAME, *FILES, REPORT, LOG):
            (folder / name).unlink(missing_ok=True)
        if (folder / CHECKPOINTS).is_dir():
            shutil.rmtree(folder / CHECKPOINTS)
    except OSError as error:
        raise StorageError(
            f"Could not remove {error.filename}: {error.strerror or error}."
        ) from error
