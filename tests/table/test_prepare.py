"""`prepare_table`: from any table to a Dataset, with a true account."""

import numpy as np
import pandas as pd
import pytest

from momentdag.errors import DataError, OptionError
from momentdag.table import Dataset, prepare_table
from momentdag.table.recipe import ColumnRecipe, Recipe

N = 100


def clean():
    rng = np.random.default_rng(0)
    return pd.DataFrame({"x": rng.normal(size=N), "y": rng.gamma(2.0, size=N)})


def mixed():
    rng = np.random.default_rng(1)
    return clean().assign(
        arm=rng.choice(["placebo", "drug"], N),
        flag=rng.random(N) > 0.5,
        city=np.repeat(["Rome", "Paris", "Bern", "Oslo"], [50, 44, 3, 3]),
        size=rng.choice(["small", "medium", "large"], N),
        when=pd.date_range("2020-01-01", periods=N),
    )


def test_clean_numbers_are_the_same_dataset():
    prepared = prepare_table(clean())
    assert prepared.dataset == Dataset.from_table(clean())
    assert prepared.changes == ()
    assert prepared.log_columns == ()
    assert prepared.summary == ("Used 100 of 100 rows and 2 columns (2 continuous).",)


def test_every_kind_becomes_numbers():
    dataset = prepare_table(mixed()).dataset
    assert dict(zip(dataset.names, dataset.kinds, strict=True)) == {
        "x": "continuous",
        "y": "continuous",
        "arm": "binary",
        "flag": "binary",
        "city": "category",
        "size": "ordered",
        "when": "time",
        "when weekday": "category",
    }
    assert dataset.labels["arm"] == ("placebo", "drug")
    assert dataset.labels["city"] == ("Paris", "Rome", "other")
    assert dataset.labels["size"] == ("small", "medium", "large")
    assert dataset.roots == ("when", "when weekday")
    frame = dataset.to_frame()
    assert frame["when"].tolist() == list(range(N))
    assert dataset.labels["when weekday"][int(frame["when weekday"][0])] == "Wednesday"
    np.testing.assert_array_equal(frame["arm"], mixed()["arm"] == "drug")
    np.testing.assert_array_equal(frame["city"] == 2, mixed()["city"].isin(["Bern", "Oslo"]))


def test_the_account_says_what_was_done():
    prepared = prepare_table(mixed().assign(const=1))
    by_name = {row["column"]: row for row in prepared.account}
    assert set(by_name) == {*mixed().columns, "const"}
    assert by_name["const"]["action"] == "leave out"
    assert "merged into 'other'" in by_name["city"]["why"]
    assert all(isinstance(value, str) for row in prepared.account for value in row.values())
    assert "Left out: 'const'." in prepared.summary
    assert len(prepared.summary) <= 3


@pytest.mark.parametrize(
    ("n_holed", "missing", "n_rows", "has_missing"),
    [(3, "auto", 97, False), (20, "auto", 100, True), (3, "impute", 100, True),
     (20, "drop", 80, False), (0, "refuse", 100, False)],
)  # fmt: skip
def test_missing_cells(n_holed, missing, n_rows, has_missing):
    frame = clean()
    frame.loc[: n_holed - 1, "x"] = np.nan
    prepared = prepare_table(frame, missing=missing)
    assert prepared.dataset.n_samples == n_rows
    assert prepared.dataset.has_missing == has_missing
    assert bool(prepared.changes) == (n_holed > 0)


def test_missing_cells_can_be_refused():
    frame = clean()
    frame.loc[3, "x"] = np.nan
    with pytest.raises(DataError, match="1 cells are, first in column 'x'"):
        prepare_table(frame, missing="refuse")


def test_logarithms_are_remembered():
    prepared = prepare_table(clean(), transforms={"y": "log"})
    assert prepared.log_columns == ("y",)
    np.testing.assert_array_equal(prepared.dataset.values[:, 1], np.log(clean()["y"]))


def test_too_little_is_refused_with_everything_that_is_wrong():
    frame = pd.DataFrame({"id": range(N), "site": "north", "x": clean()["x"], "blob": [[1]] * N})
    with pytest.raises(DataError, match="at least two usable columns; 1 of 4 is") as caught:
        prepare_table(frame)
    for name in ("id", "site", "blob"):
        assert f"Column '{name}'" in str(caught.value)
    frame = clean()
    frame.loc[:48, "x"] = frame.loc[50:98, "y"] = np.nan
    with pytest.raises(DataError, match="at least 10 usable rows"):
        prepare_table(frame, missing="drop")


def test_strict_refuses_any_change():
    assert prepare_table(clean(), strict=True).changes == ()
    with pytest.raises(DataError, match=r"(?s)needs no changes.*'const'.*1 in every row"):
        prepare_table(clean().assign(const=1), strict=True)


def test_a_recipe_prepares_other_rows_alike():
    recipe = prepare_table(mixed()).recipe
    part = prepare_table(mixed().iloc[20:], recipe).dataset
    whole = prepare_table(mixed()).dataset
    np.testing.assert_array_equal(part.values, whole.values[20:])
    assert (part.kinds, part.labels) == (whole.kinds, whole.labels)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ([ColumnRecipe("x")], r"does not name \['y'\]"),
        ([ColumnRecipe("x"), ColumnRecipe("y"), ColumnRecipe("z")], r"does not have \['z'\]"),
        ([ColumnRecipe("x"), ColumnRecipe("y", levels=("1", "2"))], "holds the level"),
        ([ColumnRecipe("x"), ColumnRecipe("y", "leave out")], "two usable columns"),
        ([ColumnRecipe("x", transform="log"), ColumnRecipe("y")], "expected positive values"),
    ],
    ids=str,
)
def test_a_recipe_that_does_not_fit_is_refused(columns, message):
    with pytest.raises(DataError, match=message):
        prepare_table(clean(), Recipe(tuple(columns)))


def test_a_recipe_for_text_needs_levels():
    recipe = Recipe((ColumnRecipe("x"), ColumnRecipe("y"), ColumnRecipe("t")))
    with pytest.raises(DataError, match="'t': it holds text"):
        prepare_table(clean().assign(t=["a", "b"] * (N // 2)), recipe)


def test_a_recipe_comes_alone():
    recipe = prepare_table(clean()).recipe
    with pytest.raises(OptionError, match="got both"):
        prepare_table(clean(), recipe, drop=["x"])
