"""Tables in memory: what becomes a Dataset, what is refused, what is warned of."""

import copy
import datetime as dt
import pickle
import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from momentdag.errors import DataError, DataWarning, MomentdagError, OptionError
from momentdag.table import MIN_SAMPLES, Dataset

# Means and standard deviations of standardised columns: a few hundred roundings at most.
ROUNDING = 1e-12


def good_values(n_samples: int = 60, n_variables: int = 3) -> np.ndarray:
    return np.random.default_rng(7).normal(size=(n_samples, n_variables))


def good_frame() -> pd.DataFrame:
    return pd.DataFrame(good_values(), columns=["raf", "mek", "erk"])


def assert_usable(dataset: Dataset) -> None:
    assert np.isfinite(dataset.values).all()
    assert np.isfinite(dataset.standardised).all()
    assert np.abs(dataset.standardised.mean(axis=0)).max() < ROUNDING
    assert np.abs(dataset.standardised.std(axis=0) - 1).max() < ROUNDING
    assert np.isfinite(dataset.location).all()
    assert (dataset.scale > 0).all()
    assert dataset.values.shape == (dataset.n_samples, dataset.n_variables)
    assert len(dataset.names) == dataset.n_variables == len(set(dataset.names))


class TestDataset:
    def test_holds_values_names_and_units(self):
        frame = good_frame() * [1.0, 20.0, 0.3] + [5.0, -1.0, 0.0]
        dataset = Dataset.from_table(frame)
        assert dataset.names == ("raf", "mek", "erk")
        assert (dataset.n_samples, dataset.n_variables) == (60, 3)
        assert np.array_equal(dataset.values, frame.to_numpy())
        # Two ways of summing 60 numbers.
        np.testing.assert_allclose(dataset.location, frame.mean(), rtol=1e-13)
        np.testing.assert_allclose(dataset.scale, frame.std(ddof=0), rtol=1e-13)
        np.testing.assert_allclose(
            dataset.standardised, (frame - frame.mean()) / frame.std(ddof=0), atol=1e-13
        )
        assert_usable(dataset)

    def test_is_read_only_and_detached_from_its_source(self):
        source = good_values()
        dataset = Dataset.from_table(source)
        before = dataset.values.copy()
        source[:] = 0.0
        assert np.array_equal(dataset.values, before)
        for array in (dataset.values, dataset.standardised, dataset.location, dataset.scale):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 1.0
        with pytest.raises(AttributeError):
            dataset.names = ("a", "b", "c")

    def test_stays_read_only_where_it_is_sent(self):
        dataset = Dataset.from_table(good_frame())
        for sent in (copy.deepcopy(dataset), pickle.loads(pickle.dumps(dataset))):
            assert sent == dataset
            assert sent.notes == dataset.notes
            for array in (sent.values, sent.standardised, sent.location, sent.scale):
                with pytest.raises(ValueError, match="read-only"):
                    array[0] = 1.0

    def test_keeps_a_read_only_array_of_the_right_kind(self):
        values = np.asfortranarray(good_values())
        values.setflags(write=False)
        assert Dataset(values, ["a", "b", "c"]).values is values
        matrix = np.array(good_values(), order="F").view(np.ma.MaskedArray)
        assert type(Dataset(matrix, ["a", "b", "c"]).values) is np.ndarray

    def test_frame_is_a_copy_in_original_units(self):
        frame = good_frame()
        dataset = Dataset.from_table(frame)
        returned = dataset.to_frame()
        pd.testing.assert_frame_equal(returned, frame)
        returned.iloc[0, 0] = 99.0
        assert dataset.values[0, 0] == frame.iloc[0, 0]

    def test_passes_through_unchanged(self):
        dataset = Dataset.from_table(good_frame())
        assert Dataset.from_table(dataset) is dataset
        renamed = Dataset.from_table(dataset, names=["a", "b", "c"])
        assert renamed.names == ("a", "b", "c")
        assert np.array_equal(renamed.values, dataset.values)

    def test_converts_units_both_ways(self):
        dataset = Dataset.from_table(good_frame() * 40 + 1000)
        for j, name in enumerate(dataset.names):
            back = dataset.to_original(dataset.standardised[:, j], name)
            # Values near 1000: a few units in their last place.
            np.testing.assert_allclose(back, dataset.values[:, j], rtol=1e-14)
            np.testing.assert_allclose(
                dataset.from_original(dataset.values[:, j], j),
                dataset.standardised[:, j],
                atol=1e-12,  # rounding of the values (1e-13) over their sd (40), with room
            )
        with pytest.raises(DataError, match="'jnk'"):
            dataset.to_original([0.0], "jnk")
        with pytest.raises(DataError, match="got 3"):
            dataset.from_original([0.0], 3)

    def test_converts_the_largest_floats_without_overflow(self):
        x = np.full((12, 1), -1.7e308)
        x[3] = 1.7e308
        dataset = Dataset(x, ["x"])
        assert_usable(dataset)
        # Relative rounding of a mean and an sd.
        np.testing.assert_allclose(dataset.to_original(dataset.standardised, 0), x, rtol=1e-14)
        np.testing.assert_allclose(dataset.from_original(x, 0), dataset.standardised, rtol=1e-13)

    def test_fingerprint_depends_on_values_and_names_only(self):
        frame = good_frame()
        dataset = Dataset.from_table(frame)
        assert len(dataset.fingerprint) == 64
        same = (
            Dataset(frame.to_numpy(), frame.columns),
            Dataset.from_table(pl.from_pandas(frame)),
            Dataset(np.ascontiguousarray(frame.to_numpy()), list(frame)),
            pickle.loads(pickle.dumps(dataset)),
        )
        for other in same:
            assert other.fingerprint == dataset.fingerprint
            assert other == dataset
            assert hash(other) == hash(dataset)
        changed = frame.copy()
        changed.iloc[5, 1] = np.nextafter(changed.iloc[5, 1], 9.0)
        for other in (changed, frame.rename(columns={"raf": "RAF"}), frame[["mek", "raf", "erk"]]):
            assert Dataset.from_table(other).fingerprint != dataset.fingerprint
        assert dataset != "something else"

    def test_fingerprint_is_the_same_on_every_machine(self):
        # Recorded once: a change would break the data hash of every stored posterior.
        dataset = Dataset(np.arange(20.0).reshape(10, 2) ** [1, 2], ["ä", "b c"])
        assert dataset.fingerprint == (
            "1de9d6833159b29ee6f232586f3155914eb1bd7da11fe986fab531b6d5c362f9"
        )


