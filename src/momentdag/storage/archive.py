"""One file of JSON values and arrays that can be read without trusting it.

The file is an npz (a zip of npy members, so `numpy.load` opens it too) with one more member,
``manifest.json``. Nothing in it is compressed, so a file cannot unpack to more than its own size;
compressed members are refused. Types and sizes are checked against the bytes that are there before
an array is made, no pickle is ever read, and members are only read into memory, so their names are
never used as paths. Checksums reveal damage and careless editing; they are not a signature.

Posteriors, mechanisms, data and checkpoints are such files, told apart by their ``kind``.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import zipfile
from collections.abc import Mapping
from io import BufferedReader
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from momentdag._version import __version__
from momentdag.errors import StorageError, quote
from momentdag.storage.budget import BUDGET, check_zip, parse_json
from momentdag.storage.files import open_regular, write_atomically
from momentdag.storage.state import Arrays, State

__all__ = ["checksum", "read_archive", "write_archive"]

_MANIFEST = "manifest.json"
_CHUNK = 2**24
_NPY_HEADER = 2**16 + 10  # what version 1.0 can have at most
_DTYPE_KINDS = "biuf"  # booleans, integers and floats


def checksum(values: Mapping[str, Any]) -> str:
    """Return the SHA-256 of JSON values, without their entry "sha256"."""
    covered = {key: value for key, value in values.items() if key != "sha256"}
    return hashlib.sha256(json.dumps(covered, sort_keys=True).encode("ascii")).hexdigest()


def write_archive(
    path: str | os.PathLike[str],
    kind: str,
    content: Mapping[str, Any],
    arrays: Arrays,
    version: int = 1,
) -> None:
    """Write values and arrays to one file, atomically.

    Parameters
    ----------
    path : path-like
    kind : str
        What the file holds, say "posterior"; `read_archive` expects the same word.
    content : mapping
        Plain JSON values.
    arrays : mapping from name to array
        Of booleans, integers or floats.
    version : int
        Format version of this kind.

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
    State(content={'unit': 'mm'}, arrays={'length': array([0., 1., 2.])})
    """
    members = {name: _to_npy(array) for name, array in arrays.items()}
    manifest: dict[str, Any] = {
        "format": f"momentdag-{kind}",
        "format_version": version,
        "version": __version__,
        "content": content,
        "arrays": {name: hashlib.sha256(member).hexdigest() for name, member in members.items()},
    }
    # Round trip through JSON: the checksum must cover what a reader will see.
    manifest = json.loads(json.dumps(manifest))
    manifest["sha256"] = checksum(manifest)
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_STORED) as zipped:
        zipped.writestr(_MANIFEST, json.dumps(manifest, indent=2))
        for name, member in members.items():
            zipped.writestr(f"{name}.npy", member)
    write_atomically(path, archive.getvalue())


def read_archive(
    path: str | os.PathLike[str],
    kind: str,
    version: int = 1,
    max_bytes: int = BUDGET.archive_bytes,
) -> State:
    """Read what `write_archive` wrote, if it has no more than ``max_bytes``.

    Raises
    ------
    StorageError
        If the file is missing, damaged, altered, hostile, of another kind or another version.
    """
    path = Path(path)
    try:
        with open_regular(path) as stream, _open_zip(stream, path, max_bytes) as zipped:
            _check_sizes(zipped, path)
            manifest = parse_json(zipped.read(_MANIFEST))
            _check_format(manifest, path, kind, version)
            _check_names(zipped, manifest["arrays"], path)
            if checksum(manifest) != manifest["sha256"]:
                raise _altered(path)
            if not isinstance(manifest["content"], dict):
                raise StorageError(f"{path}: expected the content to be an object.")
            arrays = {}
            for name, digest in manifest["arrays"].items():
                arrays[name], found = _read_npy(zipped, name)
                if found != digest:
                    raise _altered(path)
    except StorageError:
        raise
    except OSError as error:
        raise StorageError(f"Could not read {path}: {error.strerror or error}.") from error
    except Exception as error:  # zip, JSON and npy readers raise many types
        raise StorageError(f"{path} is not an intact momentdag {kind} file: {error}.") from error
    return State(manifest["content"], arrays)


def _open_zip(stream: BufferedReader, path: Path, max_bytes: int) -> zipfile.ZipFile:
    size = os.fstat(stream.fileno()).st_size
    if size > max_bytes:
        raise StorageError(f"{path} has {size} bytes; at most {max_bytes} are read.")
    check_zip(stream, lambda why: StorageError(f"{path}: {why}."))
    return zipfile.ZipFile(stream)


def _altered(path: Path) -> StorageError:
    return StorageError(
        f"{path}: the content does not match its checksum; the file was altered or damaged. "
        "Restore it from a copy or fit again."
    )


def _check_sizes(zipped: zipfile.ZipFile, path: Path) -> None:
    """Refuse, before reading, a zip that could take more memory than its size on disk."""
    infos = zipped.infolist()
    names = [info.filename for info in infos]
    if _MANIFEST not in names or len(set(names)) < len(names):
        raise StorageError(
            f"{path}: expected one {_MANIFEST} and arrays; got {quote(sorted(names)[:5])}."
        )
    for info in infos:
        # A stored member is as large in the file as in memory.
        if info.compress_type != zipfile.ZIP_STORED or info.file_size != info.compress_size:
            raise StorageError(f"{path}: {quote(info.filename)} is compressed; archives are not.")
    # Members that share bytes would be read many times over.
    if sum(info.file_size for info in infos) > path.stat().st_size:
        raise StorageError(f"{path}: the members claim more bytes than the file has.")
    if zipped.getinfo(_MANIFEST).file_size > BUDGET.text_bytes:
        raise StorageError(f"{path}: {_MANIFEST} has more than {BUDGET.text_bytes} bytes.")


def _check_format(manifest: Any, path: Path, kind: str, version: int) -> None:
    if not isinstance(manifest, dict) or manifest.get("format") != f"momentdag-{kind}":
        raise StorageError(f"{path} is not a momentdag {kind} file (wrong format entry).")
    written = manifest["format_version"]
    if written == version:
        return
    if isinstance(written, int) and written < version:
        raise StorageError(
            f"{path} was written by an earlier version of momentdag (format version {written}; "
            f"this one reads {version}). Fit again, or read it with the version that wrote it."
        )
    raise StorageError(
        f"{path} has format version {quote(written)}; this momentdag reads version {version}. "
        f"Install the momentdag that wrote it ({quote(manifest.get('version'))})."
    )


def _check_names(zipped: zipfile.ZipFile, listed: Mapping[str, str], path: Path) -> None:
    """Refuse members that are not arrays or that the manifest does not list."""
    names = set(zipped.namelist()) - {_MANIFEST}
    for name in names:
        if not name.endswith(".npy"):
            raise StorageError(f"{path}: unexpected member {quote(name)}.")
    if names != {f"{name}.npy" for name in listed}:
        raise _altered(path)


def _to_npy(array: npt.NDArray[Any]) -> bytes:
    if array.dtype.kind not in _DTYPE_KINDS:
        raise StorageError(f"Expected arrays of numbers; got the type {array.dtype}.")
    stream = io.BytesIO()
    np.lib.format.write_array(stream, np.ascontiguousarray(array), (1, 0), allow_pickle=False)
    return stream.getvalue()


def _read_npy(zipped: zipfile.ZipFile, name: str) -> tuple[npt.NDArray[Any], str]:
    """Return an array and the SHA-256 of its member; it is made only if its header is true."""
    n_bytes = zipped.getinfo(f"{name}.npy").file_size
    with zipped.open(f"{name}.npy") as member:
        start = io.BytesIO(member.read(_NPY_HEADER))
        version = np.lib.format.read_magic(start)
        if version != (1, 0):
            raise StorageError(f"Expected npy version 1.0 in {quote(name)}; got {version}.")
        shape, is_fortran, dtype = np.lib.format.read_array_header_1_0(start)
        n_entries = int(np.prod([int(length) for length in shape], dtype=object))
        is_true = n_entries * dtype.itemsize == n_bytes - start.tell()
        if dtype.kind not in _DTYPE_KINDS or is_fortran or not is_true:
            raise StorageError(
                f"Array {quote(name)} does not have the type and size of its header."
            )
        digest = hashlib.sha256(start.getbuffer()[: start.tell()])
        array = np.empty(shape, dtype)
        # In pieces, so that the member is in memory only once.
        buffer, at = array.reshape(-1).view(np.uint8), 0
        piece = start.read()
        while piece:
            digest.update(piece)
            buffer[at : at + len(piece)] = np.frombuffer(piece, np.uint8)
            at += len(piece)
            piece = member.read(_CHUNK)
        if at != len(buffer):
            raise StorageError(f"Array {quote(name)} ends before its size.")
    return array, digest.hexdigest()
