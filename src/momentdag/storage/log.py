"""The log file of a run."""

from __future__ import annotations

import errno
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from momentdag.errors import StorageError

__all__ = ["LOG", "StageLog", "logged"]

LOG = "log.txt"

_logger = logging.getLogger(__name__)


class _Log(logging.FileHandler):
    """A log file that drops lines if the disk is full, instead of ending the fit."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802, the name that logging calls
        pass


@contextmanager
def logged(folder: Path) -> Iterator[None]:
    """Append the log records of momentdag to the `log.txt` of a run.

    Raises
    ------
    StorageError
        If the log cannot be written.
    """
    try:
        if (folder / LOG).is_symlink():
            raise OSError(errno.ELOOP, "The log is a link", str(folder / LOG))
        handler = _Log(folder / LOG, encoding="utf-8")
    except OSError as error:
        raise StorageError(
            f"Could not write into {folder}: {error.strerror or error}. Choose another folder."
        ) from error
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    logger = logging.getLogger("momentdag")
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
        with suppress(OSError):
            handler.close()


@dataclass
class StageLog:
    """Forward progress (stage, done, total), and log each stage when it begins."""

    progress: Callable[[str, int, int], None]
    stage: str = ""

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Report that ``done`` of ``total`` steps of ``stage`` are done."""
        if stage != self.stage:
            self.stage = stage
            _logger.info("Stage: %s", stage)
        self.progress(stage, done, total)