class TestStandardisation:
    @given(st.integers(-900, 900), st.sampled_from([1.0, -1.0]))
    def test_powers_of_two_change_nothing(self, exponent, sign):
        values = good_values()
        scaled = Dataset(sign * np.ldexp(values, exponent), ["a", "b", "c"])
        plain = Dataset(values, ["a", "b", "c"])
        assert np.array_equal(scaled.standardised, sign * plain.standardised)
        assert np.array_equal(scaled.scale, np.ldexp(plain.scale, exponent))

    @given(st.floats(1e-6, 1e6), st.floats(-1e6, 1e6))
    def test_units_change_nothing_beyond_rounding(self, unit, offset):
        values = good_values()
        converted = Dataset(unit * values + offset, ["a", "b", "c"])
        # Each converted value is rounded relative to its size, then seen in units of the sd.
        tolerance = 1e-14 * (10 + np.abs(converted.values).max() / converted.scale.min())
        plain = Dataset(values, ["a", "b", "c"])
        assert np.abs(converted.standardised - plain.standardised).max() < tolerance

    @pytest.mark.parametrize("magnitude", [1e300, 1.7e308 / 5, 1e-300, 1e-306])
    def test_huge_and_tiny_values(self, magnitude):
        assert_usable(Dataset(good_values() * magnitude, ["a", "b", "c"]))

    def test_large_offset_leaves_mean_zero_and_sd_one(self):
        values = 1e9 + np.random.default_rng(0).normal(size=(1000, 2)) * 1e-5
        assert_usable(Dataset(values, ["a", "b"]))


