import warnings

import numpy as np
import pytest
from scipy import stats
from scipy.special import logsumexp

from momentdag.screening.leave_one_out import NoiseLogDensity, smoothed_scores


class Noise:
    """A mechanism of which only the distribution of the noise is asked."""

    def __init__(self, law):
        self.noise_cdf = law.cdf


@pytest.mark.parametrize(
    "law", [stats.norm(), stats.t(3, scale=3**-0.5), stats.laplace(0, 2**-0.5)]
)
def test_the_density_is_the_derivative_of_the_distribution(law):
    at = np.linspace(-5, 5, 41)
    # Cells are at most 1 % wide here; the kink of Laplace's density at 0 costs most.
    np.testing.assert_allclose(NoiseLogDensity(Noise(law))(at), law.logpdf(at), atol=0.02)


def test_far_out_the_density_goes_on_falling():
    log_density = NoiseLogDensity(Noise(stats.norm()))(np.array([6.0, 20.0, 40.0]))
    assert np.isfinite(log_density).all()
    assert (np.diff(log_density) < -20).all()


def test_smoothing_agrees_with_arviz():
    with warnings.catch_warnings():
        # Its own notice of coming changes, on import.
        warnings.simplefilter("ignore", FutureWarning)
        arviz = pytest.importorskip("arviz")
    rng = np.random.default_rng(0)
    log_density = rng.normal(size=(400, 30)) * np.linspace(0.1, 2.5, 30)
    scores = smoothed_scores(log_density)
    log_weights, shape = arviz.psislw(-log_density.T.copy())
    expected = logsumexp(np.asarray(log_weights).T + log_density, axis=0)
    # The same arithmetic in another order.
    np.testing.assert_allclose(scores.score, expected, atol=1e-10)
    np.testing.assert_allclose(scores.shape, shape, atol=1e-10)


def test_leaving_out_a_row_of_a_conjugate_model():
    rng = np.random.default_rng(0)
    x = rng.normal(1.0, 1.0, 30)
    draws = rng.normal(x.mean(), 30**-0.5, 4000)  # flat prior, known variance
    scores = smoothed_scores(stats.norm.logpdf(x, draws[:, None]))
    rest = (x.sum() - x) / 29
    expected = stats.norm.logpdf(x, rest, np.sqrt(1 + 1 / 29))
    # 4000 draws of a well-behaved integrand.
    np.testing.assert_allclose(scores.score, expected, atol=0.02)
    assert scores.shape.max() < 0.7


def test_point_estimates_leave_nothing_to_weigh():
    log_density = np.tile([[-1.0, -2.0]], (200, 1))
    scores = smoothed_scores(log_density)
    np.testing.assert_allclose(scores.score, [-1.0, -2.0])
    assert np.isneginf(scores.shape).all()
