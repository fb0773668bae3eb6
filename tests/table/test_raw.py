"""Raw tables: every column is read as what it is, and nothing that is a table is refused."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from momentdag.errors import DataError
from momentdag.table.raw import mend_names, read_raw

NAN = np.nan
DAY = 86_400.0
BOOLEANS, CODES = [1, 0, 1], [0, 1, 0]

COLUMNS = {
    "integers": ([1, 2, 3], "number", [1, 2, 3], ()),
    "missing": ([1.5, None, 3], "number", [1.5, NAN, 3], ()),
    "nullable": (pd.array([1, None, 3], dtype="Int64"), "number", [1, NAN, 3], ()),
    "infinite": ([1.5, np.inf, 3], "number", [1.5, np.inf, 3], ()),
    "decimals": ([Decimal("1.5"), None, Decimal(2)], "number", [1.5, NAN, 2], ()),
    "too large": (np.array([10**400, 1, 2], dtype=object), "number", [np.inf, 1, 2], ()),
    "number texts": (["1.5", "NA", "2"], "number", [1.5, NAN, 2], ()),
    "booleans": ([True, False, True], "boolean", BOOLEANS, ("false", "true")),
    "nullable booleans": (pd.array([True, None, False], dtype="boolean"), "boolean",
                          [1, NAN, 0], ("false", "true")),
    "text": (["b", "a", "b"], "text", [1, 0, 1], ("a", "b")),
    "missing text": (["b", None, "a"], "text", [1, NAN, 0], ("a", "b")),
    "yes": (["yes", "no", "yes"], "text", BOOLEANS, ("no", "yes")),
    "mixture": (np.array([1, "a", 2.0], dtype=object), "text", [0, 2, 1], ("1", "2", "a")),
    "categories": (pd.Categorical(["x", "y", "x"]), "category", CODES, ("x", "y")),
    "number categories": (pd.Categorical([3, 7, 3]), "category", CODES, ("3", "7")),
    "unused categories": (pd.Categorical(["x", "z", "x"], categories=["x", "y", "z"]), "category",
                          CODES, ("x", "z")),
    "dates": (pd.to_datetime(["1970-01-01", "1970-01-02", None]), "date", [0, DAY, NAN], ()),
    "zoned": (pd.date_range("1970-01-01", periods=3, tz="Asia/Tokyo"), "date",
              [0, DAY, 2 * DAY], ()),
    "date objects": ([dt.date(1970, 1, 2), None, dt.date(1970, 1, 1)], "date", [DAY, NAN, 0], ()),
    "date texts": (["1970-01-02", "1970-01-01", ""], "date", [DAY, 0, NAN], ()),
    "periods": (pd.period_range("1970-01-01", periods=3, freq="D"), "date",
                [0, DAY, 2 * DAY], ()),
    "durations": (pd.to_timedelta([1, 2, None], unit="D"), "number", [1, 2, NAN], ()),
    "nothing": ([None, None, None], "number", [NAN] * 3, ()),
    "complex": ([1j, 2.0, 3], "unusable", [NAN] * 3, ()),
    "lists": ([[1], [2], [3]], "unusable", [NAN] * 3, ()),
    "objects": ([object(), 1, 2], "unusable", [NAN] * 3, ()),
}  # fmt: skip


@pytest.mark.parametrize("case", COLUMNS)
def test_a_column_of_a_frame(case):
    cells, kind, values, levels = COLUMNS[case]
    (column,) = read_raw(pd.DataFrame({"c": cells})).columns
    assert (column.name, column.type, column.levels) == ("c", kind, levels)
    np.testing.assert_array_equal(column.values, values)


@pytest.mark.parametrize("convert", [lambda frame: frame, pl.DataFrame.to_arrow])
def test_other_frames_are_read_alike(convert):
    frame = pl.DataFrame(
        {
            "number": [1.5, None, 2.0],
            "text": ["b", None, "a"],
            "flag": [True, None, False],
            "day": [dt.date(1970, 1, 1), None, dt.date(1970, 1, 3)],
            "money": pl.Series(["1.50", None, "2"]).cast(pl.Decimal(10, 2)),
            "list": [[1], [2], [3]],
        }
    )
    found = {column.name: column for column in read_raw(convert(frame)).columns}
    types = {name: column.type for name, column in found.items()}
    assert types == {
        "number": "number",
        "text": "text",
        "flag": "boolean",
        "day": "date",
        "money": "number",
        "list": "unusable",
    }
    np.testing.assert_array_equal(found["day"].values, [0, NAN, 2 * DAY])
    np.testing.assert_array_equal(found["money"].values, [1.5, NAN, 2])


def test_declared_orders_are_kept():
    levels = ["small", "tiny", "huge"]
    frame = pd.DataFrame({"c": pd.Categorical(["tiny", "huge", "small"], levels, ordered=True)})
    (column,) = read_raw(frame).columns
    assert (column.levels, column.is_ordered) == (tuple(levels), True)
    enum = pl.DataFrame({"c": pl.Series(["tiny", "huge"], dtype=pl.Enum(levels))})
    (column,) = read_raw(enum).columns
    assert (column.levels, column.is_ordered) == (("tiny", "huge"), True)


@pytest.mark.parametrize(
    ("labels", "names", "n_notes"),
    [
        (["a", "b"], ("a", "b"), 0),
        (["x", "x", "x"], ("x", "x_2", "x_3"), 1),
        (["x", "x_2", "x"], ("x", "x_2", "x_3"), 1),
        (["a", None, ""], ("a", "column_2", "column_3"), 1),
        ([1, "1"], ("1", "1_2"), 1),
        ([("a", 1), ("a", 2)], ("a 1", "a 2"), 0),
    ],
    ids=str,
)
def test_names_are_mended(labels, names, n_notes):
    assert mend_names(labels)[0] == names
    assert len(mend_names(labels)[1]) == n_notes


@given(st.lists(st.none() | st.integers() | st.text(max_size=3), max_size=8))
def test_mended_names_are_unique(labels):
    names, _ = mend_names(labels)
    assert len(set(names)) == len(names) == len(labels)
    assert all(name.strip() for name in names)


@pytest.mark.parametrize("X", [None, 3, "text", np.zeros(5), {"a": [1]}, [[1, 2], [3]]])
def test_no_table(X):
    with pytest.raises(DataError):
        read_raw(X)


def test_ambiguous_dates_are_said():
    both = read_raw(pd.DataFrame({"d": ["01/02/2020", "03/04/2020"]})).columns[0]
    assert "month/day" in both.notes[0]
    assert not read_raw(pd.DataFrame({"d": ["01/22/2020"]})).columns[0].notes


CELLS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5), st.dates(),
    st.datetimes(), st.timedeltas(), st.decimals(), st.binary(max_size=3), st.complex_numbers(),
    st.sampled_from(["1,5", "2020-01-01", "NA", "12 %", pd.NA, pd.NaT, np.float32(2), "\ud800"]),
)  # fmt: skip


@settings(max_examples=100, deadline=None)
@given(st.lists(CELLS, min_size=1, max_size=12))
def test_whatever_the_cells_hold_they_are_read(cells):
    series = pd.Series(cells, dtype=object)
    (column,) = read_raw(pd.DataFrame({"c": series})).columns
    assert column.values.shape == (len(cells),)
    if column.levels:
        codes = column.values[~np.isnan(column.values)]
        assert set(codes) <= set(range(len(column.levels)))
