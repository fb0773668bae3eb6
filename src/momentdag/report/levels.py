"""The levels of discrete columns as the page names them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from momentdag.table import Observed

if TYPE_CHECKING:
    from momentdag.engines.protocol import AnyMechanism

__all__ = [
    "MAX_LEVELS_SHOWN",
    "Form",
    "form_of",
    "level_shares",
    "names_of_levels",
    "shown_levels",
    "spell_level",
    "typical_row",
]

FloatArray: TypeAlias = npt.NDArray[np.float64]

Form: TypeAlias = Literal["mean", "probability", "shares"]
"""What is shown of an effect: its mean and sd, P(the higher of two values), P(each level)."""

MAX_LEVELS_SHOWN = 12
"""An ordered column with more levels is drawn as a line."""


def spell_level(observed: Observed, name: str, value: float) -> str:
    """Return a value of a column as text: the name of its level where it has one."""
    labels = observed.labels.get(name)
    if labels is not None and float(value).is_integer() and 0 <= value < len(labels):
        return labels[int(value)]
    return f"{value:.6g}"


def names_of_levels(observed: Observed, name: str) -> tuple[str, ...]:
    """Return the names of the levels of a column on a grid, in the order of their values."""
    levels = observed.levels.get(name, np.empty(0))
    return tuple(spell_level(observed, name, float(level)) for level in levels)


def form_of(observed: Observed, name: str, mechanism: AnyMechanism) -> Form:
    """Return what is shown of an effect; a column that an engine took for a number has a mean."""
    kind = observed.kinds.get(name)
    if mechanism.is_discrete and kind == "category":
        return "shares"
    return "probability" if mechanism.is_discrete and kind == "binary" else "mean"


def shown_levels(observed: Observed, name: str, column: FloatArray) -> FloatArray | None:
    """Return the values at which a parent is shown as points, or None if it is a line.

    Points are binary columns, categories (the most frequent levels of many) and ordered columns of
    few levels.
    """
    kind = observed.kinds.get(name)
    levels = observed.levels.get(name)
    if levels is None or kind not in ("binary", "category", "ordered"):
        return None
    if len(levels) <= MAX_LEVELS_SHOWN:
        return levels
    if kind != "category":
        return None
    return _most_frequent(levels, column, MAX_LEVELS_SHOWN)


def level_shares(levels: FloatArray, column: FloatArray) -> FloatArray:
    """Return the share of the observed cells (n,) that each level (K,) has, (K,)."""
    present = column[~np.isnan(column)]
    return np.array([np.mean(present == level) for level in levels])


def _most_frequent(levels: FloatArray, column: FloatArray, most: int) -> FloatArray:
    places = np.argsort(-level_shares(levels, column), kind="stable")[:most]
    return levels[np.sort(places)]


def typical_row(observed: Observed, values: FloatArray) -> FloatArray:
    """Return a value of each column of (n, d) for the parents that are not looked at, (d,).

    The median; of discrete columns one that occurs; of categories the most frequent level.
    """
    row = np.nanmedian(values, axis=0)
    for j, name in enumerate(observed.names):
        kind = observed.kinds.get(name)
        if kind == "category":
            row[j] = _most_frequent(observed.levels[name], values[:, j], 1)[0]
        elif kind in ("ordered", "count", "binary"):
            row[j] = np.nanquantile(values[:, j], 0.5, method="inverted_cdf")
    return row
