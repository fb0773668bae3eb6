import numpy as np
import pytest
from scipy import stats

from momentdag.errors import OptionError
from momentdag.simulate.mechanisms import Constant, Linear, SigmoidNetwork, signed_uniform


def test_signed_uniform_is_uniform_on_both_sides() -> None:
    draws = signed_uniform(np.random.default_rng(0), 0.5, 2.0, (20_000,))
    # Fixed seed; a right sampler falls below the bound for one seed in a thousand.
    assert stats.kstest(np.abs(draws), stats.uniform(0.5, 1.5).cdf).pvalue > 1e-3
    # sd of the share of positives is 0.0035; four of them.
    assert abs((draws > 0).mean() - 0.5) < 0.014


def test_network_has_100_sigmoid_units_with_weights_in_range() -> None:
    network = SigmoidNetwork.draw(np.random.default_rng(0), n_parents=3)
    assert network.hidden_weights.shape == (3, 100)
    assert network.output_weights.shape == (100,)
    for weights in (network.hidden_weights, network.output_weights):
        assert np.all((np.abs(weights) >= 0.5) & (np.abs(weights) <= 2.0))
        assert (weights > 0).any()
        assert (weights < 0).any()


def test_network_is_the_published_formula() -> None:
    network = SigmoidNetwork.draw(np.random.default_rng(1), n_parents=2)
    x = np.array([0.3, -1.2])
    by_hand = sum(
        network.output_weights[h]
        / (1 + np.exp(-(x[0] * network.hidden_weights[0, h] + x[1] * network.hidden_weights[1, h])))
        for h in range(100)
    )
    # 100 terms of size one, summed in another order.
    assert network(x[None])[0] == pytest.approx(by_hand, abs=1e-12)


def test_standardising_is_an_affine_map_that_later_rows_share() -> None:
    rng = np.random.default_rng(2)
    raw = SigmoidNetwork.draw(rng, n_parents=2)
    rows, later = rng.standard_normal((300, 2)), rng.standard_normal((5, 2))
    scaled = raw.standardised_over(rows, spread=0.8)
    # Rounding of sums of 300 numbers of size ten.
    assert scaled(rows).mean() == pytest.approx(0.0, abs=1e-12)
    assert scaled(rows).std() == pytest.approx(0.8, rel=1e-12)
    expected = 0.8 * (raw(later) - raw(rows).mean()) / raw(rows).std()
    np.testing.assert_allclose(scaled(later), expected, rtol=1e-10)
    again = scaled.standardised_over(rows, spread=0.8)
    np.testing.assert_allclose(again(later), scaled(later), rtol=1e-10)


def test_standardising_refuses_a_constant() -> None:
    network = SigmoidNetwork.draw(np.random.default_rng(0), n_parents=1)
    with pytest.raises(OptionError, match="constant"):
        network.standardised_over(np.ones((10, 1)), spread=1.0)


def test_linear_weights_and_values() -> None:
    linear = Linear.draw(np.random.default_rng(0), n_parents=1000)
    size = np.abs(linear.weights)
    # 0.5 + 0.8 U fills its range: with 1000 draws each end is missed by more than 0.02 with
    # probability (1 - 0.025)^1000 < 1e-10.
    assert 0.5 <= size.min() < 0.52
    assert 1.28 < size.max() <= 1.3
    assert Linear(np.array([2.0, -3.0]))(np.array([[1.0, 1.0], [0.0, 1.0]])).tolist() == [-1, -3]


def test_constant_needs_no_parents() -> None:
    assert Constant(1.5)(np.zeros((3, 0))).tolist() == [1.5] * 3
