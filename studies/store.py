"""The finished runs, one line each in a table, so that an interrupted study can be continued.

A run counts as finished if its settings and the version of its method are current; those of an
earlier version are shown as such. Both are written out in its line. The version is raised by hand;
it is not a hash of the code.
"""

from __future__ import annotations

import csv
import io
import math
import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from filelock import FileLock

from momentdag.errors import OptionError, StorageError
from momentdag.storage.files import write_atomically
from studies.case import Case, Measures, Outcome
from studies.methods import METHODS

__all__ = ["Record", "Store", "make_folder", "one_line"]

_N_QUICK_DRAWS = 400
_FAILED = "failed: "
_NOT_CONVERGED = "ConvergenceWarning: "
_COLUMNS = ("case", "method", "set", "settings", "version", "status", "warning", "seconds")

Key: TypeAlias = tuple[str, str, str, int]


@dataclass(frozen=True)
class Record:
    """A run that was made. Its measures are finite numbers, which a table can keep."""

    case: str
    method: str
    number: int  # of the data set, and the seed of the method
    settings: str  # draws and options, written out
    version: int  # of the method
    measures: Measures = field(default_factory=dict)
    seconds: float = 0.0  # wall time of the fit; 0 if it is not known
    status: str = "complete"  # or "failed: " and why, or what the method says was cut short
    warning: str = ""  # what the method said if it may not have converged
    parts: tuple[Measures, ...] = ()  # further rows of measures

    def __post_init__(self) -> None:
        for row in (self.measures, *self.parts):
            for key, value in row.items():
                if not math.isfinite(value):
                    raise OptionError(f"Expected finite measures; got {value} for {key!r}.")

    @property
    def key(self) -> Key:
        """What identifies it; a run of a newer version replaces one of an older version."""
        return self.case, self.method, self.settings, self.number

    @property
    def failed(self) -> bool:
        """Whether the run failed."""
        return self.status.startswith(_FAILED)

    @property
    def reason(self) -> str:
        """Why it failed, or an empty text."""
        return self.status.removeprefix(_FAILED) if self.failed else ""

    def value(self, key: str) -> float | None:
        """Return a measure, or the run time under the key "seconds"; None if there is none."""
        if self.failed:
            return None
        return self.seconds or None if key == "seconds" else self.measures.get(key)


@dataclass(frozen=True)
class Store:
    """A folder with a table of runs for each kind of case.

    ``quick``, ``n_draws`` and ``options`` (on top of every method's) change the settings of all
    runs, to try things out; runs with other settings are neither seen nor touched.
    """

    folder: Path
    quick: bool = False
    n_draws: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    _tables: dict[str, dict[Key, Record]] = field(default_factory=dict, init=False, repr=False)

    @property
    def is_trial(self) -> bool:
        """Whether the settings are not those of published results."""
        return self.quick or self.n_draws is not None or bool(self.options)

    def draws_for(self, case: Case) -> int:
        """Return the number of draws of a Bayesian method."""
        if self.n_draws is not None:
            return self.n_draws
        return min(case.n_draws, _N_QUICK_DRAWS) if self.quick else case.n_draws

    def options_for(self, method: str) -> dict[str, Any]:
        """Return the options of a method."""
        chosen = METHODS[method]
        return {**chosen.options, **(chosen.quick if self.quick else {}), **self.options}

    def settings(self, case: Case, method: str) -> str:
        """Write out what a result depends on, besides the method's version.

        Examples
        --------
        >>> from studies.linear_gaussian import linear_gaussian
        >>> Store(Path(".")).settings(linear_gaussian(3), "evidence-linear")
        '2000 draws, family=linear'
        """
        options = sorted(self.options_for(method).items())
        parts = [f"{self.draws_for(case)} draws", *(f"{name}={value}" for name, value in options)]
        if case.version > 1:
            parts.append(f"case version {case.version}")
        return ", ".join(parts)

    def record(self, case: Case, method: str, number: int, outcome: Outcome) -> Record:
        """Return the result of a run as a record with the current settings."""
        return Record(
            case.name,
            method,
            number,
            self.settings(case, method),
            METHODS[method].version,
            outcome.measures,
            outcome.seconds,
            outcome.status,
            _convergence_warning(outcome.warnings),
            outcome.parts,
        )

    def failure(self, case: Case, method: str, number: int, reason: str) -> Record:
        """Return a run that failed as a record."""
        status = f"{_FAILED}{one_line(reason)}"
        return self.record(case, method, number, Outcome({}, 0.0, status))

    def records(self, case: Case, method: str) -> list[Record]:
        """Return the runs of a method on a case with the current settings, by number.

        Those of an earlier version are shown until newer ones replace them; pages name them, and
        `is_finished` does not count them.
        """
        wanted = (case.name, method, self.settings(case, method))
        runs = self._table(case.table).values()
        matching = [run for run in runs if run.key[:3] == wanted]
        return sorted(matching, key=lambda run: run.number)

    def is_outdated(self, run: Record) -> bool:
        """Return whether a run is one of an earlier version of its method."""
        return run.version != METHODS[run.method].version

    def is_finished(self, case: Case, method: str, number: int, keys: Iterable[str] = ()) -> bool:
        """Return whether a run counts, did not fail, and has measured ``keys``."""
        key = (case.name, method, self.settings(case, method), number)
        run = self._table(case.table).get(key)
        if run is None or run.version != METHODS[method].version or run.failed:
            return False
        return all(name in run.measures for name in keys)

    def add(self, case: Case, record: Record) -> None:
        """Store a run, replacing an earlier one.

        The table is written whole, under a lock: other processes may be adding to it.
        """
        make_folder(self.folder)
        path = self._path(case.table)
        with FileLock(path.with_suffix(".lock")):
            runs = _read(path)
            runs[record.key] = record
            write_atomically(path, _to_csv(runs.values()))
        self._tables[case.table] = runs

    def _path(self, table: str) -> Path:
        return self.folder / f"{table}.csv"

    def _table(self, table: str) -> dict[Key, Record]:
        if table not in self._tables:
            self._tables[table] = _read(self._path(table))
        return self._tables[table]


