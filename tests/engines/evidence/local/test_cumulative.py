"""The score of few ordered levels, against closed forms and numerical integration."""

import itertools

import numpy as np
import pytest
from scipy.special import expit, gammaln, logsumexp

from momentdag.engines.evidence.local.cumulative import (
    CumulativeModel,
    draw_coefficients,
)
from momentdag.engines.evidence.local.level_shares import Thresholds, log_cells
from momentdag.engines.evidence.local.levels import LEVELS, LevelTuning

N = 30
ONE = LevelTuning(mean_amplitudes=((4.0, 1.0),), scale_amplitudes=((0.4, 1.0),))
NOTHING = (np.full((N, 1), N**-0.5), np.array([10.0 * N]))


def basis(x):
    """Return a basis of the intercept and one function, centred and of unit length."""
    x = x - x.mean()
    functions = np.column_stack([np.full(len(x), len(x) ** -0.5), x / np.linalg.norm(x)])
    return functions, np.array([10.0 * len(x), float(len(x))])


@pytest.fixture
def x():
    return np.random.default_rng(0).normal(size=N)


@pytest.mark.parametrize("shares", [[0.5, 0.5], [0.9, 0.1], [0.2, 0.3, 0.1, 0.4]])
def test_without_parents_the_evidence_is_that_of_a_uniform_dirichlet_prior(shares):
    codes = np.repeat(np.arange(len(shares)), np.round(np.array(shares) * N).astype(int))
    counts = np.bincount(codes)
    exact = gammaln(len(shares)) + gammaln(counts + 1).sum() - gammaln(N + len(shares))
    fit = CumulativeModel(codes, LEVELS).fit(NOTHING, NOTHING)
    assert fit.log_evidence == pytest.approx(exact)
    np.testing.assert_allclose(
        np.diff(expit(fit.thresholds), prepend=0, append=1), shares, atol=0.1
    )


@pytest.mark.parametrize("slope", [0.0, 1.5])
def test_two_levels_against_numerical_integration(x, slope):
    rng = np.random.default_rng(1)
    codes = (rng.random(N) < expit(slope * x)).astype(int)
    functions, variances = basis(x)
    fit = CumulativeModel(codes, ONE).fit((functions, variances), NOTHING)
    t = np.linspace(-8, 8, 101)
    w = np.linspace(-60, 60, 161)
    values = np.array(
        [
            [log_cells(np.array([a]), functions[:, 1] * b, np.ones(N), codes).sum() for b in w]
            for a in t
        ]
    )
    values += np.log(expit(t) * expit(-t))[:, None]
    variance = 4.0 * variances[1]
    values += -0.5 * w**2 / variance - 0.5 * np.log(2 * np.pi * variance)
    exact = logsumexp(values) + np.log((t[1] - t[0]) * (w[1] - w[0]))
    assert fit.log_evidence == pytest.approx(exact, abs=0.1)
    assert fit.converged


def test_a_scale_function_against_numerical_integration(x):
    rng = np.random.default_rng(2)
    latent = np.exp(0.8 * x) * rng.logistic(size=N)
    codes = np.searchsorted([-1.0, 1.0], latent)
    functions, variances = basis(x)
    fit = CumulativeModel(codes, ONE).fit(NOTHING, (functions, variances))
    t = np.linspace(-6, 6, 41)
    u = np.linspace(-14, 14, 61)
    values = []
    for low, high in itertools.combinations(t, 2):
        thresholds = np.array([low, high])
        prior = np.log(2) + np.log(expit(thresholds) * expit(-thresholds)).sum()
        scales = np.exp(np.outer(u, functions[:, 1]))
        likelihood = [log_cells(thresholds, np.zeros(N), v, codes).sum() for v in scales]
        values.append(prior + np.array(likelihood))
    variance = 0.4 * variances[1]
    values = np.array(values) - 0.5 * u**2 / variance - 0.5 * np.log(2 * np.pi * variance)
    exact = logsumexp(values) + 2 * np.log(t[1] - t[0]) + np.log(u[1] - u[0])
    assert fit.log_evidence == pytest.approx(exact, abs=0.25)