class TestSources:
    @pytest.mark.parametrize(
        "convert",
        [
            pl.from_pandas,
            pa.Table.from_pandas,
            lambda frame: frame.astype("Float64"),
            lambda frame: frame.astype("double[pyarrow]"),
            lambda frame: frame.astype(object),
            lambda frame: frame.map(Fraction),
            lambda frame: frame.astype(np.longdouble),
        ],
    )
    def test_every_kind_of_frame_gives_the_same(self, convert):
        frame = good_frame()
        assert Dataset.from_table(convert(frame)) == Dataset.from_table(frame)

    def test_arrays_and_lists_are_named_by_position(self):
        values = good_values()
        for source in (values, values.tolist(), list(values), np.asfortranarray(values)):
            dataset = Dataset.from_table(source)
            assert dataset.names == ("x1", "x2", "x3")
            assert np.array_equal(dataset.values, values)
        assert Dataset.from_table(values, names=["a", "b", "c"]).names == ("a", "b", "c")

    @pytest.mark.parametrize("dtype", ["int8", "uint16", "int64", "float16", "float32"])
    def test_integers_and_short_floats(self, dtype):
        values = (good_values() * 30).astype(dtype) if dtype[0] != "u" else None
        values = values if values is not None else np.abs(good_values() * 30).astype(dtype)
        dataset = Dataset.from_table(pd.DataFrame(values, columns=list("abc")))
        assert dataset.values.dtype == np.float64
        assert np.array_equal(dataset.values, values.astype(float))

    def test_polars_decimals_and_wide_integers(self):
        wide = [2**70 + i * i * 2**60 for i in range(40)]
        frame = pl.DataFrame(
            {
                "money": [Decimal(i * i % 37) / 4 for i in range(40)],
                "wide": pl.Series(wide, dtype=pl.Int128),
            }
        )
        dataset = Dataset.from_table(frame)
        assert dataset.values[:3].tolist() == [[0.0, 2.0**70], [0.25, 2.0**70 + 2.0**60],
                                               [1.0, 2.0**70 + 2.0**62]]  # fmt: skip

    def test_keeps_odd_names(self):
        names = ["αβγ", "two words", "a,b;c"]
        assert Dataset.from_table(good_frame().set_axis(names, axis=1)).names == tuple(names)
        assert Dataset.from_table(good_frame().set_axis([0, 1, 2], axis=1)).names == (
            "0",
            "1",
            "2",
        )

    def test_masked_cells_are_missing(self):
        masked = np.ma.masked_array(good_values(), mask=False)
        assert np.array_equal(Dataset.from_table(masked).values, masked.data)
        masked[4, 1] = np.ma.masked
        with pytest.raises(DataError, match=r"missing .*'x2' has 1 .*row 4"):
            Dataset.from_table(masked)


def with_column(cells: object) -> pd.DataFrame:
    return good_frame().assign(odd=cells)


