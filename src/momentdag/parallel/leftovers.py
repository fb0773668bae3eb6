"""Temporary folders that a killed process left behind: found by their locks, and removed."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import filelock

__all__ = ["PREFIX", "held", "sweep_folders"]

PREFIX = "momentdag-"

_LOCK = "owner.lock"


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Mark a folder as in use; the system takes the mark away however the process ends."""
    with filelock.FileLock(folder / _LOCK):
        yield


def sweep_folders() -> None:
    """Remove the marked folders of processes that are gone, of the same user only.

    Examples
    --------
    >>> sweep_folders()
    """
    with suppress(OSError):
        for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
            with suppress(OSError, filelock.Timeout):
                _sweep(folder)


def _sweep(folder: Path) -> None:
    lock = folder / _LOCK
    if folder.is_symlink() or lock.is_symlink() or not lock.is_file():
        return
    if hasattr(os, "getuid") and folder.stat().st_uid != os.getuid():
        return
    with filelock.FileLock(lock).acquire(blocking=False):  # or it is in use
        shutil.rmtree(folder, ignore_errors=True)
