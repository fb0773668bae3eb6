"""The scale half: where Fisher scoring ends, and what amplitudes are worth."""

import numpy as np
import pytest
from scipy.optimize import minimize

from momentdag.engines.evidence.local.noise.student import GAUSSIAN, student
from momentdag.engines.evidence.local.scale import ScalePrior, move_log_std, scale_evidence
from momentdag.engines.evidence.local.tuning import TUNING


@pytest.fixture
def problem():
    rng = np.random.default_rng(1)
    n = 400
    x = rng.uniform(-1, 1, n)
    raw = np.column_stack([np.ones(n), x, x**2 - (x**2).mean()])
    P, _ = np.linalg.qr(raw)
    variances = n * np.array([[1.0, 0.3, 0.1], [1.0, 1.2, 0.4]])
    second = np.exp(2 * (0.2 + 0.8 * x)) * rng.standard_normal(n) ** 2
    return np.ascontiguousarray(P), ScalePrior.of(variances, np.log([0.5, 0.5])), second


def settled(P, prior, second, base, amplitude):
    log_std = np.zeros(len(second))
    for _ in range(60):
        log_std = move_log_std(P, prior, log_std, second, base, amplitude, TUNING).log_std
    return log_std


def settled_evidence(P, prior, second):
    log_std = settled(P, prior, second, GAUSSIAN, 0)
    projection = move_log_std(P, prior, log_std, second, GAUSSIAN, 0, TUNING).projection
    return scale_evidence(P, prior, log_std, projection)[0]


def test_scoring_ends_at_the_mode(problem):
    P, prior, second = problem
    log_std = settled(P, prior, second, GAUSSIAN, 0)

    def loss(u):
        eta = P @ u
        return float(
            eta.sum()
            + 0.5 * (second * np.exp(-2 * eta)).sum()
            + 0.5 * (u * u / prior.variances[0]).sum()
        )

    best = minimize(loss, P.T @ log_std, tol=1e-12)
    # Outlying squares are bounded in the step, which this sample hardly has.
    np.testing.assert_allclose(P @ best.x, log_std, atol=0.05)


def test_working_evidence_is_that_of_the_working_model(problem):
    P, prior, _ = problem
    z = np.random.default_rng(2).standard_normal(len(P))
    dense = []
    for variances, share in zip(prior.variances, prior.log_share, strict=True):
        covariance = P * variances @ P.T + np.eye(len(P)) / prior.information
        dense.append(
            -0.5 * (z @ np.linalg.solve(covariance, z) + np.linalg.slogdet(covariance)[1]) + share
        )
    ours = prior.working_evidence(z @ P)
    np.testing.assert_allclose(ours - ours[0], np.subtract(dense, dense[0]), atol=1e-8)


def test_a_function_without_effect_pays(problem):
    P, prior, _ = problem
    flat = np.random.default_rng(3).standard_normal(len(P)) ** 2
    alone = ScalePrior.of(prior.variances[:1, :1], np.zeros(1))
    assert settled_evidence(P, prior, flat) < settled_evidence(P[:, :1], alone, flat)


def test_another_information_gives_another_shrinkage(problem):
    _, prior, _ = problem
    kappa = student(4.0).scale_information
    assert prior.given(2.0) is prior
    spread = kappa * prior.variances
    np.testing.assert_allclose(prior.given(kappa).shrinkage, spread / (1 + spread))
