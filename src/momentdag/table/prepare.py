"""`prepare_table`: from any ordinary table to a `Dataset`, with an account of what was done."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from momentdag.errors import DataError, OptionError, quote
from momentdag.table.check import Check, check_raw, read_any
from momentdag.table.checks import MIN_SAMPLES, check_shape
from momentdag.table.dataset import Dataset
from momentdag.table.delimited import Delimiter
from momentdag.table.encoding import EncodedColumn, encode
from momentdag.table.files import MAX_FILE_BYTES
from momentdag.table.missingness import choose_policy, rows_to_keep
from momentdag.table.raw import RawTable
from momentdag.table.recipe import MissingPolicy, Recipe, RecipeKind, Transform

__all__ = ["Prepared", "encode_table", "prepare_table"]

_MAX_NAMED = 6


@dataclass(frozen=True, eq=False)
class Prepared:
    """A table that is ready for a fit.

    Parameters
    ----------
    dataset : Dataset
        Missing cells are NaN where the fit is to impute them.
    recipe : Recipe
        What was done; the same recipe prepares other rows of the same table.
    account : tuple of dict
        One for each column of the source (column, kind, action, why), then one for each sentence
        on the whole table, with an empty column.
    changes : tuple of str
        Sentences on what was changed; empty for a clean table.
    log_columns : tuple of str
        Columns that are natural logarithms of what the source holds.
    summary : tuple of str
        At most three sentences for people.
    rows : bool array, shape (n,), or None
        Which rows of the source are in it; None for all.
    """

    dataset: Dataset
    recipe: Recipe
    account: tuple[dict[str, str], ...] = ()
    changes: tuple[str, ...] = ()
    log_columns: tuple[str, ...] = ()
    summary: tuple[str, ...] = ()
    rows: npt.NDArray[np.bool_] | None = None


def prepare_table(
    X: Any,
    recipe: Recipe | None = None,
    *,
    kinds: Mapping[str, RecipeKind] | None = None,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    transforms: Mapping[str, Transform] | None = None,
    missing: MissingPolicy = "auto",
    strict: bool = False,
    delimiter: Delimiter | None = None,
    sheet: str | None = None,
    max_bytes: int = MAX_FILE_BYTES,
) -> Prepared:
    """Read any table and turn it into a `Dataset` by a recipe, or by the one `check` proposes.

    Parameters
    ----------
    X : table or path
        As for `check`.
    recipe : Recipe, optional
        What to do; takes the place of all the options up to ``missing``.
    kinds, columns, drop, transforms, missing
        As for `check`.
    strict : bool
        Refuse a table in which anything would be changed.
    delimiter, sheet, max_bytes
        How to read a file.

    Raises
    ------
    DataError
        If fewer than two columns or 10 rows are usable, with everything that is wrong; if the
        recipe does not fit the table; if ``strict`` and something would be changed.
    OptionError
        If a name is no column, or a recipe comes with options that it replaces.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> frame = pd.DataFrame({"dose": np.arange(60) ** 2.0, "arm": ["drug", "placebo"] * 30})
    >>> prepared = prepare_table(frame.assign(site="north"))
    >>> prepared.dataset.kinds, prepared.dataset.labels
    (('continuous', 'binary'), {'arm': ('placebo', 'drug')})
    >>> prepared.changes
    ("Column 'site': It is 'north' in every row.",)
    """
    raw = read_any(X, delimiter=delimiter, sheet=sheet, max_bytes=max_bytes)
    if len(raw.columns) == 1 and raw.columns[0].type == "unusable":
        only = raw.columns[0]
        raise DataError(f"Expected usable columns; column {quote(only.name)} {only.notes[0]}.")
    check_shape((raw.n_rows, len(raw.columns)), min_variables=2)
    if recipe is not None:
        if kinds or columns is not None or drop or transforms or missing != "auto":
            raise OptionError(
                "Expected a recipe, or kinds, columns, drop, transforms and missing; got both. "
                "Write them into the recipe."
            )
        return _apply(raw, recipe, None)
    check = check_raw(
        raw, kinds=kinds, columns=columns, drop=drop, transforms=transforms, missing=missing
    )
    if strict and check.changes:
        raise DataError(f"Expected a table that needs no changes; {_list(check.changes)}")
    return _apply(raw, check.recipe, check)


def encode_table(raw: RawTable, recipe: Recipe) -> list[EncodedColumn]:
    """Return the kept columns as numbers; rows with missing cells stay.

    Raises
    ------
    DataError
        If the recipe does not fit the table.
    """
    named = {column.name: None for column in recipe.columns}
    there = set(raw.names)
    for missing, what in (
        ([name for name in raw.names if name not in named], "the recipe does not name"),
        ([name for name in named if name not in there], "the table does not have"),
    ):
        if missing:
            raise DataError(
                f"Expected a recipe for the columns of the table; {what} {quote(missing)}. Add "
                "them, or make the recipe again with `momentdag check`."
            )
    by_name = {column.name: column for column in raw.columns}
    encoded: list[EncodedColumn] = []
    for column in recipe.columns:
        if column.action == "keep":
            encoded += encode(by_name[column.name], column)
    return encoded


def _apply(raw: RawTable, recipe: Recipe, check: Check | None) -> Prepared:
    encoded = encode_table(raw, recipe)
    log_columns = [column.name for column in recipe.columns if column.transform == "log"]
    changes = () if check is None else check.changes
    if len(encoded) < 2:
        raise DataError(
            f"Expected at least two usable columns; {len(encoded)} of {len(raw.columns)} "
            f"{'is' if len(encoded) == 1 else 'are'}. {_list(changes)}".rstrip()
        )
    values = np.column_stack([column.values for column in encoded])
    holes = np.isnan(values)
    policy = choose_policy(holes, recipe.missing)
    if policy == "refuse" and holes.any():
        first = int(np.flatnonzero(holes.any(axis=0))[0])
        raise DataError(
            f"Expected no missing values; {int(holes.sum())} cells are, first in column "
            f"{quote(encoded[first].name)}. Impute them, or leave out these rows."
        )
    rows = rows_to_keep(holes, policy)
    if rows.sum() < MIN_SAMPLES:
        raise DataError(
            f"Expected at least {MIN_SAMPLES} usable rows; {rows.sum()} of {raw.n_rows} are. "
            f"{_list(changes)}".rstrip()
        )
    values = np.asfortranarray(values[rows])
    values.setflags(write=False)
    dataset = Dataset(
        values,
        [column.name for column in encoded],
        [column.kind for column in encoded],
        {column.name: column.labels for column in encoded if column.labels},
        [column.name for column in encoded if column.is_root],
        allow_missing=policy == "impute",
    )
    account = _account(recipe, check)
    summary = _summarise(recipe, dataset, raw, check)
    return Prepared(dataset, recipe, account, changes, tuple(log_columns), summary, rows)


def _list(changes: Sequence[str]) -> str:
    if not changes:
        return ""
    return "".join(f"\n- {text}" for text in changes)


def _account(recipe: Recipe, check: Check | None) -> tuple[dict[str, str], ...]:
    rows = []
    for place, column in enumerate(recipe.columns):
        findings = () if check is None else check.columns[place].findings
        texts = [column.why, *(f.text for f in findings if f.text != column.why)]
        if column.transform != "none":
            texts.append(f"Its {column.transform} is fitted.")
        rows.append(
            {
                "column": column.name,
                "kind": column.kind,
                "action": column.action,
                "why": " ".join(text for text in texts if text),
            }
        )
    for finding in () if check is None else check.findings:
        action = "change" if finding.changes else "note"
        rows.append({"column": "", "kind": "", "action": action, "why": finding.text})
    return tuple(rows)


def _summarise(
    recipe: Recipe,
    dataset: Dataset,
    raw: RawTable,
    check: Check | None,
) -> tuple[str, ...]:
    kinds = Counter(dataset.kinds)
    said = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
    lines = [
        f"Used {dataset.n_samples} of {raw.n_rows} rows and {dataset.n_variables} columns ({said})."
    ]
    left = [quote(c.name) for c in recipe.columns if c.action == "leave out"]
    if left:
        more = f" and {len(left) - _MAX_NAMED} more" if len(left) > _MAX_NAMED else ""
        lines.append(f"Left out: {', '.join(left[:_MAX_NAMED])}{more}.")
    n_merged = sum(bool(column.merged) for column in recipe.columns)
    sentinels = [quote(c.name) for c in recipe.columns if c.missing_values]
    others = []
    if check is not None:
        others += [finding.text for finding in check.findings if finding.changes]
    if sentinels:
        others.append(f"Values taken as missing in {', '.join(sentinels[:_MAX_NAMED])}.")
    if n_merged:
        others.append(f"Rare levels merged in {n_merged} column{'s' * (n_merged > 1)}.")
    if others:
        lines.append(" ".join(others))
    return tuple(lines)
