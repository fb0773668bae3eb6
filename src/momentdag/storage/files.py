"""Read only regular files; write files whole or not at all."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from contextlib import suppress
from io import BufferedReader
from pathlib import Path

from momentdag.errors import StorageError

__all__ = ["open_regular", "read_regular", "write_atomically"]


def open_regular(path: str | os.PathLike[str]) -> BufferedReader:
    """Open a file for reading, unless it is a folder, a device or a pipe.

    A device may be endless and a pipe may block forever; a link may point to either.

    Raises
    ------
    OSError
        If there is no such file, it cannot be read, or it is not a regular file.

    Examples
    --------
    >>> open_regular("/dev/null")
    Traceback (most recent call last):
    ...
    OSError: [Errno 22] Not a regular file: '/dev/null'
    """
    # Without O_NONBLOCK, opening a pipe without a writer would never return.
    flags = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
    descriptor = os.open(path, flags)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "Not a regular file", os.fspath(path))
    return os.fdopen(descriptor, "rb")


def read_regular(path: str | os.PathLike[str], max_bytes: int) -> bytes:
    """Read a whole file of at most ``max_bytes``.

    Raises
    ------
    OSError
        As from `open_regular`, and if the file is larger.
    """
    with open_regular(path) as stream:
        content = stream.read(max_bytes + 1)
    if len(content) > max_bytes:
        raise OSError(errno.EFBIG, f"Larger than the limit of {max_bytes} bytes", os.fspath(path))
    return content


def write_atomically(path: str | os.PathLike[str], content: bytes) -> Path:
    """Write ``content`` to a temporary file beside it, flush it to disk, and move it into place.

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
            # Mode "x" neither follows a link nor overwrites a file.
            with temporary.open("xb") as stream:
                stream.write(content)
                stream.flush()
                os.fsync(stream.fileno())
            temporary.replace(target)
            _sync_folder(target.parent)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise StorageError(
            f"Could not write {target}: {error.strerror or error}. Choose a folder that exists and "
            "can be written."
        ) from error
    return target


def _sync_folder(folder: Path) -> None:
    """Flush a rename to disk, where the system can; without it a power cut may undo the rename."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
