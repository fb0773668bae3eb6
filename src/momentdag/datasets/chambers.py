"""Data sets of the Causal Chambers, downloaded once through their authors' package."""

from __future__ import annotations

import hashlib
import io
import logging
import os
import sys
from contextlib import redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory

from momentdag.errors import DataError, require

__all__ = ["cache_folder", "fetch"]

_logger = logging.getLogger(__name__)


def cache_folder() -> Path:
    """Return the folder for downloads: ``MOMENTDAG_CACHE``, else one in the user's cache."""
    chosen = os.environ.get("MOMENTDAG_CACHE")
    if chosen:
        return Path(chosen).expanduser()
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA", "~/AppData/Local")
    elif sys.platform == "darwin":
        base = "~/Library/Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "momentdag"


def fetch(name: str, md5: str) -> Path:
    """Return the folder with a data set's experiments, downloading it if it is not cached.

    A cached data set needs neither the package causalchamber nor a connection. A download appears
    in the cache only when it is complete and its archive has the checksum ``md5``.

    Raises
    ------
    MissingExtraError
        If the data set is not cached and causalchamber is not installed.
    DataError
        If it cannot be downloaded, or the archive is not the expected one.
    """
    folder = cache_folder() / name
    if folder.is_dir():
        return folder
    require("causalchamber", extra="chambers", purpose=f"Downloading {name}")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=folder.parent, prefix="download-") as scratch:
            _download(name, Path(scratch), md5)
            (Path(scratch) / name).rename(folder)
    except OSError as error:
        if not folder.is_dir():  # else another process was faster
            raise DataError(
                f"Could not write to {folder} ({error}). Set MOMENTDAG_CACHE to another folder."
            ) from error
    _logger.info("Downloaded %s to %s.", name, folder)
    return folder


def _download(name: str, root: Path, md5: str) -> None:
    """Download and unpack a data set into ``root`` and compare the archive with ``md5``."""
    try:
        # The package prints a citation and, as soon as it is imported, asks its server for a list.
        with redirect_stdout(io.StringIO()):
            from causalchamber.datasets import Dataset

            Dataset(name, root=str(root), download=True)
    except Exception as error:  # no connection, and a plain Exception for a wrong checksum
        raise DataError(
            f"Could not download {name} ({error}). Check the connection, or pass a local "
            "copy as path=."
        ) from error
    archives = list(root.glob("*.zip"))
    if [_md5(archive) for archive in archives] != [md5]:
        raise DataError(
            f"The downloaded archive of {name} does not have the checksum md5 {md5}. To use it "
            "anyway, unpack it yourself and pass its folder as path=."
        )


def _md5(file: Path) -> str:
    with file.open("rb") as stream:
        digest = hashlib.file_digest(stream, lambda: hashlib.md5(usedforsecurity=False))
    return digest.hexdigest()
