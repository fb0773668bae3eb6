"""Writing files so that a crash never leaves half of one under its final name."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from momentdag.errors import StorageError

__all__ = ["write_atomically"]


def write_atomically(path: str | os.PathLike[str], content: bytes) -> Path:
    """Write ``content`` to a temporary neighbour, flush it to disk, and move it into place.

    Raises
    ------
    StorageError
        If the folder is missing or cannot be written; nothing is left behind.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> write_atomically(folder / "note.txt", b"done").read_bytes()
    b'done'
    """
    target = Path(path)
    temporary = target.parent / f".{secrets.token_hex(8)}.part"
    try:
        try:
            # Mode "x" never follows a link or an old file that someone put there.
            with temporary.open("xb") as stream:
                stream.write(content)
                stream.flush()
                os.fsync(stream.fileno())
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise StorageError(
            f"Could not write {target}: {error.strerror or error}. Choose a folder that exists and "
            "can be written."
        ) from error
    return target
