"""Turn a raw column into numbers as its recipe says: codes, days, logarithms, missing cells."""

from __future__ import annotations

import datetime as dt
from typing import NamedTuple

import numpy as np
import pandas as pd

from momentdag.errors import DataError, quote
from momentdag.table.kinds import Kind
from momentdag.table.raw import RawColumn
from momentdag.table.recipe import OTHER, ColumnRecipe, DatePart
from momentdag.table.tables import FloatArray

__all__ = [
    "EncodedColumn",
    "as_levels",
    "date_part",
    "encode",
    "number_text",
    "seconds_of",
    "without_missing_values",
]

_DAY = 86_400.0
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September",
           "October", "November", "December")  # fmt: skip


class EncodedColumn(NamedTuple):
    """A column as a `momentdag.Dataset` takes it."""

    name: str
    values: FloatArray  # (n,), NaN for missing
    kind: Kind
    labels: tuple[str, ...] = ()
    is_root: bool = False


def encode(raw: RawColumn, recipe: ColumnRecipe) -> list[EncodedColumn]:
    """Return the columns that a kept column becomes: one, or several for a date.

    Raises
    ------
    DataError
        If the column does not hold what the recipe says.
    """
    assert recipe.kind != "identifier"  # `ColumnRecipe` keeps none
    if raw.type == "unusable":
        raise DataError(f"Recipe of column {quote(raw.name)}: it {raw.notes[0]}; leave it out.")
    if raw.type == "date":
        return _encode_date(raw, recipe)
    if recipe.levels:
        values = _encode_levels(raw, recipe)
        return [EncodedColumn(raw.name, values, recipe.kind, recipe.levels)]
    if raw.levels and raw.type != "boolean":
        raise DataError(
            f"Recipe of column {quote(raw.name)}: it holds text ({quote(raw.levels[0])}), and the "
            "recipe names no levels. Add them, or leave the column out."
        )
    values = transform(raw.name, without_missing_values(raw, recipe), recipe)
    is_root = recipe.kind == "time"
    return [EncodedColumn(raw.name, values, recipe.kind, (), is_root)]


def without_missing_values(raw: RawColumn, recipe: ColumnRecipe) -> FloatArray:
    """Return the numbers of a column with NaN for infinite cells and values that mean missing."""
    values = np.where(np.isfinite(raw.values), raw.values, np.nan)
    sentinels = [value for value in recipe.missing_values if not isinstance(value, str)]
    return np.where(np.isin(values, sentinels), np.nan, values) if sentinels else values


def transform(name: str, values: FloatArray, recipe: ColumnRecipe) -> FloatArray:
    """Take the logarithm that the recipe asks for.

    Raises
    ------
    DataError
        If a value has none.
    """
    if recipe.transform == "none":
        return values
    faults = np.flatnonzero(values <= 0)
    if len(faults):
        raise DataError(
            f"expected positive values for a logarithm; column {quote(name)} has {len(faults)} "
            f"that are not (first at row {faults[0]}). Rows count from 0."
        )
    return np.log(values)


def number_text(value: float) -> str:
    """Return a number as the name of a level."""
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(float(value))


def as_levels(raw: RawColumn) -> tuple[FloatArray, tuple[str, ...]]:
    """Return codes (n,) and levels of a column of text, categories, booleans or numbers."""
    if raw.levels:
        return raw.values, raw.levels
    finite = np.where(np.isfinite(raw.values), raw.values, np.nan)
    found = np.unique(finite[~np.isnan(finite)])
    codes = np.where(np.isnan(finite), np.nan, np.searchsorted(found, finite))
    return codes, tuple(number_text(float(value)) for value in found)


def _encode_levels(raw: RawColumn, recipe: ColumnRecipe) -> FloatArray:
    codes, levels = as_levels(raw)
    missing = {v if isinstance(v, str) else number_text(v) for v in recipe.missing_values}
    places = np.full(len(levels), np.nan)
    for k, level in enumerate(levels):
        if level in missing:
            continue
        if level in recipe.merged or (level not in recipe.levels and OTHER in recipe.levels):
            level = OTHER
        if level not in recipe.levels:
            raise DataError(
                f"Recipe of column {quote(raw.name)}: it holds the level {quote(level)}, which is "
                f"not among its levels {quote(list(recipe.levels))}. Add it, or merge it."
            )
        places[k] = recipe.levels.index(level)
    present = ~np.isnan(codes)
    values = np.full(len(codes), np.nan)
    values[present] = places[codes[present].astype(np.intp)]
    return values


def seconds_of(origin: str, name: str) -> float:
    """Return an ISO date as seconds since 1970.

    Raises
    ------
    DataError
        If it is none.
    """
    try:
        stamp = dt.datetime.fromisoformat(origin).replace(tzinfo=dt.UTC)
    except ValueError as error:
        raise DataError(
            f"Recipe of column {quote(name)}: expected an origin such as 2020-01-31; {error}."
        ) from None
    return (stamp - dt.datetime(1970, 1, 1, tzinfo=dt.UTC)).total_seconds()


def _encode_date(raw: RawColumn, recipe: ColumnRecipe) -> list[EncodedColumn]:
    first = np.nanmin(raw.values) if not recipe.origin else seconds_of(recipe.origin, raw.name)
    days = (raw.values - first) / _DAY
    columns = [EncodedColumn(raw.name, days, "time", (), True)]
    for part in recipe.parts:
        values, labels = date_part(raw.values, part)
        kind: Kind = "category" if labels else "ordered"
        columns.append(EncodedColumn(f"{raw.name} {part}", values, kind, labels, True))
    return columns


def date_part(seconds: FloatArray, part: DatePart) -> tuple[FloatArray, tuple[str, ...]]:
    """Return the hour, or the code of the weekday or month, of dates (n,), with all labels.

    Examples
    --------
    >>> values, labels = date_part(np.array([0.0, 90_000.0]), "weekday")  # 1 January 1970
    >>> [labels[int(value)] for value in values]
    ['Thursday', 'Friday']
    """
    present = ~np.isnan(seconds)
    stamps = pd.DatetimeIndex(
        (seconds[present] * 1e6).round().astype(np.int64).astype("datetime64[us]")
    )
    values = np.full(len(seconds), np.nan)
    match part:
        case "hour":
            values[present] = stamps.hour
            return values, ()
        case "weekday":
            values[present] = stamps.day_of_week
            return values, _WEEKDAYS
        case "month":
            values[present] = stamps.month - 1
            return values, _MONTHS
