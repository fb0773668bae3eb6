"""`Recipe`: what is done to each column of a table before a fit, as a value and as a TOML file."""

from __future__ import annotations

import json
import math
import tomllib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, TypeAlias, get_args

from momentdag.errors import DataError, quote
from momentdag.storage.budget import BUDGET, count_values
from momentdag.table.kinds import Kind

__all__ = [
    "OTHER",
    "Action",
    "ColumnRecipe",
    "DatePart",
    "MissingPolicy",
    "Recipe",
    "RecipeKind",
    "Transform",
]

RecipeKind: TypeAlias = Kind | Literal["identifier"]
Action: TypeAlias = Literal["keep", "leave out"]
Transform: TypeAlias = Literal["none", "log"]
DatePart: TypeAlias = Literal["hour", "weekday", "month"]
MissingPolicy: TypeAlias = Literal["auto", "impute", "drop", "refuse"]

OTHER = "other"
"""The level that rare levels are merged into."""

_VERSION = 1
_CHOICES: Mapping[str, tuple[str, ...]] = {
    "action": get_args(Action),
    "kind": (*get_args(Kind), "identifier"),
    "transform": get_args(Transform),
}


@dataclass(frozen=True)
class ColumnRecipe:
    """What is done to one column.

    Parameters
    ----------
    name : str
    action : {"keep", "leave out"}
    kind : Kind or "identifier"
    transform : {"none", "log"}
        Taken of the numbers before the fit.
    missing_values : tuple of float or str
        Numbers, or texts of levels, that mean that the cell is missing.
    levels : tuple of str
        What the codes 0, 1, ... stand for; empty for columns of numbers.
    merged : tuple of str
        Levels that are merged into the level "other".
    parts : tuple of {"hour", "weekday", "month"}
        Columns that are made of a date besides the days since ``origin``.
    origin : str
        The first date, as ISO 8601.
    why : str
        The reason, in words.
    """

    name: str
    action: Action = "keep"
    kind: RecipeKind = "continuous"
    transform: Transform = "none"
    missing_values: tuple[float | str, ...] = ()
    levels: tuple[str, ...] = ()
    merged: tuple[str, ...] = ()
    parts: tuple[DatePart, ...] = ()
    origin: str = ""
    why: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip():
            raise DataError(f"Expected the name of a column in a recipe; got {quote(self.name)}.")
        for name, choices in _CHOICES.items():
            if (value := getattr(self, name)) not in choices:
                raise self._fault(f"{name} among {list(choices)}", value)
        for name in ("levels", "merged"):
            texts = _as_tuple(getattr(self, name))
            if texts is None or not all(isinstance(text, str) for text in texts):
                raise self._fault(f"{name} as a list of text", getattr(self, name))
            if len(set(texts)) < len(texts):
                raise self._fault(f"{name} that differ", list(texts))
            object.__setattr__(self, name, texts)
        parts = _as_tuple(self.parts)
        if parts is None or not set(parts) <= set(get_args(DatePart)):
            raise self._fault(f"parts among {list(get_args(DatePart))}", self.parts)
        object.__setattr__(self, "parts", parts)
        values = _as_tuple(self.missing_values)
        if values is None or not all(_is_cell(value) for value in values):
            raise self._fault("missing_values as a list of numbers or text", self.missing_values)
        object.__setattr__(
            self, "missing_values", tuple(v if isinstance(v, str) else float(v) for v in values)
        )
        for name in ("origin", "why"):
            if not isinstance(getattr(self, name), str):
                raise self._fault(f"{name} as text", getattr(self, name))
        if self.action == "keep" and self.kind == "identifier":
            raise self._fault('action "leave out" for an identifier', self.action)
        if self.transform != "none" and (self.levels or self.kind in ("category", "time")):
            raise self._fault("a transform of numbers only", self.transform)

    def _fault(self, expected: str, value: object) -> DataError:
        return DataError(
            f"Recipe of column {quote(self.name)}: expected {expected}; got {quote(value)}."
        )


