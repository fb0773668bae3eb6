import numpy as np
import pandas as pd
import pytest

from momentdag.errors import DataError, GraphError, OptionError
from momentdag.metrics import brier_score, expected_calibration_error, reliability_table

NAMES = ["a", "b", "c"]
TRUTH = pd.DataFrame([[0, 1, 1], [0, 0, 0], [0, 0, 0]], index=NAMES, columns=NAMES)
PROBABILITIES = pd.DataFrame(
    [[9.0, 0.9, 0.75], [0.25, 9.0, 0.0], [0.0, 0.1, 9.0]], index=NAMES, columns=NAMES
)  # the diagonal must not be looked at


def test_brier_score_by_hand():
    expected = (0.1**2 + 0.25**2 + 0.25**2 + 0.1**2) / 6
    # The same sum in another order.
    assert brier_score(PROBABILITIES, TRUTH) == pytest.approx(expected, abs=1e-12)


def test_calibration_error_by_hand():
    # Two bins: {0, 0, .1, .25} with frequency 0, {.75, .9} with frequency 1.
    expected = 4 / 6 * (0.35 / 4) + 2 / 6 * (1 - 0.825)
    found = expected_calibration_error(PROBABILITIES, TRUTH, n_bins=2)
    # The same sum in another order.
    assert found == pytest.approx(expected, abs=1e-12)


def test_table_lists_every_bin_and_counts_every_pair_once():
    table = reliability_table([0.0, 0.25, 0.3, 1.0], [0, 1, 0, 1], n_bins=4)
    assert list(table.columns) == ["bin_low", "bin_high", "n", "mean_probability", "frequency"]
    assert table["n"].tolist() == [1, 2, 0, 1]  # 0.25 opens the second bin, 1.0 is in the last
    assert table["bin_low"].tolist() == [0.0, 0.25, 0.5, 0.75]
    assert table["frequency"].fillna(-1).tolist() == [0.0, 0.5, -1, 1.0]
    assert table["mean_probability"][1] == 0.275
    assert np.isnan(table["mean_probability"][2])


def test_borders_of_ten_bins_belong_to_the_bin_they_open():
    # As edge probabilities arise: k of 2000 draws. 600 / 2000 is 0.3, which some ways of cutting
    # the unit interval put a last bit below the border.
    shares = np.arange(0, 2000, 200) / 2000
    table = reliability_table(shares, np.zeros(10))
    assert table["n"].tolist() == [1] * 10
    assert table["bin_low"].tolist() == shares.tolist()


def test_calibrated_probabilities_have_little_error_and_shifted_ones_have_more():
    rng = np.random.default_rng(0)
    p = rng.uniform(0.0, 0.8, 20000)
    truth = rng.random(20000) < p
    # 2500 pairs in a bin: the frequency has sd at most 0.01, the mean over bins less.
    assert expected_calibration_error(p, truth) < 0.015
    assert expected_calibration_error(p + 0.2, truth) == pytest.approx(0.2, abs=0.015)


def test_labels_are_matched_by_name():
    shuffled = PROBABILITIES.loc[["b", "c", "a"], ["c", "a", "b"]]
    # The same sum in another order.
    assert brier_score(shuffled, TRUTH) == pytest.approx(
        brier_score(PROBABILITIES, TRUTH), abs=1e-12
    )
    with pytest.raises(GraphError, match="not shared"):
        brier_score(PROBABILITIES, TRUTH.rename(index={"a": "x"}, columns={"a": "x"}))


@pytest.mark.parametrize("bad", [[0.5, 1.2], [-0.1, 0.5]])
def test_numbers_that_are_no_probabilities_are_refused(bad):
    for metric in (brier_score, expected_calibration_error, reliability_table):
        with pytest.raises(DataError, match="between 0 and 1"):
            metric(bad, [0, 1])


@pytest.mark.parametrize("n_bins", [0, -1, 2.0, True, "10"])
def test_bins_must_be_a_positive_whole_number(n_bins):
    with pytest.raises(OptionError, match="n_bins"):
        reliability_table([0.5], [1], n_bins=n_bins)
