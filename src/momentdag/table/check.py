"""`check`: everything that is unusual about a table at once, and a recipe for it."""

from __future__ import annotations

import html
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np
import pandas as pd

from momentdag.errors import OptionError, did_you_mean, quote
from momentdag.table.checks import MIN_SAMPLES, SAMPLES_PER_VARIABLE, check_shape, check_width
from momentdag.table.column_checks import ColumnCheck, Finding, check_column
from momentdag.table.delimited import Delimiter
from momentdag.table.encoding import EncodedColumn, encode
from momentdag.table.files import MAX_FILE_BYTES
from momentdag.table.missingness import choose_policy, find_dependence, rows_to_keep
from momentdag.table.raw import RawTable, read_raw
from momentdag.table.raw_files import read_raw_file
from momentdag.table.recipe import (
    ColumnRecipe,
    DatePart,
    MissingPolicy,
    Recipe,
    RecipeKind,
    Transform,
)
from momentdag.table.relations import find_near_formulas, find_relations

__all__ = ["Check", "check", "check_raw", "read_any"]

_AS_ASKED = "Left out, as asked."


@dataclass(frozen=True, eq=False, repr=False)
class Check:
    """What was found in a table, and what will be done about it.

    Parameters
    ----------
    columns : tuple of ColumnCheck
    recipe : Recipe
        What a fit does by default; edit it and pass it instead.
    findings : tuple of Finding
        About the whole table: names, rows, missing cells.
    n_rows : int
    n_rows_kept : int
    """

    columns: tuple[ColumnCheck, ...]
    recipe: Recipe
    findings: tuple[Finding, ...]
    n_rows: int
    n_rows_kept: int

    @property
    def table(self) -> pd.DataFrame:
        """One row for each column, with what was found and what is done."""
        rows = [
            {
                "column": column.recipe.name,
                "kind": column.recipe.kind,
                "why": column.recipe.why,
                "distinct": column.n_distinct,
                "missing": column.n_missing,
                "range": column.range,
                "findings": " ".join(finding.text for finding in column.findings),
                "action": column.recipe.action,
            }
            for column in self.columns
        ]
        names = ["column", "kind", "why", "distinct", "missing", "range", "findings", "action"]
        return pd.DataFrame(rows, columns=names)

    @property
    def changes(self) -> tuple[str, ...]:
        """Sentences on everything that is changed; empty for a clean table."""
        return (
            *(finding.text for finding in self.findings if finding.changes),
            *(
                f"Column {quote(column.recipe.name)}: {finding.text}"
                for column in self.columns
                for finding in column.findings
                if finding.changes
            ),
        )

    @property
    def kept(self) -> tuple[str, ...]:
        """Names of the columns that are kept."""
        return tuple(column.recipe.name for column in self.columns if column.is_kept)

    def describe(self) -> str:
        """Return the whole check as plain text."""
        lines = [f"{self._headline()}."]
        width = max((len(column.recipe.name) for column in self.columns), default=0)
        for column in self.columns:
            recipe = column.recipe
            marks: list[str] = [recipe.kind if column.is_kept else "left out"]
            if recipe.transform != "none":
                marks.append(recipe.transform)
            said = [recipe.why, *(f.text for f in column.findings if f.text != recipe.why)]
            if column.n_missing:
                said.append(f"{column.n_missing} missing.")
            lines.append(f"  {recipe.name:<{width}}  {', '.join(marks):<12}  {' '.join(said)}")
        lines += [finding.text for finding in self.findings]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        notes = "".join(f"<li>{html.escape(finding.text)}</li>" for finding in self.findings)
        return f"{self.table.to_html(index=False, escape=True)}<ul>{notes}</ul>"

    def __str__(self) -> str:
        return self.describe()

    def __repr__(self) -> str:
        n_changes = len(self.changes)
        return f"Check({self._headline()}; {n_changes} change{'s' * (n_changes != 1)})"

    def _headline(self) -> str:
        return (
            f"{self.n_rows} rows and {len(self.columns)} columns; a fit uses {self.n_rows_kept} "
            f"rows and {len(self.kept)} columns"
        )


def read_any(
    X: Any,
    *,
    delimiter: Delimiter | None = None,
    sheet: str | None = None,
    max_bytes: int = MAX_FILE_BYTES,
) -> RawTable:
    """Read a table in memory, or the file of that name.

    Raises
    ------
    DataError, OptionError, MissingExtraError
        If it is no table.
    """
    if isinstance(X, RawTable):
        return X
    if isinstance(X, str | os.PathLike):
        return read_raw_file(X, delimiter, sheet=sheet, max_bytes=max_bytes)
    return read_raw(X)