@dataclass(frozen=True)
class Recipe:
    """What is done to a table before a fit.

    Parameters
    ----------
    columns : tuple of ColumnRecipe
    missing : {"auto", "impute", "drop", "refuse"}
        "drop" leaves out rows with missing cells, "impute" has the fit draw these, "auto" drops
        where that costs less than 5 % of the rows.

    Examples
    --------
    >>> recipe = Recipe((ColumnRecipe("id", "leave out", "identifier", why="1 to n"),))
    >>> print(recipe.to_toml())
    # What is done to each column before a fit. Edit it, and pass it with --recipe.
    version = 1
    missing = "auto"
    <BLANKLINE>
    [[column]]
    name = "id"
    action = "leave out"
    kind = "identifier"
    why = "1 to n"
    <BLANKLINE>
    >>> Recipe.from_toml(recipe.to_toml()) == recipe
    True
    """

    columns: tuple[ColumnRecipe, ...]
    missing: MissingPolicy = "auto"

    def __post_init__(self) -> None:
        names = [column.name for column in self.columns]
        repeated = sorted(name for name, count in Counter(names).items() if count > 1)
        if repeated:
            raise DataError(f"Expected each column once in a recipe; {repeated} are repeated.")
        if self.missing not in get_args(MissingPolicy):
            raise DataError(
                f"Recipe: expected missing among {list(get_args(MissingPolicy))}; got "
                f"{quote(self.missing)}."
            )

    def column(self, name: str) -> ColumnRecipe:
        """Return what is done to one column.

        Raises
        ------
        DataError
            If the recipe does not name it.
        """
        for column in self.columns:
            if column.name == name:
                return column
        raise DataError(f"Expected a column of the recipe; it does not name {quote(name)}.")

    @property
    def left_out(self) -> dict[str, str]:
        """The columns that are left out, and why."""
        return {c.name: c.why for c in self.columns if c.action == "leave out"}

    @property
    def log_columns(self) -> tuple[str, ...]:
        """The columns that are fitted as logarithms."""
        kept = (c for c in self.columns if c.action == "keep")
        return tuple(c.name for c in kept if c.transform == "log")

    def to_toml(self) -> str:
        """Return the recipe as a TOML document."""
        lines = [
            "# What is done to each column before a fit. Edit it, and pass it with --recipe.",
            f"version = {_VERSION}",
            f"missing = {_toml(self.missing)}",
        ]
        for column in self.columns:
            lines += ["", "[[column]]"]
            for item in fields(column):
                value = getattr(column, item.name)
                if item.name in ("name", "action", "kind") or value != item.default:
                    lines.append(f"{item.name} = {_toml(value)}")
        return "\n".join(lines) + "\n"

    @classmethod
    def from_toml(cls, text: str) -> Recipe:
        """Read what `to_toml` returns; unknown keys are refused.

        Raises
        ------
        DataError
            If it is no TOML, or not a recipe.

        Examples
        --------
        >>> Recipe.from_toml('missing = "never"')
        Traceback (most recent call last):
        ...
        momentdag.errors.DataError: Recipe: expected missing among ['auto', 'impute', 'drop',
        'refuse']; got 'never'.
        """
        if len(text) > BUDGET.text_bytes or count_values(text) > BUDGET.values:
            raise DataError(
                f"Expected a recipe of at most {BUDGET.text_bytes} letters and {BUDGET.values} "
                "values; this one has more."
            )
        try:
            content = tomllib.loads(text)
        except (ValueError, RecursionError) as error:  # also of a number with thousands of digits
            raise DataError(f"Expected a recipe in TOML; {error}.") from error
        version = content.pop("version", _VERSION)
        if version != _VERSION:
            raise DataError(f"Expected a recipe of version {_VERSION}; got {quote(version)}.")
        columns = content.pop("column", [])
        missing = content.pop("missing", "auto")
        if content:
            raise DataError(
                "Expected the keys version, missing and column in a recipe; got "
                f"{quote(next(iter(content)))}."
            )
        if not isinstance(columns, list) or not all(isinstance(c, dict) for c in columns):
            raise DataError("Expected the columns of a recipe as [[column]] tables.")
        return cls(tuple(_read_column(entry) for entry in columns), missing)


def _read_column(entry: dict[str, Any]) -> ColumnRecipe:
    known = [item.name for item in fields(ColumnRecipe)]
    stray = [key for key in entry if key not in known]
    if stray:
        raise DataError(
            f"Recipe of column {quote(entry.get('name'))}: expected keys among {known}; got "
            f"{quote(stray[0])}."
        )
    if "name" not in entry:
        raise DataError("Expected a name in every [[column]] of a recipe; one has none.")
    return ColumnRecipe(**entry)


def _as_tuple(value: object) -> tuple[Any, ...] | None:
    return tuple(value) if isinstance(value, list | tuple) else None


def _is_cell(value: object) -> bool:
    if isinstance(value, bool):
        return False
    return isinstance(value, str) or (isinstance(value, int | float) and math.isfinite(value))


def _toml(value: object) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(_toml(entry) for entry in value)}]"
    if isinstance(value, float):
        return repr(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    # TOML's basic strings are JSON's, but for DEL, and for surrogates, which names never hold.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
