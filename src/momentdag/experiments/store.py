"""One file for each finished run, so that an interrupted reproduction goes on where it stopped."""

from __future__ import annotations

import hashlib
import json
import math
import textwrap
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from momentdag.atomic import write_atomically
from momentdag.errors import OptionError, StorageError
from momentdag.experiments.case import Case
from momentdag.experiments.code import code_fingerprint
from momentdag.experiments.methods import METHODS, N_DRAWS, N_QUICK_DRAWS

__all__ = ["NOT_CONVERGED", "Record", "Store", "one_line", "write_record"]

NOT_CONVERGED = "ConvergenceWarning: "
"""How the warning begins that a method may not have converged."""


@dataclass(frozen=True)
class Record:
    """A run that was made.

    Parameters
    ----------
    case, method : str
    number : int
        Number of the data set, which is also the seed of the method.
    measures : dict
        Empty if the run failed.
    seconds : float
        Wall time of the fit.
    status : str
        "complete", "failed", or what the method says was cut short.
    reason : str
        Why it failed, else empty.
    warnings : list of str

    Raises
    ------
    OptionError
        If a measure is not a finite number, which no file could keep.
    """

    case: str
    method: str
    number: int
    measures: dict[str, float] = field(default_factory=dict)
    seconds: float = 0.0
    status: str = "complete"
    reason: str = ""
    warnings: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        for key, value in self.measures.items():
            if not math.isfinite(value):
                raise OptionError(f"Expected finite measures; got {value} for {key!r}.")

    @property
    def failed(self) -> bool:
        """Whether nothing came of it."""
        return self.status == "failed"

    @property
    def complaint(self) -> str:
        """What the method said of a run that may not have converged, else empty.

        The first clause: what follows says more of the same, and what to do about it.
        """
        said = (own for own in self.warnings if own.startswith(NOT_CONVERGED))
        return one_line(next(said, "").removeprefix(NOT_CONVERGED).partition(";")[0])

    def value(self, key: str) -> float | None:
        """Return a measure, or the run time under the key "seconds"; None if there is none."""
        if self.failed:
            return None
        return self.seconds if key == "seconds" else self.measures.get(key)


@dataclass(frozen=True)
class Store:
    """The finished runs with the present settings and code.

    Results lie in a folder for each case and method, whose name ends with a key of the settings
    and of the code: what an older version found stays where it is and is not looked at.

    Parameters
    ----------
    folder : Path
    quick : bool
        Whether methods have the settings of a quick run.
    """

    folder: Path
    quick: bool

    @property
    def n_draws(self) -> int:
        """Draws of each Bayesian method."""
        return N_QUICK_DRAWS if self.quick else N_DRAWS

    def settings(self, case: Case, method: str) -> dict[str, Any]:
        """Return what the result of a run depends on, besides the number of the data set."""
        return {
            "case": case.name,
            "method": method,
            "options": METHODS[method].settings(quick=self.quick),
            "n_draws": self.n_draws,
            "code": self._code(case.module, METHODS[method].module),
        }

    def _code(self, *modules: str) -> str:
        # Taken once: an edit during a long run must not part it from its own results.
        if modules not in self._codes:
            self._codes[modules] = code_fingerprint(modules)
        return self._codes[modules]

    @cached_property
    def _codes(self) -> dict[tuple[str, ...], str]:
        return {}

    def key(self, case: Case, method: str) -> str:
        """Return what tells runs with the present settings and code from others."""
        said = json.dumps(self.settings(case, method), sort_keys=True)
        return hashlib.sha256(said.encode()).hexdigest()[:12]

    def place(self, case: Case, method: str) -> Path:
        """Return the folder of the runs of a method on a case."""
        name = f"{method}-{self.key(case, method)}"
        return self.folder / "results" / case.name / name

    def path(self, case: Case, method: str, number: int) -> Path:
        """Return the file of a run."""
        return self.place(case, method) / f"{number:03d}.json"

    def is_finished(self, case: Case, method: str, number: int) -> bool:
        """Return whether a run was made and did not fail."""
        path = self.path(case, method, number)
        return path.exists() and not _read(path).failed

    def records(self, case: Case, method: str) -> list[Record]:
        """Return the runs of a method on a case, by number."""
        return [_read(path) for path in sorted(self.place(case, method).glob("*.json"))]


def one_line(text: str) -> str:
    """Return text without line breaks, cut where it is long.

    Examples
    --------
    >>> one_line("so   many words")
    'so many words'
    """
    return textwrap.shorten(text, 240, placeholder=" ...")


def write_record(path: Path, record: Record, settings: dict[str, Any]) -> None:
    """Keep a run, with its settings in clear, in place of what was there."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(
            f"Could not make the folder {path.parent}: {error.strerror}. Choose another."
        ) from error
    content = {**record.__dict__, "settings": settings}
    write_atomically(path, json.dumps(content, indent=1, allow_nan=False).encode())


def _read(path: Path) -> Record:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        content.pop("settings")
        return Record(**content)
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise StorageError(
            f"Expected the result of a run in {path}; it cannot be read ({error}). Remove it and "
            "run again."
        ) from error
