"""One column at a time: each finding with a column that has it and one that has not."""

import numpy as np
import pandas as pd
import pytest

from momentdag.errors import DataError
from momentdag.table.column_checks import MAX_CATEGORIES, check_column
from momentdag.table.raw import read_raw

RNG = np.random.default_rng(0)
N = 200
NORMAL = RNG.normal(size=N)


def look(cells, name="c", **options):
    return check_column(read_raw(pd.DataFrame({name: cells})).columns[0], **options)


def texts(check):
    return " ".join(finding.text for finding in check.findings)


def spread(counts):
    return np.repeat([f"level {k}" for k in range(len(counts))], counts)


KEPT = {
    "floats": (NORMAL, "continuous"),
    "ratings": (RNG.integers(1, 6, N), "ordered"),
    "counts": (RNG.geometric(0.2, N) - 1, "count"),
    "zero and one": (RNG.integers(0, 2, N), "binary"),
    "booleans": (NORMAL > 0, "binary"),
    "yes": (np.where(NORMAL > 0, "yes", "no"), "binary"),
    "colours": (RNG.choice(["red", "green", "blue"], N), "category"),
    "sizes": (RNG.choice(["small", "medium", "large"], N), "ordered"),
    "declared order": (pd.Categorical(RNG.choice(["z", "y", "x"], N), ["z", "y", "x"],
                                      ordered=True), "ordered"),
    "declared codes": (pd.Categorical(RNG.integers(1, 4, N)), "category"),
    "dates": (pd.date_range("2020", periods=N), "time"),
    "years": (np.arange(1850, 1850 + N), "time"),
    "whole numbers that repeat once": ([*range(N - 1), 0], "continuous"),
    "short run": (np.arange(58.0, 72.0), "continuous"),
}  # fmt: skip


@pytest.mark.parametrize("case", KEPT)
def test_kinds(case):
    cells, kind = KEPT[case]
    check = look(cells)
    assert (check.recipe.action, check.recipe.kind) == ("keep", kind)
    assert check.recipe.why
    assert not any(finding.changes for finding in check.findings)


