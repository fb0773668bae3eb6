import numpy as np
import pandas as pd
import pytest
from scipy import stats

from momentdag.errors import OptionError
from momentdag.simulate.factory import FactoryTable, FactoryTruth, factory


@pytest.fixture(scope="module")
def made() -> FactoryTable:
    return factory(np.random.default_rng(0))


def test_columns_and_types(made: FactoryTable) -> None:
    data, truth = made
    assert data.shape == truth.complete.shape == (2000, 12)
    assert set(data["machine"].dropna()) == {"M1", "M2", "M3", "M4"}
    assert set(data["night_shift"].dropna()) == {True, False}
    assert truth.complete["night_shift"].dtype == np.bool_
    assert data["part_id"].tolist() == list(range(1, 2001))
    assert data[truth.constant].nunique() == 1
    assert data["measured_at"].dtype.kind == "M"
    length = data["measured_at"].max() - data["measured_at"].min()
    assert pd.Timedelta(days=88) < length <= pd.Timedelta(days=90)
    assert truth.complete["measured_at"].is_monotonic_increasing
    assert truth.complete["defects"].dtype == np.int64
    assert set(truth.graph.names) | {truth.identifier, truth.constant, truth.copy[0]} == set(data)


def test_missing_cells(made: FactoryTable) -> None:
    data, truth = made
    missing = data.isna()
    # The outlier's cell, if it was hidden, is seen again.
    assert missing.to_numpy().sum() in (660, 659)
    assert not missing["part_id"].any()
    assert missing.drop(columns="part_id").any().all()
    assert not missing.all(axis=1).any()
    assert not truth.complete.isna().any(axis=None)


def test_one_outlier_of_39_sd(made: FactoryTable) -> None:
    data, truth = made
    row, column = truth.outlier
    others = truth.complete[column].drop(index=row)
    # Pressures are rounded to 0.01 bar, a fiftieth of an sd.
    assert (data.loc[row, column] - others.mean()) / others.std() == pytest.approx(39, abs=0.02)
    numbers = data.select_dtypes("number").drop(columns="part_id")
    standard = (numbers - numbers.median()) / truth.complete[numbers.columns].std()
    assert int((standard.abs() > 10).to_numpy().sum()) == 1


def test_fahrenheit_is_a_rounded_copy(made: FactoryTable) -> None:
    complete = made.truth.complete
    exact = 1.8 * complete["temperature_c"] + 32
    assert (complete["temperature_f"] - exact).abs().max() <= 0.5 + 1e-9
    assert not np.allclose(complete["temperature_f"], exact)


def test_line_speed_moves_only_the_variance_of_thickness() -> None:
    complete = factory(np.random.default_rng(1), 20_000).truth.complete
    mean = FactoryTruth.thickness_mean(complete["temperature_c"], complete["machine"])
    residual = complete["thickness"].to_numpy() - mean
    speed = complete["line_speed"].to_numpy()
    bins = np.digitize(speed, np.quantile(speed, [0.2, 0.4, 0.6, 0.8]))
    groups = [residual[bins == b] for b in range(5)]
    for group in groups:
        # Each bin's mean is zero up to five standard errors of its own.
        assert abs(group.mean()) < 5 * group.std() / np.sqrt(len(group))
    spreads = [group.std() for group in groups]
    assert spreads == sorted(spreads)
    assert spreads[-1] > 3 * spreads[0]
    standard = residual / FactoryTruth.thickness_std(speed)
    assert stats.kstest(standard, "norm").pvalue > 1e-3  # one test at a fixed seed


def test_the_other_edges_act_in_2000_rows(made: FactoryTable) -> None:
    truth = made.truth
    complete = truth.complete.assign(
        machine=truth.complete["machine"].map({"M1": -0.06, "M2": 0.0, "M3": 0.02, "M4": 0.07}),
        measured_at=np.sin(2 * np.pi * np.arange(2000) / 2000),
    )
    for cause, effect in truth.graph.edges("mean"):
        x = complete[cause]
        if (cause, effect) == ("thickness", "defects"):
            x = (x - 2.0).abs()
        assert stats.spearmanr(x, complete[effect]).pvalue < 1e-8, (cause, effect)
    assert truth.graph.edges("variance") == [("line_speed", "thickness")]


def test_defects_have_their_mean(made: FactoryTable) -> None:
    complete = made.truth.complete
    mean = FactoryTruth.defects_mean(complete["thickness"], complete["pressure"])
    standard = (complete["defects"] - mean) / np.sqrt(mean)
    # Mean 0, variance 1: five standard errors, the variance's from the sample.
    assert abs(standard.mean()) < 5 / np.sqrt(2000)
    assert abs((standard**2).mean() - 1) < 5 * (standard**2).std() / np.sqrt(2000)


def test_seeds_and_sizes() -> None:
    first, again = (factory(np.random.default_rng(5), 100) for _ in range(2))
    pd.testing.assert_frame_equal(first.data, again.data)
    assert first.truth.outlier == again.truth.outlier
    assert not first.data.equals(factory(np.random.default_rng(6), 100).data)
    with pytest.raises(OptionError, match="n_samples as a whole number >= 20"):
        factory(np.random.default_rng(0), 5)
