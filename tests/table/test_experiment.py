"""Regimes and interventions of a table: read, checked, carried along, stored."""

import numpy as np
import pandas as pd
import pytest

from momentdag.errors import DataError, OptionError
from momentdag.table import Dataset, prepare_table, with_experiment
from momentdag.table.experiment import Experiment, read_regimes, read_set_cells, take_experiment
from momentdag.table.experimental import take_columns, undisturbed_rows

NAMES = ("a", "b", "c")


@pytest.fixture
def table():
    return Dataset(np.random.default_rng(0).normal(size=(40, 3)), NAMES)


def test_the_reference_is_the_largest_regime_or_the_stated_one():
    labels = ["2"] * 3 + ["10"] * 5 + ["1"] * 3
    assert read_regimes(labels, "batch").levels == ("10", "1", "2")
    regimes = read_regimes([float(label) for label in labels], "batch", reference=2)
    assert regimes.levels == ("2", "1", "10")
    assert regimes.nodes == ("batch=1", "batch=10")
    np.testing.assert_array_equal(regimes.indicators[:4], [[0, 0]] * 3 + [[0, 1]])


def test_regimes_that_tell_nothing_are_refused():
    with pytest.raises(DataError, match=r"empty in rows 1; 2"):
        read_regimes(["a", None, " "], "batch")
    with pytest.raises(DataError, match="Leave the column out"):
        read_regimes(["a"] * 5, "batch")
    with pytest.raises(DataError, match="has 70"):
        read_regimes(range(70), "batch")
    with pytest.raises(OptionError, match="reference among the regimes"):
        read_regimes(["a", "b"], "batch", reference="c")


def test_set_cells_are_read_from_names_lists_and_tables():
    cells = [[True, False, False], [False] * 3, [True, True, False]]
    for statement in (
        ["a", "", "b,a"],
        [["a"], [], ("a", "b")],
        pd.DataFrame(cells, columns=list("abc"))[["c", "b", "a"]],
        np.array(cells).astype(int),
    ):
        assert read_set_cells(statement, NAMES, 3).tolist() == cells
    commas = read_set_cells(["a, b", "None", np.nan], ("a, b", "a"), 3)
    assert commas.tolist() == [[True, False], [False] * 2, [False] * 2]


def test_conflicting_interventions_are_refused_with_their_rows():
    with pytest.raises(DataError, match="rows 1; 2 name 'nobody'"):
        read_set_cells(["a", "nobody", "nobody"], NAMES, 3)
    with pytest.raises(DataError, match="left out: It is a date"):
        read_set_cells(["day"], NAMES, 1, {"day": "It is a date."})
    with pytest.raises(DataError, match="in row 1 every variable was"):
        read_set_cells(["a", "a,b,c"], NAMES, 2)
    with pytest.raises(DataError, match="each of the 3 rows; got 1"):
        read_set_cells(["a"], NAMES, 3)
    with pytest.raises(DataError, match=r"shape \(2, 3\)"):
        read_set_cells(np.zeros((3, 3), dtype=bool), NAMES, 2)
    with pytest.raises(DataError, match=r"has 2\.0 in row 0"):
        read_set_cells(np.array([[0, 2.0, 0]]), NAMES, 1)
    with pytest.raises(DataError, match="column 'd', set in row 0"):
        read_set_cells(pd.DataFrame([[1, 0, 0, 1]], columns=list("abcd")), NAMES, 1)
    with pytest.raises(DataError, match="'c' has none"):
        read_set_cells(pd.DataFrame([[True, False]], columns=["a", "b"]), NAMES, 1)


def test_what_leaves_too_few_rows_is_refused(table):
    with pytest.raises(DataError, match="'rare' of 'regime' has 5"):
        with_experiment(table, ["often"] * 35 + ["rare"] * 5)
    with pytest.raises(DataError, match="rows in which 'b' was not set; there are 4"):
        with_experiment(table, interventions=["b"] * 36 + [""] * 4)
    with pytest.raises(DataError, match="each of the 40 rows; got 3"):
        with_experiment(table, ["x"] * 3)
    holes = table.values.copy()
    holes[3, 1] = np.nan
    with pytest.raises(DataError, match="'b' is missing in row 3"):
        with_experiment(
            Dataset(holes, NAMES, allow_missing=True), interventions=["b"] * 5 + [""] * 35
        )
    renamed = Dataset(table.values, ["regime=y", "b", "c"])
    with pytest.raises(DataError, match="both have 'regime=y'"):
        with_experiment(renamed, ["x"] * 20 + ["y"] * 20)


def test_columns_are_taken_by_name_and_rows_follow_the_recipe(table):
    frame = table.to_frame().assign(batch=["x"] * 25 + ["y"] * 15, target=["a"] + [""] * 39)
    frame.loc[2, "b"] = np.nan
    rest, stated = take_columns(frame, "batch", "target", "y")
    assert list(rest) == list(NAMES)
    dataset = stated.add_to(prepare_table(rest, missing="drop"))
    assert dataset.n_samples == 39
    assert dataset.experiment.regimes.levels == ("y", "x")
    assert np.bincount(dataset.experiment.regimes.codes).tolist() == [15, 24]
    assert dataset.experiment.set_cells.sum() == 1
    named = take_columns(rest, frame["batch"], None, None)[1]
    assert named.column == "batch"
    with pytest.raises(DataError, match="regime among the columns"):
        take_columns(frame, "bath", None, None)
    with pytest.raises(DataError, match="a frame with named columns"):
        take_columns(table.values, "batch", None, None)
    with pytest.raises(OptionError, match="a regime along with the reference"):
        take_columns(frame, None, None, "x")


def test_moments_are_those_of_undisturbed_rows_and_ranges_those_of_all(table):
    values = table.values.copy()
    values[20:, 0] += 5
    data = with_experiment(
        Dataset(values, NAMES), ["x"] * 20 + ["y"] * 20, ["b"] * 5 + [""] * 35, reference="x"
    )
    summary = data.observe().summary
    assert summary.loc["a", "mean"] == pytest.approx(values[5:20, 0].mean())
    assert summary.loc["a", "max"] == values[:, 0].max()
    later = data.observe(regime="y")
    assert later.summary.loc["a", "mean"] == pytest.approx(values[20:, 0].mean())
    expected = np.corrcoef(values[20:].T)
    np.testing.assert_allclose(later.correlations, expected, atol=1e-12)
    assert undisturbed_rows(data).n_samples == 15
    assert undisturbed_rows(table) is table


def test_an_experiment_is_part_of_the_table(table):
    data = with_experiment(table, ["x", "y"] * 20, ["a"] * 5 + [""] * 35)
    assert data.fingerprint != table.fingerprint
    assert data.take_rows(np.arange(30)).experiment.regimes.codes.tolist() == [0, 1] * 15
    assert data.with_values(data.values + 1.0).experiment is data.experiment
    content, arrays = data.experiment.to_state()
    back = take_experiment(content, arrays, data.values.shape)
    assert back.fingerprint("t") == data.experiment.fingerprint("t")
    assert take_experiment(None, {}, (1, 1)) is None
    for key, value in (
        ("regime_codes", np.full(40, 7)),
        ("regime_codes", np.zeros(3, dtype=np.int64)),
        ("set_cells", np.zeros((2, 3), dtype=bool)),
    ):
        with pytest.raises(DataError, match="malformed"):
            take_experiment(content, {**arrays, key: value}, data.values.shape)
    assert isinstance(back, Experiment)
