"""Rows of a table, between the units of the file and the scale of the fit.

What goes in may be a frame, one row of it, or a mapping from names to values, as the file has them:
text, dates, numbers that were fitted as logarithms. What comes out looks the same.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from momentdag.effects.inputs import EffectInputs, FittedEstimator
from momentdag.errors import DataError, did_you_mean, quote
from momentdag.table import Dataset, Recipe
from momentdag.table.encoding import encode
from momentdag.table.raw import read_raw

__all__ = ["Rows", "describe_rows", "read_rows"]

FloatArray: TypeAlias = npt.NDArray[np.float64]


class Rows(NamedTuple):
    """Rows on the scale of the fit, with the labels they came with.

    Parameters
    ----------
    values : float array, shape (n, d)
    index : Index
    """

    values: FloatArray
    index: pd.Index


def read_rows(
    estimator: FittedEstimator,
    inputs: EffectInputs,
    rows: object,
    optional: Collection[str] = (),
) -> Rows:
    """Read rows as the fit read its table.

    Parameters
    ----------
    estimator : MomentDAG
    inputs : EffectInputs
    rows : DataFrame, Series, mapping, array or Dataset
        Columns that the fit does not know are ignored.
    optional : collection of str
        Variables that may be absent or missing; they get a typical value.

    Raises
    ------
    DataError
        If a variable is absent, a cell is missing or a value is none that the variable can have.
    """
    if isinstance(rows, Dataset):
        found: dict[str, FloatArray] = dict(zip(rows.names, rows.values.T, strict=True))
        index: pd.Index = pd.RangeIndex(rows.n_samples)
    else:
        frame = _as_frame(rows, inputs.names)
        index, found = frame.index, _encode(estimator, inputs, frame)
    if not len(index):
        raise DataError("Expected at least one row; there is none.")
    absent = [name for name in inputs.names if name not in found and name not in optional]
    if absent:
        strange = [name for name in _given_names(rows) if name not in inputs.names]
        meant = did_you_mean(absent[0], strange).replace("Did you mean", "Is it")
        raise DataError(
            f"Expected the columns {list(inputs.names)}; {quote(absent[0])} is absent.{meant}"
        )
    values = np.empty((len(index), len(inputs.names)))
    for j, name in enumerate(inputs.names):
        column = found.get(name, np.full(len(index), np.nan))
        holes = np.isnan(column)
        if holes.any() and name not in optional:
            place = index[int(np.flatnonzero(holes)[0])]
            raise DataError(
                f"Expected no missing values; column {quote(name)} has {int(holes.sum())}, first "
                f"in row {quote(place)}. Leave these rows out."
            )
        typical = inputs.to_fit(name, np.array([inputs.typical(name)]))[0]
        values[:, j] = np.where(holes, typical, column)
    return Rows(values, index)


def _given_names(rows: Any) -> list[str]:
    """Return the names that rows came with."""
    if isinstance(rows, Mapping):
        return [str(name) for name in rows]
    if isinstance(rows, pd.Series):
        return [str(name) for name in rows.index]
    return [str(name) for name in getattr(rows, "columns", [])]


def _as_frame(rows: Any, names: tuple[str, ...]) -> pd.DataFrame:
    """Return one row or several as a frame of pandas."""
    if isinstance(rows, pd.DataFrame):
        return rows
    if isinstance(rows, pd.Series):
        return rows.to_frame().T.infer_objects()
    if isinstance(rows, Mapping):
        return pd.DataFrame([dict(rows)])
    if hasattr(rows, "to_pandas"):
        return pd.DataFrame(rows.to_pandas())
    values = np.asarray(rows)
    if values.ndim not in (1, 2) or values.shape[-1] != len(names):
        raise DataError(
            f"Expected rows of {len(names)} columns: a frame, a row of one, or a mapping from "
            f"names to values; got {quote(rows)}."
        )
    return pd.DataFrame(np.atleast_2d(values), columns=list(names))


def _encode(
    estimator: FittedEstimator, inputs: EffectInputs, frame: pd.DataFrame
) -> dict[str, FloatArray]:
    """Return the columns of the fit that a frame has, as numbers on the scale of the fit."""
    recipe = getattr(estimator, "recipe_", None)
    if isinstance(recipe, Recipe):
        found: dict[str, FloatArray] = {}
        for column in recipe.columns:
            if column.action == "keep" and column.name in frame:
                raw = read_raw(frame[[column.name]]).columns[0]
                found |= {one.name: one.values for one in encode(raw, column)}
        return found
    return {name: _numbers(inputs, name, frame[name]) for name in inputs.names if name in frame}


def _numbers(inputs: EffectInputs, name: str, column: pd.Series) -> FloatArray:
    """Return a column without a recipe: names of levels as codes, the rest as numbers."""
    if name in inputs.observed.labels:
        column = column.map(lambda cell: inputs.code(name, cell), na_action="ignore")
    try:
        values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError) as error:
        raise DataError(f"Expected numbers in column {quote(name)}; {error}.") from None
    known = np.isfinite(values)
    fitted = np.full(len(values), np.nan)
    fitted[known] = inputs.to_fit(name, values[known])
    return fitted


def describe_rows(
    estimator: FittedEstimator, inputs: EffectInputs, values: FloatArray, index: pd.Index
) -> pd.DataFrame:
    """Return rows (n, d) on the scale of the fit as the file has them."""
    recipe = getattr(estimator, "recipe_", None)
    columns = {}
    for name, column in zip(inputs.names, values.T, strict=True):
        columns[name] = _in_file(inputs, name, column, recipe)
    return pd.DataFrame(columns, index=index)


def _in_file(
    inputs: EffectInputs, name: str, column: FloatArray, recipe: Recipe | None
) -> npt.NDArray[Any] | pd.Series:
    labels = inputs.observed.labels.get(name)
    if labels is not None:
        return np.array([labels[int(code)] for code in column], dtype=object)
    shown = inputs.to_file(name, column)
    kind = inputs.observed.kinds.get(name)
    if kind == "time" and recipe is not None:
        origins = [one.origin for one in recipe.columns if one.name == name]
        if origins and origins[0]:
            days = pd.to_timedelta(np.round(shown * 86_400), unit="s")
            return np.asarray(pd.Timestamp(origins[0]).tz_localize(None) + days)
    whole = kind in ("count", "ordered", "binary") and bool((shown == np.round(shown)).all())
    return shown.astype(np.int64) if whole else shown
