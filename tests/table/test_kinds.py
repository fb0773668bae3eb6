"""Kinds are guessed from numbers, stated by name, and checked against the values."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from momentdag.errors import DataError
from momentdag.table import KINDS, Dataset
from momentdag.table.kinds import MAX_LEVELS, guess_kind, levels_of

RNG = np.random.default_rng(0)
NAN = np.nan

GUESSES = {
    "normal": (RNG.normal(size=300), "continuous"),
    "0/1": (RNG.integers(0, 2, 300), "binary"),
    "1/2": (RNG.integers(1, 3, 300), "binary"),
    "two odd values": (RNG.choice([-3.5, 7.25], 300), "binary"),
    "0/1 and missing": ([0, 1, 1, NAN] * 10, "binary"),
    "ratings": (RNG.integers(1, 6, 300), "ordered"),
    "rounded": (RNG.normal(size=300).round(1), "ordered"),
    "rounded and missing": (np.where(RNG.random(300) < 0.3, NAN, RNG.normal(size=300).round(1)),
                            "ordered"),
    "years": (RNG.integers(1990, 2010, 300), "ordered"),
    "hardly repeated": (RNG.normal(size=300).round(2), "continuous"),
    "many whole levels": (RNG.integers(0, 900, 5000), "ordered"),
    "many rounded levels": (RNG.integers(0, 900, 5000) / 8, "continuous"),
    "distinct whole numbers": (RNG.permutation(300), "continuous"),
    "geometric": (RNG.geometric(0.2, 500) - 1, "count"),
    "geometric from 1": (RNG.geometric(0.2, 500), "count"),
    "symmetric Poisson": (RNG.poisson(30, 500), "ordered"),
    "zero-inflated": (RNG.choice([0, 1, 2, 3, 8], 500, p=[0.7, 0.15, 0.1, 0.04, 0.01]), "count"),
    "short tail": (RNG.choice([0, 1, 2, 3], 500, p=[0.7, 0.15, 0.1, 0.05]), "ordered"),
    "negative": (RNG.geometric(0.2, 500) - 9, "ordered"),
    "tail of fractions": (RNG.geometric(0.2, 500) / 4, "ordered"),
}  # fmt: skip


@pytest.mark.parametrize("case", GUESSES)
def test_guess(case):
    column, kind = GUESSES[case]
    assert guess_kind(np.asarray(column, dtype=float)) == kind


@given(st.lists(st.floats(allow_infinity=False), max_size=60), st.randoms())
def test_a_guess_is_a_kind_whatever_the_order_of_rows(column, random):
    guess = guess_kind(np.array(column))
    assert guess in KINDS
    random.shuffle(column)
    assert guess_kind(np.array(column)) == guess


def test_levels_ignore_missing_cells():
    assert levels_of(np.array([0.0, NAN, 1.0, 1.0, 0.0, NAN])).tolist() == [0.0, 1.0]
    assert levels_of(np.array([0.0, 1.0, NAN, NAN, NAN, NAN])) is None
    assert levels_of(np.repeat(np.arange(MAX_LEVELS + 1.0), 3)) is None


def values(n=60):
    rng = np.random.default_rng(1)
    return np.column_stack([rng.normal(size=n), np.arange(n) % 2, rng.integers(0, 4, n)])


NAMES = ["x", "b", "k"]


class TestDatasetWithKinds:
    def test_are_guessed_or_stated(self):
        assert Dataset(values(), NAMES).kinds == ("continuous", "binary", "ordered")
        assert Dataset(values(), NAMES, {"k": "category"}).kinds[2] == "category"
        stated = ("continuous", "ordered", "count")
        assert Dataset(values(), NAMES, stated).kinds == stated

    def test_fingerprint_tells_stated_kinds_from_guessed_ones(self):
        plain = Dataset(values(), NAMES)
        assert Dataset(values(), NAMES, plain.kinds) == plain
        assert Dataset(values(), NAMES, {"b": "binary"}) == plain
        others = [
            Dataset(values(), NAMES, {"k": "category"}),
            Dataset(values(), NAMES, {"k": "category"}, {"k": "abcd"}),
            Dataset(values(), NAMES, {"k": "category"}, {"k": "abce"}),
            Dataset(values(), NAMES, roots=["x"]),
            plain,
        ]
        assert len({other.fingerprint for other in others}) == len(others)

    def test_times_are_roots(self):
        data = Dataset(values(), NAMES, {"x": "time"}, roots=["k"])
        assert data.roots == ("x", "k")

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"kinds": {"k": "colour"}}, "kind of column 'k' among .*'colour'"),
            ({"kinds": {"z": "count"}}, "got 'z'"),
            ({"kinds": ("count",)}, "each of the 3 columns"),
            ({"kinds": {"k": "binary"}}, "binary column 'k'; it has 4"),
            ({"labels": {"z": "ab"}}, "labels of columns .*'z'"),
            ({"labels": {"b": ("no", "no")}}, "labels that differ"),
            ({"labels": {"b": (0, 1)}}, "as text"),
            ({"labels": {"k": "abc"}}, "codes 0 to 2 .*'k'; got 3"),
            ({"labels": {"x": "abc"}}, "codes 0 to 2 .*'x'"),
            ({"roots": ["z"]}, "roots among .*'z'"),
        ],
        ids=str,
    )
    def test_refusals(self, arguments, message):
        with pytest.raises(DataError, match=message):
            Dataset(values(), NAMES, **arguments)


class TestDatasetWithMissingCells:
    def holed(self):
        holed = values()
        holed[3:9, 0] = NAN
        holed[8:12, 2] = NAN
        return holed

    def test_are_refused_unless_allowed(self):
        with pytest.raises(DataError, match="'x' has 6"):
            Dataset(self.holed(), NAMES)
        data = Dataset(self.holed(), NAMES, allow_missing=True)
        assert data.has_missing
        np.testing.assert_array_equal(data.missing, np.isnan(self.holed()))
        assert not Dataset(values(), NAMES).has_missing

    def test_infinite_cells_never_are_allowed(self):
        holed = self.holed()
        holed[0, 0] = np.inf
        with pytest.raises(DataError, match=r"infinite values .*'x' has 1"):
            Dataset(holed, NAMES, allow_missing=True)

    def test_moments_are_those_of_the_observed_cells(self):
        data = Dataset(self.holed(), NAMES, allow_missing=True)
        np.testing.assert_allclose(data.location, np.nanmean(self.holed(), axis=0), rtol=1e-13)
        np.testing.assert_allclose(data.scale, np.nanstd(self.holed(), axis=0), rtol=1e-13)
        np.testing.assert_array_equal(np.isnan(data.standardised), data.missing)
        summary = data.summary()
        assert summary.loc["x", "median"] == pytest.approx(np.nanmedian(self.holed()[:, 0]))

    def test_correlations_are_those_of_common_rows(self):
        holed = self.holed()
        data = Dataset(holed, NAMES, allow_missing=True)
        both = ~np.isnan(holed[:, [0, 2]]).any(axis=1)
        expected = np.corrcoef(holed[both][:, [0, 2]].T)[0, 1]
        # Sums of squares against centred sums: a few hundred roundings.
        assert data.observe().correlations[0, 2] == pytest.approx(expected, abs=1e-12)

    def test_copies_are_found_in_common_rows(self):
        holed = self.holed()
        copied = np.column_stack([holed, 3 - 2 * values()[:, 0]])
        with pytest.raises(DataError, match="'c' repeats 'x'"):
            Dataset(copied, [*NAMES, "c"], allow_missing=True)

    def test_a_column_without_cells_is_refused(self):
        holed = self.holed()
        holed[:, 0] = NAN
        with pytest.raises(DataError, match="'x' has no observed cell"):
            Dataset(holed, NAMES, allow_missing=True)

    def test_completed_values_keep_everything_else(self):
        data = Dataset(
            self.holed(), NAMES, {"k": "category"}, {"k": "abcd"}, ["x"], allow_missing=True
        )
        full = data.with_values(values())
        assert not full.has_missing
        assert (full.kinds, full.labels, full.roots) == (data.kinds, data.labels, data.roots)
        with pytest.raises(DataError, match="missing"):
            data.with_values(self.holed())
        part = data.take_rows(np.arange(40))
        assert (part.n_samples, part.kinds, part.labels) == (40, data.kinds, data.labels)
        renamed = Dataset.from_table(full, names=["u", "v", "w"])
        assert (renamed.labels, renamed.roots) == ({"w": tuple("abcd")}, ("u",))

    def test_nan_bits_do_not_matter(self):
        holed = self.holed()
        other = holed.copy()
        other[np.isnan(other)] = -NAN
        one, two = (Dataset(table, NAMES, allow_missing=True) for table in (holed, other))
        assert one.fingerprint == two.fingerprint
