"""Noise densities: standardised by quadrature, gains on shapes that need a tilt, and draws."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import kstest

from momentdag.engines.evidence.noise import (
    GAUSSIAN,
    STUDENT_GRID,
    NoiseDensity,
    Student,
    fit_tilt,
    student,
    student_log_likelihoods,
)

LOG_2 = np.log(2)
# e = sinh(t) on an even grid of t reaches far into heavy tails; trapezoid sums of smooth functions
# that vanish at both ends are accurate far beyond any tolerance here.
T = np.linspace(-14, 14, 60_001)
E = np.sinh(T)
WEIGHT = np.cosh(T) * (T[1] - T[0])


def standardised(sample: np.ndarray) -> np.ndarray:
    return (sample - sample.mean()) / sample.std()


def draw_shape(shape: str, rng: np.random.Generator, n: int) -> np.ndarray:
    match shape:
        case "uniform":
            sample = rng.uniform(size=n)
        case "bimodal":
            sample = rng.choice([-2.0, 2.0], n) + 0.7 * rng.normal(size=n)
        case "exponential":
            sample = rng.exponential(size=n)
        case "laplace":
            sample = rng.laplace(size=n)
        case "t3":
            sample = rng.standard_t(3, n)
        case "contaminated":
            sample = np.where(rng.random(n) < 0.03, 5.0, 0.0) + 0.3 * rng.normal(size=n)
        case "cauchy":
            sample = rng.standard_cauchy(n)
        case "one outlier":
            sample = np.append(0.01 * rng.normal(size=n - 1), 30.0)
        case _:
            raise ValueError(shape)
    return standardised(sample)


def likeliest_base(e: np.ndarray) -> Student:
    return max(map(student, STUDENT_GRID), key=lambda base: base.log_density(e * e).sum())


def moments(density: NoiseDensity) -> np.ndarray:
    """Integral, mean and variance about zero."""
    mass = np.exp(density.log_density(E)) * WEIGHT
    return np.array([mass.sum(), mass @ E, mass @ E**2])


SHAPES = ["uniform", "bimodal", "exponential", "laplace", "t3"]


@pytest.mark.parametrize("df", [*STUDENT_GRID, 2.5, 40.0])
def test_students_are_standardised(df: float) -> None:
    base = Student(df)
    mass = np.exp(base.log_density(E * E)) * WEIGHT
    # The variance of df = 2.5 beyond sinh(14) is about 1e-3, of df = 3 below 1e-5.
    tolerance = 2e-3 if df < 3 else 1e-5
    np.testing.assert_allclose(
        [mass.sum(), mass @ E, mass @ E**2], [1, 0, 1], rtol=tolerance, atol=1e-9
    )
    # A running sum ends half a step late: the error is one step's probability, some 5e-4.
    np.testing.assert_allclose(base.distribution(E[::500]), np.cumsum(mass)[::500], atol=5e-4)


@pytest.mark.parametrize("df", [12.0, 6.0, 4.0, 3.0, 2.5])
def test_weights_are_slopes_of_the_log_density(df: float) -> None:
    base, e, h = Student(df), np.array([-7.0, -0.4, 0.9, 2.5]), 1e-5
    slope = (base.log_density((e + h) ** 2) - base.log_density((e - h) ** 2)) / (2 * h)
    # A central difference: h² from curvature, 1e-16 / h from rounding.
    np.testing.assert_allclose(base.weights(e * e), -slope / e, rtol=1e-7)


@pytest.mark.parametrize("df", [12.0, 6.0, 4.0, 3.0])
def test_information_constants_are_expectations(df: float) -> None:
    base = Student(df)
    mass = np.exp(base.log_density(E * E)) * WEIGHT
    weights = base.weights(E * E)
    psi = E * weights
    # Bounded integrands: quadrature is exact to rounding.
    scale_information = mass @ (E * psi - 1) ** 2
    assert base.scale_information == pytest.approx(scale_information, rel=1e-8)
    assert base.curvature_ratio == pytest.approx(mass @ psi**2 / (mass @ weights), rel=1e-8)
    assert not base.is_normal


def test_normal_is_the_limit() -> None:
    assert GAUSSIAN.is_normal
    assert GAUSSIAN.scale_information == 2.0
    assert GAUSSIAN.curvature_ratio == 1.0
    e = np.array([0.0, 1.0, 3.0])
    # t(df) differs from the normal by terms of order e⁴ / df.
    near = Student(1e6)
    np.testing.assert_allclose(near.log_density(e * e), GAUSSIAN.log_density(e * e), atol=1e-4)
    assert near.scale_information == pytest.approx(2.0, abs=1e-5)


@pytest.mark.parametrize("n", [500, 1500])
@pytest.mark.parametrize("shape", SHAPES)
def test_tilted_densities_are_standardised(shape: str, n: int) -> None:
    e = draw_shape(shape, np.random.default_rng(n), n)
    for base in {GAUSSIAN, likeliest_base(e)}:
        gain, density = fit_tilt(base, e)
        assert gain >= -LOG_2
        # Integrals over a grid of steps of 1/15 in asinh(e): the tilt bends by some percent within
        # a cell, which moves its moments by some thousandths.
        np.testing.assert_allclose(moments(density), [1, 0, 1], atol=5e-3)


def test_a_tilted_heavy_base_has_variance_one() -> None:
    e = draw_shape("contaminated", np.random.default_rng(0), 1500)
    assert likeliest_base(e).df == 3.0
    _, density = fit_tilt(student(3.0), e)
    assert density.coefficients
    # As above.
    np.testing.assert_allclose(moments(density), [1, 0, 1], atol=5e-3)


@pytest.mark.parametrize("shape", ["one outlier", "cauchy"])
def test_extreme_shapes_are_fitted_too(shape: str) -> None:
    n = 1500
    for seed in range(10):
        e = draw_shape(shape, np.random.default_rng(seed), n)
        gain, density = fit_tilt(likeliest_base(e), e)
        # The tilt is rough here and so are sums on the grid; what diverged is off by far more:
        # an integral of 1.2 inflates the evidence by n log 1.2 = 270 nats.
        assert moments(density)[0] == pytest.approx(1.0, abs=0.1)
        # These gain about n nats; -log 2 says that the fit gave up.
        assert gain > 0.3 * n


@pytest.mark.parametrize(
    ("shape", "base", "least"),
    [
        ("uniform", GAUSSIAN, 20),
        ("bimodal", GAUSSIAN, 100),
        ("exponential", GAUSSIAN, 100),
        ("exponential", student(4.0), 80),
        ("laplace", GAUSSIAN, 5),
        ("t3", GAUSSIAN, 20),
    ],
)
def test_gains_are_clear_where_the_shape_is_not_the_base(
    shape: str, base: Student, least: float
) -> None:
    for seed in range(3):
        e = draw_shape(shape, np.random.default_rng(seed), 500)
        gain, density = fit_tilt(base, e)
        # About half of what these samples gain.
        assert gain > least
        assert density.coefficients
        likelihood_gain = float((density.log_density(e) - base.log_density(e * e)).sum())
        # A Bayes factor is the likelihood gain less what ten coefficients cost, at most half the
        # log of n and a little each; sums on a grid and exact ones differ by 1e-3 n.
        assert likelihood_gain - 40 < gain < likelihood_gain + 0.5


def test_gains_grow_with_the_sample() -> None:
    rng = np.random.default_rng(5)
    gains = [fit_tilt(GAUSSIAN, draw_shape("uniform", rng, n))[0] for n in (100, 500, 1500)]
    assert gains[0] < gains[1] / 2 < gains[2] / 4


@pytest.mark.parametrize("df", [np.inf, 6.0, 3.0])
def test_noise_of_the_base_costs_at_most_log_2(df: float) -> None:
    gains = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        e = standardised(rng.normal(size=500) if np.isinf(df) else rng.standard_t(df, 500))
        gain, density = fit_tilt(student(df), e)
        gains.append(gain)
        assert gain >= -LOG_2
        # Reported densities are standardised even when by chance a tilt wins.
        np.testing.assert_allclose(moments(density), [1, 0, 1], atol=0.03)
    # Standardised samples of t(3) are not t(3) samples: an outlier shrinks all others.
    assert np.median(gains) < 0.0
    assert max(gains) < (1.0 if df > 3 else 30.0)


def test_gain_ignores_the_sign_and_the_order_of_residuals() -> None:
    rng = np.random.default_rng(3)
    e = draw_shape("exponential", rng, 500)
    gain, density = fit_tilt(student(4.0), e)
    flipped_gain, flipped = fit_tilt(student(4.0), -e)
    # Convergence to a Newton decrement of 0.02 by mirrored paths; the rest is rounding.
    assert flipped_gain == pytest.approx(gain, abs=1e-6)
    np.testing.assert_allclose(flipped.log_density(-e), density.log_density(e), atol=1e-6)
    assert fit_tilt(student(4.0), rng.permutation(e))[0] == pytest.approx(gain, abs=1e-6)


@pytest.mark.parametrize("shape", [*SHAPES, "normal", "off centre"])
def test_draws_have_the_density(shape: str) -> None:
    rng = np.random.default_rng(7)
    density = NoiseDensity(GAUSSIAN)
    if shape == "t3":
        density = NoiseDensity(student(3.0))
    elif shape == "off centre":
        # The tilt of such a sample moves the mean, which must be taken out again.
        _, density = fit_tilt(GAUSSIAN, draw_shape("bimodal", rng, 1000) + 0.3)
        assert density.shift > 0.2
    elif shape != "normal":
        base = student(6.0) if shape == "exponential" else GAUSSIAN
        _, density = fit_tilt(base, draw_shape(shape, rng, 1000))
        assert density.coefficients
    mass = np.exp(density.log_density(E)) * WEIGHT
    distribution = (np.cumsum(mass) - 0.5 * mass) / mass.sum()
    draws = density.draw(rng, (50, 80))
    assert draws.shape == (50, 80)
    # 4000 draws: the statistic's 1 % critical value is .026, the grid's own error is about .001.
    assert kstest(draws.ravel(), lambda x: np.interp(x, E, distribution)).statistic < 0.026


def test_draws_are_reproducible() -> None:
    _, density = fit_tilt(GAUSSIAN, draw_shape("bimodal", np.random.default_rng(0), 500))
    first, second = (density.draw(np.random.default_rng(1), (7,)) for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_an_untilted_density_is_its_base() -> None:
    e = np.linspace(-3, 3, 7)
    base = student(4.0)
    np.testing.assert_array_equal(NoiseDensity(base).log_density(e), base.log_density(e * e))
    integral, _ = quad(lambda x: np.exp(NoiseDensity(base).log_density(np.array(x))), -np.inf, 1.0)
    # quad's own accuracy.
    assert float(base.distribution(np.array(1.0))) == pytest.approx(integral, abs=1e-7)


def test_likelihoods_of_the_grid_are_those_of_its_members():
    e2 = np.random.default_rng(5).standard_t(4, 300) ** 2
    one_by_one = [student(df).log_density(e2).sum() for df in STUDENT_GRID]
    np.testing.assert_allclose(student_log_likelihoods(e2), one_by_one, rtol=1e-12)