N = 60
CELLS_AT_FAULT = {
    "nan": ([1.5, np.nan] * 30, r"missing values .*'odd' has 30 \(first at row 1\)"),
    "none": ([None] + [1.5, 2.0, 3.0] * 19 + [1.0, 2.0], r"'odd' has 1 \(first at row 0\)"),
    "all none": ([None] * N, "missing values .*'odd' has 60"),
    "pd.NA": (pd.array([*range(59), None], dtype="Int64"), r"missing .*'odd' has 1 .*row 59"),
    "NaT": (pd.to_datetime([None] * N), "'odd' holds dates"),
    "object NaN": (np.array([*range(58), float("nan"), pd.NA], dtype=object), "'odd' has 2"),
    "inf": ([*range(57), np.inf, -np.inf, 3], r"infinite values .*'odd' has 2 \(first at row 57"),
    "text": (["a", "b"] * 30, "numeric columns; column 'odd' holds text .*'a' at row 0"),
    "numeric text": (["1.5", "2"] * 30, "'odd' holds text .*'1.5' at row 0.*to_numeric"),
    "one text": ([*range(59), "n/a"], "'odd' holds text .*'n/a' at row 59"),
    "bytes": ([b"1"] * N, "'odd' holds text"),
    "bool": ([True, False] * 30, "'odd' holds booleans"),
    "nullable bool": (pd.array([True, None] * 30, dtype="boolean"), "'odd' holds booleans"),
    "object bool": (np.array([1.5, True] * 30, dtype=object), "'odd' holds booleans .*row 1"),
    "category": (pd.Categorical([1, 2, 3] * 20), "'odd' is categorical"),
    "datetime": (pd.date_range("2020", periods=N), "'odd' holds dates"),
    "zoned": (pd.date_range("2020", periods=N, tz="UTC"), "'odd' holds dates"),
    "timedelta": (pd.to_timedelta(range(N), unit="D"), "'odd' holds dates"),
    "period": (pd.period_range("2020", periods=N, freq="D"), "'odd' holds objects of type Period"),
    "date objects": ([dt.date(2020, 1, 1)] * N, "'odd' holds"),
    "complex": ([1j, 2.0] * 30, "'odd' holds complex.*Complex data not supported"),
    "lists": ([[1, 2]] * N, "'odd' holds objects of type list"),
    "too large": (np.array([10**400, 1] * 30, dtype=object), "'odd' holds a number too large"),
    "signalling": (np.array([Decimal("sNaN"), 1] * 30, dtype=object), "'odd'"),
    "constant": ([3.0] * N, "vary; column 'odd' is 3.0 in every row"),
    "rounded": (1e9 + 1e-7 * np.arange(N) % 3, "'odd' is 1000000000.0 in every row up to rounding"),
    "subnormal": (5e-324 * np.arange(N), "'odd' varies by less than the smallest"),
    "copy": (good_frame()["mek"], "linear copy .*'odd' repeats 'mek'"),
    "reversed": (7.0 - 2.54 * good_frame()["mek"], "linear copy .*'odd' repeats 'mek'"),
    "far copy": (1e6 + good_frame()["erk"], "'odd' repeats 'erk'"),
    "single precision": (good_frame()["erk"].astype("float32") * 3, "'odd' repeats 'erk'"),
}  # fmt: skip


