"""All runs of a page as one table, for readers and for another folder to go on from."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from pathlib import Path

from momentdag.errors import StorageError
from momentdag.experiments.case import Case
from momentdag.experiments.store import NOT_CONVERGED, Record, Store, one_line, write_record

__all__ = ["ledger", "take_over"]

_FAILED = "failed: "
_FIRST_COLUMNS = ("case", "method", "set", "key", "status", "warning", "seconds")


def ledger(pairs: Iterable[tuple[Case, str]], store: Store) -> bytes:
    """Return the kept runs of cases and methods as CSV, a line each.

    Its ``key`` is that of the settings and the code of a run. A measure has six digits, so that a
    table which was taken over is written again as it was.
    """
    runs = [(store.key(*pair), run) for pair in pairs for run in store.records(*pair)]
    measures = sorted({name for _, run in runs for name in run.measures})
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*_FIRST_COLUMNS, *measures])
    for key, run in runs:
        status = f"{_FAILED}{one_line(run.reason)}" if run.failed else run.status
        first = (run.case, run.method, run.number, key, status, run.complaint, f"{run.seconds:.2f}")
        values = (f"{run.measures[name]:.6g}" if name in run.measures else "" for name in measures)
        writer.writerow([*first, *values])
    return text.getvalue().encode()


def take_over(path: Path, pairs: Iterable[tuple[Case, str]], store: Store) -> int:
    """Keep what the table of another page has and the store lacks; return the number of runs.

    Only runs with the present settings and code count, and none that failed.

    Parameters
    ----------
    path : Path
        A table that `ledger` made; where there is none, there is nothing to take.
    pairs : iterable of (case, method)
        What is of interest.
    store : Store
        Gets the runs.

    Raises
    ------
    StorageError
        If the table cannot be read.
    """
    if not path.exists():
        return 0
    cases = {(case.name, method, store.key(case, method)): case for case, method in pairs}
    n_taken = 0
    for row in _rows(path):
        # Tables of older versions have no key.
        case = cases.get((row["case"], row["method"], row.get("key", "")))
        if case is None or row["status"].startswith(_FAILED):
            continue
        run = _record(row, path)
        if not store.is_finished(case, run.method, run.number):
            place = store.path(case, run.method, run.number)
            write_record(place, run, store.settings(case, run.method))
            n_taken += 1
    return n_taken


def _rows(path: Path) -> list[dict[str, str]]:
    try:
        with path.open(encoding="utf-8", newline="") as stream:
            found = list(csv.DictReader(stream, strict=True))
    except (OSError, ValueError, csv.Error) as error:
        raise _unreadable(path, str(error)) from error
    # A row that is cut short, or too long, has a column or a value that is None.
    if any(None in row or None in row.values() or "status" not in row for row in found):
        raise _unreadable(path, "its rows and its head do not have the same columns")
    return found


def _record(row: dict[str, str], path: Path) -> Record:
    rest = {name: value for name, value in row.items() if name not in _FIRST_COLUMNS}
    try:
        return Record(
            row["case"],
            row["method"],
            int(row["set"]),
            measures={name: float(value) for name, value in rest.items() if value},
            seconds=float(row["seconds"]),
            status=row["status"],
            warnings=[NOT_CONVERGED + row["warning"]] if row["warning"] else [],
        )
    except (ValueError, KeyError) as error:
        raise _unreadable(path, f"{row['method']} on {row['case']}: {error}") from error


def _unreadable(path: Path, why: str) -> StorageError:
    return StorageError(
        f"Expected the runs of an earlier page in {path}; they cannot be read ({why}). Restore "
        "the file, or remove it to begin afresh."
    )
