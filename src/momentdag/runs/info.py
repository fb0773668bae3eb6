"""`run.json`: what a run folder is, and the mark that says it is whole."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from momentdag._version import __version__
from momentdag.atomic import write_atomically
from momentdag.errors import StorageError, quote
from momentdag.posterior.storage import checksum
from momentdag.regular import open_regular, read_regular

__all__ = ["INFO_NAME", "DataInfo", "RunInfo", "Status", "file_hash", "read_info", "write_info"]

Status: TypeAlias = Literal["fitting", "interrupted", "failed", "complete"]

INFO_NAME = "run.json"
_FORMAT = "momentdag-run"
_FORMAT_VERSION = 1
_LIMIT = 256 * 2**20


@dataclass(frozen=True)
class DataInfo:
    """What a run was fitted to.

    Parameters
    ----------
    names : tuple of str
    n_samples : int or None
        None if the run was saved without its data.
    fingerprint : str
        Of the table that was fitted, see `momentdag.data.Dataset.fingerprint`.
    source : str
        Where the table came from, for people; never opened.
    log_columns : tuple of str
        Columns of which natural logarithms were taken before the fit.
    """

    names: tuple[str, ...]
    n_samples: int | None
    fingerprint: str
    source: str = ""
    log_columns: tuple[str, ...] = ()


@dataclass(frozen=True)
class RunInfo:
    """The content of `run.json`.

    Parameters
    ----------
    status : {"fitting", "interrupted", "failed", "complete"}
        Only a complete run can be loaded. "fitting" is also what a killed process leaves.
    key : str
        Fingerprint of all that decides how the fit ends: an interrupted fit with the same key can
        be continued.
    data : DataInfo
    options : mapping
        Arguments of `momentdag.MomentDAG`, knowledge aside.
    message : str
        What went wrong, if something did.
    result : mapping
        What the estimator holds beside the files.
    files : mapping from name to SHA-256
        The files that belong to a complete run.
    version, started, updated : str
        Version of momentdag that wrote this, and when (UTC).
    """

    status: Status
    key: str
    data: DataInfo
    options: Mapping[str, Any]
    message: str = ""
    result: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    version: str = __version__
    started: str = ""
    updated: str = ""


def now() -> str:
    """Return the time of day in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def write_info(folder: Path, info: RunInfo) -> None:
    """Write `run.json`, atomically.

    Raises
    ------
    StorageError
        If it cannot be written.
    """
    content = {"format": _FORMAT, "format_version": _FORMAT_VERSION, **asdict(info)}
    content["updated"] = now()
    content["sha256"] = checksum(content, b"")
    text = json.dumps(content, indent=2, allow_nan=False) + "\n"
    write_atomically(folder / INFO_NAME, text.encode("utf-8"))


def read_info(folder: str | os.PathLike[str]) -> RunInfo:
    """Read `run.json`.

    Raises
    ------
    StorageError
        If there is none or it is malformed.
    """
    path = Path(folder) / INFO_NAME
    try:
        return _parse(json.loads(read_regular(path, _LIMIT).decode("utf-8")), path)
    except StorageError:
        raise
    except (FileNotFoundError, NotADirectoryError):
        raise StorageError(
            f"Expected a run folder, as `momentdag fit` makes; {folder} is none (no {INFO_NAME})."
        ) from None
    except OSError as error:
        raise StorageError(f"Could not read {path}: {error.strerror or error}.") from error
    except Exception as error:  # JSON of any shape, nested without end
        raise StorageError(f"{path} is malformed: {type(error).__name__}: {error}.") from None


def _parse(content: Any, path: Path) -> RunInfo:
    if not isinstance(content, dict) or content.pop("format", None) != _FORMAT:
        raise StorageError(f"{path} does not describe a momentdag run (no such format mark).")
    version = content.pop("format_version", None)
    if version != _FORMAT_VERSION:
        raise StorageError(
            f"{path} has format version {quote(version)}; this momentdag reads {_FORMAT_VERSION}. "
            f"Install the version that wrote it ({quote(content.get('version'))})."
        )
    stated = {"format": _FORMAT, "format_version": version, **content}
    if content.pop("sha256", None) != checksum(stated, b""):
        raise StorageError(
            f"{path} does not match its own checksum; it was altered or damaged. Restore it from "
            "a copy or fit again."
        )
    data = content.pop("data")
    for name in ("names", "log_columns"):
        if not all(isinstance(column, str) for column in data[name]):
            raise StorageError(f"{path}: expected {name} to be names of columns.")
        data[name] = tuple(data[name])
    info = RunInfo(data=DataInfo(**data), **content)
    if info.status not in get_args(Status):
        raise StorageError(f"{path}: expected a status among {get_args(Status)}.")
    for what in (info.options, info.result, info.files):
        if not isinstance(what, dict):
            raise StorageError(f"{path}: expected options, result and files as objects.")
    return info


def file_hash(path: Path) -> str:
    """Return the SHA-256 of a file.

    Raises
    ------
    StorageError
        If it cannot be read.
    """
    try:
        with open_regular(path) as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise StorageError(f"Could not read {path}: {error.strerror or error}.") from error