class TestRefusals:
    @pytest.mark.parametrize("kind", CELLS_AT_FAULT)
    def test_names_the_column(self, kind):
        cells, message = CELLS_AT_FAULT[kind]
        with pytest.raises(DataError, match=f"(?s)Expected .*{message}"):
            Dataset.from_table(with_column(cells))

    @pytest.mark.parametrize(
        ("cells", "message"),
        [
            (pl.Series([1.0, None] * 30), "'odd' has 30 .*row 1"),
            (pl.Series([None] * N), "'odd' has 60"),
            (pl.Series([True, False] * 30), "'odd' holds booleans"),
            (pl.Series(["a", None] * 30), "'odd' holds text .*'a' at row 0"),
            (pl.Series([dt.date(2020, 1, 1)] * N), "'odd' holds dates"),
            (pl.Series(["a", "b"] * 30, dtype=pl.Categorical), "'odd' is categorical"),
            (pl.Series([[1], [2]] * 30), "'odd' holds lists"),
            (pl.Series([object(), 1] * 30, dtype=pl.Object), "'odd' holds objects of type object"),
        ],
    )
    def test_names_the_column_of_a_polars_frame(self, cells, message):
        frame = pl.from_pandas(good_frame()).with_columns(cells.alias("odd"))
        for source in (frame, frame.to_arrow() if cells.dtype != pl.Object else frame):
            with pytest.raises(DataError, match=message):
                Dataset.from_table(source)

    @pytest.mark.parametrize(
        ("source", "message"),
        [
            (np.zeros(30), r"2-D table .*shape \(30,\).*Reshape your data"),
            (np.zeros((5, 5, 5)), r"2-D table .*shape \(5, 5, 5\)"),
            (pd.Series(range(30)), "2-D table"),
            (pl.Series(range(30)), "2-D table"),
            (scipy.sparse.eye_array(30).tocsr(), "dense table; got a sparse matrix"),
            ([[1.0, 2.0], [1.0]] * 20, r"rows of one length; got lengths \[1, 2\]"),
            ([1.0, 2.0], "2-D table"),
            ([], "2-D table"),
            ([{"a": 1}] * 20, "2-D table"),
            ({"a": [1] * 20}, "pandas.DataFrame"),
            (None, "table; got NoneType"),
            ("sachs.csv", "Dataset.from_file"),
            (3.0, "2-D table"),
            (object(), "2-D table"),
            (pl.DataFrame({"a": [1]}).lazy(), "LazyFrame. Collect it first"),
            (np.zeros((20, 2), dtype=bool), "'x1' holds booleans; column 'x2' holds booleans"),
            (np.full((20, 2), "1.5"), "'x1' holds text"),
            (np.zeros((20, 2), dtype=complex), "'x1' holds complex"),
            (np.zeros((20, 2), dtype="datetime64[s]"), "'x1' holds dates"),
            (np.zeros((20, 1), dtype=[("a", float)]), r"structured .*\['a'\]"),
            (np.zeros((20, 2), dtype="V8"), "'x1' has dtype"),
            ([[1, True], [2, False]] * 20, "'x2' holds booleans .*row 0"),
            (np.empty((30, 0)), r"0 feature\(s\) \(shape=\(30, 0\)\) while a minimum of 1"),
            (pd.DataFrame(index=range(30)), r"0 feature\(s\) \(shape=\(30, 0\)\)"),
            (np.empty((0, 3)), "n_samples=0"),
            (np.ones((1, 3)), "10 rows; got n_samples=1"),
            (good_values(MIN_SAMPLES - 1), "n_samples=9"),
        ],
    )
    def test_no_table(self, source, message):
        with pytest.raises(DataError, match=message):
            Dataset.from_table(source)

    @pytest.mark.parametrize(
        ("names", "message"),
        [
            (["a", "a", "b"], r"unique column names; 'a' names columns \[0, 1\]"),
            (["a", "", "b"], "column 1 .*named ''"),
            (["a", "  ", "b"], "column 1 .*named '  '"),
            (["a", None, "b"], "column 1 .*named None"),
            (["a", "b"], "each of the 3 columns; got 2 names"),
            ("abc", "list of text; got 'abc'"),
            (5, "list of text; got 5"),
            (["a", ("b", "c"), "d"], "column 1 .*several levels"),
            ([1, "1", "b"], "'1' names columns"),
            (["a", "\ud800", "b"], "UTF-8; column 1"),
        ],
    )
    def test_names_at_fault(self, names, message):
        with pytest.raises(DataError, match=message):
            Dataset.from_table(good_values(), names=names)

    def test_frame_labels_at_fault(self):
        frame = good_frame()
        for labels in (["a", "a", "b"], ["a", np.nan, "b"], [("a", 1), ("b", 1), ("b", 2)]):
            with pytest.raises(DataError, match=r"(?i)column"):
                Dataset.from_table(frame.set_axis(labels, axis=1))

    def test_lists_every_column_but_not_endlessly(self):
        values = good_values(n_variables=9)
        values[3] = np.nan
        with pytest.raises(DataError, match=r"'x1' has 1 .*'x5' has 1 .*and 4 more") as caught:
            Dataset.from_table(values)
        assert "'x6'" not in str(caught.value)

    def test_constructor_makes_the_same_checks(self):
        with pytest.raises(DataError, match="'b' holds booleans"):
            Dataset([[1.0, True]] * 20, ["a", "b"])
        with pytest.raises(DataError, match=r"'a' is 1\.0 in every row"):
            Dataset([[1.0, i] for i in range(20)], ["a", "b"])

    def test_one_variable_only_where_allowed(self):
        one = good_values(n_variables=1)
        assert Dataset.from_table(one).n_variables == 1
        for source in (one, Dataset.from_table(one)):
            with pytest.raises(DataError, match=r"1 feature\(s\).*minimum of 2"):
                Dataset.from_table(source, min_variables=2)
        with pytest.raises(OptionError, match="min_variables"):
            Dataset.from_table(one, min_variables=0)

    def test_shared_outlier_makes_no_copy(self):
        # Both columns hold one sentinel; it brings their correlation to 1 - 2e-12.
        values = good_values(200, 2)
        values[50] = 9_999_999.0
        with pytest.warns(DataWarning, match="row 50"):
            dataset = Dataset.from_table(values)
        assert np.corrcoef(values.T)[0, 1] > 1 - 1e-11
        assert_usable(dataset)

    def test_close_relatives_are_no_copies(self):
        x = np.random.default_rng(1).normal(size=500)
        noise = np.random.default_rng(2).normal(size=500)
        assert Dataset.from_table(np.column_stack([x, x + 1e-5 * noise])).n_variables == 2
        rare = (np.arange(100) % 50 == 0).astype(float)  # no quartile range
        other = (np.arange(100) % 50 == 1).astype(float)
        assert Dataset(np.column_stack([rare, other]), ["a", "b"]).n_variables == 2
        with pytest.raises(DataError, match="'b' repeats 'a'"):
            Dataset(np.column_stack([rare, 1 - rare]), ["a", "b"])


