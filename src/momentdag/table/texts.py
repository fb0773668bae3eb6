"""Tell what a column of text holds: numbers, dates, two answers, a scale, or categories."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from momentdag.table.tables import FloatArray

__all__ = [
    "MISSING_TEXTS",
    "NumberTexts",
    "is_scale",
    "order_levels",
    "parse_dates",
    "parse_numbers",
    "to_seconds",
]

MISSING_TEXTS = frozenset(
    ["", "na", "n/a", "#n/a", "<na>", "nan", "-nan", "null", "none", "nat", "#value!", "#div/0!"]
)
"""Cells that are missing, in lower case."""

_PLACEHOLDERS = frozenset(["?", ".", "-", "--", "*", "missing", "unknown", "n.a.", "nd", "n.d."])
"""Cells that are missing in a column of numbers; elsewhere they are levels."""

_NUMBER = re.compile(r"[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|inf(?:inity)?)", re.A | re.I)
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d*)?", re.A)
_DECIMAL_COMMA = re.compile(r"[+-]?(?:\d+|\d{1,3}(?:\.\d{3})+)?,\d+(?:e[+-]?\d+)?", re.A | re.I)
_SPACED = re.compile(r"(?<=\d)[ '\u00a0\u202f](?=\d{3}(?!\d))")
_CURRENCY = re.compile(r"^([+-]?)\s*[$€£¥]\s*")

_MAX_ODD = 3
_ODD_SHARE = 0.05

_DATE_LIKE = re.compile(r"\d{1,4}[-/. ](?:\d{1,2}|[A-Za-z]{3,9})[-/. ,]|[A-Za-z]{3,9}\.? \d{1,2},")
_DATE_FORMATS = (
    "ISO8601",
    "%Y/%m/%d",
    "%Y/%m/%d %H:%M:%S",
    "%Y/%m/%d %H:%M",
    "%m/%d/%Y",
    "%d/%m/%Y",
    "%m/%d/%y",
    "%d/%m/%y",
    "%m/%d/%Y %H:%M",
    "%d/%m/%Y %H:%M",
    "%m/%d/%Y %H:%M:%S",
    "%d/%m/%Y %H:%M:%S",
    "%d.%m.%Y",
    "%d.%m.%y",
    "%d.%m.%Y %H:%M",
    "%d.%m.%Y %H:%M:%S",
    "%d-%m-%Y",
    "%m-%d-%Y",
    "%d-%b-%Y",
    "%d-%b-%y",
    "%d %b %Y",
    "%d %B %Y",
    "%b %d, %Y",
    "%B %d, %Y",
)

_PAIRS = (
    ("no", "yes"), ("n", "y"), ("nein", "ja"), ("non", "oui"), ("nee", "ja"), ("nej", "ja"),
    ("false", "true"), ("f", "t"), ("off", "on"), ("female", "male"),
    ("f", "m"), ("absent", "present"), ("negative", "positive"), ("neg", "pos"), ("-", "+"),
    ("control", "treatment"), ("control", "treated"), ("control", "case"), ("low", "high"),
    ("small", "large"), ("dead", "alive"), ("fail", "pass"), ("failure", "success"),
    ("placebo", "active"), ("placebo", "drug"), ("placebo", "treatment"), ("before", "after"),
    ("pre", "post"), ("unexposed", "exposed"), ("never", "ever"), ("old", "new"),
    ("out", "in"), ("loss", "win"), ("lost", "won"), ("girl", "boy"), ("women", "men"),
    ("woman", "man"),
)  # fmt: skip

_MONTHS = ("january", "february", "march", "april", "may", "june", "july", "august",
           "september", "october", "november", "december")  # fmt: skip
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

_CYCLES = (_MONTHS, tuple(m[:3] for m in _MONTHS), _DAYS, tuple(d[:3] for d in _DAYS))
"""Levels with a natural order that is no scale: after the last comes the first."""

_SCALES = (
    ("none", "very low", "low", "medium low", "medium", "moderate", "average", "medium high",
     "high", "very high"),
    ("low", "mid", "high"), ("low", "med", "high"), ("l", "m", "h"),
    ("never", "rarely", "seldom", "sometimes", "often", "usually", "always"),
    ("strongly disagree", "disagree", "neutral", "undecided", "agree", "strongly agree"),
    ("very poor", "poor", "fair", "average", "good", "very good", "excellent"),
    ("very unhappy", "unhappy", "not too happy", "pretty happy", "happy", "very happy"),
    ("tiny", "xsmall", "small", "medium", "large", "xlarge"), ("xs", "s", "m", "l", "xl", "xxl"),
    ("none", "some", "marked"), ("none", "mild", "moderate", "severe", "very severe"),
    ("first", "second", "third", "fourth", "fifth"), ("1st", "2nd", "3rd", "4th", "5th"),
    ("young", "middle", "old"), ("baby", "child", "teen", "adult", "senior"),
    ("i", "ii", "iii", "iv", "v", "vi"), ("none", "few", "some", "many", "all"),
)  # fmt: skip

_RANGE = re.compile(
    r"[\[(<>=≤≥ ]*-?\d+(?:\.\d+)?\s*"
    r"(?:(?:-|\u2013|to|,|:)\s*-?\d*(?:\.\d+)?[\])]*|\+|and over|or more)?"
    r"(?: ?(?:years?|yrs?|days?|mg|g|kg|ml|cm|km|%))?",
    re.I,
)


@dataclass(frozen=True, eq=False)
class NumberTexts:
    """Numbers that were written as text.

    Parameters
    ----------
    values : float array, shape (k,)
        NaN for missing.
    odd : tuple of str
        Texts that are no numbers and were taken as missing.
    how : str
        What was unusual about how they are written; empty if nothing.
    """

    values: FloatArray
    odd: tuple[str, ...]
    how: str


def parse_numbers(
    texts: Sequence[str], counts: Sequence[int], *, decimal_comma: bool = False
) -> NumberTexts | None:
    """Read distinct texts as numbers, or return None if they are something else.

    "1,234" and "1 234.5" have thousands separators and "1,5" a decimal comma; "12.5 %" is 12.5
    and "$3" is 3. Up to three other texts, in at most 5 % of the cells, count as missing.

    Parameters
    ----------
    texts : sequence of str
        Distinct and stripped.
    counts : sequence of int
        How often each occurs.
    decimal_comma : bool
        Where both are possible, a comma is a decimal comma rather than a thousands separator.

    Examples
    --------
    >>> parse_numbers(["1,234", "56"], [1, 1]).values.tolist()
    [1234.0, 56.0]
    >>> parse_numbers(["3,5", "4,25 %"], [1, 1]).values.tolist()
    [3.5, 4.25]
    >>> parse_numbers(["red", "blue"], [1, 1]) is None
    True
    """
    stripped = [_CURRENCY.sub(r"\1", text) for text in texts]
    signs = sum(text != bare for text, bare in zip(texts, stripped, strict=True))
    percents = [bare.endswith("%") for bare in stripped]
    bare = [_SPACED.sub("", text.removesuffix("%").rstrip()) for text in stripped]
    with_comma = [text for text in bare if "," in text]
    all_thousands = all(_THOUSANDS.fullmatch(text) for text in with_comma)
    all_decimal = all(_DECIMAL_COMMA.fullmatch(text) for text in with_comma)
    commas = ""
    if with_comma and all_decimal and (decimal_comma or not all_thousands):
        commas = "decimal"
    elif with_comma:
        commas = "thousands"
    values = np.full(len(bare), np.nan)
    odd: list[str] = []
    n_odd = 0
    for k, text in enumerate(bare):
        if commas == "decimal":
            plain = text.replace(".", "").replace(",", ".") if "," in text else text
        else:
            plain = text.replace(",", "") if _THOUSANDS.fullmatch(text) else text
        if _NUMBER.fullmatch(plain):
            values[k] = float(plain)
        elif texts[k].lower() not in _PLACEHOLDERS:
            odd.append(texts[k])
            n_odd += counts[k]
        else:
            odd.append(texts[k])
    if not np.any(~np.isnan(values)) or len(odd) > _MAX_ODD or n_odd > _ODD_SHARE * sum(counts):
        return None
    how = {"decimal": "a decimal comma", "thousands": "thousands separators", "": ""}[commas]
    if any(percents):
        how += f"{' and ' if how else ''}percent signs, which are left out"
    if signs:
        how += f"{' and ' if how else ''}currency signs, which are left out"
    return NumberTexts(values, tuple(odd), how)


def parse_dates(texts: Sequence[str]) -> tuple[FloatArray, str] | None:
    """Read distinct texts as dates in seconds since 1970, with the format; None if they are none.

    Examples
    --------
    >>> parse_dates(["1970-01-02", "1970-01-01 12:00"])[0].tolist()
    [86400.0, 43200.0]
    >>> parse_dates(["24.12.2020"])[1]
    '%d.%m.%Y'
    """
    if not texts or not all(_DATE_LIKE.match(f"{text} ") for text in texts):
        return None
    series = pd.Series(list(texts), dtype=object)
    for pattern in _DATE_FORMATS:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                parsed = pd.to_datetime(series, format=pattern, utc=pattern == "ISO8601")
        except (ValueError, TypeError, OverflowError):
            continue
        return to_seconds(parsed), pattern
    return None


def to_seconds(dates: pd.Series) -> FloatArray:
    """Return dates as seconds since 1970 by the clock on the wall; NaN for missing ones."""
    if getattr(dates.dtype, "tz", None) is not None:
        dates = dates.dt.tz_localize(None)
    stamps = dates.to_numpy(dtype="datetime64[us]")
    return np.where(np.isnat(stamps), np.nan, stamps.astype(np.int64) / 1e6)


def order_levels(levels: Sequence[str]) -> tuple[str, ...]:
    """Return levels in a sensible order: no before yes, low before high, 5-9 before 10-14.

    Examples
    --------
    >>> order_levels(["yes", "no"]), order_levels(["high", "low", "medium"])
    (('no', 'yes'), ('low', 'medium', 'high'))
    >>> order_levels(["site 10", "site 9"])
    ('site 9', 'site 10')
    """
    folded = {level: level.strip().lower() for level in levels}
    if len(set(folded.values())) == len(levels):
        for known in (*(_PAIRS if len(levels) == 2 else ()), *_CYCLES, *_SCALES):
            if set(folded.values()) <= set(known):
                return tuple(sorted(levels, key=lambda level: known.index(folded[level])))
    return tuple(sorted(levels, key=_natural))


def is_scale(levels: Sequence[str]) -> bool:
    """Tell whether three or more levels form a scale: low to high, or ranges of numbers.

    Examples
    --------
    >>> is_scale(["0-9g/day", "red"]), is_scale(["poor", "good", "excellent"])
    (False, True)
    >>> is_scale(["25-34", "35-44", "45+"])
    True
    """
    folded = {level.strip().lower() for level in levels}
    if len(folded) < 3 or len(folded) != len(levels):
        return False
    if any(folded <= set(known) for known in _SCALES):
        return True
    ranges = all(_RANGE.fullmatch(level) for level in levels)
    starts = [_natural(level)[1] for level in levels] if ranges else []
    return ranges and len(set(starts)) == len(starts)


def _natural(text: str) -> tuple[str, float, str]:
    """Sort by the text before the first number, then by the number; "<5" comes before "5"."""
    found = re.search(r"\d+(?:\.\d+)?", text)
    if found is None:
        return (text.lower(), 0.0, text)
    before = text[: found.start()].strip(" [(<>=≤≥").lower()
    below = 0.5 if text.lstrip().startswith(("<", "≤")) else 0.0
    above = 0.5 if text.lstrip().startswith((">", "≥")) else 0.0
    return (before, float(found.group()) - below + above, text)
