"""Saving and loading a posterior: a zip of one JSON manifest and one npz of packed bits.

Nothing is trusted on the way in: member names, sizes, a checksum, shapes and types are checked
before a number is used, and arrays are read without pickle, so loading never executes code. The
checksum covers names, provenance and draws. It finds damage and careless editing; it is no
signature, as whoever edits a file on purpose can compute it anew.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from momentdag.atomic import write_atomically
from momentdag.errors import StorageError, quote
from momentdag.posterior.container import Posterior, Provenance, unpack
from momentdag.regular import open_regular

__all__ = ["FORMAT_VERSION", "checksum", "load", "save"]

FORMAT = "momentdag-posterior"
FORMAT_VERSION = 1
_MEMBERS = {"manifest.json", "draws.npz"}
_ARRAYS = {
    "mean_bits": np.uint8,
    "variance_bits": np.uint8,
    "log_posterior": np.float64,
    "chains": np.int32,
}
_MANIFEST_LIMIT = 16 * 2**20
_DRAWS_LIMIT = 4 * 2**30


def checksum(manifest: Mapping[str, Any], draws: bytes) -> str:
    """Return the SHA-256 of the draws and of all that the manifest says beside it."""
    stated = {key: value for key, value in manifest.items() if key != "sha256"}
    digest = hashlib.sha256(json.dumps(stated, sort_keys=True).encode("ascii"))
    digest.update(draws)
    return digest.hexdigest()


def save(posterior: Posterior, path: str | os.PathLike[str]) -> None:
    """Write ``posterior`` to ``path`` atomically."""
    arrays: dict[str, Any] = {
        "mean_bits": posterior._mean_bits,
        "variance_bits": posterior._variance_bits,
        "log_posterior": posterior.log_posterior,
        "chains": posterior.chains,
    }
    draws = io.BytesIO()
    np.savez_compressed(draws, **{k: v for k, v in arrays.items() if v is not None})
    manifest: dict[str, Any] = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "names": list(posterior.names),
        "n_draws": posterior.n_draws,
        "provenance": posterior.provenance.to_dict(),
    }
    manifest["sha256"] = checksum(manifest, draws.getvalue())
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_STORED) as members:
        members.writestr("manifest.json", json.dumps(manifest, indent=2))
        members.writestr("draws.npz", draws.getvalue())
    write_atomically(path, archive.getvalue())


def load(path: str | os.PathLike[str]) -> Posterior:
    """Read a posterior, or raise `StorageError` saying what is wrong with the file."""
    path = Path(path)
    try:
        manifest_bytes, draws_bytes = _read_members(path)
        manifest = _checked_manifest(json.loads(manifest_bytes), path)
        if checksum(manifest, draws_bytes) != manifest["sha256"]:
            raise StorageError(
                f"{path}: the content does not match its checksum; the file was altered or "
                "damaged. Restore it from a copy or fit again."
            )
        arrays = _checked_arrays(draws_bytes, len(manifest["names"]), manifest["n_draws"], path)
        return _rebuild(manifest, arrays)
    except StorageError:
        raise
    except OSError as error:
        raise StorageError(f"Could not read {path}: {error.strerror or error}.") from error
    except Exception as error:  # zip, zlib, JSON and npz readers raise many types
        raise StorageError(f"{path} is not an intact momentdag posterior: {error}.") from error


def _read_members(path: Path) -> tuple[bytes, bytes]:
    with open_regular(path) as stream, zipfile.ZipFile(stream) as archive:
        found = {info.filename: info.file_size for info in archive.infolist()}
        if set(found) != _MEMBERS or len(archive.infolist()) != len(_MEMBERS):
            raise StorageError(
                f"{path}: expected the members {sorted(_MEMBERS)}; got {sorted(found)[:5]}. "
                "Is this a momentdag posterior?"
            )
        # A stored member is as large in the file as in memory.
        if any(info.compress_type != zipfile.ZIP_STORED for info in archive.infolist()):
            raise StorageError(f"{path}: expected members that are stored, not compressed.")
        for member, limit in (("manifest.json", _MANIFEST_LIMIT), ("draws.npz", _DRAWS_LIMIT)):
            if found[member] > limit:
                raise StorageError(
                    f"{path}: {member} claims {found[member]} bytes, more than "
                    f"the {limit} accepted."
                )
        return archive.read("manifest.json"), archive.read("draws.npz")


def _checked_manifest(manifest: Any, path: Path) -> dict[str, Any]:
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise StorageError(f"{path} is not a momentdag posterior (no such format mark).")
    if manifest["format_version"] != FORMAT_VERSION:
        raise StorageError(
            f"{path} has format version {quote(manifest['format_version'])}; this momentdag reads "
            f"version {FORMAT_VERSION}. Install the version that wrote it "
            f"({quote(manifest['provenance']['version'])})."
        )
    names, n_draws = manifest["names"], manifest["n_draws"]
    if not (isinstance(names, list) and all(isinstance(name, str) for name in names)):
        raise StorageError(f"{path}: expected a list of variable names in the manifest.")
    if type(n_draws) is not int or n_draws < 1:
        raise StorageError(f"{path}: expected a positive number of draws; got {quote(n_draws)}.")
    return manifest


def _checked_arrays(content: bytes, d: int, n_draws: int, path: Path) -> dict[str, Any]:
    if n_draws * d * d > _DRAWS_LIMIT:
        raise StorageError(f"{path}: {n_draws} draws of {d} variables are more than is accepted.")
    row = -(-d * d // 8)
    shapes = {"mean_bits": (n_draws, row), "variance_bits": (n_draws, row)}
    # The largest an honest member can be, header included: a bomb is refused before inflation.
    limit = n_draws * max(row, 8) + 4096
    with zipfile.ZipFile(io.BytesIO(content)) as members:
        for info in members.infolist():
            if info.filename.removesuffix(".npy") not in _ARRAYS or info.file_size > limit:
                raise StorageError(f"{path}: unexpected or oversized array {info.filename!r}.")
    arrays: dict[str, Any] = {}
    with np.load(io.BytesIO(content), allow_pickle=False) as stored:
        for name in stored.files:
            array = stored[name]
            shape = shapes.get(name, (n_draws,))
            if array.dtype != _ARRAYS[name] or array.shape != shape:
                raise StorageError(
                    f"{path}: array {name!r} has shape {array.shape} and type "
                    f"{array.dtype}; expected {shape} and {_ARRAYS[name].__name__}."
                )
            arrays[name] = array
    return arrays


def _rebuild(manifest: dict[str, Any], arrays: dict[str, Any]) -> Posterior:
    d = len(manifest["names"])
    return Posterior(
        manifest["names"],
        unpack(arrays["mean_bits"], d),
        unpack(arrays["variance_bits"], d),
        Provenance(**manifest["provenance"]),
        log_posterior=arrays.get("log_posterior"),
        chains=arrays.get("chains"),
    )