class TestWarnings:
    def caught(self, source):
        with warnings.catch_warnings(record=True) as given:
            warnings.simplefilter("always")
            dataset = Dataset.from_table(source)
        assert all(w.category is DataWarning for w in given)
        assert all(w.filename == __file__ for w in given)
        assert tuple(str(w.message) for w in given) == dataset.notes
        return dataset.notes

    def test_nothing_to_say(self):
        assert self.caught(good_frame()) == ()

    def test_few_rows_are_not_taken_for_few_values(self):
        assert self.caught(good_values(10, 1)) == ()

    def test_extreme_cells(self):
        frame = pd.DataFrame(good_values(500), columns=["raf", "mek", "erk"])
        frame.loc[17, "mek"] = -40.0
        frame.loc[99, "erk"] = 80.0
        (note,) = self.caught(frame)
        z = (frame - frame.mean()) / frame.std(ddof=0)
        worst = f"'erk' at row 99 (z = {z.loc[99, 'erk']:.1f})"
        second = f"'mek' at row 17 (z = {z.loc[17, 'mek']:.1f})"
        assert 0 < note.index(worst) < note.index(second)
        assert "'raf'" not in note

    def test_few_rows_for_many_variables(self):
        (note,) = self.caught(good_values(49, 5))
        assert "49 for 5 variables" in note
        assert self.caught(good_values(50, 5)) == ()

    def test_given_once(self):
        with pytest.warns(DataWarning, match="Few rows"):
            dataset = Dataset.from_table(good_values(20, 3))
        # Warnings are errors in this suite: neither of these may give one again.
        Dataset.from_table(dataset)
        assert Dataset(dataset.values, dataset.names).notes == dataset.notes


# Hostile tables -----------------------------------------------------------------------------------