def check(
    X: Any,
    *,
    kinds: Mapping[str, RecipeKind] | None = None,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    transforms: Mapping[str, Transform] | None = None,
    missing: MissingPolicy = "auto",
    delimiter: Delimiter | None = None,
    sheet: str | None = None,
) -> Check:
    """Look at a table and say everything that is unusual about it at once.

    Parameters
    ----------
    X : table or path
        A pandas, polars or pyarrow frame, a 2-D array, a list of rows, or the name of a CSV,
        Excel or Parquet file.
    kinds : mapping from name to kind, optional
        Kinds of columns that are not to be guessed; "identifier" leaves one out.
    columns, drop : sequence of str, optional
        Use only these columns; leave these out.
    transforms : mapping from name to "log", optional
    missing : {"auto", "impute", "drop", "refuse"}
        What to do about missing cells; "auto" leaves out rows where that costs less than 5 % of
        them, and has the fit impute cells otherwise.
    delimiter, sheet : str, optional
        How to read a text file, and which sheet of a workbook to read.

    Raises
    ------
    DataError
        If X is no table, or a stated kind or transform does not fit its column.
    OptionError
        If a name is no column.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> frame = pd.DataFrame({"id": range(60), "dose": rng.normal(size=60), "site": "north"})
    >>> found = check(frame.assign(arm=["a", "b"] * 30))
    >>> found
    Check(60 rows and 4 columns; a fit uses 60 rows and 2 columns; 2 changes)
    >>> print(found)
    60 rows and 4 columns; a fit uses 60 rows and 2 columns.
      id    left out      A running number from 0 to 59, each once: an identifier.
      dose  continuous    60 distinct values.
      site  left out      It is 'north' in every row.
      arm   binary        Text with 2 levels.
    """
    raw = read_any(X, delimiter=delimiter, sheet=sheet)
    return check_raw(
        raw, kinds=kinds, columns=columns, drop=drop, transforms=transforms, missing=missing
    )


def check_raw(
    raw: RawTable,
    *,
    kinds: Mapping[str, RecipeKind] | None = None,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    transforms: Mapping[str, Transform] | None = None,
    missing: MissingPolicy = "auto",
) -> Check:
    """Look at a table that was read already; see `check`."""
    stated = {} if kinds is None else kinds
    taken = {} if transforms is None else transforms
    for option, names in (("kinds", stated), ("transforms", taken), ("drop", drop)):
        _check_names(option, names, raw.names)
    if columns is not None:
        _check_names("columns", columns, raw.names)
    _check_choices("kinds", stated, (*get_args(get_args(RecipeKind)[0]), "identifier"))
    _check_choices("transforms", taken, get_args(Transform))
    _check_choices("missing", {"missing": missing}, get_args(MissingPolicy))
    check_shape((raw.n_rows, len(raw.columns)), min_variables=1)
    chosen = set(raw.names if columns is None else columns) - set(drop)
    check_width(len(chosen))
    checks = []
    for column in raw.columns:
        if column.name not in chosen:
            recipe = ColumnRecipe(column.name, "leave out", why=_AS_ASKED)
            checks.append(ColumnCheck(column, recipe, 0, 0, "", ()))
        else:
            kind = stated.get(column.name)
            checks.append(check_column(column, kind, taken.get(column.name, "none")))
    named = frozenset(raw.names)
    checks = _keep_ranks([_without_collisions(one, named) for one in checks], stated)
    policy = choose_policy(_missing(checks, raw.n_rows), missing)
    checks = _leave_out_related(checks, rows_to_keep(_missing(checks, raw.n_rows), policy))
    return _conclude(raw, checks, missing)


def _conclude(raw: RawTable, checks: list[ColumnCheck], missing: MissingPolicy) -> Check:
    holes = _missing(checks, raw.n_rows)
    policy = choose_policy(holes, missing)
    kept = rows_to_keep(holes, policy)
    findings = [Finding(text, True) for text in raw.mended]
    findings += [Finding(text, False) for text in raw.notes]
    findings += _describe_missing(holes, kept, policy)
    owners = [k for k, one in enumerate(checks) if one.is_kept for _ in (None, *one.recipe.parts)]
    encoded = _encode(checks)
    places = {column.name: k for column, k in zip(encoded, owners, strict=True)}
    said = [*find_dependence(encoded).items()]
    if encoded:
        values = np.column_stack([column.values for column in encoded])[kept]
        said += find_near_formulas([column.name for column in encoded], values).items()
    for name, text in said:
        place = places[name]
        found = (*checks[place].findings, Finding(text, False))
        checks[place] = replace(checks[place], findings=found)
    n_columns = sum(one.is_kept for one in checks)
    if kept.sum() < SAMPLES_PER_VARIABLE * n_columns:
        findings.append(
            Finding(
                f"Few rows: {kept.sum()} for {n_columns} columns, fewer than "
                f"{SAMPLES_PER_VARIABLE} for each. Expect an uncertain result.",
                False,
            )
        )
    recipe = Recipe(tuple(one.recipe for one in checks), policy)
    return Check(tuple(checks), recipe, tuple(findings), raw.n_rows, int(kept.sum()))


