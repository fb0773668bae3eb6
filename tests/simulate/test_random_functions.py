import numpy as np
import pytest

from momentdag.simulate.random_functions import FourierFunction, MonotoneFunction


def test_draws_have_the_kernel_of_the_process() -> None:
    """Over many draws, covariances are exp(-|x - y|² / (2 scale²)) with a scale for each input."""
    rng = np.random.default_rng(0)
    inputs = np.array([[0.0, 0.0], [0.5, 0.0], [0.0, 2.0], [0.5, 2.0]])
    draws = np.array([FourierFunction.draw(rng, [0.5, 4.0])(inputs) for _ in range(2000)])
    gaps = (inputs[:, None] - inputs) / [0.5, 4.0]
    kernel = np.exp(-0.5 * (gaps**2).sum(axis=2))
    # The sd of a sample covariance of 2000 pairs is at most sqrt(2 / 2000) = 0.032.
    assert np.abs(np.cov(draws.T) - kernel).max() < 0.13


def test_long_tables_are_evaluated_in_blocks_and_give_the_same() -> None:
    function = FourierFunction.draw(np.random.default_rng(1), [1.0])
    inputs = np.linspace(-3, 3, 25_000)[:, None]
    assert np.allclose(function(inputs)[::1000], function(inputs[::1000]))


@pytest.mark.parametrize("scale", [0.2, 1.0])
def test_a_monotone_function_rises_everywhere_and_is_standardised(scale: float) -> None:
    function = MonotoneFunction.draw(np.random.default_rng(2), scale)
    heights = function(np.linspace(-20.0, 20.0, 4001))
    assert (np.diff(heights) > 0).all()
    drawn = function(np.random.default_rng(3).standard_normal(100_000))
    # Heavy tails: the sd of 100 000 draws is known to a few percent only.
    assert drawn.mean() == pytest.approx(0.0, abs=0.03)
    assert drawn.std() == pytest.approx(1.0, abs=0.1)


def test_beyond_its_knots_a_monotone_function_is_straight() -> None:
    function = MonotoneFunction.draw(np.random.default_rng(4), 0.5)
    for outside in (np.array([-9.0, -8.0, -7.0]), np.array([7.0, 8.0, 9.0])):
        first, second, third = function(outside)
        assert third - second == pytest.approx(second - first)
