"""Look at one column: its kind, what is wrong with it, and what to do about it."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass, field, replace

import numpy as np

from momentdag.errors import DataError, quote
from momentdag.table.checks import EXTREME_SD
from momentdag.table.encoding import (
    as_levels,
    date_part,
    number_text,
    transform,
    without_missing_values,
)
from momentdag.table.kinds import Kind, guess_kind
from momentdag.table.raw import RawColumn
from momentdag.table.recipe import OTHER, ColumnRecipe, DatePart, RecipeKind, Transform
from momentdag.table.tables import FloatArray
from momentdag.table.texts import is_scale

__all__ = ["MAX_CATEGORIES", "MIN_LEVEL_ROWS", "ColumnCheck", "Finding", "check_column"]

MAX_CATEGORIES = 12
"""A category has at most this many levels; the rarer ones are merged."""

MIN_LEVEL_ROWS = 5
"""Levels in fewer rows than this are merged."""

_ID_NAME = re.compile(
    r"(?:.*[ _.-])?(?:id|ids|ID|Id|rownames|row\.names|uuid|guid)|.*[a-z](?:Id|ID)"
    r"|(?i:(?:subject|subj|patient|person|individual|respondent|family|household|student|pupil)"
    r"(?:[ _.-]?(?:id|no|nr|num|number))?)"
)
_TIME_NAME = re.compile(r"(?:.*[ _.-])?(?:time|year|yr|date|day|month|week|quarter)", re.I)
_SENTINEL = re.compile(r"-?(?:99+|88+|77+)|-[987]")
_SHOWN_ROWS = 5
_LONG_RUN = 100
"""A running number that begins anywhere must be as long as this to be an identifier."""


@dataclass(frozen=True)
class Finding:
    """Something to know about a column.

    Parameters
    ----------
    text : str
    changes : bool
        Whether something is done about it; otherwise it is only said.
    """

    text: str
    changes: bool


@dataclass(frozen=True, eq=False)
class ColumnCheck:
    """One column, what was found in it and what is done to it.

    Parameters
    ----------
    raw : RawColumn
    recipe : ColumnRecipe
    n_distinct, n_missing : int
        Missing cells include those that are taken as missing.
    range : str
    findings : tuple of Finding
    """

    raw: RawColumn = field(repr=False)
    recipe: ColumnRecipe
    n_distinct: int
    n_missing: int
    range: str
    findings: tuple[Finding, ...]

    @property
    def is_kept(self) -> bool:
        """Whether the column enters the fit."""
        return self.recipe.action == "keep"

    def leave_out(self, why: str) -> ColumnCheck:
        """Return the same column left out, for this reason."""
        recipe = replace(self.recipe, action="leave out", why=why)
        return replace(self, recipe=recipe, findings=(*self.findings, Finding(why, True)))


def check_column(
    raw: RawColumn, kind: RecipeKind | None = None, transform: Transform = "none"
) -> ColumnCheck:
    """Look at one column by itself.

    Parameters
    ----------
    raw : RawColumn
    kind : Kind or "identifier", optional
        Stated by the user; guessed otherwise.
    transform : {"none", "log"}

    Raises
    ------
    DataError
        If the stated kind or transform does not fit the column.
    """
    if raw.type == "unusable":
        if kind not in (None, "identifier"):
            raise DataError(f"Column {quote(raw.name)} {raw.notes[0]}; it cannot be {quote(kind)}.")
        check = ColumnCheck(raw, ColumnRecipe(raw.name, kind="identifier", action="leave out"),
                            0, len(raw.values), "", ())  # fmt: skip
        return check.leave_out(f"It {raw.notes[0]}.")
    if transform != "none" and raw.type != "number":
        raise DataError(
            f"Expected numbers to take logarithms of; column {quote(raw.name)} holds {raw.type}s."
        )
    if raw.type == "date" and kind in (None, "time", "identifier"):
        check = _check_dates(raw)
    elif raw.type == "number" and kind != "category":
        check = _check_numbers(raw, kind, transform)
    else:
        check = _check_levels(raw, kind)
    notes = tuple(Finding(f"{text[0].upper()}{text[1:]}.", "missing" in text) for text in raw.notes)
    check = replace(check, findings=(*notes, *check.findings))
    if kind == "identifier" and check.is_kept:
        why = "An identifier, as stated."
        return replace(check, recipe=ColumnRecipe(raw.name, "leave out", "identifier", why=why))
    n_rows = len(raw.values)
    if check.is_kept and 2 * check.n_missing > n_rows:
        return check.leave_out(f"{check.n_missing} of {n_rows} cells are missing, more than half.")
    return check


def _check_numbers(raw: RawColumn, kind: RecipeKind | None, taken: Transform) -> ColumnCheck:
    n_rows = len(raw.values)
    findings = []
    infinite = int(np.isinf(raw.values).sum())
    if infinite:
        findings.append(Finding(f"{_cells(infinite, 'infinite')} taken as missing.", True))
    bare = ColumnRecipe(raw.name)
    values = without_missing_values(raw, bare)
    sentinels = _find_sentinels(values)
    for sentinel in sentinels:
        count = int((values == sentinel).sum())
        findings.append(
            Finding(
                f"{number_text(sentinel)} in {count} cells is far from all others and taken "
                "as missing.",
                True,
            )
        )
    recipe = replace(bare, missing_values=sentinels, transform=taken)
    values = without_missing_values(raw, recipe)
    present = values[~np.isnan(values)]
    distinct = np.unique(present)
    bounds = f"{distinct[0]:.4g} to {distinct[-1]:.4g}" if len(distinct) else ""
    check = ColumnCheck(raw, recipe, len(distinct), n_rows - len(present), bounds, ())
    if len(distinct) < 2:
        what = "Every cell is missing." if not len(distinct) else (
            f"It is {number_text(float(distinct[0]))} in every row."
        )  # fmt: skip
        return replace(check, findings=tuple(findings)).leave_out(what)
    fitted = transform(raw.name, values, recipe)
    guess, why = _guess(raw.name, values, fitted, distinct, is_logged=taken != "none")
    if kind not in (None, "identifier"):
        guess, why = kind, "As stated."
        if kind == "binary" and len(distinct) != 2:
            raise DataError(
                f"Expected two distinct values in the binary column {quote(raw.name)}; it has "
                f"{len(distinct)}."
            )
    findings += _find_extremes(values)
    recipe = replace(recipe, kind=guess, why=why) if guess != "identifier" else recipe
    check = replace(check, recipe=recipe, findings=tuple(findings))
    if guess == "identifier":
        left = check.leave_out(why)
        return replace(left, recipe=replace(left.recipe, kind="identifier", transform="none"))
    if guess in ("binary", "category"):
        check = replace(check, findings=(*check.findings, *_find_rare_value(values, distinct)))
    return check


def _guess(
    name: str, values: FloatArray, fitted: FloatArray, distinct: FloatArray, *, is_logged: bool
) -> tuple[RecipeKind, str]:
    n_present = int((~np.isnan(values)).sum())
    whole = bool(np.all(distinct == np.floor(distinct)))
    if not is_logged and _is_time_axis(name, values):
        return "time", "It rises evenly from row to row: a trend, and never an effect."
    running = whole and len(distinct) == n_present and np.ptp(distinct) == n_present - 1
    if running and not is_logged:
        if n_present == len(values) and distinct[0] >= 1500 and distinct[-1] <= 2100:
            return "time", "Years, each once: a trend, and never an effect."
        if distinct[0] in (0, 1) or n_present >= _LONG_RUN:
            return "identifier", (
                f"A running number from {distinct[0]:g} to {distinct[-1]:g}, each once: an "
                "identifier."
            )
    if whole and len(distinct) > MAX_CATEGORIES and _ID_NAME.fullmatch(name):
        return "identifier", f"Whole numbers under the name {quote(name)}: an identifier."
    kind = guess_kind(fitted)
    whys = {
        "continuous": f"{len(distinct)} distinct values.",
        "ordered": f"{len(distinct)} distinct values on a grid.",
        "count": "Whole numbers from 0, 1 or 2 on with a long tail.",
        "binary": f"Two values: {distinct[0]:g} and {distinct[-1]:g}.",
    }
    return kind, whys[kind]


def _is_time_axis(name: str, values: FloatArray) -> bool:
    if np.isnan(values).any() or len(values) < 10 or not _TIME_NAME.fullmatch(name.strip()):
        return False
    steps = np.diff(values)
    middle = float(np.median(steps))
    return bool(middle > 0 and np.all(np.abs(steps - middle) <= 0.2 * middle))


def _find_sentinels(values: FloatArray) -> tuple[float, ...]:
    """Return values such as -999 that occur at least twice, far from all others."""
    levels, counts = np.unique(values[~np.isnan(values)], return_counts=True)
    ends = {*levels[:3].tolist(), *levels[-3:].tolist()}
    candidates = {v for v in ends if _SENTINEL.fullmatch(number_text(v))}
    rest = levels[~np.isin(levels, list(candidates))]
    if not candidates or len(rest) < 2:
        return ()
    span = float(rest[-1] - rest[0])
    found = []
    for value in sorted(candidates):
        count = counts[levels == value][0]
        below = value < rest[0] and rest[0] >= 0 and rest[0] - value > span
        far = value > rest[-1] and value - rest[-1] > 2 * span
        far |= value < rest[0] and rest[0] - value > 2 * span
        if count >= 2 and (below or far):
            found.append(float(value))
    return tuple(found)


def _find_extremes(values: FloatArray) -> list[Finding]:
    present = values[~np.isnan(values)]
    unit = max(float(np.abs(present).max()), np.finfo(float).tiny)  # squares must stay finite
    scaled = values / unit
    sd = float(np.nanstd(scaled))
    if sd == 0:
        return []
    rows = np.flatnonzero(np.abs(scaled - np.nanmean(scaled)) > EXTREME_SD * sd)
    if not len(rows):
        return []
    listed = ", ".join(str(row) for row in rows[:_SHOWN_ROWS])
    more = f" and {len(rows) - _SHOWN_ROWS} more" if len(rows) > _SHOWN_ROWS else ""
    return [
        Finding(
            f"{_cells(len(rows), '')} more than {EXTREME_SD:g} sd from the mean, at row "
            f"{listed}{more} (rows count from 0): kept, please check.",
            False,
        )
    ]


def _find_rare_value(values: FloatArray, distinct: FloatArray) -> list[Finding]:
    counts = [(int((values == value).sum()), float(value)) for value in distinct]
    count, value = min(counts)
    if count >= MIN_LEVEL_ROWS:
        return []
    return [Finding(f"{number_text(value)} occurs in {_rows(count)} only.", False)]


def _check_levels(raw: RawColumn, kind: RecipeKind | None) -> ColumnCheck:
    if kind not in (None, "binary", "category", "ordered", "identifier"):
        raise DataError(
            f"Column {quote(raw.name)} holds {raw.type}s; it cannot be {quote(kind)}, but binary, "
            "category, ordered or identifier."
        )
    codes, levels = as_levels(raw)
    n_rows = len(codes)
    present = codes[~np.isnan(codes)].astype(np.intp)
    counts = np.bincount(present, minlength=len(levels))
    used = [k for k in range(len(levels)) if counts[k]]
    n_missing = n_rows - len(present)
    top = max(used, key=lambda k: counts[k], default=None)
    span = "" if top is None else f"mostly {quote(levels[top])} ({counts[top] / len(present):.0%})"
    declared = raw.type == "category"
    what = {"boolean": "Booleans", "category": "A category of the frame", "number": "Numbers"}
    why = f"{what.get(raw.type, 'Text')} with {len(used)} levels."
    stated: Kind = "binary" if len(used) == 2 else "category"
    ordered = (raw.is_ordered and len(used) > 2) or (
        raw.type == "text" and is_scale([levels[k] for k in used])
    )
    if kind == "ordered" or (kind is None and ordered):
        stated = "ordered"
    recipe = ColumnRecipe(raw.name, kind=stated, why=why, levels=tuple(levels[k] for k in used))
    check = ColumnCheck(raw, recipe, len(used), n_missing, span, ())
    if len(used) < 2:
        only = "Every cell is missing." if not used else (
            f"It is {quote(levels[used[0]])} in every row."
        )  # fmt: skip
        return check.leave_out(only)
    if kind == "binary" and len(used) != 2:
        raise DataError(
            f"Expected two distinct values in the binary column {quote(raw.name)}; it has "
            f"{len(used)}."
        )
    named = len(used) > MAX_CATEGORIES and _ID_NAME.fullmatch(raw.name) is not None
    if kind is None and (named or (not declared and 2 * len(used) > len(present))):
        why = f"Text, and {len(used)} of {len(present)} cells differ: an identifier."
        if named:
            why = f"{len(used)} levels under the name {quote(raw.name)}: an identifier."
        left = check.leave_out(why)
        return replace(left, recipe=replace(left.recipe, kind="identifier", levels=()))
    if stated != "category":
        count = min(counts[k] for k in used)
        if count < MIN_LEVEL_ROWS:
            rarest = min(used, key=lambda k: counts[k])
            text = f"{quote(levels[rarest])} occurs in {_rows(int(count))} only."
            return replace(check, findings=(Finding(text, False),))
        return check
    return _merge_rare(check, levels, counts)


def _merge_rare(
    check: ColumnCheck, levels: tuple[str, ...], counts: np.ndarray[tuple[int], np.dtype[np.intp]]
) -> ColumnCheck:
    """Merge levels in fewer than 5 rows, and the rarest beyond 12 levels, into one."""
    used = [k for k in range(len(levels)) if counts[k]]
    used.sort(key=lambda k: (-counts[k], k))
    frequent = [k for k in used if counts[k] >= MIN_LEVEL_ROWS and levels[k] != OTHER]
    if len(used) > MAX_CATEGORIES:
        frequent = frequent[: MAX_CATEGORIES - 1]  # the last one is for all others
    rare = [k for k in used if k not in frequent]
    if not frequent:
        return check.leave_out(f"No level occurs in {MIN_LEVEL_ROWS} rows or more.")
    if len(rare) == 1:  # merging one level with nothing changes nothing
        only = rare[0]
        if counts[only] >= MIN_LEVEL_ROWS:
            return check
        text = f"{quote(levels[only])} occurs in {_rows(int(counts[only]))} only."
        return replace(check, findings=(*check.findings, Finding(text, False)))
    if not rare:
        return check
    kept = tuple(levels[k] for k in sorted(frequent))
    merged = tuple(levels[k] for k in sorted(rare) if levels[k] != OTHER)
    n_rows = int(sum(counts[k] for k in rare))
    text = f"{len(merged)} rare levels in {_rows(n_rows)} merged into {quote(OTHER)}."
    kind: Kind = "binary" if len(kept) == 1 else "category"
    recipe = replace(check.recipe, kind=kind, levels=(*kept, OTHER), merged=merged)
    return replace(check, recipe=recipe, findings=(*check.findings, Finding(text, True)))


def _check_dates(raw: RawColumn) -> ColumnCheck:
    present = raw.values[~np.isnan(raw.values)]
    n_missing = len(raw.values) - len(present)
    distinct = len(np.unique(present))
    if distinct < 2:
        recipe = ColumnRecipe(raw.name, kind="time")
        what = "It is the same date in every row." if distinct else "Every cell is missing."
        return ColumnCheck(raw, recipe, distinct, n_missing, "", ()).leave_out(what)
    first, last = (_iso(float(value)) for value in (present.min(), present.max()))
    parts = tuple(part for part in _PARTS if _varies(present, part))
    made = f", with its {' and '.join(parts)}" if parts else ""
    why = f"Dates: a trend in days{made}; never an effect."
    recipe = ColumnRecipe(raw.name, kind="time", parts=parts, origin=first, why=why)
    return ColumnCheck(raw, recipe, distinct, n_missing, f"{first} to {last}", ())


_PARTS: dict[DatePart, float] = {"hour": 2.0, "weekday": 14.0, "month": 548.0}
"""Parts of a date, and the days that a table must span to tell one from a trend."""


def _varies(seconds: FloatArray, part: DatePart) -> bool:
    """Tell whether a part takes three values, each often, over more than one of its cycles."""
    if float(seconds.max() - seconds.min()) < 86_400 * _PARTS[part]:
        return False
    counts = np.unique(date_part(seconds, part)[0], return_counts=True)[1]
    return len(counts) >= 3 and bool(counts.min() >= MIN_LEVEL_ROWS)


def _iso(seconds: float) -> str:
    stamp = dt.datetime(1970, 1, 1, tzinfo=dt.UTC) + dt.timedelta(seconds=seconds)
    text = stamp.replace(tzinfo=None).isoformat()
    return text.removesuffix("T00:00:00")


def _cells(count: int, what: str) -> str:
    noun = f"{what} cell" if what else "cell"
    return f"1 {noun}" if count == 1 else f"{count} {noun}s"


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count} rows"
