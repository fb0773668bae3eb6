"""What is known of how each row came about: under which regime, and which variables were set."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from momentdag.errors import DataError, OptionError, quote
from momentdag.readonly import ReadOnlyArrays
from momentdag.table.tables import enumerate_briefly

__all__ = [
    "MIN_ROWS",
    "Experiment",
    "Regimes",
    "read_regimes",
    "read_set_cells",
    "take_experiment",
]

BoolArray: TypeAlias = npt.NDArray[np.bool_]

MIN_ROWS = 10
"""Fewer rows of a regime, or rows in which a variable was not set, say nothing."""
_MAX_REGIMES = 60
_NO_NAMES = ("", "none", "nan", "-")


@dataclass(frozen=True, eq=False)
class Regimes(ReadOnlyArrays):
    """Under which regime each row was taken.

    Parameters
    ----------
    column : str
        What regimes are called: batch, drug, month.
    levels : tuple of str
        The regimes; the first is the reference that others are compared with.
    codes : int array, shape (n,)
        The regime of each row, by its place in ``levels``.
    """

    column: str
    levels: tuple[str, ...]
    codes: npt.NDArray[np.intp]

    @property
    def reference(self) -> str:
        """The regime that others are compared with."""
        return self.levels[0]

    @property
    def others(self) -> tuple[str, ...]:
        """The regimes that are compared with the reference."""
        return self.levels[1:]

    @property
    def nodes(self) -> tuple[str, ...]:
        """What statements of knowledge call the regimes, "batch=april"."""
        return tuple(f"{self.column}={level}" for level in self.others)

    @property
    def indicators(self) -> npt.NDArray[np.float64]:
        """1 in the rows of each regime but the reference, else 0, (n, len(others))."""
        places = np.arange(1, len(self.levels))
        return np.asarray(self.codes[:, None] == places, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Experiment(ReadOnlyArrays):
    """Regimes of the rows, and the cells that an experimenter set.

    Parameters
    ----------
    regimes : Regimes or None
    set_cells : bool array, shape (n, d), or None
    """

    regimes: Regimes | None = None
    set_cells: BoolArray | None = None

    def take_rows(self, rows: Any) -> Experiment:
        """Return the same for some of the rows."""
        regimes, cells = self.regimes, self.set_cells
        if regimes is not None:
            regimes = replace(regimes, codes=regimes.codes[rows])
        return Experiment(regimes, None if cells is None else cells[rows])

    def undisturbed(self, level: str | None = None) -> BoolArray | None:
        """Return the rows of one regime (by default the reference) in which nothing was set, (n,).

        None if there are too few of them to say what is usual.
        """
        cells, regimes = self.set_cells, self.regimes
        masks = [] if cells is None else [~cells.any(axis=1)]
        if regimes is not None:
            wanted = regimes.reference if level is None else level
            masks.append(regimes.codes == regimes.levels.index(wanted))
        chosen = np.logical_and.reduce(masks)
        return chosen if chosen.sum() >= MIN_ROWS else None

    def check(self, names: tuple[str, ...], n_rows: int) -> None:
        """Refuse what leaves a regime or a mechanism without rows.

        Raises
        ------
        DataError
            If the number of rows is another one, or too few of them tell about something.
        """
        if self.regimes is not None:
            _check_length(len(self.regimes.codes), n_rows, "regimes")
            counts = np.bincount(self.regimes.codes, minlength=len(self.regimes.levels))
            for level, count in zip(self.regimes.levels, counts, strict=True):
                if count < MIN_ROWS:
                    raise DataError(
                        f"Expected at least {MIN_ROWS} rows of each regime; {quote(level)} of "
                        f"{quote(self.regimes.column)} has {count}. Join it with another, or leave "
                        "out its rows."
                    )
        if self.set_cells is not None:
            _check_length(len(self.set_cells), n_rows, "interventions")
            for name, free in zip(names, (~self.set_cells).sum(axis=0), strict=True):
                if free < MIN_ROWS:
                    raise DataError(
                        f"Expected at least {MIN_ROWS} rows in which {quote(name)} was not set; "
                        f"there are {free}, so nothing tells what moves it. Leave the column out, "
                        "or leave it out of the interventions and state it as a root."
                    )

    def to_state(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        """Return plain values and arrays, see `take_experiment`."""
        content: dict[str, Any] = {}
        arrays: dict[str, npt.NDArray[Any]] = {}
        if self.regimes is not None:
            content = {"column": self.regimes.column, "levels": list(self.regimes.levels)}
            arrays["regime_codes"] = self.regimes.codes.astype(np.int64)
        if self.set_cells is not None:
            arrays["set_cells"] = self.set_cells
        return content, arrays

    def fingerprint(self, table: str) -> str:
        """Return the SHA-256 of all of it and of the fingerprint of the table, as text."""
        digest = hashlib.sha256(table.encode("ascii"))
        if self.regimes is not None:
            digest.update(repr((self.regimes.column, self.regimes.levels)).encode())
            digest.update(np.ascontiguousarray(self.regimes.codes, dtype="<i8").data)
        if self.set_cells is not None:
            digest.update(np.packbits(self.set_cells).data)
        return digest.hexdigest()


def take_experiment(
    content: Any, arrays: Mapping[str, npt.NDArray[Any]], shape: tuple[int, ...]
) -> Experiment | None:
    """Return what `Experiment.to_state` gave, for a table of this shape; None for nothing.

    Raises
    ------
    DataError
        If it is malformed.
    """
    if content is None:
        return None
    codes, cells = arrays.get("regime_codes"), arrays.get("set_cells")
    regimes = None
    if codes is not None:
        column, levels = content.get("column"), content.get("levels")
        texts = isinstance(levels, list) and all(isinstance(text, str) for text in levels)
        whole = codes.dtype == np.int64 and codes.shape == shape[:1]
        if not (isinstance(column, str) and texts and len(levels) > 1 and whole):
            raise DataError("The regimes of the rows are malformed.")
        if codes.min() < 0 or codes.max() >= len(levels):
            raise DataError("The regimes of the rows are malformed.")
        regimes = Regimes(column, tuple(levels), codes.astype(np.intp))
    if cells is not None and (cells.dtype != np.bool_ or cells.shape != shape):
        raise DataError("The cells that were set are malformed.")
    return Experiment(regimes, cells)


def read_regimes(labels: Sequence[Any], column: str, reference: object = None) -> Regimes:
    """Return the regimes of rows from the labels of a column.

    Parameters
    ----------
    labels : sequence, length n
        Text or numbers.
    column : str
    reference : object, optional
        The regime to compare with; by default the one with most rows.

    Raises
    ------
    DataError
        If a row has no label, or there are fewer than two regimes or very many.
    OptionError
        If there is no such reference.

    Examples
    --------
    >>> read_regimes(["march"] * 3 + ["april"] * 2, "month").nodes
    ('month=april',)
    """
    texts = [_text(label) for label in labels]
    holes = [row for row, text in enumerate(texts) if text is None]
    if holes:
        raise DataError(
            f"Expected a regime in every row; {quote(column)} is empty in "
            f"{_rows(holes)}. Rows count from 0."
        )
    names, codes, counts = np.unique(
        np.array(texts, dtype=object).astype(str), return_inverse=True, return_counts=True
    )
    if not 2 <= len(names) <= _MAX_REGIMES:
        remedy = "Take fewer, coarser ones." if len(names) > 1 else "Leave the column out."
        raise DataError(
            f"Expected 2 to {_MAX_REGIMES} regimes; {quote(column)} has {len(names)}. {remedy}"
        )
    first = int(counts.argmax())
    if reference is not None:
        if _text(reference) not in names:
            raise OptionError(
                f"Expected the reference among the regimes {names.tolist()}; got "
                f"{quote(reference)}."
            )
        first = names.tolist().index(_text(reference))
    order = [first, *(k for k in _in_order(names.tolist()) if k != first)]
    return Regimes(
        column,
        tuple(str(names[k]) for k in order),
        np.argsort(order)[codes.reshape(-1)].astype(np.intp),
    )


def read_set_cells(
    statement: Any,
    names: tuple[str, ...],
    n_rows: int,
    left_out: Mapping[str, str] | None = None,
) -> BoolArray:
    """Return which cells an experimenter set, (n, d).

    Parameters
    ----------
    statement : sequence of str, or table of bool of shape (n, d)
        For each row the name of the variable that was set, several with commas between them, or
        nothing; or whether each cell was set.
    names : tuple of str
        The columns that are fitted.
    n_rows : int
    left_out : mapping from name to str
        Other columns, and why they are not fitted.

    Raises
    ------
    DataError
        If a row names an unknown variable or one that is not fitted, or all of them; the rows are
        named.

    Examples
    --------
    >>> read_set_cells(["", "a", None, "a, b"], ("a", "b", "c"), 4).astype(int).tolist()
    [[0, 0, 0], [1, 0, 0], [0, 0, 0], [1, 1, 0]]
    """
    reasons = {} if left_out is None else left_out
    if isinstance(statement, pd.DataFrame) or getattr(statement, "ndim", 1) == 2:
        cells = _read_table(statement, names, n_rows, reasons)
    else:
        cells = _read_names(list(statement), names, n_rows, reasons)
    everything = np.flatnonzero(cells.all(axis=1))
    if len(everything):
        raise DataError(
            f"Expected rows in which something was not set; in {_rows(everything.tolist())} every "
            "variable was. They tell nothing: leave them out. Rows count from 0."
        )
    return cells


def _read_names(
    statement: list[Any], names: tuple[str, ...], n_rows: int, reasons: Mapping[str, str]
) -> BoolArray:
    _check_length(len(statement), n_rows, "interventions")
    cells = np.zeros((n_rows, len(names)), dtype=bool)
    unknown: dict[str, list[int]] = {}
    for row, cell in enumerate(statement):
        for name in _names_in(cell, names):
            if name in names:
                cells[row, names.index(name)] = True
            else:
                unknown.setdefault(name, []).append(row)
    for name, rows in unknown.items():
        why = f" {quote(name)} was left out: {reasons[name]}" if name in reasons else ""
        raise DataError(
            f"Expected interventions to name variables among {list(names)}; {_rows(rows)} "
            f"name{'s' if len(rows) == 1 else ''} {quote(name)}.{why} Rows count from 0."
        )
    return cells


def _names_in(cell: Any, names: tuple[str, ...]) -> list[str]:
    if isinstance(cell, list | tuple | set | frozenset):
        return [str(name).strip() for name in cell]
    text = _text(cell)
    if text is None or (text.casefold() in _NO_NAMES and text not in names):
        return []
    # A name may hold a comma itself.
    return [text] if text in names else [part.strip() for part in text.split(",") if part.strip()]


def _read_table(
    statement: Any, names: tuple[str, ...], n_rows: int, reasons: Mapping[str, str]
) -> BoolArray:
    if isinstance(statement, pd.DataFrame):
        frame = statement.rename(columns=str)
        strangers = [name for name in frame if name not in names]
        for name in strangers:
            rows = np.flatnonzero(frame[name].to_numpy(dtype=bool)).tolist()
            if rows or name not in reasons:
                raise DataError(
                    f"Expected interventions on variables among {list(names)}; got a column "
                    f"{quote(name)}, set in {_rows(rows)}. {reasons.get(name, '')}".rstrip()
                )
        absent = [name for name in names if name not in frame]
        if absent:
            raise DataError(
                f"Expected a column for each variable in the interventions; {quote(absent[0])} has "
                "none."
            )
        statement = frame[list(names)].to_numpy()
    cells = np.asarray(statement)
    if cells.shape != (n_rows, len(names)):
        raise DataError(
            f"Expected interventions of shape {(n_rows, len(names))}, a cell for each one of the "
            f"table; got {cells.shape}."
        )
    if not np.isin(cells, [False, True]).all():
        row, column = np.argwhere(~np.isin(cells, [False, True]))[0]
        raise DataError(
            f"Expected interventions of True and False; {names[column]!r} has "
            f"{cells[row, column]} in row {row}. Rows count from 0."
        )
    return cells.astype(bool)


def _text(label: Any) -> str | None:
    """Return a label as text, None if it is missing."""
    if label is None or (isinstance(label, float) and np.isnan(label)) or label is pd.NA:
        return None
    if isinstance(label, float | np.floating) and float(label).is_integer():
        label = int(label)
    return str(label).strip() or None


def _in_order(names: list[str]) -> list[int]:
    """Return places of labels in order: numbers by size, text by the alphabet."""
    try:
        return sorted(range(len(names)), key=lambda k: float(names[k]))
    except ValueError:
        return list(range(len(names)))


def _check_length(n: int, n_rows: int, what: str) -> None:
    if n != n_rows:
        raise DataError(f"Expected {what} for each of the {n_rows} rows; got {n}.")


def _rows(rows: Sequence[int]) -> str:
    if not rows:
        return "no row"
    return f"row{'s' * (len(rows) > 1)} {enumerate_briefly([str(row) for row in rows])}"
