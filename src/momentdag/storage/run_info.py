"""`run.json`: the content of a run folder, and whether it is complete."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from momentdag._version import __version__
from momentdag.errors import StorageError, quote
from momentdag.storage.archive import checksum
from momentdag.storage.budget import BUDGET, parse_json
from momentdag.storage.files import open_regular, read_regular, write_atomically
from momentdag.storage.state import is_text

__all__ = [
    "INFO_NAME",
    "DataInfo",
    "RunInfo",
    "Status",
    "describe_fit",
    "file_hash",
    "read_info",
    "write_info",
]

Status: TypeAlias = Literal["fitting", "interrupted", "failed", "complete"]

INFO_NAME = "run.json"
_FORMAT = "momentdag-run"
_FORMAT_VERSION = 1


def _now() -> str:
    """Return the time in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


@dataclass(frozen=True)
class DataInfo:
    """The data of a run.

    Parameters
    ----------
    names : tuple of str
    n_samples : int or None
        None if the run was saved without its data.
    fingerprint : str
        Of the table, see `momentdag.table.Dataset.fingerprint`.
    source : str
        Where the table came from; shown, never opened.
    log_columns : tuple of str
        Columns that were replaced by their natural logarithms before the fit.
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
        Only a complete run can be loaded. A killed process leaves "fitting".
    key : str
        Fingerprint of everything that decides the result: an interrupted fit with the same key
        can be continued.
    data : DataInfo
    options : mapping
        Arguments of `momentdag.MomentDAG` except the knowledge.
    message : str
        What went wrong, if something did.
    result : mapping
        Fitted attributes that are not in the files.
    files : mapping from name to SHA-256
        The files that belong to a complete run.
    account : tuple of mappings
        What was done to the columns of the source before the fit: column, kind, action, why.
    version, started, updated : str
        Version of momentdag that wrote this, and times (UTC).
    """

    status: Status
    key: str
    data: DataInfo
    options: Mapping[str, Any]
    message: str = ""
    result: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    account: tuple[Mapping[str, str], ...] = ()
    version: str = __version__
    started: str = field(default_factory=_now)
    updated: str = ""


def describe_fit(
    data: DataInfo,
    options: Mapping[str, Any],
    knowledge: Mapping[str, Any] | None,
    recipe: str | None = None,
) -> RunInfo:
    """Return the content of `run.json` for a fit that begins.

    Everything enters the key except ``n_jobs``, which does not affect the result.

    Examples
    --------
    >>> data = DataInfo(("a", "b"), 10, "cafe")
    >>> one, two = (describe_fit(data, {"n_draws": 5, "n_jobs": n}, None) for n in (1, 2))
    >>> one.key == two.key, one.key == describe_fit(data, {"n_draws": 6}, None).key
    (True, False)
    """
    deciding = {name: value for name, value in options.items() if name != "n_jobs"}
    parts = [data.fingerprint, deciding, knowledge, __version__]
    if recipe is not None:
        parts.append(recipe)
    text = json.dumps(parts, sort_keys=True)
    return RunInfo("fitting", hashlib.sha256(text.encode("ascii")).hexdigest(), data, options)


def write_info(folder: Path, info: RunInfo) -> None:
    """Write `run.json` atomically; NaN and infinities become null.

    Raises
    ------
    StorageError
        If it cannot be written.
    """
    content = {"format": _FORMAT, "format_version": _FORMAT_VERSION, **_finite(asdict(info))}
    content["updated"] = _now()
    content["sha256"] = checksum(content)
    text = json.dumps(content, indent=2, allow_nan=False) + "\n"
    write_atomically(folder / INFO_NAME, text.encode("utf-8"))


def _finite(value: Any) -> Any:
    """Return plain values with None in place of NaN and infinities."""
    if isinstance(value, dict):
        return {str(key): _finite(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def read_info(folder: str | os.PathLike[str]) -> RunInfo:
    """Read `run.json`.

    Raises
    ------
    StorageError
        If there is none or it is malformed.
    """
    path = Path(folder) / INFO_NAME
    try:
        return _parse(parse_json(read_regular(path, BUDGET.text_bytes)), path)
    except StorageError:
        raise
    except (FileNotFoundError, NotADirectoryError):
        raise StorageError(
            f"{folder} is not a run folder: it has no {INFO_NAME}. Write one with `momentdag fit`."
        ) from None
    except OSError as error:
        raise StorageError(f"Could not read {path}: {error.strerror or error}.") from error
    except Exception as error:  # malformed or deeply nested JSON raises many types
        raise StorageError(f"{path} is malformed: {type(error).__name__}: {error}.") from None


def _parse(content: Any, path: Path) -> RunInfo:
    if not isinstance(content, dict) or content.pop("format", None) != _FORMAT:
        raise StorageError(f"{path} does not describe a momentdag run (wrong format entry).")
    version = content.pop("format_version", None)
    if version != _FORMAT_VERSION:
        raise StorageError(
            f"{path} has format version {quote(version)}; this momentdag reads {_FORMAT_VERSION}. "
            f"Install the version that wrote it ({quote(content.get('version'))})."
        )
    stated = {"format": _FORMAT, "format_version": version, **content}
    if content.pop("sha256", None) != checksum(stated):
        raise StorageError(
            f"{path} does not match its own checksum; it was altered or damaged. Restore it from "
            "a copy or fit again."
        )
    data = content.pop("data")
    for name in ("names", "log_columns"):
        if not all(is_text(column) for column in data[name]):
            raise StorageError(f"{path}: expected {name} to be column names.")
        data[name] = tuple(data[name])
    account = tuple(content.pop("account", ()))
    if not all(isinstance(row, dict) and _is_text(row) for row in account):
        raise StorageError(f"{path}: expected the account as objects of text.")
    info = RunInfo(data=DataInfo(**data), account=account, **content)
    if info.status not in get_args(Status):
        raise StorageError(f"{path}: expected a status among {get_args(Status)}.")
    for entry in (info.options, info.result, info.files):
        if not isinstance(entry, dict):
            raise StorageError(f"{path}: expected options, result and files as objects.")
    return info


def _is_text(row: Mapping[Any, Any]) -> bool:
    return all(isinstance(entry, str) for pair in row.items() for entry in pair)


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
