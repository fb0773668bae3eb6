"""Checkpoints in files: what a fit has finished, so that one cut short can go on."""

from __future__ import annotations

import hashlib
import logging
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy.typing as npt

from momentdag.errors import StorageError
from momentdag.runs.archive import Archive, read_archive, write_archive

__all__ = ["FileCheckpoint"]

_logger = logging.getLogger(__name__)
_KIND = "checkpoint"


@dataclass(frozen=True)
class FileCheckpoint:
    """An `engines.protocol.Checkpoint` with one file for each stage.

    A file is bound to the fit it comes from by ``key``. One of another fit, or one that is damaged,
    is left alone and said so in the log; the fit then does that stage again. A stage that cannot be
    kept (the disk is full, say) costs time after an interruption, so it does not end the fit.

    Parameters
    ----------
    folder : Path
        Made when it is first needed.
    key : str
        Fingerprint of all that decides how the fit ends.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> with tempfile.TemporaryDirectory() as name:
    ...     FileCheckpoint(Path(name), "a").save("chain 1", {"n": 2}, {"draws": np.arange(2)})
    ...     FileCheckpoint(Path(name), "a").load("chain 1")
    ...     FileCheckpoint(Path(name), "b").load("chain 1") is None
    ({'n': 2}, {'draws': array([0, 1])})
    True
    """

    folder: Path
    key: str

    def load(self, stage: str) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]] | None:
        """Return what was kept of a stage, or None."""
        path = self._path(stage)
        if not path.exists():
            return None
        try:
            content, arrays = self._opened(read_archive(path, _KIND), stage)
        except StorageError as error:
            _logger.warning("A checkpoint is not used: %s", error)
            return None
        _logger.info("Going on after: %s", stage)
        return content, arrays

    def _opened(self, archive: Archive, stage: str) -> Archive:
        kept = archive.content
        if not isinstance(kept, dict) or not isinstance(kept.get("content"), dict):
            raise StorageError(f"Expected the content of {stage!r}; there is none.")
        if kept.get("key") != self.key or kept.get("stage") != stage:
            raise StorageError(
                f"{self._path(stage)} is of a fit with other data, options, knowledge or seed."
            )
        return Archive(kept["content"], archive.arrays)

    def save(
        self, stage: str, content: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]
    ) -> None:
        """Keep a stage, in place of what was kept of it before."""
        kept = {"key": self.key, "stage": stage, "content": dict(content)}
        try:
            with suppress(FileExistsError):
                self.folder.mkdir()
            if self.folder.is_symlink():
                raise StorageError(f"Expected a folder of our own; {self.folder} is a link.")
            write_archive(self._path(stage), _KIND, kept, arrays)
        except (OSError, StorageError) as error:
            _logger.warning("A checkpoint could not be kept: %s", error)

    def clear(self) -> None:
        """Remove all checkpoints and, if nothing else is in it, their folder."""
        if self.folder.is_symlink():
            return  # what is behind it may be somebody else's
        for path in self.folder.glob("*.npz"):
            path.unlink(missing_ok=True)
        for path in self.folder.glob(".*.part"):
            path.unlink(missing_ok=True)
        with suppress(OSError):
            self.folder.rmdir()

    def _path(self, stage: str) -> Path:
        # Readable, and different for different stages whatever characters they have.
        readable = re.sub(r"[^a-z0-9]+", "-", stage.lower()).strip("-")[:60]
        return self.folder / f"{readable}.{hashlib.sha256(stage.encode()).hexdigest()[:8]}.npz"
