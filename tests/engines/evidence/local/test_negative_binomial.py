"""The score of a count, against numerical integration and known laws."""

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp
from scipy.stats import nbinom, poisson

from momentdag.engines.evidence.local import negative_binomial
from momentdag.engines.evidence.local.levels import LEVELS
from momentdag.engines.evidence.local.negative_binomial import (
    NegativeBinomialModel,
    draw_coefficients,
    log_masses,
)

N = 40


def basis(x):
    x = x - x.mean()
    functions = np.column_stack([np.full(len(x), len(x) ** -0.5), x / np.linalg.norm(x)])
    return functions, np.array([10.0 * len(x), float(len(x))])


def nothing(n):
    return np.full((n, 1), n**-0.5), np.array([10.0 * n])


def test_masses_are_those_of_the_law():
    y, mean, dispersion = np.arange(6.0), np.full(6, 2.5), np.full(6, 0.4)
    expected = nbinom.logpmf(y, 2.5, 2.5 / (2.5 + 2.5))
    np.testing.assert_allclose(log_masses(y, gammaln(y + 1), mean, dispersion), expected)
    nearly = log_masses(y, gammaln(y + 1), mean, np.full(6, 1e-5))
    np.testing.assert_allclose(nearly, poisson.logpmf(y, 2.5), atol=1e-3)


def test_without_parents_against_numerical_integration():
    y = np.random.default_rng(0).negative_binomial(2, 0.4, N).astype(float)
    model = NegativeBinomialModel(y, LEVELS)
    c = np.linspace(-2, 3, 301)
    d = np.linspace(-9, 5, 281)
    values = np.array(
        [[log_masses(y, gammaln(y + 1), np.exp(a), np.exp(b)).sum() for b in d] for a in c]
    )
    centre = np.log(y.mean())
    values += (-0.05 * (c - centre) ** 2 - 0.5 * np.log(2 * np.pi * 10))[:, None]
    values += -0.125 * (d + 1) ** 2 - 0.5 * np.log(2 * np.pi * 4)
    exact = logsumexp(values) + np.log((c[1] - c[0]) * (d[1] - d[0]))
    assert model.empty.log_evidence == pytest.approx(exact, abs=0.25)


def test_slopes_are_those_of_the_likelihood():
    rng = np.random.default_rng(1)
    x = rng.normal(size=N)
    y = rng.poisson(3, N).astype(float)
    model = NegativeBinomialModel(y, LEVELS)
    X = np.column_stack([np.ones(N), x])
    theta = np.array([0.9, 0.3, -0.5, 0.2])
    point = model._derivatives(X, X, theta)
    gradient = np.concatenate([point.slopes[0] @ X, point.slopes[1] @ X])

    def likelihood(at):
        return log_masses(y, gammaln(y + 1), *negative_binomial._moments(X, X, at)).sum()

    for k in range(4):
        step = np.zeros(4)
        step[k] = 1e-5
        slope = (likelihood(theta + step) - likelihood(theta - step)) / 2e-5
        assert gradient[k] == pytest.approx(slope, rel=1e-4)


def test_a_mean_and_a_dispersion_parent_are_told_apart():
    rng = np.random.default_rng(2)
    x, z = rng.normal(size=(2, 800))
    mean, dispersion = np.exp(1 + 0.6 * x), np.exp(-0.5 + 1.2 * z)
    y = rng.poisson(mean * rng.gamma(1 / dispersion, dispersion)).astype(float)
    model = NegativeBinomialModel(y, LEVELS)
    none, of_x, of_z = nothing(800), basis(x), basis(z)
    at = {
        "empty": model.fit(none, none),
        "mean": model.fit(of_x, none),
        "both": model.fit(of_x, of_z),
        "swapped": model.fit(of_z, of_x),
    }
    evidence = {name: fit.log_evidence for name, fit in at.items()}
    assert all(fit.converged for fit in at.values())
    assert evidence["both"] > evidence["mean"] + 10 > evidence["empty"] + 40
    assert evidence["swapped"] < evidence["mean"]
    assert model.screen_scale(at["mean"], *of_z) > 5
    assert model.screen_mean(at["empty"], *of_x) > 30


def test_draws_scatter_around_the_mode():
    rng = np.random.default_rng(4)
    x = rng.normal(size=200)
    y = rng.poisson(np.exp(1 + 0.5 * x)).astype(float)
    fit = NegativeBinomialModel(y, LEVELS).fit(basis(x), nothing(200))
    drawn = np.array([draw_coefficients(fit, rng).mean for _ in range(1500)])
    np.testing.assert_allclose(drawn.mean(axis=0), fit.mean, atol=0.15 * drawn.std(axis=0).max())
    covariance = np.linalg.inv(fit.factor @ fit.factor.T)
    np.testing.assert_allclose(drawn.std(axis=0), np.sqrt(np.diag(covariance)[:2]), rtol=0.1)
