"""Evidences that processes of one machine tell each other while they work.

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

from momentdag.engines.evidence.family import Evidences, Parents

__all__ = ["Exchange"]


class Exchange:
    """One process's end of the exchange.

    Parameters
    ----------
    folder : Path
        Of all that exchange; another machine's, or one that is gone, means no exchange.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     here, there = Exchange(Path(folder)), Exchange(Path(folder))
    ...     there.tell(1, Parents(0b001, 0b100), -12.5)
    ...     known = [{}, {}, {}]
    ...     here.listen(known)
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

    def tell(self, variable: int, parents: Parents, evidence: float) -> None:
        """Let the others know an evidence."""
        if self._own is None:
            return
        line = f"{variable} {parents.mean} {parents.variance} {float(evidence)!r}\n"
        try:
            self._own.write(line.encode())
        except OSError:  # a full disk: go on alone
            self.close()

    def listen(self, known: Evidences) -> None:
        """Add what the others have told since the last time."""
        if self._own is None:
            return
        try:
            self._look_around()
            for name, file in self._others.items():
                *lines, self._rest[name] = (self._rest[name] + file.read()).split(b"\n")
                for line in lines:
                    variable, mean, variance, evidence = line.split()
                    known[int(variable)][Parents(int(mean), int(variance))] = float(evidence)
        except OSError:
            self.close()

    def _look_around(self) -> None:
        for path in self._folder.iterdir():
            if path.name not in self._others and path.name != self._name:
                self._others[path.name] = path.open("rb", buffering=0)
                self._rest[path.name] = b""

    def close(self) -> None:
        """Take no further part."""
        for file in (self._own, *self._others.values()):
            if file is not None:
                file.close()
        self._own = None
        self._others.clear()
