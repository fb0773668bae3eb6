import numpy as np

from momentdag.report.levels import (
    level_shares,
    names_of_levels,
    shown_levels,
    spell_level,
    typical_row,
)
from momentdag.table import Dataset


def table():
    rng = np.random.default_rng(0)
    site = np.repeat(np.arange(15.0), np.arange(1, 16))  # the last is the most frequent
    n = len(site)
    grade = np.tile([1.0, 2.0, 4.0, 4.0], n // 4)
    return Dataset(
        np.column_stack([rng.normal(size=n), site, grade, rng.permutation(grade > 1)]),
        ["x", "site", "grade", "ok"],
        ["continuous", "category", "ordered", "binary"],
        {"site": [f"S{k}" for k in range(15)]},
    )


def test_levels_have_names():
    observed = table().observe()
    assert spell_level(observed, "site", 3.0) == "S3"
    assert spell_level(observed, "x", 0.25) == "0.25"
    assert names_of_levels(observed, "grade") == ("1", "2", "4")


def test_a_typical_row_holds_values_that_occur():
    data = table()
    row = typical_row(data.observe(), data.values)
    assert row[1] == 14  # the most frequent site, not the middle code
    assert row[2] in (1.0, 2.0, 4.0)
    assert row[3] in (0.0, 1.0)
    assert row[0] == np.median(data.values[:, 0])


def test_parents_of_few_levels_are_shown_at_them():
    data = table()
    observed = data.observe()
    assert shown_levels(observed, "x", data.values[:, 0]) is None
    assert shown_levels(observed, "grade", data.values[:, 2]).tolist() == [1.0, 2.0, 4.0]
    # The most frequent levels of a category with many.
    assert shown_levels(observed, "site", data.values[:, 1]).tolist() == list(range(3, 15))


def test_missing_cells_have_no_share():
    shares = level_shares(np.array([0.0, 1.0]), np.array([0.0, 1.0, 1.0, 1.0, np.nan]))
    assert shares.tolist() == [0.25, 0.75]
