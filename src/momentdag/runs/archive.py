"""One file of JSON values and arrays that can be read without trusting it.

The file is an npz (a zip of npy members, so `numpy.load` opens it too) with one more member,
``manifest.json``. Nothing in it is compressed: a file can never unpack to more than its own size,
and anything compressed is refused. Types and sizes are checked against the bytes that are there
before an array is made, no pickle is ever read, and members are only ever read into memory, so that
their names lead nowhere. Checksums find damage and careless editing; they are no signature.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from momentdag.atomic import write_atomically
from momentdag.errors import StorageError
from momentdag.posterior.storage import checksum
from momentdag.regular import open_regular

__all__ = ["Archive", "read_archive", "write_archive"]

Arrays: TypeAlias = Mapping[str, npt.NDArray[Any]]

_FORMAT_VERSION = 1
_MANIFEST = "manifest.json"
_MANIFEST_LIMIT = 64 * 2**20
_KINDS = "biuf"  # truth values, whole numbers and floats


class Archive(NamedTuple):
    """What an archive holds."""

    content: dict[str, Any]
    arrays: dict[str, npt.NDArray[Any]]


def write_archive(
    path: str | os.PathLike[str], kind: str, content: Mapping[str, Any], arrays: Arrays
) -> None:
    """Write values and arrays to one file, atomically.

    Parameters
    ----------
    path : path-like
    kind : str
        What the archive is; `read_archive` wants the same word.
    content : mapping
        Plain JSON values.
    arrays : mapping from name to array
        Of truth values, whole numbers or floats.

    Raises
    ------
    StorageError
        If the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "a.npz"
    ...     write_archive(path, "example", {"unit": "mm"}, {"length": np.arange(3.0)})
    ...     read_archive(path, "example")
    Archive(content={'unit': 'mm'}, arrays={'length': array([0., 1., 2.])})
    """
    members = {name: _to_npy(array) for name, array in arrays.items()}
    manifest: dict[str, Any] = {
        "format": f"momentdag-{kind}",
        "format_version": _FORMAT_VERSION,
        "content": content,
        "arrays": {name: hashlib.sha256(member).hexdigest() for name, member in members.items()},
    }
    # Through JSON and back first: what is summed must be what a reader will see.
    manifest = json.loads(json.dumps(manifest))
    manifest["sha256"] = checksum(manifest, b"")
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_STORED) as zipped:
        zipped.writestr(_MANIFEST, json.dumps(manifest, indent=2))
        for name, member in members.items():
            zipped.writestr(f"{name}.npy", member)
    write_atomically(path, archive.getvalue())


def read_archive(path: str | os.PathLike[str], kind: str) -> Archive:
    """Read what `write_archive` wrote.

    Raises
    ------
    StorageError
        If the file is missing, damaged, altered, of another kind or hostile.
    """
    path = Path(path)
    try:
        return _read(path, kind)
    except StorageError:
        raise
    except OSError as error:
        raise StorageError(f"Could not read {path}: {error.strerror or error}.") from error
    except Exception as error:  # zip, JSON and npy readers raise many types
        raise StorageError(f"{path} is not an intact momentdag file: {error}.") from error


def _read(path: Path, kind: str) -> Archive:
    with open_regular(path) as stream, zipfile.ZipFile(stream) as zipped:
        _check_members(zipped, path)
        manifest = json.loads(zipped.read(_MANIFEST))
        if not isinstance(manifest, dict) or manifest.get("format") != f"momentdag-{kind}":
            raise StorageError(f"{path} is not a momentdag {kind} file (no such format mark).")
        if manifest["format_version"] != _FORMAT_VERSION:
            raise StorageError(
                f"{path} has format version {manifest['format_version']}; this momentdag reads "
                f"version {_FORMAT_VERSION}."
            )
        if checksum(manifest, b"") != manifest["sha256"]:
            raise _altered(path)
        found = {info.filename.removesuffix(".npy") for info in zipped.infolist()} - {_MANIFEST}
        if found != set(manifest["arrays"]):
            raise _altered(path)
        arrays = {}
        for name, stated in manifest["arrays"].items():
            member = zipped.read(f"{name}.npy")
            if hashlib.sha256(member).hexdigest() != stated:
                raise _altered(path)
            arrays[name] = _from_npy(member, name)
    return Archive(manifest["content"], arrays)


def _altered(path: Path) -> StorageError:
    return StorageError(
        f"{path}: the content does not match its checksum; the file was altered or damaged. "
        "Restore it from a copy or fit again."
    )


def _check_members(zipped: zipfile.ZipFile, path: Path) -> None:
    infos = zipped.infolist()
    names = [info.filename for info in infos]
    if _MANIFEST not in names or len(set(names)) < len(names):
        raise StorageError(f"{path}: expected one {_MANIFEST} and arrays; got {sorted(names)[:5]}.")
    for info in infos:
        # A stored member is as large in the file as in memory.
        if info.compress_type != zipfile.ZIP_STORED or info.file_size != info.compress_size:
            raise StorageError(f"{path}: expected nothing compressed; {info.filename!r} is.")
        if not (info.filename == _MANIFEST or info.filename.endswith(".npy")):
            raise StorageError(f"{path}: unexpected member {info.filename!r}.")
    # Members that share bytes would be read many times over.
    if sum(info.file_size for info in infos) > path.stat().st_size:
        raise StorageError(f"{path}: the members claim more bytes than the file has.")
    if zipped.getinfo(_MANIFEST).file_size > _MANIFEST_LIMIT:
        raise StorageError(f"{path}: {_MANIFEST} has more than {_MANIFEST_LIMIT} bytes.")


def _to_npy(array: npt.NDArray[Any]) -> bytes:
    if array.dtype.kind not in _KINDS:
        raise StorageError(f"Expected arrays of numbers; got the type {array.dtype}.")
    stream = io.BytesIO()
    np.lib.format.write_array(stream, np.ascontiguousarray(array), (1, 0), allow_pickle=False)
    return stream.getvalue()


def _from_npy(member: bytes, name: str) -> npt.NDArray[Any]:
    stream = io.BytesIO(member)
    version = np.lib.format.read_magic(stream)
    if version != (1, 0):
        raise StorageError(f"Expected npy version 1.0 in {name!r}; got {version}.")
    shape, is_fortran, dtype = np.lib.format.read_array_header_1_0(stream)
    n_bytes = len(member) - stream.tell()
    n_entries = int(np.prod([int(length) for length in shape], dtype=object))
    if dtype.kind not in _KINDS or is_fortran or n_entries * dtype.itemsize != n_bytes:
        raise StorageError(f"Expected array {name!r} to be as large as its header says.")
    # A copy of its own, laid out in memory like any other array.
    return np.frombuffer(member, dtype, offset=stream.tell()).reshape(shape).copy()
