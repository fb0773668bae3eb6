"""Does the shape of noise follow its causes, and how far worlds then differ."""

import numpy as np
import pytest

import momentdag as md
from momentdag.engines.evidence.local.protocol import Parents
from momentdag.engines.evidence.options import EvidenceOptions
from momentdag.engines.evidence.problem import pose_problem
from momentdag.engines.evidence.sampling.shape_doubt import (
    _polynomials,
    doubt_factor,
    shape_gains,
)
from momentdag.knowledge import Knowledge

QUICK = {"n_starts": 1, "n_kicks": 0, "n_inducing": 20, "n_worlds": 200}


def gains_of(x, y):
    """Return the gains of y given x in both graphs, and their variances."""
    values = np.column_stack([x, y])
    values = (values - values.mean(axis=0)) / values.std(axis=0)
    knowledge = Knowledge().compile(("x", "y"))
    problem = pose_problem(np.random.default_rng(0), values, knowledge, EvidenceOptions())
    return shape_gains(problem.search(), problem.values, (Parents(0, 0), Parents(1, 1)))


def test_polynomials_are_orthonormal_and_no_more_than_values_can_tell():
    rng = np.random.default_rng(0)
    smooth = _polynomials(rng.normal(size=400), (1, 2, 3, 4, 5, 6))
    np.testing.assert_allclose(smooth.T @ smooth / 400, np.eye(6), atol=1e-9)
    np.testing.assert_allclose(smooth.mean(axis=0), 0, atol=1e-9)
    assert _polynomials(rng.integers(0, 2, 400).astype(float), (1, 2, 3, 4, 5, 6)).shape == (400, 1)
    assert _polynomials(rng.integers(0, 4, 400).astype(float), (1, 2, 3, 4, 5, 6)).shape == (400, 3)


def test_noise_of_one_shape_gains_nothing():
    gains = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        x, e = rng.normal(size=500), rng.gumbel(size=500)
        found, variances = gains_of(x, np.sin(2 * x) + np.exp(0.4 * x) * e)
        assert np.isnan(found[0])  # a variable without causes
        assert variances[1] == 6  # half of 2 x 6 degrees of freedom
        gains.append(found[1])
    # The mean of 12 has a standard error of sqrt(6 / 12); fitted functions take a little away.
    assert abs(np.mean(gains)) < 3 * np.sqrt(6 / 12)


def test_noise_whose_skewness_follows_the_cause_gains_much():
    rng = np.random.default_rng(1)
    x = rng.normal(size=600)
    e = rng.gamma(2.0, size=600) - 2
    gains, variances = gains_of(x, x + np.where(x > 0, e, -e))
    assert gains[1] > 30
    assert doubt_factor(gains, variances) > 2


def test_what_may_be_chance_changes_nothing():
    nothing = np.array([np.nan, 2.0, -1.0])
    assert doubt_factor(nothing, np.array([np.nan, 6.0, 6.0])) == 1
    assert doubt_factor(np.full(2, np.nan), np.full(2, np.nan)) == 1


def test_a_wrong_model_is_less_sure_of_directions_and_the_fit_says_by_how_much():
    simulation = md.simulate.misspecified(np.random.default_rng(3), "mixture", 2)
    estimator = md.MomentDAG(random_state=0, n_draws=400, engine_options=QUICK)
    model = estimator.fit(simulation.data)
    factor = model.details_["doubt_factor"]
    assert factor > 2
    own = md.simulate.mean_variance_hnm(np.random.default_rng(3), n_variables=2, edges_per_node=1)
    model = estimator.fit(own.data)
    assert model.details_["doubt_factor"] == pytest.approx(1, abs=0.2)
