"""What was done to each column before the fit, as the page tells it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from momentdag.report.levels import names_of_levels
from momentdag.table import Dataset, Observed

__all__ = ["Account", "ColumnRow", "ColumnsContent", "describe_columns"]

Account = Sequence[Mapping[str, str]]
"""Rows with column, kind, action and why, see `momentdag.table.prepare`."""

_MAX_NAMED = 8
_KEEP, _LEAVE_OUT = "keep", "leave out"


@dataclass(frozen=True)
class ColumnRow:
    """One column: its kind, what was done to it and why."""

    column: str
    kind: str
    done: str
    why: str
    is_used: bool


@dataclass(frozen=True)
class ColumnsContent:
    """The account of all columns.

    Parameters
    ----------
    rows : list of ColumnRow
        In the order of the file, the columns that were left out among them; columns that were made
        (the weekday of a date) come last.
    notes : list of str
        About the table as a whole.
    is_recorded : bool
        Whether the fit kept an account; else only the kinds are known.
    """

    rows: list[ColumnRow]
    notes: list[str]
    is_recorded: bool


def describe_columns(
    observed: Observed, dataset: Dataset, account: Account | None
) -> ColumnsContent:
    """Return what is known of what was done to each column.

    Parameters
    ----------
    observed : Observed
        Of the fit: kinds, levels, logarithms.
    dataset : Dataset
        For the missing cells.
    account : sequence of mappings, optional
        What the fit recorded.
    """
    rows, notes, told = [], [], set()
    for entry in () if account is None else account:
        name, action, why = (entry.get(key, "") for key in ("column", "action", "why"))
        if not name:
            notes.append(why)
            continue
        told.add(name)
        used = action != _LEAVE_OUT and name in observed.names
        done = _done(observed, dataset, name) if used else "left out"
        kind = observed.kinds.get(name, "") if used else entry.get("kind", "")
        rows.append(ColumnRow(name, str(kind), done, why, used))
    made = "Made of a date." if account else ""
    rows += [
        ColumnRow(
            name, str(observed.kinds.get(name, "")), _done(observed, dataset, name), made, True
        )
        for name in observed.names
        if name not in told
    ]
    return ColumnsContent(rows, notes, bool(account))


def _done(observed: Observed, dataset: Dataset, name: str) -> str:
    done = ["used"]
    if name in observed.log_columns:
        done.append("its logarithm was fitted")
    kind = observed.kinds.get(name)
    if kind == "time":
        done.append("as days, never an effect")
    if kind in ("binary", "category"):
        levels = names_of_levels(observed, name)
        more = f" and {len(levels) - _MAX_NAMED} more" if len(levels) > _MAX_NAMED else ""
        done.append(f"levels {', '.join(levels[:_MAX_NAMED])}{more}")
    n_missing = int(np.isnan(dataset.values[:, dataset.index(name)]).sum())
    if n_missing:
        done.append(f"{n_missing} missing cell{'s' * (n_missing > 1)} drawn by the model")
    return "; ".join(done)
