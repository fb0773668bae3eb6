"""Missing cells: which policy, which rows, and whether they depend on other columns."""

import numpy as np
import pytest

from momentdag.table.encoding import EncodedColumn
from momentdag.table.missingness import choose_policy, find_dependence, rows_to_keep


def holes(n_rows, n_holed):
    missing = np.zeros((n_rows, 2), dtype=bool)
    missing[:n_holed, 0] = True
    return missing


@pytest.mark.parametrize(
    ("n_rows", "n_holed", "asked", "policy"),
    [
        (100, 0, "auto", "auto"),
        (100, 4, "auto", "drop"),
        (100, 5, "auto", "impute"),
        (100, 60, "auto", "impute"),
        (10, 1, "auto", "impute"),
        (100, 4, "impute", "impute"),
        (100, 60, "drop", "drop"),
        (100, 4, "refuse", "refuse"),
    ],
)
def test_policies(n_rows, n_holed, asked, policy):
    assert choose_policy(holes(n_rows, n_holed), asked) == policy


def test_rows():
    missing = holes(10, 3)
    assert rows_to_keep(missing, "drop").sum() == 7
    assert rows_to_keep(missing, "impute").all()
    missing[0] = True
    assert rows_to_keep(missing, "impute").sum() == 9


def columns(depends_on):
    rng = np.random.default_rng(0)
    age, city = rng.normal(size=400), rng.integers(0, 3, 400).astype(float)
    gone = {
        "age": age > 0.5,
        "city": (city == 2) & (rng.random(400) < 0.7),
        "chance": rng.random(400) < 0.3,
    }[depends_on]
    return [
        EncodedColumn("income", np.where(gone, np.nan, rng.normal(size=400)), "continuous"),
        EncodedColumn("age", age, "continuous"),
        EncodedColumn("city", city, "category", ("a", "b", "c")),
    ]


def test_dependence_is_found():
    assert "'age'" in find_dependence(columns("age"))["income"]
    assert "'city'" in find_dependence(columns("city"))["income"]
    assert find_dependence(columns("chance")) == {}


def test_few_missing_cells_are_not_tested():
    others = columns("age")[1:]
    few = np.where(np.arange(400) < 9, np.nan, np.arange(400.0))
    assert find_dependence([EncodedColumn("income", few, "continuous"), *others]) == {}
