"""Writing files so that a crash never leaves half of one under its final name."""

from __future__ import annotations

import os
import tempfile
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
    temporary: str | None = None
    try:
        descriptor, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        # mkstemp makes files private; give the result the permissions an ordinary file would have.
        umask = os.umask(0)
        os.umask(umask)
        Path(temporary).chmod(0o666 & ~umask)
        Path(temporary).replace(target)
        temporary = None
    except OSError as error:
        raise StorageError(f"Could not write {target}: {error.strerror or error}.") from error
    finally:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)
    return target
