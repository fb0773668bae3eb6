"""Checkpoints in files: the finished stages of a fit, from which it can be resumed."""

from __future__ import annotations

import hashlib
import logging
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from momentdag.errors import StorageError
from momentdag.storage.archive import read_archive, write_archive
from momentdag.storage.state import Arrays, State

__all__ = ["FileCheckpoint"]

_logger = logging.getLogger(__name__)
_KIND = "checkpoint"


@dataclass(frozen=True)
class FileCheckpoint:
    """An `engines.protocol.Checkpoint` with one file for each stage.

    A file belongs to the fit whose ``key`` it carries. Files of other fits and damaged files are
    ignored with a line in the log, and the stage runs again. If a stage cannot be saved (on a full
    disk, say), the fit continues: after an interruption the stage has to run again.

    Parameters
    ----------
    folder : Path
        Created when it is first needed.
    key : str
        Fingerprint of everything that decides the result of the fit.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> with tempfile.TemporaryDirectory() as name:
    ...     FileCheckpoint(Path(name), "a").save("chain 1", {"n": 2}, {"draws": np.arange(2)})
    ...     FileCheckpoint(Path(name), "a").load("chain 1")
    ...     FileCheckpoint(Path(name), "b").load("chain 1") is None
    State(content={'n': 2}, arrays={'draws': array([0, 1])})
    True
    """

    folder: Path
    key: str

    def load(self, stage: str) -> State | None:
        """Return the saved state of a stage, or None."""
        path = self._path(stage)
        if not path.exists():
            return None
        try:
            state = self._unwrap(read_archive(path, _KIND), stage)
        except StorageError as error:
            _logger.warning("Ignoring a checkpoint: %s", error)
            return None
        _logger.info("Restored from a checkpoint: %s", stage)
        return state

    def _unwrap(self, saved: State, stage: str) -> State:
        """Return the state that `save` was given, after checking that it belongs to this fit."""
        content = saved.content.get("content")
        if not isinstance(content, dict):
            raise StorageError(f"{self._path(stage)} has no content.")
        if saved.content.get("key") != self.key or saved.content.get("stage") != stage:
            raise StorageError(
                f"{self._path(stage)} belongs to a fit with other data, options, knowledge or seed."
            )
        return State(content, saved.arrays)

    def save(self, stage: str, content: Mapping[str, Any], arrays: Arrays) -> None:
        """Save the state of a stage, replacing an earlier one."""
        wrapped = {"key": self.key, "stage": stage, "content": dict(content)}
        try:
            with suppress(FileExistsError):
                self.folder.mkdir()
            if self.folder.is_symlink():
                raise StorageError(
                    f"{self.folder} is a link; checkpoints are written only inside the run folder."
                )
            write_archive(self._path(stage), _KIND, wrapped, arrays)
        except (OSError, StorageError) as error:
            _logger.warning("A checkpoint could not be saved: %s", error)

    def clear(self) -> None:
        """Remove all checkpoints and, if nothing else is in it, their folder."""
        if self.folder.is_symlink():
            return  # its target may belong to somebody else
        for pattern in ("*.npz", ".*.part"):
            for path in self.folder.glob(pattern):
                path.unlink(missing_ok=True)
        with suppress(OSError):
            self.folder.rmdir()

    def _path(self, stage: str) -> Path:
        # Readable, and unique even for stages that differ only in special characters.
        readable = re.sub(r"[^a-z0-9]+", "-", stage.lower()).strip("-")[:60]
        return self.folder / f"{readable}.{hashlib.sha256(stage.encode()).hexdigest()[:8]}.npz"
