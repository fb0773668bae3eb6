"""Columns of text: numbers in several spellings, dates, scales and plain levels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from momentdag.table.texts import is_scale, order_levels, parse_dates, parse_numbers

NUMBERS = {
    "plain": (["1", "-2.5", "3e2", ".5"], False, [1, -2.5, 300, 0.5]),
    "thousands": (["1,234", "12,345,678", "5"], False, [1234, 12345678, 5]),
    "thousands and decimals": (["1,234.5", "2"], False, [1234.5, 2]),
    "decimal comma": (["1,5", "22,75"], False, [1.5, 22.75]),
    "leading zero": (["0,123", "0,5"], False, [0.123, 0.5]),
    "ambiguous, as thousands": (["1,234"], False, [1234]),
    "ambiguous, as decimals": (["1,234"], True, [1.234]),
    "continental": (["1.234,5", "2,5"], True, [1234.5, 2.5]),
    "spaces": (["1 234", "12 345.5"], False, [1234, 12345.5]),
    "percent": (["12.5 %", "3%"], False, [12.5, 3]),
    "currency": (["$3", "-$1,200.50", "€ 4"], False, [3, -1200.5, 4]),
}


@pytest.mark.parametrize("case", NUMBERS)
def test_numbers(case):
    texts, comma, expected = NUMBERS[case]
    read = parse_numbers(texts, [1] * len(texts), decimal_comma=comma)
    assert read.values.tolist() == expected
    assert bool(read.how) == (case != "plain" and case != "spaces")


@pytest.mark.parametrize(
    "texts", [["red", "blue"], ["1", "b"], ["1-2", "3-4"], ["1,2,3"], ["12:30"], ["?"], ["1_000"]]
)
def test_what_are_no_numbers(texts):
    assert parse_numbers(texts, [5] * len(texts)) is None


def test_a_few_odd_cells_are_missing():
    texts = [str(k) for k in range(99)]
    read = parse_numbers([*texts, "rotary"], [1] * 100)
    assert read.odd == ("rotary",)
    assert np.isnan(read.values[-1])
    assert parse_numbers([*texts, "rotary"], [1] * 99 + [50]) is None
    # A sign for missing may be as frequent as it likes.
    assert parse_numbers(["1", "2", "?"], [1, 1, 50]).odd == ("?",)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, unique=True))
def test_what_python_writes_is_read_exactly(values):
    texts = [repr(value) for value in values]
    assert parse_numbers(texts, [1] * len(texts)).values.tolist() == values


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1970-01-02", 86_400),
        ("1970-01-01T01:00:00", 3600),
        ("1970-01-01 00:30", 1800),
        ("1970/01/02", 86_400),
        ("02.01.1970", 86_400),
        ("01/02/1970", 86_400),
        ("2 Jan 1970", 86_400),
        ("02-Jan-1970", 86_400),
        ("January 2, 1970", 86_400),
    ],
)
def test_dates(text, seconds):
    assert parse_dates([text])[0].tolist() == [seconds]


@pytest.mark.parametrize("texts", [["red"], ["1-2"], ["2020"], ["2020-13-45"], ["1970-01-01", "a"]])
def test_what_are_no_dates(texts):
    assert parse_dates(texts) is None


def test_days_come_first_where_months_cannot():
    assert parse_dates(["13/01/1970", "01/02/1970"])[1] == "%d/%m/%Y"


@pytest.mark.parametrize(
    "levels",
    [
        ("no", "yes"),
        ("N", "Y"),
        ("FALSE", "TRUE"),
        ("F", "M"),
        ("control", "treated"),
        ("low", "medium", "high"),
        ("Mon", "Tue", "Sun"),
        ("January", "April", "December"),
        ("5-9", "10-14", "15+"),
        ("<5", "5-9", "10 or more"),
        ("site 2", "site 10"),
        ("blue", "red"),
    ],
)
def test_levels_have_a_sensible_order(levels):
    assert order_levels(levels[::-1]) == levels


@pytest.mark.parametrize(
    ("levels", "expected"),
    [
        (["low", "medium", "high"], True),
        (["25-34", "35-44", "45+"], True),
        (["(0,10]", "(10,20]", "(20,30]"], True),
        (["low", "high"], False),
        (["red", "green", "blue"], False),
        (["Mon", "Tue", "Wed"], False),
        (["A1", "A2", "A3"], False),
    ],
)
def test_scales(levels, expected):
    assert is_scale(levels) == expected
