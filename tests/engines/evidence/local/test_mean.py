"""The mean half against dense Gaussian formulas."""

import numpy as np
import pytest

from momentdag.engines.evidence.local.features import Basis
from momentdag.engines.evidence.local.mean import MeanPrior, mean_part, mean_variance, start
from momentdag.engines.evidence.local.noise.student import GAUSSIAN, student
from momentdag.engines.evidence.local.tuning import TUNING

AMPLITUDES = np.array([0.1, 1.0, 5.0])


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    Q, _ = np.linalg.qr(rng.standard_normal((60, 5)))
    basis = Basis(np.ascontiguousarray(Q), np.array([10.0, 8.0, 4.0, 1.0, 0.3]))
    precisions = 1 / (AMPLITUDES[:, None] * basis.variances)
    prior = MeanPrior(precisions, 0.5 * np.log(precisions).sum(axis=1))
    y = Q @ rng.standard_normal(5) * 2 + rng.standard_normal(60)
    return basis, prior, y, rng.uniform(0.2, 3.0, 60)


def dense_log_evidence(basis, variances, y, precision):
    """The log density of y ~ N(0, Q Λ Q' + D^-1), written out."""
    cov = basis.functions * variances @ basis.functions.T + np.diag(1 / precision)
    return -0.5 * (y @ np.linalg.solve(cov, y) + np.linalg.slogdet(cov)[1])


def test_amplitudes_compare_as_dense_evidences_do(problem):
    basis, prior, y, precision = problem
    mean = mean_part(y, basis, precision, prior, 1)
    ours = [mean.at(prior, a).evidence(prior) for a in range(3)]
    dense = [dense_log_evidence(basis, a * basis.variances, y, precision) for a in AMPLITUDES]
    # Equal up to rounding, but for one constant.
    np.testing.assert_allclose(np.subtract(ours, ours[0]), np.subtract(dense, dense[0]), atol=1e-9)


def test_mean_and_its_variance_are_the_dense_ones(problem):
    basis, prior, y, precision = problem
    mean = mean_part(y, basis, precision, prior, 1)
    Q = basis.functions
    H = Q.T @ (precision[:, None] * Q) + np.diag(prior.precisions[1])
    covariance = np.linalg.inv(H)
    coefficients = covariance @ (Q.T @ (precision * y))
    np.testing.assert_allclose(mean.coefficients, coefficients, atol=1e-10)
    at_rows = np.diag(Q @ covariance @ Q.T)
    np.testing.assert_allclose(mean_variance(basis, mean), at_rows, atol=1e-10)


def test_the_start_ranks_amplitudes_as_the_dense_evidence_at_its_noise(problem):
    basis, prior, y, _ = problem
    begun = start(y, basis, prior, 1, TUNING)
    precision = np.full(len(y), 1 / begun.noise)
    dense = [dense_log_evidence(basis, a * basis.variances, y, precision) for a in AMPLITUDES]
    found = begun.evidence
    np.testing.assert_allclose(found - found[0], np.subtract(dense, dense[0]), atol=1e-9)
    # The noise that was put in has variance one; 60 rows estimate it to about 0.2.
    assert 0.5 < begun.noise < 1.6


def test_a_precision_that_is_not_positive_is_an_error(problem):
    basis, prior, y, precision = problem
    with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
        mean_part(y, basis, precision, prior._replace(precisions=-prior.precisions * 1e6), 1)


def test_tails_change_only_the_determinant(problem):
    from momentdag.engines.evidence.local.mean import mean_occam

    basis, prior, y, precision = problem
    mean = mean_part(y, basis, precision, prior, 1)
    normal, heavy = (mean_occam(mean, prior, [], base) for base in (GAUSSIAN, student(4.0)))
    Q = basis.functions
    gram = Q.T @ (precision[:, None] * Q)
    log_dets = [
        np.linalg.slogdet(ratio * gram + np.diag(prior.precisions[1]))[1] for ratio in (1, 5 / 7)
    ]
    assert heavy - normal == pytest.approx(0.5 * (log_dets[0] - log_dets[1]), abs=1e-9)
