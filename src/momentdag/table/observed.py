"""What answers need to know of the table a model was fitted to, without its rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from momentdag.errors import DataError
from momentdag.table.tables import FloatArray

__all__ = ["MAX_LEVELS", "Observed", "levels_of", "observe"]

MAX_LEVELS = 200
"""A column with more distinct values than this is as good as continuous for simulating it."""

_QUANTILES = {"min": 0.0, "q05": 0.05, "median": 0.5, "q95": 0.95, "max": 1.0}
_COLUMNS = [*_QUANTILES, "mean", "sd"]


@dataclass(frozen=True, eq=False)
class Observed:
    """The columns of a table in their own units: ranges, moments, grids and correlations.

    Parameters
    ----------
    summary : DataFrame
        min, q05, median, q95, max, mean and sd; the index is the column's name.
    levels : mapping from name to float array
        The distinct values, sorted, of columns on a grid (0/1, whole numbers, rounded values).
    correlations : float array, shape (d, d), or None
        Of the columns; None for runs of earlier versions, which did not store them.
    log_columns : tuple of str
        Columns that are natural logarithms of what the file holds.
    in_file : DataFrame or None
        The summary in the units of the file; None if no column is a logarithm.
    """

    summary: pd.DataFrame
    levels: Mapping[str, FloatArray] = field(default_factory=dict)
    correlations: FloatArray | None = None
    log_columns: tuple[str, ...] = ()
    in_file: pd.DataFrame | None = None

    @property
    def shown(self) -> pd.DataFrame:
        """The summary in the units of the file."""
        return self.summary if self.in_file is None else self.in_file

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, in their order."""
        return tuple(self.summary.index)

    def on_fitted_scale(self) -> Observed:
        """Return the same without memory of logarithms: answers are then about these."""
        return replace(self, log_columns=(), in_file=None)

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            "summary": self.summary.to_dict("split"),
            "in_file": None if self.in_file is None else self.in_file.to_dict("split"),
            "levels": {name: levels.tolist() for name, levels in self.levels.items()},
            "correlations": None if self.correlations is None else self.correlations.tolist(),
        }

    @classmethod
    def from_dict(
        cls, stored: Mapping[str, Any], names: tuple[str, ...], log_columns: tuple[str, ...] = ()
    ) -> Observed:
        """Return what `to_dict` was given, checked.

        Raises
        ------
        DataError
            If something is missing or malformed.
        """
        try:
            summary = _read_summary(stored["summary"], names)
            in_file = stored.get("in_file")
            levels = {
                str(name): np.asarray(values, dtype=np.float64)
                for name, values in stored.get("levels", {}).items()
            }
            table = stored.get("correlations")
            correlations = None if table is None else np.asarray(table, dtype=np.float64)
            if in_file is None:  # runs of earlier versions: logarithms stay as they were fitted
                return cls._checked(summary, levels, correlations, (), None, names)
            shown = _read_summary(in_file, names)
            return cls._checked(summary, levels, correlations, log_columns, shown, names)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise DataError(f"The summary of the columns is malformed: {error}.") from None

    @classmethod
    def _checked(
        cls,
        summary: pd.DataFrame,
        levels: dict[str, FloatArray],
        correlations: FloatArray | None,
        log_columns: tuple[str, ...],
        in_file: pd.DataFrame | None,
        names: tuple[str, ...],
    ) -> Observed:
        d = len(names)
        for name, values in levels.items():
            if name not in names or values.ndim != 1 or len(values) < 2:
                raise DataError(f"Expected levels of a column; got {name!r}.")
            if not (np.isfinite(values).all() and (np.diff(values) > 0).all()):
                raise DataError(f"Expected rising levels of {name!r}.")
        if correlations is not None and (
            correlations.shape != (d, d) or not (np.abs(correlations) <= 1 + 1e-9).all()
        ):
            raise DataError("The correlations of the columns are malformed.")
        return cls(summary, levels, correlations, log_columns, in_file)


def _read_summary(split: Any, names: tuple[str, ...]) -> pd.DataFrame:
    table = pd.DataFrame(split["data"], split["index"], split["columns"], dtype=np.float64)
    if tuple(table.index) != names or not set(_COLUMNS) <= set(table.columns):
        raise DataError("The summary is not one of the variables of the posterior.")
    return table.rename_axis("variable")


def observe(
    names: tuple[str, ...],
    values: FloatArray,
    standardised: FloatArray,
    moments: FloatArray,
    log_columns: tuple[str, ...] = (),
) -> Observed:
    """Describe a table.

    Parameters
    ----------
    names : tuple of str
    values, standardised : float array, shape (n, d)
        The columns in their own units, and with mean 0 and sd 1.
    moments : float array, shape (2, d)
        Their means and sds.
    log_columns : tuple of str
        Columns that are natural logarithms of what the file holds.
    """
    levels = {
        name: found
        for name, column in zip(names, values.T, strict=True)
        if (found := levels_of(column)) is not None
    }
    correlations = np.clip(standardised.T @ standardised / len(standardised), -1.0, 1.0)
    summary = _summarise(names, values, moments)
    in_file = None
    if log_columns:
        held = values.copy()
        logs = [names.index(name) for name in log_columns]
        held[:, logs] = np.exp(values[:, logs])
        in_file = _summarise(names, held, np.stack([held.mean(axis=0), held.std(axis=0)]))
    return Observed(summary, levels, correlations, log_columns, in_file)


def _summarise(names: tuple[str, ...], values: FloatArray, moments: FloatArray) -> pd.DataFrame:
    quantiles = np.quantile(values, list(_QUANTILES.values()), axis=0)
    table = np.vstack([quantiles, moments]).T
    return pd.DataFrame(table, index=pd.Index(names, name="variable"), columns=_COLUMNS)


def levels_of(column: FloatArray) -> FloatArray | None:
    """Return the distinct values of a column on a grid, or None if it is not on one.

    A column is on a grid if at least half of its rows repeat a value.

    Examples
    --------
    >>> import numpy as np
    >>> levels_of(np.array([0.0, 1.0, 1.0, 0.0, 1.0])).tolist()
    [0.0, 1.0]
    """
    levels = np.unique(column)
    if len(levels) > min(len(column) / 2, MAX_LEVELS):
        return None
    return levels
