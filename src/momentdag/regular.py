"""Reading files that may not be what their names say."""

from __future__ import annotations

import errno
import os
import stat
from io import BufferedReader

__all__ = ["open_regular", "read_regular"]


def open_regular(path: str | os.PathLike[str]) -> BufferedReader:
    """Open a file for reading, unless it is a folder, a device or a pipe.

    A device may have no end, and a pipe waits for someone to write; both may stand behind a link.

    Raises
    ------
    OSError
        If there is no such file, it cannot be read, or it is no regular file.

    Examples
    --------
    >>> open_regular("/dev/null")
    Traceback (most recent call last):
    ...
    OSError: [Errno 22] No regular file: '/dev/null'
    """
    # Without waiting: else a pipe that nobody writes to would never be opened.
    flags = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
    descriptor = os.open(path, flags)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "No regular file", os.fspath(path))
    return os.fdopen(descriptor, "rb")


def read_regular(path: str | os.PathLike[str], max_bytes: int) -> bytes:
    """Read a whole file that has at most ``max_bytes``.

    Raises
    ------
    OSError
        As from `open_regular`, and if the file is larger.
    """
    with open_regular(path) as stream:
        content = stream.read(max_bytes + 1)
    if len(content) > max_bytes:
        raise OSError(errno.EFBIG, f"More than the {max_bytes} bytes accepted", os.fspath(path))
    return content