NUMBERS = st.floats(width=64) | st.integers(-(2**80), 2**80) | st.sampled_from(
    [1e308, -1.7e308, 1e-308, 5e-324, 0.0, -0.0, 10**400, float("inf"), float("nan")]
)  # fmt: skip
CELLS = NUMBERS | st.one_of(
    st.none(),
    st.booleans(),
    st.text(max_size=4),
    st.binary(max_size=3),
    st.datetimes(),
    st.dates(),
    st.timedeltas(),
    st.complex_numbers(),
    st.decimals(),
    st.fractions(),
    st.just(pd.NA),
    st.just(pd.NaT),
    st.just(np.float32(1.5)),
    st.just(np.bool_(True)),
    st.lists(st.integers(), max_size=2),
)
NAMES = st.text(max_size=6) | st.sampled_from(
    ["raf", "two words", "ä", " ", "", "x1", "\ud800", "a\nb", "'", "a\x00"]
)


@st.composite
def hostile_frames(draw) -> pd.DataFrame:
    n_samples = draw(st.sampled_from([0, 1, 2, 9, 10, 11, 30]))
    labels = draw(st.lists(NAMES | st.integers() | st.none(), max_size=4))
    columns = []
    for _ in labels:
        kind = draw(st.sampled_from(["numbers", "floats", "good", "copy", "constant", "cells"]))
        if kind == "copy" and columns:
            columns.append(columns[0])
        elif kind == "constant":
            columns.append(pd.Series([draw(CELLS)] * n_samples, dtype=object))
        elif kind == "good":
            seed = draw(st.integers(0, 9))
            columns.append(pd.Series(np.random.default_rng(seed).normal(size=n_samples)))
        else:
            cells = {"numbers": NUMBERS, "floats": st.floats(allow_nan=False)}.get(kind, CELLS)
            found = draw(st.lists(cells, min_size=n_samples, max_size=n_samples))
            columns.append(pd.Series(found, dtype="float64" if kind == "floats" else object))
    if not columns:
        return pd.DataFrame(index=range(n_samples))
    frame = pd.concat(columns, axis=1)
    return frame.set_axis(pd.Index(labels, dtype=object), axis=1)


def either_usable_or_refused(read) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", DataWarning)
        try:
            dataset = read()
        except MomentdagError as error:
            message = str(error)
        else:
            assert_usable(dataset)
            return
    assert "Expected" in message


TAKEN_NAMES = ("raf", "mek", "erk", "\ud800")
BAD_CELLS = [None, pd.NA, np.nan, np.inf, -np.inf, "a", "1.5", b"1", True, 1j, 10**400, [1]]


class TestHostileTables:
    @settings(max_examples=50, deadline=None)
    @given(hostile_frames())
    def test_frame(self, frame):
        either_usable_or_refused(lambda: Dataset.from_table(frame))

    @settings(max_examples=50, deadline=None)
    @given(st.lists(st.lists(CELLS, max_size=3), max_size=12))
    def test_list_of_rows(self, rows):
        either_usable_or_refused(lambda: Dataset.from_table(rows))

    @settings(max_examples=50, deadline=None)
    @given(
        st.integers(10, 25).flatmap(
            lambda n: st.lists(
                st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=n, max_size=n),
                min_size=1,
                max_size=3,
            )
        )
    )
    def test_finite_floats(self, columns):
        either_usable_or_refused(lambda: Dataset.from_table(np.array(columns).T))

    @settings(max_examples=50, deadline=None)
    @given(
        name=NAMES.filter(lambda name: name.strip() and name not in TAKEN_NAMES),
        row=st.integers(0, N - 1),
        cell=st.sampled_from(BAD_CELLS),
    )
    def test_one_bad_cell_is_found(self, name, row, cell):
        cells = [float(i * i % 41) for i in range(N)]
        cells[row] = cell
        frame = pd.concat([good_frame(), pd.Series(cells, dtype=object)], axis=1)
        frame = frame.set_axis(pd.Index(["raf", "mek", "erk", name], dtype=object), axis=1)
        with pytest.raises(DataError) as caught:
            Dataset.from_table(frame)
        assert repr(name) in str(caught.value)
        assert f"row {row}" in str(caught.value)
