import numpy as np
import pytest
from scipy import stats

from momentdag.simulate.causes import LevelEffect, ParentFunction
from momentdag.simulate.options import FloatArray
from momentdag.simulate.responses import Binary, Category, Count, LocationScale, Ordered, Response
from momentdag.simulate.smooth import Noise

N = 200_000


def by_level(low: float, high: float) -> ParentFunction:
    """Return a function that is ``low`` where column 0 is 0, and ``high`` where it is 1."""
    effect = LevelEffect(0, np.array([low, high]))
    return ParentFunction((effect,), np.ones(1), np.zeros((1, 1)))


NORMAL = Noise("gaussian")
THRESHOLDS = np.array([-1.0, 0.0, 0.5, 2.0])
RESPONSES: dict[str, Response] = {
    "continuous": LocationScale(by_level(-1, 2), by_level(0.5, -0.5), Noise("laplace")),
    "ordered": Ordered(by_level(-1, 1), by_level(0.5, -0.5), NORMAL, THRESHOLDS),
    "poisson": Count(by_level(0.5, 2), None),
    "negative binomial": Count(by_level(0.5, 2), by_level(-1, 0.5)),
    "binary": Binary(by_level(-1, 2)),
}


@pytest.mark.parametrize("name", RESPONSES)
@pytest.mark.parametrize("level", [0.0, 1.0])
def test_draws_have_the_stated_moments(name: str, level: float) -> None:
    values = np.full((N, 1), level)
    drawn = RESPONSES[name].evaluate(values, np.random.default_rng(0).random(N))
    mean, std = RESPONSES[name].moments(values[:1])
    # Five Monte Carlo standard errors; that of the variance from the sample itself.
    assert abs(drawn.mean() - mean[0]) < 5 * std[0] / np.sqrt(N)
    squares = (drawn - mean[0]) ** 2
    assert abs(squares.mean() - std[0] ** 2) < 5 * squares.std() / np.sqrt(N)


def test_moments_by_hand() -> None:
    one = np.array([[1.0]])
    mean, std = RESPONSES["negative binomial"].moments(one)
    alpha = 1 / (np.exp(-0.5) + 0.25)
    assert mean[0] == pytest.approx(np.exp(2))
    assert std[0] ** 2 == pytest.approx(np.exp(2) + alpha * np.exp(4))
    assert RESPONSES["poisson"].moments(one)[1][0] ** 2 == pytest.approx(np.exp(2))
    assert RESPONSES["binary"].moments(one)[0][0] == pytest.approx(1 / (1 + np.exp(-2)))


def shares(drawn: FloatArray, levels: list[int]) -> FloatArray:
    return np.array([(drawn == level).mean() for level in levels])


def test_ordered_levels_have_the_probabilities_of_the_header() -> None:
    response = RESPONSES["ordered"]
    assert isinstance(response, Ordered)
    values = np.ones((N, 1))
    below = stats.norm.cdf((THRESHOLDS - 1) / np.exp(-0.5))
    expected = np.diff([0.0, *below, 1.0])
    np.testing.assert_allclose(response.probabilities(values[:1])[0], expected)
    drawn = response.evaluate(values, np.random.default_rng(1).random(N))
    # Five binomial standard errors at most.
    assert np.abs(shares(drawn, [1, 2, 3, 4, 5]) - expected).max() < 5 * 0.5 / np.sqrt(N)


def test_category_is_a_softmax() -> None:
    contrasts = np.array([[1.0, 1.0], [-1.0, 1.0], [0.0, -2.0]]) / np.sqrt([2.0, 6.0])
    intercepts = np.array([0.1, -0.2, 0.3])
    response = Category((by_level(0, 1.5), by_level(0, -0.7)), contrasts, intercepts)
    values = np.ones((N, 1))
    scores = intercepts + contrasts @ np.array([1.5, -0.7])
    expected = np.exp(scores) / np.exp(scores).sum()
    np.testing.assert_allclose(response.probabilities(values[:1])[0], expected)
    drawn = response.evaluate(values, np.random.default_rng(2).random(N))
    assert np.abs(shares(drawn, [0, 1, 2]) - expected).max() < 5 * 0.5 / np.sqrt(N)
    assert np.isnan(response.moments(values)).all()
