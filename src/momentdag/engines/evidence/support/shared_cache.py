"""Local evidences that processes of one machine share while they work.

Searches from different starts and chains ask for many of the same scores. In one process they share
a dictionary; here each process appends what it computes to a file of its own in a common folder,
and reads what the others have appended since it last looked. An evidence is a fact about the data,
so this saves time and changes no result; without the folder each process works on its own.
"""

from __future__ import annotations

import uuid
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from momentdag.engines.evidence.local.protocol import Evidences, Parents

__all__ = ["SharedCache"]


class SharedCache:
    """One process's view of the shared evidences.

    Parameters
    ----------
    folder : Path
        Common to all processes. If it is another machine's, or gone, nothing is shared.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     here, there = SharedCache(Path(folder)), SharedCache(Path(folder))
    ...     there.publish(1, Parents(0b001, 0b100), -12.5)
    ...     known = [{}, {}, {}]
    ...     here.refresh(known)
    ...     here.close(), there.close()
    (None, None)
    >>> known[1]
    {Parents(mean=1, variance=4): -12.5}
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._others: dict[str, BinaryIO] = {}
        self._rest: dict[str, bytes] = {}
        self._name = f"{uuid.uuid4().hex}.txt"
        self._own: BinaryIO | None = None
        with suppress(OSError):
            self._own = (folder / self._name).open("xb", buffering=0)

    def publish(self, variable: int, parents: Parents, evidence: float) -> None:
        """Write an evidence down for the other processes."""
        if self._own is None:
            return
        line = f"{variable} {parents.mean} {parents.variance} {float(evidence)!r}\n"
        try:
            self._own.write(line.encode())
        except OSError:  # a full disk: go on alone
            self.close()

    def refresh(self, known: Evidences) -> None:
        """Add to ``known`` what the others have published since the last time."""
        if self._own is None:
            return
        try:
            self._open_new_files()
            for name, file in self._others.items():
                *lines, self._rest[name] = (self._rest[name] + file.read()).split(b"\n")
                for line in lines:
                    variable, mean, variance, evidence = line.split()
                    known[int(variable)][Parents(int(mean), int(variance))] = float(evidence)
        except OSError:
            self.close()

    def _open_new_files(self) -> None:
        for path in self._folder.iterdir():
            if path.name not in self._others and path.name != self._name:
                self._others[path.name] = path.open("rb", buffering=0)
                self._rest[path.name] = b""

    def close(self) -> None:
        """Close all files; nothing is shared any more."""
        for file in (self._own, *self._others.values()):
            if file is not None:
                file.close()
        self._own = None
        self._others.clear()