LEFT_OUT = {
    "constant": ([3.5] * N, "3.5 in every row"),
    "constant text": (["north"] * N, "'north' in every row"),
    "one date": (pd.to_datetime(["2020-01-01"] * N), "same date"),
    "empty": ([None] * N, "Every cell is missing"),
    "running number": (range(N), "running number from 0 to 199"),
    "shuffled running number": (RNG.permutation(N) + 1, "running number from 1 to 200"),
    "long run": (np.arange(1001, 1001 + N), "running number from 1001"),
    "distinct text": ([f"no. {k}" for k in range(N)], "200 of 200 cells differ"),
    "mostly distinct text": ([f"no. {k % 120}" for k in range(N)], "120 of 200 cells differ"),
    "half missing": (np.where(np.arange(N) % 2 + (np.arange(N) == 0), np.nan, NORMAL),
                     "101 of 200 cells are missing"),
    "complex": (NORMAL + 1j, "complex numbers"),
    "lists": ([[1]] * N, "objects of type list"),
    "only rare levels": (np.repeat([f"level {k}" for k in range(N // 4)], 4), "No level occurs"),
}  # fmt: skip


@pytest.mark.parametrize("case", LEFT_OUT)
def test_left_out(case):
    cells, message = LEFT_OUT[case]
    check = look(cells)
    assert check.recipe.action == "leave out"
    assert message in check.recipe.why
    assert any(finding.changes for finding in check.findings)


def test_half_of_the_cells_are_enough():
    assert look(np.where(np.arange(N) % 2, np.nan, NORMAL)).is_kept


@pytest.mark.parametrize("name", ["id", "ID", "patient_id", "patientId", "subject", "Family.no"])
def test_names_of_identifiers(name):
    codes = RNG.integers(1, 60, N)
    assert look(codes, name).recipe.kind == "identifier"
    assert look([f"p{code}" for code in codes], name).recipe.kind == "identifier"
    assert look(codes, "acid").is_kept
    assert look(codes % 3, name).is_kept  # too few to tell rows apart
    assert look(codes, name, kind="ordered").is_kept


@pytest.mark.parametrize(
    ("values", "sentinels"),
    [
        ([1, 2, 3, -9, -9], (-9,)),
        ([1.5, 2.5, -999, -999], (-999,)),
        ([10, 250, 9999, 9999], (9999,)),
        ([10, 250, 9999, 9999, -99, -99], (9999,)),  # 250 is as far from 10 as -99
        ([1, 5, 99, 99, -9, -9], (-9, 99)),
        ([1, 2, 3, -999], ()),  # once
        ([18, 90, 99, 99], ()),  # ages
        ([-500, 400, -999, -999], ()),
        ([1, 2, 3, -7.5, -7.5], ()),
        ([0, -9, -9], ()),  # nothing else varies
    ],
    ids=str,
)
def test_sentinels(values, sentinels):
    check = look(np.array(values, dtype=float))
    assert check.recipe.missing_values == sentinels
    assert check.n_missing == sum(value in sentinels for value in values)


def test_infinite_cells_are_missing():
    check = look(np.where(np.arange(N) < 3, np.inf, NORMAL))
    assert check.n_missing == 3
    assert "3 infinite cells taken as missing" in texts(check)


def test_outliers_are_kept_and_said():
    check = look(np.where(np.arange(N) == 17, 1e6, NORMAL))
    assert check.is_kept
    assert "at row 17" in texts(check)
    assert not any(finding.changes for finding in check.findings)
    assert "sd from the mean" not in texts(look(NORMAL))


class TestLevels:
    def test_rare_ones_are_merged(self):
        check = look(spread([50, 40, 3, 2]))
        assert check.recipe.levels == ("level 0", "level 1", "other")
        assert check.recipe.merged == ("level 2", "level 3")
        assert "2 rare levels in 5 rows" in texts(check)

    def test_a_single_rare_one_is_only_said(self):
        check = look(spread([50, 40, 3]))
        assert check.recipe.merged == ()
        assert "'level 2' occurs in 3 rows only" in texts(check)
        assert not texts(look(spread([50, 40, 5])))

    def test_there_are_at_most_twelve(self):
        assert look(spread([10] * MAX_CATEGORIES)).recipe.merged == ()
        check = look(spread([10] * (MAX_CATEGORIES + 1)))
        assert len(check.recipe.levels) == MAX_CATEGORIES
        assert len(check.recipe.merged) == 2

    def test_a_level_that_is_called_other_takes_them_in(self):
        cells = np.repeat(["a", "b", "other", "c", "d"], [40, 30, 20, 2, 2])
        check = look(cells)
        assert check.recipe.levels == ("a", "b", "other")
        assert check.recipe.merged == ("c", "d")

    def test_one_frequent_level_makes_a_binary(self):
        check = look(spread([50, 4, 4, 4]))
        assert (check.recipe.kind, check.recipe.levels) == ("binary", ("level 0", "other"))

    def test_scales_are_not_merged(self):
        cells = np.repeat(["low", "medium", "high"], [50, 3, 2])
        assert look(cells).recipe.levels == ("low", "medium", "high")


class TestDates:
    @pytest.mark.parametrize(
        ("dates", "parts"),
        [
            (pd.date_range("2020", periods=300, freq="h"), ("hour",)),
            (pd.date_range("2020", periods=300, freq="D"), ("weekday",)),
            (pd.date_range("2020", periods=300, freq="W"), ("month",)),
            (pd.date_range("2020", periods=3000, freq="7h"), ("hour", "weekday", "month")),
            (pd.date_range("2020", periods=300, freq="s"), ()),
        ],
    )
    def test_parts_are_made_where_they_vary(self, dates, parts):
        recipe = look(dates).recipe
        assert recipe.parts == parts
        assert recipe.origin == "2020-01-01" if dates[0].day == 1 else "2020-01-05"


class TestStatements:
    def test_a_stated_kind_is_taken(self):
        codes = RNG.integers(1, 4, N)
        assert look(codes, kind="category").recipe.levels == ("1", "2", "3")
        assert look(codes, kind="continuous").recipe.kind == "continuous"
        assert look(range(N), kind="continuous").is_kept
        assert look(range(N), kind="time").recipe.kind == "time"
        assert look(NORMAL, kind="identifier").recipe.action == "leave out"
        colours = RNG.choice(["red", "green", "blue"], N)
        assert look(colours, kind="ordered").recipe.kind == "ordered"

    @pytest.mark.parametrize(
        ("cells", "options", "message"),
        [
            (NORMAL, {"kind": "binary"}, "binary column 'c'; it has 200"),
            (["a", "b", "c", "d"] * 50, {"kind": "binary"}, "it has 4"),
            (["a", "b"] * 100, {"kind": "count"}, "cannot be 'count'"),
            (["a", "b"] * 100, {"transform": "log"}, "column 'c' holds texts"),
            ([[1]] * N, {"kind": "count"}, "objects of type list"),
            (NORMAL, {"transform": "log"}, "expected positive values .*'c' has"),
        ],
        ids=str,
    )
    def test_what_does_not_fit_is_refused(self, cells, options, message):
        with pytest.raises(DataError, match=message):
            look(cells, **options)

    def test_transforms_are_noted(self):
        assert look(np.exp(NORMAL), transform="log").recipe.transform == "log"
        assert look(
            range(1, N + 1), transform="log"
        ).is_kept  # nobody takes the logarithm of a name
