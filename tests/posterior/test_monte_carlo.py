import numpy as np
import pytest

from momentdag.posterior.monte_carlo import (
    chain_rows,
    effective_sample_size,
    mixing,
    split_r_hat,
    standard_error,
)


def switching(rng, n_draws, n_series, stay):
    """Draw stationary series of 0 and 1 that keep their value with probability ``stay``.

    Their autocorrelation at lag t is (2 * stay - 1) ** t.
    """
    flips = rng.random((n_draws, n_series)) > stay
    flips[0] = rng.random(n_series) < 0.5
    return np.cumsum(flips, axis=0) % 2 == 1


def test_r_hat_by_hand():
    # Halves 0 1 1 and 1 1 1: means 2/3 and 1, variances 1/3 and 0, so W = 1/6, B / n = 1/18,
    # and (2/3 * 1/6 + 1/18) / (1/6) = 1.
    assert split_r_hat([0, 1, 1, 1, 1, 1]) == pytest.approx(1.0)
    # Halves 0 1 and 0 1 of two chains, 1 1 and 0 1: means .5 .5 1 .5, W = 3/8, B / n = 1/16.
    series = [0, 1, 0, 1, 1, 1, 0, 1]
    chains = np.repeat([0, 1], 4)
    assert split_r_hat(series, chains) == pytest.approx(np.sqrt((3 / 16 + 1 / 16) / (3 / 8)))


def test_r_hat_of_halves_of_different_length_by_hand():
    # Halves 0 1 0 and 1 1 (means 1/3, 1; sums of squares 2/3, 0): W = (2/3) / 3 = 2/9, the grand
    # mean is 3/5, B = 3 (4/15)^2 + 2 (2/5)^2 = 8/15, divided by the typical length 2.5: 16/75.
    expected = np.sqrt((2 / 9 * 1.5 / 2.5 + 16 / 75) / (2 / 9))
    assert split_r_hat([0, 1, 0, 1, 1]) == pytest.approx(expected)


def test_series_that_do_not_move():
    chains = np.repeat([0, 1], 50)
    series = np.zeros((100, 3), dtype=bool)
    series[:, 1] = True
    series[50:, 2] = True
    np.testing.assert_array_equal(split_r_hat(series, chains), [1, 1, np.inf])
    ess = effective_sample_size(series, chains)
    np.testing.assert_array_equal(ess[:2], [100, 100])
    # Two chains that never move are worth about two draws.
    assert 1 < ess[2] < 4


@pytest.mark.parametrize("stay", [0.5, 0.75, 0.9, 0.95])
def test_ess_of_switching_series(stay):
    rng = np.random.default_rng(0)
    rho = 2 * stay - 1
    series = np.vstack([switching(rng, 2500, 40, stay) for _ in range(4)])
    ess = effective_sample_size(series, np.repeat(np.arange(4), 2500))
    # Geyer's estimate scatters by some 10 % for one series of this length, by 2 % for the mean of
    # 40; its cut-off biases it down by a few per cent.
    assert np.mean(ess) == pytest.approx(10_000 * (1 - rho) / (1 + rho), rel=0.08)


def test_ess_of_a_gaussian_autoregression():
    rng = np.random.default_rng(1)
    series = rng.normal(size=(4000, 30))
    for t in range(1, 4000):
        series[t] = 0.8 * series[t - 1] + 0.6 * series[t]
    # As above: exact value n (1 - 0.8) / (1 + 0.8), mean over 30 series.
    assert np.mean(effective_sample_size(series)) == pytest.approx(4000 / 9, rel=0.1)


def test_ess_never_exceeds_the_number_of_draws():
    alternating = np.arange(200) % 2
    assert effective_sample_size(alternating) == 200


def test_ess_notices_chains_in_different_places():
    rng = np.random.default_rng(2)
    series = np.concatenate([rng.random(500) < p for p in (0.1, 0.9)])
    chains = np.repeat([0, 1], 500)
    assert effective_sample_size(series, chains) < 20
    # Seen one by one the chains consist of independent draws.
    assert mixing(series[:, None], chains).within_time[0] < 1.3
    assert split_r_hat(series, chains) > 1.5


def test_r_hat_is_close_to_one_for_well_mixed_chains():
    rng = np.random.default_rng(3)
    series = rng.random((2000, 200)) < rng.random(200)
    # R-hat^2 - 1 is about (F - 1) / 250 with F of mean 1 and rarely above 4.
    assert np.max(split_r_hat(series, np.repeat(np.arange(4), 500))) < 1.02


def test_many_series_in_blocks_agree_with_one_by_one(monkeypatch):
    rng = np.random.default_rng(4)
    series = switching(rng, 101, 7, 0.8)
    chains = np.array([0] * 30 + [1] * 71)
    one_by_one = [effective_sample_size(series[:, k], chains) for k in range(7)]
    np.testing.assert_allclose(effective_sample_size(series, chains), one_by_one, rtol=1e-12)
    monkeypatch.setattr("momentdag.posterior.monte_carlo._BLOCK", 150)
    np.testing.assert_allclose(effective_sample_size(series, chains), one_by_one, rtol=1e-12)


def test_chains_need_not_be_contiguous():
    rng = np.random.default_rng(5)
    series = switching(rng, 400, 3, 0.9)
    chains = np.repeat([0, 1], 200)
    mixed = np.argsort(np.tile(np.arange(200), 2), kind="stable")
    for measure in (split_r_hat, effective_sample_size, standard_error):
        np.testing.assert_allclose(
            measure(series[mixed], chains[mixed]), measure(series, chains), rtol=1e-12
        )


def test_too_short_chains_count_as_independent():
    assert np.isnan(split_r_hat([0, 1, 1]))
    assert effective_sample_size([0, 1, 1]) == 3
    assert [rows.tolist() for rows in chain_rows(6, np.array([0, 0, 1, 1, 1, 1]))] == [[2, 3, 4, 5]]


def test_standard_error_matches_the_scatter_of_the_mean():
    rng = np.random.default_rng(6)
    series = switching(rng, 1000, 600, 0.85)
    scatter = series.mean(axis=0).std()
    # The scatter of 600 means is known to 3 %, the mean of the estimated errors to about as much;
    # taken for independent draws the error would be 2.4 times too small.
    assert np.mean(standard_error(series)) == pytest.approx(scatter, rel=0.12)


def test_standard_error_by_hand():
    # Alternating draws have the largest possible ESS; one half stays one half when smoothed.
    assert standard_error(np.arange(100) % 2) == pytest.approx(np.sqrt(0.25 / 100))
    assert standard_error(np.ones(9)) == pytest.approx(np.sqrt(0.95 * 0.05 / 9))
