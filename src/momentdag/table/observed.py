"""What answers need to know of the table a model was fitted to, without its rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from momentdag.errors import DataError
from momentdag.table.kinds import GRID_KINDS, KINDS, MAX_LEVELS, Kind, levels_of
from momentdag.table.tables import FloatArray

__all__ = ["MAX_LEVELS", "Observed", "correlate", "levels_of", "observe", "observe_rows"]

_QUANTILES = {"min": 0.0, "q05": 0.05, "median": 0.5, "q95": 0.95, "max": 1.0}
_COLUMNS = [*_QUANTILES, "mean", "sd"]
_LARGEST, _LEAST_SD = 1e300, 1e-140


@dataclass(frozen=True, eq=False)
class Observed:
    """The columns of a table in their own units: ranges, moments, grids and correlations.

    Parameters
    ----------
    summary : DataFrame
        min, q05, median, q95, max, mean and sd; the index is the column's name.
    levels : mapping from name to float array
        The distinct values, sorted, of columns on a grid (0/1, whole numbers, rounded values):
        of every binary, category, ordered and count column.
    correlations : float array, shape (d, d), or None
        Of the columns; None for runs of earlier versions, which did not store them.
    log_columns : tuple of str
        Columns that are natural logarithms of what the file holds.
    in_file : DataFrame or None
        The summary in the units of the file; None if no column is a logarithm.
    kinds : mapping from name to Kind
        Empty for runs of earlier versions, which did not store them.
    labels : mapping from name to tuple of str
        What the codes 0, 1, ... of a column stand for; columns of numbers have none.
    roots : tuple of str
        Columns that are never effects, because they are dates.
    """

    summary: pd.DataFrame
    levels: Mapping[str, FloatArray] = field(default_factory=dict)
    correlations: FloatArray | None = None
    log_columns: tuple[str, ...] = ()
    in_file: pd.DataFrame | None = None
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    roots: tuple[str, ...] = ()

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
            "kinds": dict(self.kinds),
            "labels": {name: list(labels) for name, labels in self.labels.items()},
            "roots": list(self.roots),
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
            _check_summary(summary)
            levels = {
                str(name): np.asarray(values, dtype=np.float64)
                for name, values in stored.get("levels", {}).items()
            }
            table = stored.get("correlations")
            correlations = None if table is None else np.asarray(table, dtype=np.float64)
            kinds = dict(stored.get("kinds", {}))
            labels = {name: tuple(texts) for name, texts in stored.get("labels", {}).items()}
            roots = tuple(stored.get("roots", ()))
            if not set(roots) <= set(names):
                raise DataError(f"Expected roots among the columns; got {list(roots)}.")
            _check_grids(names, levels, correlations)
            _check_kinds(names, kinds, labels)
            in_file = stored.get("in_file")
            # Runs of earlier versions have none: logarithms stay as they were fitted.
            shown = None if in_file is None else _read_summary(in_file, names)
            logs = () if in_file is None else log_columns
            return cls(summary, levels, correlations, logs, shown, kinds, labels, roots)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise DataError(f"The summary of the columns is malformed: {error}.") from None


def _check_summary(summary: pd.DataFrame) -> None:
    """Refuse numbers that no column can have."""
    values = summary[list(_COLUMNS)].to_numpy(np.float64)
    if not (np.abs(values) <= _LARGEST).all() or not (summary["sd"] >= _LEAST_SD).all():
        raise DataError("The summary of the columns holds what is no number, or no spread.")
    quantiles = summary[list(_QUANTILES)].to_numpy(np.float64)
    if (np.diff(quantiles, axis=1) < 0).any():
        raise DataError("The quantiles of a column in the summary do not rise.")


def _check_grids(
    names: tuple[str, ...], levels: Mapping[str, FloatArray], correlations: FloatArray | None
) -> None:
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


def _check_kinds(
    names: tuple[str, ...], kinds: Mapping[str, Any], labels: Mapping[str, tuple[Any, ...]]
) -> None:
    for name, kind in kinds.items():
        if name not in names or kind not in KINDS:
            raise DataError(f"Expected the kind of a column; got {kind!r} for {name!r}.")
    for name, texts in labels.items():
        if name not in names or not all(isinstance(text, str) for text in texts):
            raise DataError(f"Expected the labels of a column; got those of {name!r}.")


def _read_summary(split: Any, names: tuple[str, ...]) -> pd.DataFrame:
    table = pd.DataFrame(split["data"], split["index"], split["columns"], dtype=np.float64)
    if tuple(table.index) != names or not set(_COLUMNS) <= set(table.columns):
        raise DataError("The summary is not one of the variables of the posterior.")
    if not table.columns.is_unique:
        raise DataError("The summary has a column twice.")
    return table.rename_axis("variable")


def observe(
    names: tuple[str, ...],
    values: FloatArray,
    standardised: FloatArray,
    moments: FloatArray,
    log_columns: tuple[str, ...] = (),
    kinds: tuple[Kind, ...] | None = None,
    labels: Mapping[str, tuple[str, ...]] | None = None,
    roots: tuple[str, ...] = (),
) -> Observed:
    """Describe a table; NaN counts as missing, and everything is over the observed cells.

    Parameters
    ----------
    names : tuple of str
    values, standardised : float array, shape (n, d)
        The columns in their own units, and with mean 0 and sd 1.
    moments : float array, shape (2, d)
        Their means and sds.
    log_columns : tuple of str
        Columns that are natural logarithms of what the file holds.
    kinds : tuple of Kind, optional
    labels : mapping from name to tuple of str, optional
    roots : tuple of str
        Columns that are never effects.
    """
    by_name: dict[str, Kind] = {} if kinds is None else dict(zip(names, kinds, strict=True))
    levels = {
        name: found
        for name, column in zip(names, values.T, strict=True)
        if (found := _levels(column, by_name.get(name))) is not None
    }
    summary = _summarise(names, values, moments)
    in_file = None
    if log_columns:
        held = values.copy()
        logs = [names.index(name) for name in log_columns]
        held[:, logs] = np.exp(values[:, logs])
        in_file = _summarise(
            names, held, np.stack([np.nanmean(held, axis=0), np.nanstd(held, axis=0)])
        )
    correlations = correlate(standardised)
    texts = {} if labels is None else dict(labels)
    return Observed(summary, levels, correlations, log_columns, in_file, by_name, texts, roots)


def observe_rows(whole: Observed, values: FloatArray) -> Observed:
    """Return the moments, quantiles and correlations of some rows (n, d) of a table.

    Ranges and grids stay those of the whole: functions are learned from all rows.
    """

    def summarise(rows: FloatArray, before: pd.DataFrame) -> pd.DataFrame:
        sd = np.nanstd(rows, axis=0)
        # A column that does not move in these rows keeps its own sd as a unit.
        sd = np.where(sd > 0, sd, before["sd"])
        table = _summarise(whole.names, rows, np.stack([np.nanmean(rows, axis=0), sd]))
        table[["min", "max"]] = before[["min", "max"]]
        return table

    summary = summarise(values, whole.summary)
    in_file = None
    if whole.in_file is not None:
        held = values.copy()
        logs = [whole.names.index(name) for name in whole.log_columns]
        held[:, logs] = np.exp(values[:, logs])
        in_file = summarise(held, whole.in_file)
    centred = (values - summary["mean"].to_numpy()) / summary["sd"].to_numpy()
    return replace(whole, summary=summary, in_file=in_file, correlations=correlate(centred))


def _levels(column: FloatArray, kind: Kind | None) -> FloatArray | None:
    if kind in GRID_KINDS:
        return np.unique(column[~np.isnan(column)])
    return None if kind == "continuous" else levels_of(column)


def correlate(standardised: FloatArray) -> FloatArray:
    """Return correlations (d, d), each over the rows (n, d) in which both columns are observed.

    Pairs of columns with fewer than three common rows, or that do not vary there, have 0.
    """
    if not np.isnan(standardised).any():
        return np.clip(standardised.T @ standardised / len(standardised), -1.0, 1.0)
    present = (~np.isnan(standardised)).astype(np.float64)
    x = np.where(present > 0, standardised, 0.0)
    n = np.maximum(present.T @ present, 1.0)
    mean = x.T @ present / n  # of each column over the rows that it shares with another
    variance = np.maximum((x**2).T @ present / n - mean**2, 0.0)
    scale = np.sqrt(variance * variance.T)
    usable = (n >= 3) & (scale > 1e-12)
    covariance = x.T @ x / n - mean * mean.T
    result = np.where(usable, covariance / np.where(usable, scale, 1.0), 0.0)
    np.fill_diagonal(result, 1.0)
    return np.clip(result, -1.0, 1.0)


def _summarise(names: tuple[str, ...], values: FloatArray, moments: FloatArray) -> pd.DataFrame:
    # Plain quantiles where nothing is missing: they are much faster.
    quantile = np.nanquantile if np.isnan(values).any() else np.quantile
    table = np.vstack([quantile(values, list(_QUANTILES.values()), axis=0), moments]).T
    return pd.DataFrame(table, index=pd.Index(names, name="variable"), columns=_COLUMNS)