def make_folder(folder: Path) -> None:
    """Make a folder unless it is there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(
            f"Could not create the folder {folder}: {error.strerror}. Choose another."
        ) from error


def one_line(text: str) -> str:
    """Return text without line breaks, cut where it is long.

    Examples
    --------
    >>> one_line("so   many words")
    'so many words'
    """
    return textwrap.shorten(text, 240, placeholder=" ...")


def _convergence_warning(messages: Iterable[str]) -> str:
    """Return the first clause of a convergence warning: the rest says what to do about it."""
    first = next((text for text in messages if text.startswith(_NOT_CONVERGED)), "")
    return one_line(first.removeprefix(_NOT_CONVERGED).partition(";")[0])


def _to_csv(runs: Iterable[Record]) -> bytes:
    """Write runs as lines, their parts below them, numbers to six digits."""
    ordered = sorted(runs, key=lambda run: run.key)
    names = sorted({name for run in ordered for row in (run.measures, *run.parts) for name in row})
    text = io.StringIO()
    writer = csv.DictWriter(text, (*_COLUMNS, "part", *names), lineterminator="\n")
    writer.writeheader()
    for run in ordered:
        line = (*run.key[:2], run.number, run.settings, run.version, run.status, run.warning)
        first = dict(
            zip(_COLUMNS, (*line, f"{run.seconds:.2f}" if run.seconds else ""), strict=True)
        )
        writer.writerow({**first, **_shown(run.measures)})
        for k, part in enumerate(run.parts):
            writer.writerow({**first, "part": k, **_shown(part)})
    return text.getvalue().encode()


def _shown(measures: Measures) -> dict[str, str]:
    return {name: f"{value:.6g}" for name, value in measures.items()}


def _read(path: Path) -> dict[Key, Record]:
    """Read a table of runs; where there is no file, there are none."""
    if not path.exists():
        return {}
    try:
        with path.open(encoding="utf-8", newline="") as stream:
            lines = list(csv.DictReader(stream, strict=True))
        # A line that is cut short, or too long, has a column or a value that is None.
        if any(None in line or None in line.values() for line in lines):
            raise ValueError("its lines and its head do not have the same columns")
        runs: dict[Key, Record] = {}
        parts: dict[Key, list[Measures]] = {}
        for line in lines:
            run = _record(line)
            if line["part"]:
                parts.setdefault(run.key, []).append(run.measures)
            else:
                runs[run.key] = run
        for key, rows in parts.items():
            runs[key] = Record(**{**runs[key].__dict__, "parts": tuple(rows)})
    except (OSError, ValueError, KeyError, csv.Error) as error:
        raise StorageError(
            f"Expected a table of runs in {path}; it cannot be read ({error}). Restore the file, "
            "or remove it to start again."
        ) from error
    return runs


def _record(line: dict[str, str]) -> Record:
    try:
        return Record(
            line["case"],
            line["method"],
            int(line["set"]),
            line["settings"],
            int(line["version"]),
            {
                name: float(value)
                for name, value in line.items()
                if value and name not in (*_COLUMNS, "part")
            },
            float(line["seconds"] or 0),
            line["status"],
            line["warning"],
        )
    except (ValueError, KeyError) as error:
        where = f"{line.get('method')} on {line.get('case')}"
        raise ValueError(f"{where}: {error}") from error
