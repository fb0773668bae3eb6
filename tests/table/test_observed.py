import json

import numpy as np
import pytest

import momentdag as md
from momentdag.errors import DataError
from momentdag.table import Observed
from momentdag.table.observed import MAX_LEVELS, levels_of


@pytest.fixture
def dataset():
    rng = np.random.default_rng(0)
    values = np.column_stack([rng.normal(size=60), rng.integers(0, 3, 60), rng.normal(size=60)])
    return md.Dataset(values, ["x", "k", "log y"])


def test_grids_are_found(dataset):
    observed = dataset.observe()
    assert {name: levels.tolist() for name, levels in observed.levels.items()} == {
        "k": [0.0, 1.0, 2.0]
    }
    assert levels_of(np.arange(100.0)) is None
    assert levels_of(np.repeat(np.arange(MAX_LEVELS + 1.0), 3)) is None


def test_the_units_of_the_file_are_kept(dataset):
    observed = dataset.observe(("log y",))
    held = np.exp(dataset.values[:, 2])
    assert observed.shown.loc["log y", "mean"] == pytest.approx(held.mean())
    assert observed.shown.loc["log y", "max"] == pytest.approx(held.max())
    assert observed.shown.loc["x", "sd"] == pytest.approx(observed.summary.loc["x", "sd"])
    assert observed.on_fitted_scale().shown is observed.summary


def test_it_comes_back_from_json(dataset):
    stored = json.loads(json.dumps(dataset.observe(("log y",)).to_dict()))
    again = Observed.from_dict(stored, dataset.names, ("log y",))
    assert again.levels["k"].tolist() == [0.0, 1.0, 2.0]
    assert again.log_columns == ("log y",)
    np.testing.assert_array_equal(again.correlations, dataset.observe().correlations)
    # Runs of earlier versions stored the summary alone.
    old = Observed.from_dict({"summary": stored["summary"]}, dataset.names, ("log y",))
    assert not old.levels
    assert old.correlations is None
    assert old.log_columns == ()


@pytest.mark.parametrize(
    "changes",
    [
        {"summary": None},
        {"summary": {"data": [[1]], "index": ["x"], "columns": ["min"]}},
        {"levels": {"k": [2, 1]}},
        {"levels": {"nobody": [0, 1]}},
        {"levels": {"k": [[0], [1]]}},
        {"levels": 3},
        {"correlations": [[1.0]]},
        {"correlations": [[9.0] * 3] * 3},
        {"in_file": {"data": []}},
    ],
    ids=str,
)
def test_what_is_forged_is_refused(dataset, changes):
    stored = {**dataset.observe(("log y",)).to_dict(), **changes}
    with pytest.raises(DataError):
        Observed.from_dict(stored, dataset.names, ("log y",))


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("sd", -1.0, "no spread"),
        ("sd", 5e-324, "no spread"),
        ("mean", None, "no number"),
        ("max", 1e308, "no number"),
        ("median", 1e6, "do not rise"),
    ],
)
def test_a_forged_summary_is_refused(dataset, column, value, message):
    stored = json.loads(json.dumps(dataset.observe().to_dict()))
    place = stored["summary"]["columns"].index(column)
    stored["summary"]["data"][0][place] = value
    with pytest.raises(DataError, match=message):
        Observed.from_dict(stored, dataset.names)


def test_a_summary_with_a_column_twice_is_refused(dataset):
    stored = json.loads(json.dumps(dataset.observe().to_dict()))
    stored["summary"]["columns"].append("sd")
    for row in stored["summary"]["data"]:
        row.append(1.0)
    with pytest.raises(DataError, match="twice"):
        Observed.from_dict(stored, dataset.names)
