"""Noise densities: standardised by quadrature, gains on shapes that need a tilt, and draws."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import kstest

from momentdag.engines.evidence.local.noise.density import NoiseDensity, fit_noise, fit_tilt
from momentdag.engines.evidence.local.noise.shapes import SHAPES, Shape, log_likelihoods, shape

NORMAL = shape(np.inf)
# e = sinh(t) on an even grid of t reaches far into heavy tails; trapezoid sums of smooth functions
# that vanish at both ends are accurate far beyond any tolerance here.
T = np.linspace(-14, 14, 60_001)
E = np.sinh(T)
WEIGHT = np.cosh(T) * (T[1] - T[0])


def standardised(sample: np.ndarray) -> np.ndarray:
    return (sample - sample.mean()) / sample.std()


def draw_kind(kind: str, rng: np.random.Generator, n: int) -> np.ndarray:
    match kind:
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
            raise ValueError(kind)
    return standardised(sample)


def likeliest_base(e: np.ndarray) -> Shape:
    return SHAPES[int(log_likelihoods(e).argmax())]


def moments(density: NoiseDensity) -> np.ndarray:
    """Integral, mean and variance about zero."""
    mass = np.exp(density.log_density(E)) * WEIGHT
    return np.array([mass.sum(), mass @ E, mass @ E**2])


KINDS = ["uniform", "bimodal", "exponential", "laplace", "t3"]


@pytest.mark.parametrize("n", [500, 1500])
@pytest.mark.parametrize("kind", KINDS)
def test_tilted_densities_are_standardised(kind: str, n: int) -> None:
    e = draw_kind(kind, np.random.default_rng(n), n)
    for base in (NORMAL, shape(6.0)):
        _, density = fit_tilt(base, e)
        # Integrals over a grid of steps of 1/15 in asinh(e): the tilt bends by some percent within
        # a cell, which moves its moments by some thousandths.
        np.testing.assert_allclose(moments(density), [1, 0, 1], atol=5e-3)


def test_a_tilted_heavy_base_has_variance_one() -> None:
    e = draw_kind("contaminated", np.random.default_rng(0), 1500)
    assert likeliest_base(e).tails.df == 3.0
    _, density = fit_tilt(shape(3.0), e)
    assert density.coefficients
    # As above.
    np.testing.assert_allclose(moments(density), [1, 0, 1], atol=5e-3)


@pytest.mark.parametrize("kind", ["one outlier", "cauchy"])
def test_extreme_shapes_are_fitted_too(kind: str) -> None:
    n = 1500
    for seed in range(10):
        e = draw_kind(kind, np.random.default_rng(seed), n)
        gain, density = fit_tilt(likeliest_base(e), e)
        # The tilt is rough here and so are sums on the grid; what diverged is off by far more:
        # an integral of 1.2 inflates the evidence by n log 1.2 = 270 nats.
        assert moments(density)[0] == pytest.approx(1.0, abs=0.1)
        # These gain about n nats; minus infinity says that the fit gave up.
        assert gain > 0.3 * n


@pytest.mark.parametrize(
    ("kind", "base", "least"),
    [
        ("uniform", NORMAL, 20),
        ("bimodal", NORMAL, 100),
        ("exponential", NORMAL, 100),
        ("exponential", shape(4.0), 80),
        ("laplace", NORMAL, 5),
        ("t3", NORMAL, 20),
    ],
)
def test_gains_are_clear_where_the_shape_is_not_the_base(
    kind: str, base: Shape, least: float
) -> None:
    for seed in range(3):
        e = draw_kind(kind, np.random.default_rng(seed), 500)
        gain, density = fit_tilt(base, e)
        # About half of what these samples gain.
        assert gain > least
        assert density.coefficients
        likelihood_gain = float((density.log_density(e) - base.log_density(e)).sum())
        # A Bayes factor is the likelihood gain less what ten coefficients cost, at most half the
        # log of n and a little each; sums on a grid and exact ones differ by 1e-3 n.
        assert likelihood_gain - 40 < gain < likelihood_gain + 0.5


def test_gains_grow_with_the_sample() -> None:
    rng = np.random.default_rng(5)
    gains = [fit_tilt(NORMAL, draw_kind("uniform", rng, n))[0] for n in (100, 500, 1500)]
    assert gains[0] < gains[1] / 2 < gains[2] / 4


@pytest.mark.parametrize("df", [np.inf, 6.0, 3.0])
def test_noise_of_the_base_does_not_want_a_tilt(df: float) -> None:
    gains = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        e = standardised(rng.normal(size=500) if np.isinf(df) else rng.standard_t(df, 500))
        gain, density = fit_tilt(shape(df), e)
        gains.append(gain)
        # Densities are standardised also when a tilt is idle, or wins by chance.
        np.testing.assert_allclose(moments(density), [1, 0, 1], atol=0.03)
    # Standardised samples of t(3) are not t(3) samples: an outlier shrinks all others.
    assert np.median(gains) < -5.0
    assert max(gains) < (1.0 if df > 3 else 30.0)


def test_evidence_averages_plain_and_tilted_shapes() -> None:
    for kind in KINDS:
        e = draw_kind(kind, np.random.default_rng(1), 500)
        values = log_likelihoods(e)
        tilted = [
            values[SHAPES.index(base)] + fit_tilt(base, e)[0] for base in (NORMAL, shape(6.0))
        ]
        expected = np.logaddexp(
            np.logaddexp.reduce(values) - np.log(len(values)),
            np.logaddexp.reduce(tilted) - np.log(len(tilted)),
        ) - np.log(2)
        evidence, density = fit_noise(e)
        # A tilt two nats below the best may be left out, which costs log(1 + e^-2) at most.
        assert expected - 0.13 < evidence < expected + 1e-9
        # What is returned is the likeliest, so its likelihood is not below that of any plain one.
        assert density.log_density(e).sum() > values.max() - 0.5


def test_what_explains_noise_is_found() -> None:
    for kind in ("exponential", "uniform", "bimodal"):
        _, density = fit_noise(draw_kind(kind, np.random.default_rng(2), 500))
        assert density.coefficients
    rng = np.random.default_rng(3)
    assert fit_noise(standardised(rng.normal(size=500)))[1] == NoiseDensity(NORMAL)
    _, skewed = fit_noise(shape(6.0, 0.6).quantile(rng.random(1000)))
    assert skewed.base.skew == 0.6
    assert not skewed.coefficients


def test_gain_ignores_the_sign_and_the_order_of_residuals() -> None:
    rng = np.random.default_rng(3)
    e = draw_kind("exponential", rng, 500)
    gain, density = fit_tilt(shape(4.0), e)
    flipped_gain, flipped = fit_tilt(shape(4.0), -e)
    # Convergence to a Newton decrement of 0.02 by mirrored paths; the rest is rounding.
    assert flipped_gain == pytest.approx(gain, abs=1e-6)
    np.testing.assert_allclose(flipped.log_density(-e), density.log_density(e), atol=1e-6)
    assert fit_tilt(shape(4.0), rng.permutation(e))[0] == pytest.approx(gain, abs=1e-6)


@pytest.mark.parametrize("kind", [*KINDS, "normal", "off centre"])
def test_draws_have_the_density(kind: str) -> None:
    rng = np.random.default_rng(7)
    density = NoiseDensity(NORMAL)
    if kind == "t3":
        density = NoiseDensity(shape(3.0))
    elif kind == "off centre":
        # The tilt of such a sample moves the mean, which must be taken out again.
        _, density = fit_tilt(NORMAL, draw_kind("bimodal", rng, 1000) + 0.3)
        assert density.shift > 0.2
    elif kind != "normal":
        base = shape(6.0) if kind == "exponential" else NORMAL
        _, density = fit_tilt(base, draw_kind(kind, rng, 1000))
        assert density.coefficients
    mass = np.exp(density.log_density(E)) * WEIGHT
    distribution = (np.cumsum(mass) - 0.5 * mass) / mass.sum()
    draws = density.draw(rng, (50, 80))
    assert draws.shape == (50, 80)
    # 4000 draws: the statistic's 1 % critical value is .026, the grid's own error is about .001.
    assert kstest(draws.ravel(), lambda x: np.interp(x, E, distribution)).statistic < 0.026


def test_draws_are_reproducible() -> None:
    _, density = fit_tilt(NORMAL, draw_kind("bimodal", np.random.default_rng(0), 500))
    first, second = (density.draw(np.random.default_rng(1), (7,)) for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_an_untilted_density_is_its_base() -> None:
    e = np.linspace(-3, 3, 7)
    base = shape(4.0)
    np.testing.assert_array_equal(NoiseDensity(base).log_density(e), base.log_density(e))
    integral, _ = quad(lambda x: np.exp(NoiseDensity(base).log_density(np.array(x))), -np.inf, 1.0)
    # quad's own accuracy.
    assert float(base.distribution(np.array(1.0))) == pytest.approx(integral, abs=1e-7)


@pytest.mark.parametrize("at", [-7e7, -1e3, 40.0, 1e149])
@pytest.mark.parametrize("df", [np.inf, 6.0])
def test_a_tilt_towards_where_the_base_has_no_mass_is_a_number_without_a_warning(df, at):
    """As residuals of a column that is mostly one value are, when its scale shrinks."""
    e = np.where(np.arange(150) < 112, at, np.random.default_rng(0).normal(size=150))
    gain, density = fit_tilt(shape(df), e)
    assert not np.isnan(gain)
    assert np.isfinite(density.log_density(np.linspace(-5, 5, 11))).all()
    assert np.isfinite(density.draw(np.random.default_rng(1), (20,))).all()
    assert np.isfinite(fit_noise(e)[0])


def test_a_residual_beyond_every_square_is_a_failed_score_and_no_warning():
    with pytest.raises(np.linalg.LinAlgError, match="squared"):
        fit_noise(np.array([0.0, 1e300, 1.0]))
