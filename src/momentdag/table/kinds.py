"""The kinds of columns, and the guess of a kind from numbers.

A kind decides how a column enters a model as a cause and as an effect. It is guessed from the
values, shown to the user, and can be stated by name instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from momentdag.errors import DataError, did_you_mean, quote
from momentdag.table.tables import FloatArray

__all__ = [
    "GRID_KINDS",
    "KINDS",
    "MAX_LEVELS",
    "Kind",
    "all_roots",
    "check_labels",
    "guess_kind",
    "levels_of",
    "resolve_kinds",
]

Kind: TypeAlias = Literal["continuous", "ordered", "count", "binary", "category", "time"]

KINDS: tuple[Kind, ...] = get_args(Kind)

GRID_KINDS: tuple[Kind, ...] = ("ordered", "count", "binary", "category")
"""Kinds whose distinct values are the levels of the column."""

MAX_LEVELS = 200
"""A column with more distinct values than this is as good as continuous for simulating it."""

_LONG_TAIL_SKEWNESS = 1.0
_COUNT_LEVELS = 8
_COUNT_MINIMUM = 2
_ZERO_SHARE = 0.3
_ZERO_INFLATED_MAXIMUM = 5
_PILE, _PILE_ROWS = 0.05, 8  # share of the rows, and rows, from which one value is a pile
_HEAD = 2000


def guess_kind(column: FloatArray) -> Kind:
    """Guess the kind of a numeric column.

    Two distinct values are binary. A column on a grid, in which at least half of the rows repeat
    a value, is ordered if it has at most `MAX_LEVELS` values or they are all whole, unless it is a
    few values only that repeat (zeros of rainfall); it is a count
    if it holds whole numbers from 0, 1 or 2 on with a skewness above 1, and either at least 8
    distinct values or at least 30 % zeros and a maximum of at least 5. Anything else is
    continuous.

    Parameters
    ----------
    column : float array, shape (n,)
        NaN counts as missing and is ignored.

    Examples
    --------
    >>> guess_kind(np.array([0.0, 1.0, 1.0, np.nan]))
    'binary'
    >>> guess_kind(np.repeat([1.0, 2.0, 3.0, 4.0, 5.0], 10))
    'ordered'
    >>> guess_kind(np.repeat([0.0, 1.0, 2.0, 3.0, 7.0, 12.0], [40, 20, 10, 5, 2, 1]))
    'count'
    >>> guess_kind(np.linspace(0, 1, 50))
    'continuous'
    """
    head = np.unique(column[:_HEAD])
    head = head[~np.isnan(head)]
    if len(head) > MAX_LEVELS and not np.all(head == np.floor(head)):
        return "continuous"  # settled without sorting a long column
    present = column[~np.isnan(column)]
    levels, counts = np.unique(present, return_counts=True)
    if len(levels) == 2:
        return "binary"
    if len(levels) < 2 or len(levels) > len(present) / 2:
        return "continuous"
    whole = bool(np.all(levels == np.floor(levels)))
    if not whole and (len(levels) > MAX_LEVELS or _is_piled(counts)):
        return "continuous"
    if not whole or not 0 <= levels[0] <= _COUNT_MINIMUM:
        return "ordered"
    zeros = counts[0] / len(present) if levels[0] == 0 else 0.0
    wide = len(levels) >= _COUNT_LEVELS or (
        zeros >= _ZERO_SHARE and levels[-1] >= _ZERO_INFLATED_MAXIMUM
    )
    return "count" if wide and _skewness(levels, counts) > _LONG_TAIL_SKEWNESS else "ordered"


def _is_piled(counts: npt.NDArray[np.intp]) -> bool:
    """Tell whether values repeat on a few points only: many zeros make no grid of the others."""
    others = counts[counts < max(_PILE * counts.sum(), _PILE_ROWS)]
    return bool(len(others) > others.sum() / 2)


def _skewness(levels: FloatArray, counts: npt.NDArray[np.intp]) -> float:
    unit = levels / max(abs(levels[0]), abs(levels[-1]))  # cubes must stay finite
    weights = counts / counts.sum()
    centred = unit - weights @ unit
    variance = weights @ centred**2
    return float(weights @ centred**3 / variance**1.5) if variance > 0 else 0.0


def levels_of(column: FloatArray) -> FloatArray | None:
    """Return the distinct values of a column on a grid, or None if it is not on one.

    A column is on a grid if at least half of its rows repeat a value; NaN is ignored.

    Examples
    --------
    >>> import numpy as np
    >>> levels_of(np.array([0.0, 1.0, 1.0, 0.0, 1.0])).tolist()
    [0.0, 1.0]
    """
    present = column[~np.isnan(column)]
    levels = np.unique(present)
    if len(levels) > min(len(present) / 2, MAX_LEVELS):
        return None
    return levels


def resolve_kinds(
    names: tuple[str, ...],
    guesses: tuple[Kind, ...],
    kinds: Sequence[Kind] | Mapping[str, Kind] | None,
) -> tuple[Kind, ...]:
    """Return one kind for each column: the stated one, else the guess.

    Raises
    ------
    DataError
        If a kind is none of the choices, or is stated for no column.
    """
    if kinds is None:
        return guesses
    if isinstance(kinds, Mapping):
        stray = [name for name in kinds if name not in names]
        if stray:
            raise DataError(
                f"Expected kinds of columns among {list(names)}; got {quote(stray[0])}."
                f"{did_you_mean(stray[0], names)}"
            )
        stated = tuple(kinds.get(name, guess) for name, guess in zip(names, guesses, strict=True))
    else:
        stated = tuple(kinds)
        if isinstance(kinds, str) or len(stated) != len(names):
            raise DataError(
                f"Expected one kind for each of the {len(names)} columns; got {quote(kinds)}."
            )
    for name, kind in zip(names, stated, strict=True):
        if kind not in KINDS:
            raise DataError(
                f"Expected the kind of column {quote(name)} among {list(KINDS)}; got {quote(kind)}."
                f"{did_you_mean(kind, KINDS)}"
            )
    return stated


def check_labels(
    names: tuple[str, ...],
    values: FloatArray,
    kinds: tuple[Kind, ...],
    labels: Mapping[str, Sequence[str]],
) -> dict[str, tuple[str, ...]]:
    """Return the labels after checking that they and the kinds fit the values (n, d).

    Raises
    ------
    DataError
        If a labelled column holds anything but codes 0, 1, ..., its labels are repeated, or a
        binary column has more than two values.
    """
    checked: dict[str, tuple[str, ...]] = {}
    for name, texts in labels.items():
        if name not in names:
            raise DataError(f"Expected labels of columns among {list(names)}; got {quote(name)}.")
        texts = tuple(texts)
        if len(set(texts)) != len(texts) or not all(isinstance(text, str) for text in texts):
            raise DataError(
                f"Expected labels that differ, as text, for column {quote(name)}; got "
                f"{quote(texts)}."
            )
        column = values[:, names.index(name)]
        present = column[~np.isnan(column)]
        codes = (present == np.floor(present)) & (present >= 0) & (present < len(texts))
        if not codes.all():
            raise DataError(
                f"Expected the codes 0 to {len(texts) - 1} in the labelled column {quote(name)}; "
                f"got {present[~codes][0]:g}."
            )
        checked[name] = texts
    for name, kind, column in zip(names, kinds, values.T, strict=True):
        if kind == "binary" and len(levels := np.unique(column[~np.isnan(column)])) != 2:
            raise DataError(
                f"Expected two distinct values in the binary column {quote(name)}; it has "
                f"{len(levels)}."
            )
    return checked


def all_roots(
    names: tuple[str, ...], kinds: tuple[Kind, ...], roots: Sequence[str]
) -> tuple[str, ...]:
    """Return the columns that are never effects: those stated and those of kind "time".

    Raises
    ------
    DataError
        If a stated one is no column.
    """
    stray = [name for name in roots if name not in names]
    if stray:
        raise DataError(f"Expected roots among the columns {list(names)}; got {quote(stray[0])}.")
    stated = zip(names, kinds, strict=True)
    return tuple(name for name, kind in stated if kind == "time" or name in roots)
