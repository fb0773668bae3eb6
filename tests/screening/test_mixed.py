"""What the checks say of columns of every kind."""

import numpy as np
import pytest

from momentdag import Knowledge, MomentDAG, simulate
from momentdag.errors import DataError
from momentdag.graph import MomentGraph
from momentdag.screening import criticise, heteroscedasticity
from momentdag.screening.predictors import predictor_columns
from momentdag.screening.tables import complete_rows, read_table_of
from momentdag.table import Dataset

LEVELS_ONLY = ("machine", "passed", "outcome")


@pytest.fixture(scope="module")
def criticism(mixed_fit, mixed_data):
    return criticise(mixed_fit, mixed_data, n_draws=20)


def test_columns_without_a_spread_are_left_out_with_a_sentence(mixed_fit, mixed_data):
    screening = heteroscedasticity(mixed_data, model=mixed_fit)
    assert tuple(screening.left_out) == LEVELS_ONLY
    assert not set(LEVELS_ONLY) & set(screening.table.index)
    assert "Left out: machine, passed, outcome; the probabilities" in screening.describe()
    assert screening.table.loc["thickness", "heteroscedastic"]
    assert screening.table.loc["thickness", "moves_with"] == "temperature"


def test_a_table_of_levels_only_has_nothing_to_test():
    values = np.random.default_rng(0).integers(2, size=(80, 2)).astype(float)
    screening = heteroscedasticity(Dataset(values, ["a", "b"]))
    assert screening.table.empty
    assert not screening.is_heteroscedastic
    assert screening.variables == ()
    assert screening.describe().endswith("There is no column to test.")


def test_a_category_that_moves_the_spread_is_found():
    rng = np.random.default_rng(1)
    site = rng.integers(3, size=300)
    y = np.array([1.0, 4.0, 1.0])[site] * rng.normal(size=300)  # not monotone in the codes
    data = Dataset(np.column_stack([site, y]), ["site", "y"], ["category", "continuous"])
    screening = heteroscedasticity(data)
    assert screening.variables == ("y",)
    assert screening.table.loc["y", "moves_with"] == "site"


def test_levels_are_not_asked_to_be_gaussian(criticism):
    table = criticism.variables
    discrete = ["machine", "defects", "rating", "passed", "outcome"]
    assert table.loc[discrete, "p_gaussian"].isna().all()
    assert table.loc[["temperature", "thickness"], "p_gaussian"].notna().all()
    assert table["p_noise"].notna().all()
    assert criticism.residuals.discrete == set(discrete)


def test_levels_have_no_variance_rows(criticism):
    rows = criticism.dependence
    assert set(rows.loc[rows["variable"].isin(LEVELS_ONLY), "moment"]) == {"mean"}
    assert "(fitted mean)" in set(rows.loc[rows["variable"] == "defects", "other"])
    assert "(fitted mean)" not in set(rows.loc[rows["variable"] == "passed", "other"])


def test_missing_causes_of_levels_are_found_and_told_in_their_words(mixed_fit, mixed_data):
    names = mixed_data.names
    lacking = MomentGraph.from_edges(names, mean=[("machine", "thickness")])
    text = criticise(mixed_fit, mixed_data, graph=lacking, n_draws=5).describe()
    assert "passed: its values still change with rating (p < 0.001), which is not a cause" in text
    assert "outcome: its values still change with temperature" in text
    for line in text.splitlines():
        if line.startswith(tuple(f"- {name}:" for name in LEVELS_ONLY)):
            for word in ("logarithm", "Gaussian", "transform", "variance cause", "noise family"):
                assert word not in line


def test_pictures_of_a_category(criticism):
    titles = [note.text for note in criticism.figure("outcome").layout.annotations]
    assert "scale-location" not in titles
    against = {axis.title.text for axis in criticism.figure("thickness").select_xaxes()}
    assert "machine" in against


def test_a_frame_is_read_with_the_kinds_of_the_fit(mixed_fit, mixed_data):
    frame = mixed_data.to_frame()
    for name, labels in mixed_data.labels.items():
        frame[name] = [labels[int(code)] for code in frame[name]]
    assert read_table_of(mixed_fit, frame) == mixed_data
    assert read_table_of(mixed_fit, mixed_data) is mixed_data
    guessed = Dataset(mixed_data.values, mixed_data.names)
    assert read_table_of(mixed_fit, guessed) == mixed_data
    frame.loc[3, "machine"] = "M9"
    with pytest.raises(DataError, match=r"Expected the levels .* in column 'machine'; got 'M9'"):
        read_table_of(mixed_fit, frame)


def test_rows_with_missing_cells_have_no_residuals(mixed_fit, mixed_data):
    values = mixed_data.values.copy()
    values[:7, 4] = np.nan
    holed = Dataset(
        values, mixed_data.names, mixed_data.kinds, mixed_data.labels, allow_missing=True
    )
    assert complete_rows(holed).n_samples == 293
    criticism = criticise(mixed_fit, holed, n_draws=5)
    assert np.isfinite(criticism.residuals.standardised.to_numpy()).all()


def test_the_noise_of_a_time_is_not_judged():
    rng = np.random.default_rng(0)
    day = np.sort(rng.uniform(0, 90, 150))
    table = np.column_stack([day, rng.normal(size=150)])
    dataset = Dataset(table, ["day", "x"], ["time", "continuous"])
    criticism = criticise(MomentDAG(n_draws=100, random_state=0).fit(dataset), dataset, n_draws=5)
    assert criticism.variables.loc["day", ["p_gaussian", "p_noise"]].isna().all()
    assert set(criticism.dependence["variable"]) == {"x"}
    screening = heteroscedasticity(dataset)
    assert "Left out: day; never an effect, so nothing moves it." in screening.describe()


def test_categories_are_predictors_by_their_levels(mixed_data):
    assert predictor_columns(mixed_data, 1).shape == (300, 2)
    assert predictor_columns(mixed_data, 0).shape == (300, 1)


def pair(seed, kind, moment):
    simulation = simulate.mixed_pair(
        np.random.default_rng(seed), "continuous", kind, 400, moment=moment
    )
    values = simulation.data.to_numpy(dtype=float)
    return Dataset(values, ["x", "y"], dict(simulation.kinds))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["count", "ordered"])
def test_spread_that_follows_from_the_mean_is_no_alarm(kind):
    known = Knowledge(tiers=[["x"], ["y"]])
    found = {
        moment: [
            "y" in heteroscedasticity(pair(seed, kind, moment), knowledge=known).variables
            for seed in (200, 201, 202)
        ]
        for moment in ("mean", "variance")
    }
    # Three false alarms at 5 % have a chance of 1 in 8000, two of 1 in 140.
    assert sum(found["mean"]) <= 1
    assert all(found["variance"])


def test_a_poisson_count_of_a_fit_is_no_alarm(mixed_fit, mixed_data):
    screening = heteroscedasticity(mixed_data, model=mixed_fit)
    assert not screening.table.loc["defects", "heteroscedastic"]
