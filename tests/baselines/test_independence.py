import numpy as np
import pytest

from momentdag.baselines.independence import centred_gram, hsic_p_value


def p_value(first, second):
    return hsic_p_value(centred_gram(first), centred_gram(second))


def test_gram_is_that_of_the_definition():
    values = np.array([0.0, 1.0, 3.0, 7.0])
    squares = (values[:, None] - values) ** 2
    gram = np.exp(-squares / np.median(squares[np.triu_indices(4, 1)]))
    centring = np.eye(4) - 0.25
    # Rounding alone.
    np.testing.assert_allclose(centred_gram(values), centring @ gram @ centring, atol=1e-14)


def test_level_holds_under_independence():
    rng = np.random.default_rng(0)
    p_values = np.array([p_value(*rng.normal(size=(2, 100))) for _ in range(400)])
    # Standard error of a rate of 0.05 over 400 tests: 0.011; the gamma null is itself rough.
    assert 0.02 < (p_values < 0.05).mean() < 0.09
    assert p_values.mean() == pytest.approx(0.5, abs=0.06)


@pytest.mark.parametrize("bend", [np.sin, np.square, np.exp])
def test_dependence_of_mean_or_spread_is_found(bend):
    rng = np.random.default_rng(0)
    x, noise = rng.normal(size=(2, 300))
    assert p_value(x, bend(x) + 0.5 * noise) < 1e-6
    assert p_value(x, np.exp(x) * noise) < 1e-3


def test_a_constant_does_not_divide_by_zero():
    assert np.isfinite(centred_gram(np.ones(5))).all()
