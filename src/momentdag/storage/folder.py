"""The folder of a run: create it, lock it, clear it, check that it is complete."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from momentdag.errors import StorageError
from momentdag.storage.lock import LOCK_NAME, is_locked, locked
from momentdag.storage.log import LOG
from momentdag.storage.run_info import INFO_NAME, RunInfo, file_hash, read_info

__all__ = [
    "CHECKPOINTS",
    "DATA",
    "KNOWLEDGE",
    "MECHANISMS",
    "POSTERIOR",
    "RECIPE",
    "REPORT",
    "check_free",
    "clear",
    "find_run",
    "hash_files",
    "open_complete",
    "open_folder",
]

POSTERIOR, MECHANISMS = "posterior.zip", "mechanisms.npz"
KNOWLEDGE, DATA, RECIPE = "knowledge.json", "data.npz", "recipe.toml"
REPORT, CHECKPOINTS = "report.html", "checkpoints"

_FILES = (POSTERIOR, MECHANISMS, KNOWLEDGE, DATA, RECIPE)  # all but the first may be missing
_UNFINISHED = re.compile(r"\.[0-9a-f]{16}\.part")


@contextmanager
def open_folder(folder: str | os.PathLike[str]) -> Iterator[Path]:
    """Create a folder if need be, and hold its lock.

    Raises
    ------
    StorageError
        If it cannot be created or written, or another process holds its lock.
    """
    path = Path(folder)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(
            f"Could not create the folder {folder}: {error.strerror or error}. Choose another."
        ) from error
    with locked(path):
        # A process that was killed may have left these behind.
        for leftover in path.iterdir():
            if _UNFINISHED.fullmatch(leftover.name):
                leftover.unlink(missing_ok=True)
        yield path


def check_free(folder: Path, force: bool) -> None:
    """Refuse a folder that holds a run or anything else, unless it is to be replaced.

    Raises
    ------
    StorageError
        If the folder is not empty.
    """
    if force:
        return
    if (folder / INFO_NAME).exists():
        raise StorageError(
            f"Expected an empty folder; {folder} already holds a run. Continue it with resume, "
            "replace it with force, or choose another folder."
        )
    others = sorted(entry.name for entry in folder.iterdir() if entry.name != LOCK_NAME)
    if others:
        raise StorageError(
            f"Expected an empty folder; {folder} holds {others[:3]}. Choose another folder, or "
            "put the run beside these files with force."
        )


def clear(folder: Path) -> None:
    """Remove the files of an earlier run, `run.json` first, and nothing else.

    Raises
    ------
    StorageError
        If one cannot be removed.
    """
    try:
        # `run.json` first: without it the rest is no run, should this be interrupted.
        for name in (INFO_NAME, *_FILES, REPORT, LOG):
            (folder / name).unlink(missing_ok=True)
        if (folder / CHECKPOINTS).is_symlink():
            (folder / CHECKPOINTS).unlink()  # the link; its target may belong to somebody else
        elif (folder / CHECKPOINTS).is_dir():
            shutil.rmtree(folder / CHECKPOINTS)
    except OSError as error:
        raise StorageError(
            f"Could not remove {error.filename}: {error.strerror or error}."
        ) from error


def hash_files(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of each file of a run, for `RunInfo.files`."""
    return {name: file_hash(folder / name) for name in _FILES if (folder / name).exists()}


def find_run(folder: Path, key: str) -> RunInfo | None:
    """Return the run that a fit with this ``key`` can resume, or None if the folder holds no run.

    Raises
    ------
    StorageError
        If the folder holds a run of another fit.
    """
    if not (folder / INFO_NAME).exists():
        return None
    info = read_info(folder)
    if info.key != key:
        raise StorageError(
            f"The run in {folder} cannot be resumed: it has other data, options, knowledge, "
            "seed, recipe or version of momentdag. Use force to replace it, or choose another "
            "folder."
        )
    return info


@contextmanager
def open_complete(folder: str | os.PathLike[str]) -> Iterator[tuple[Path, RunInfo]]:
    """Yield a complete run whose files match their checksums.

    Raises
    ------
    StorageError
        If the run is unfinished or a file was changed. Any error inside the block is turned into
        one, because a forged file with a valid checksum may fail in many ways.
    """
    path, info = Path(folder), read_info(folder)
    if info.status == "fitting":
        if is_locked(path):
            raise StorageError(f"The fit in {folder} is still running. Wait for it to end.")
        raise StorageError(
            f"The fit in {folder} was cut short: its process is gone. What it had finished is "
            "there; continue it with `momentdag fit ... --resume`."
        )
    if info.status != "complete":
        why = f" ({info.message})" if info.message else ""
        raise StorageError(
            f"Expected a complete run; the one in {folder} is {info.status}{why}. Continue it with "
            "`momentdag fit ... --resume`."
        )
    if POSTERIOR not in info.files:
        raise StorageError(
            f"{folder} is not an intact run folder: its {INFO_NAME} does not list {POSTERIOR}."
        )
    for name in _FILES:
        if name in info.files and file_hash(path / name) != info.files[name]:
            raise StorageError(
                f"{path / name} does not match its checksum in run.json; it was altered or "
                "damaged. Restore it from a copy or fit again."
            )
    try:
        yield path, info
    except Exception as error:
        raise StorageError(f"{folder} is not an intact run folder: {error}") from error