def test_derivatives_are_those_of_the_likelihood(x):
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 4, N)
    model = CumulativeModel(codes, LEVELS)
    functions, variances = basis(x)
    design = model._design(functions[:, 1:], functions[:, 1:], variances[1:], variances[1:])
    theta = np.array([-1.0, 0.2, 0.9, 2.0, 1.0])
    gradient = model._derivatives(design, theta).gradient
    for k in range(len(theta)):
        step = np.zeros(len(theta))
        step[k] = 1e-5
        slope = model._likelihood(design, theta + step) - model._likelihood(design, theta - step)
        assert gradient[k] == pytest.approx(slope / 2e-5, rel=1e-4)


def test_the_information_is_the_expected_square_of_the_slopes(x):
    functions, variances = basis(x)
    theta = np.array([-0.8, 0.7, 3.0, 1.5])
    m, v = functions[:, 1] * theta[2], np.exp(functions[:, 1] * theta[3])
    expected = np.zeros((2, N))
    for level in range(3):
        # All rows at one level, but for one row of each of the others at the end, left out below.
        codes = np.full(N, level)
        codes[-3:] = [0, 1, 2]
        model = CumulativeModel(codes, LEVELS)
        design = model._design(functions[:, 1:], functions[:, 1:], variances[1:], variances[1:])
        point = model._derivatives(design, theta)
        scale_slope, scale_information = model._scale_slopes(design, theta)
        slopes = np.stack([point.slope, scale_slope])
        expected += np.exp(log_cells(theta[:2], m, v, codes)) * slopes**2
    informations = np.stack([point.row_information, scale_information])
    np.testing.assert_allclose(informations[:, :-3], expected[:, :-3], rtol=1e-8)


def test_cells_do_not_cancel_in_the_tails():
    t = np.array([-1.0, 1.0])
    found = log_cells(t, np.array([800.0, -800.0, 0.0]), np.ones(3), np.array([0, 2, 1]))
    np.testing.assert_allclose(found[:2], [-801, -801])
    assert found[2] == pytest.approx(np.log(expit(1.0) - expit(-1.0)))


def test_a_draw_scatters_around_the_mode(x):
    codes = (np.random.default_rng(5).random(N) < expit(2 * x)).astype(int)
    fit = CumulativeModel(codes, LEVELS).fit(basis(x), NOTHING)
    rng = np.random.default_rng(0)
    m = basis(x)[0][:, 1:] @ fit.mean
    thresholds = Thresholds.of(m, np.ones(N), np.bincount(codes))
    drawn = np.array([draw_coefficients(fit, thresholds, rng).mean[0] for _ in range(2000)])
    covariance = np.linalg.inv(fit.factor @ fit.factor.T)
    assert drawn.mean() == pytest.approx(fit.mean[0], abs=0.1 * drawn.std())
    assert drawn.std() == pytest.approx(np.sqrt(covariance[1, 1]), rel=0.1)


@pytest.mark.parametrize("n_levels", [2, 5])
def test_parents_that_matter_are_worth_it_and_others_are_not(n_levels):
    rng = np.random.default_rng(6)
    x, z = rng.normal(size=(2, 400))
    latent = 1.5 * x + rng.logistic(size=400)
    codes = np.searchsorted(np.quantile(latent, np.arange(1, n_levels) / n_levels), latent)
    model = CumulativeModel(codes, LEVELS)
    nothing = basis(np.arange(400.0))[0][:, :1], np.array([4000.0])
    empty, right, wrong = (
        model.fit(parents, nothing).log_evidence for parents in (nothing, basis(x), basis(z))
    )
    assert right > empty + 30
    assert empty - 8 < wrong < empty - 1
    gains = [model.screen_mean(model.empty, *basis(column)) for column in (x, z)]
    assert gains[0] > 30
    assert gains[1] < 1
