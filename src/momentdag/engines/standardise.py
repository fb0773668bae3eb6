"""Canonical column order and units: what an engine sees of a table.

Whatever the columns are called, in which order they stand and in which units they were measured,
an engine works on the same numbers, and so gives the same answer.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from momentdag.errors import StorageError, quote
from momentdag.graph import BoolArray
from momentdag.storage.state import State, take_floats, take_names
from momentdag.table import KINDS, Dataset, Kind

__all__ = [
    "ColumnUnits",
    "StandardisedTable",
    "as_inputs",
    "canonical_order",
    "log_counts",
    "read_units",
    "standardise",
]

FloatArray: TypeAlias = npt.NDArray[np.float64]
IndexArray: TypeAlias = npt.NDArray[np.intp]

_DECIMALS = 8

_LEAST_SCALE = 1e-140  # as of the columns that are fitted: its square is still a number


class ColumnUnits(NamedTuple):
    """Names, means and standard deviations of the columns of a table."""

    names: tuple[str, ...]
    location: FloatArray  # (d,)
    scale: FloatArray  # (d,)
    kinds: tuple[Kind, ...] = ()  # none for continuous columns

    def reordered(self, columns: IndexArray) -> ColumnUnits:
        """Return the units of columns in another order."""
        return ColumnUnits(
            tuple(self.names[j] for j in columns),
            self.location[columns],
            self.scale[columns],
            tuple(self.kinds[j] for j in columns) if self.kinds else (),
        )

    @property
    def counts(self) -> BoolArray:
        """Which columns are counts, whose logarithm log(1 + x) is standardised, (d,)."""
        return np.array([kind == "count" for kind in self.kinds] or [False] * len(self.names))


@dataclass(frozen=True, eq=False)
class StandardisedTable:
    """A table in canonical column order and standard units.

    Parameters
    ----------
    values : float array, shape (n, d)
        Mean 0 and standard deviation 1 in every column.
    columns : int array, shape (d,)
        The data's column that stands at each place.
    units : ColumnUnits
        Of the data's columns, in the data's order.
    """

    values: FloatArray
    columns: IndexArray
    units: ColumnUnits

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return len(self.values)

    @property
    def places(self) -> IndexArray:
        """The place of each column of the data, (d,)."""
        return np.argsort(self.columns)

    def restore(self, graphs: BoolArray) -> BoolArray:
        """Return graphs (..., d, d) in the data's order of columns."""
        return graphs[..., self.places, :][..., :, self.places]


def canonical_order(standardised: FloatArray, names: tuple[str, ...]) -> IndexArray:
    """Return an order of columns (n, d) that depends on their contents, not on their places.

    Columns are sorted by their standardised fourth and absolute third moments, which units do not
    change; rounding keeps noise in the last digits from swapping two of them. Names break ties.
    """
    fourth = np.round((standardised**4).mean(axis=0), 6)
    third = np.round(np.abs((standardised**3).mean(axis=0)), 6)
    return np.lexsort((np.array(names), third, fourth)).astype(np.intp)


def as_inputs(standardised: FloatArray) -> FloatArray:
    """Return standardised values as functions take them, in a fit and in every prediction.

    They are rounded far below what a model resolves, so that other units, whose standardised
    values differ in the last bits, give the same bits from here on, and ties stay ties.
    """
    return np.round(standardised, _DECIMALS)


def log_counts(table: StandardisedTable, dataset: Dataset) -> StandardisedTable:
    """Return the table with log(1 + x) of its counts, standardised, in their place."""
    units = table.units
    if not units.counts.any():
        return table
    values, location, scale = table.values.copy(), units.location.copy(), units.scale.copy()
    for j in np.flatnonzero(units.counts):
        logs = np.log1p(dataset.values[:, j])
        location[j], scale[j] = logs.mean(), logs.std()
        values[:, table.places[j]] = (logs - location[j]) / scale[j]
    return replace(table, values=values, units=units._replace(location=location, scale=scale))


def standardise(dataset: Dataset) -> StandardisedTable:
    """Return a data set as engines take it."""
    columns = canonical_order(dataset.standardised, dataset.names)
    units = ColumnUnits(dataset.names, dataset.location, dataset.scale, dataset.kinds)
    return StandardisedTable(dataset.standardised[:, columns], columns, units)


def read_units(state: State) -> ColumnUnits:
    """Return names, locations and scales of a stored model.

    Raises
    ------
    StorageError
        If they are malformed.
    """
    names = take_names(state.content)
    if not names:
        raise StorageError("Expected at least one variable; there is none.")
    location = take_floats(state.arrays, "location", (len(names),))
    scale = take_floats(state.arrays, "scale", (len(names),))
    if not (scale >= _LEAST_SCALE).all():
        raise StorageError(f"Expected scales of at least {_LEAST_SCALE:g}; one is smaller.")
    kinds = state.content.get("kinds", [])
    if not isinstance(kinds, list) or (kinds and len(kinds) != len(names)):
        raise StorageError(f"Expected a kind for each variable; got {quote(kinds)}.")
    if not set(kinds) <= set(KINDS):
        raise StorageError(f"Expected kinds among {list(KINDS)}; got {quote(kinds)}.")
    return ColumnUnits(names, location, scale, tuple(kinds))
