"""The lock of a run folder, for one process at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import filelock

from momentdag.errors import StorageError

__all__ = ["LOCK_NAME", "is_locked", "locked"]

LOCK_NAME = ".lock"


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder; the system releases it however the process ends.

    Raises
    ------
    StorageError
        At once, if another process holds it, it is a link, or the folder cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as name, locked(Path(name)):
    ...     with locked(Path(name)):
    ...         pass
    Traceback (most recent call last):
    ...
    momentdag.errors.StorageError: Another process is working in .... Wait for it to end, or
    choose another folder.
    """
    lock = filelock.FileLock(folder / LOCK_NAME)
    if (folder / LOCK_NAME).is_symlink():  # opening the lock would change its target
        raise StorageError(f"Expected a lock of its own in {folder}; {LOCK_NAME} is a link.")
    try:
        lock.acquire(blocking=False)
    except filelock.Timeout:
        raise StorageError(
            f"Another process is working in {folder}. Wait for it to end, or choose another folder."
        ) from None
    except OSError as error:
        raise StorageError(
            f"Could not write into {folder}: {error.strerror or error}. Choose another folder."
        ) from error
    try:
        yield
    finally:
        lock.release()


def is_locked(folder: Path) -> bool:
    """Tell whether a process is working in a folder, as far as can be seen without writing."""
    lock = folder / LOCK_NAME
    if lock.is_symlink() or not lock.exists():
        return False
    try:
        with filelock.FileLock(lock).acquire(blocking=False):
            return False
    except (filelock.Timeout, OSError):
        return True
