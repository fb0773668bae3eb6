import numpy as np
import pytest
from scipy import stats

from momentdag.simulate.causes import Causes, ParentFunction
from momentdag.simulate.conditionals import (
    Conditional,
    LocationScale,
    Mixture,
    Multiplicative,
    PostNonlinear,
    Root,
    SkewNoise,
    Standardised,
)
from momentdag.simulate.options import FloatArray
from momentdag.simulate.random_functions import MonotoneFunction
from momentdag.simulate.smooth import Marginal

N = 40_000
SETTINGS = (-1.0, 0.0, 1.0)


def function(seed: int, spread: float = 1.0) -> ParentFunction:
    """Return a function of the first of two columns."""
    rng = np.random.default_rng(seed)
    values = rng.standard_normal((500, 2))
    return Causes(values, ["continuous"] * 2).draw(rng, [0], spread)


BASE = LocationScale(function(0), function(1, 0.6), 0.5)
CONDITIONALS = {
    "location-scale": BASE,
    "skew": SkewNoise(BASE, function(2, 1.5), 0.6),
    "post-nonlinear": PostNonlinear(
        function(3, 0.8), 0.6, MonotoneFunction.draw(np.random.default_rng(4), 0.5)
    ),
    "multiplicative": Multiplicative(function(5).plus(0.5), 0.5, 0.3),
    "weights": Mixture(function(6, 0.7), function(7), 0.4, moves_weights=True),
    "modes": Mixture(function(6, 0.7), function(7), 0.4, moves_weights=False),
    "standardised": Standardised(BASE, 0.5, 2.0),
}


def outcomes(conditional: Conditional, setting: float) -> tuple[FloatArray, float, float]:
    """Return draws at one value of the cause, and the mean and sd that are declared there."""
    values = np.full((N, 2), setting)
    noise = np.random.default_rng(8).standard_normal((N, 3))
    moments = conditional.moments(values[:1])
    assert moments is not None
    return conditional.evaluate(values, noise), float(moments[0][0]), float(moments[1][0])


@pytest.mark.parametrize("name", list(CONDITIONALS))
def test_declared_moments_are_those_of_many_draws(name: str) -> None:
    for setting in SETTINGS:
        drawn, mean, std = outcomes(CONDITIONALS[name], setting)
        # 5 standard errors of a mean of 40 000; the sd of skewed draws is known to 4 % or so.
        assert drawn.mean() == pytest.approx(mean, abs=5 * std / np.sqrt(N))
        assert drawn.std() == pytest.approx(std, rel=0.04)


@pytest.mark.parametrize("name", list(CONDITIONALS))
def test_only_the_shape_of_what_the_model_assumes_is_the_same_everywhere(name: str) -> None:
    shapes = []
    for setting in SETTINGS:
        drawn, mean, std = outcomes(CONDITIONALS[name], setting)
        shapes.append((drawn - mean) / std)
    distances = [stats.ks_2samp(shapes[0], shape).statistic for shape in shapes[1:]]
    if name in ("location-scale", "standardised"):
        assert max(distances) < 1e-3  # the same noise was drawn
    else:
        assert max(distances) > 0.03


def test_the_skewness_is_that_of_the_formula_and_passes_through_zero() -> None:
    skew = SkewNoise(BASE, function(2, 1.5), 0.6)
    for setting in SETTINGS:
        drawn, _, _ = outcomes(skew, setting)
        a = float(skew.skewness_parameter(np.full((1, 2), setting))[0])
        w = np.exp(a**2)
        expected = np.sign(a) * (w + 2) * np.sqrt(w - 1)
        assert stats.skew(drawn) == pytest.approx(expected, abs=0.35)
    plain = SkewNoise(BASE, ParentFunction.fixed(0.0), 0.6)
    assert np.allclose(outcomes(plain, 0.5)[0], outcomes(BASE, 0.5)[0])


def test_a_root_stays_finite_for_the_most_extreme_noise() -> None:
    for form in ("normal", "uniform", "mixture", "skew"):
        drawn = Root(Marginal(form)).evaluate(np.zeros((2, 1)), np.array([[40.0] * 3, [-40.0] * 3]))
        assert np.isfinite(drawn).all()