def _describe_missing(
    holes: np.ndarray[Any, np.dtype[np.bool_]],
    kept: np.ndarray[Any, np.dtype[np.bool_]],
    policy: MissingPolicy,
) -> list[Finding]:
    n_cells, n_columns = int(holes.sum()), int(holes.any(axis=0).sum())
    n_rows, n_lost = int(holes.any(axis=1).sum()), int((~kept).sum())
    if not n_cells:
        return []
    share = f"{n_rows} of {len(holes)} rows ({n_rows / len(holes):.1%})"
    cells = "1 cell is" if n_cells == 1 else f"{n_cells} cells are"
    where = f"{cells} missing in {n_columns} of {holes.shape[1]} kept columns, and in {share}"
    if policy == "drop":
        return [Finding(f"{where}: these rows are left out.", True)]
    if policy == "refuse":
        return [Finding(f"{where}: refused, as asked.", True)]
    lost = f" {n_lost} rows without any cell are left out." if n_lost else ""
    return [Finding(f"{where}: the fit imputes them.{lost}", True)]


def _encode(checks: Sequence[ColumnCheck]) -> list[EncodedColumn]:
    return [column for one in checks if one.is_kept for column in encode(one.raw, one.recipe)]


def _missing(checks: Sequence[ColumnCheck], n_rows: int) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Return the missing cells of the kept columns, (n, number of kept columns)."""
    first = [encode(one.raw, one.recipe)[0].values for one in checks if one.is_kept]
    return np.isnan(np.column_stack(first)) if first else np.zeros((n_rows, 0), dtype=bool)


def _keep_ranks(checks: list[ColumnCheck], stated: Mapping[str, RecipeKind]) -> list[ColumnCheck]:
    """Keep running numbers in no order if there are several: these are ranks."""
    ranks = [
        place
        for place, one in enumerate(checks)
        if one.recipe.kind == "identifier" and one.recipe.name not in stated
        if one.raw.type == "number" and one.n_distinct == len(one.raw.values)
        if one.recipe.why != _AS_ASKED and (np.diff(one.raw.values) < 0).any()
    ]
    if len(ranks) < 2:
        return checks
    for place in ranks:
        one = check_column(checks[place].raw, "continuous")
        why = f"Ranks: each number from {one.range} once."
        checks[place] = replace(one, recipe=replace(one.recipe, why=why))
    return checks


def _without_collisions(one: ColumnCheck, names: frozenset[str]) -> ColumnCheck:
    """Make no part of a date under the name of another column."""
    parts = tuple(p for p in one.recipe.parts if f"{one.recipe.name} {p}" not in names)
    return replace(one, recipe=replace(one.recipe, parts=parts))


def _leave_out_related(
    checks: list[ColumnCheck], rows: np.ndarray[Any, np.dtype[np.bool_]]
) -> list[ColumnCheck]:
    """Leave out columns that do not vary in these rows or are functions of others."""
    places: list[tuple[int, DatePart | None]] = []
    encoded: list[EncodedColumn] = []
    for place, one in enumerate(checks):
        if one.is_kept:
            parts = (None, *one.recipe.parts)
            encoded += encode(one.raw, one.recipe)
            places += [(place, part) for part in parts]
    if not encoded or rows.sum() < MIN_SAMPLES:
        return checks  # a few rows agree by chance; the table is refused anyway
    values = np.column_stack([column.values for column in encoded])[rows]
    checks = list(checks)
    for k, why in sorted(find_relations([column.name for column in encoded], values).items()):
        place, part = places[k]
        one = checks[place]
        if part is None:
            checks[place] = one.leave_out(why)
        else:
            kept = tuple(other for other in one.recipe.parts if other != part)
            checks[place] = replace(one, recipe=replace(one.recipe, parts=kept))
    return checks


def _check_names(option: str, names: Any, known: tuple[str, ...]) -> None:
    if isinstance(names, str):
        raise OptionError(f"Expected {option} as a list of names; got {quote(names)}.")
    for name in names:
        if name not in known:
            raise OptionError(
                f"Expected {option} to name columns among {list(known)}; got {quote(name)}."
                f"{did_you_mean(name, known)}"
            )


def _check_choices(option: str, stated: Mapping[str, Any], choices: tuple[Any, ...]) -> None:
    for value in stated.values():
        if value not in choices:
            raise OptionError(
                f"Expected {option} among {list(choices)}; got {quote(value)}."
                f"{did_you_mean(value, choices)}"
            )
