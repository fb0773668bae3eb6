from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from momentdag.engines.variational.draws import draw_pairs, log_joint
from momentdag.engines.variational.fitting import Trained, program_of
from momentdag.engines.variational.knowledge_arrays import state
from momentdag.engines.variational.training import initial_states
from momentdag.knowledge import Knowledge


@pytest.fixture(scope="module")
def problem(make_problem, pair_table):
    # Of 60 rows, as in contracts/test_engines.py, so that compiled programs are shared.
    return make_problem(pair_table[:60])


@pytest.fixture(scope="module")
def weights(problem, quick):
    """Three restarts: the first draws no mean edge, the second all, the third neither graph."""
    program = program_of(quick, problem, ordered=False, projected=False)
    rng = np.random.default_rng(0)
    states = initial_states(rng, program, problem, 3, quick.n_hidden, shifting=True)
    weights, ones = states.weights, jnp.ones((3, 3))
    return weights._replace(
        mean=weights.mean._replace(logits=50.0 * jnp.stack([-ones, ones, -ones])),
        variance=weights.variance._replace(logits=-50.0 * jnp.stack([ones, ones, ones])),
    )


@pytest.fixture(scope="module")
def stated():
    return state(Knowledge().compile(("a", "b", "c")), 0.1, None)


def trained_as(weights, shares):
    return Trained(weights, np.zeros(len(shares)), shares, 0, True, False, ())


def test_each_restart_has_its_share_of_the_draws(problem, weights, stated, quick):
    trained = trained_as(weights, np.array([0.25, 0.6, 0.15]))
    plain = replace(quick, resampling=False)
    found = draw_pairs(np.random.default_rng(1), trained, problem, stated, plain, 1203)
    n_edges = found.mean_graphs.sum(axis=(1, 2))
    assert set(n_edges) == {0, 3}
    # Systematic draws: to within one.
    assert abs((n_edges == 3).sum() - 0.6 * 1203) <= 1
    assert not found.variance_graphs.any()
    # Not one restart after the other.
    assert 0.4 < (n_edges[:600] == 3).mean() < 0.8
    assert found.efficiency is None


@pytest.mark.slow
def test_resampled_draws_go_where_the_evidence_is(problem, weights, stated, quick):
    trained = trained_as(weights, np.array([0.25, 0.6, 0.15]))
    found = draw_pairs(np.random.default_rng(1), trained, problem, stated, quick, 400)
    # No restart draws an edge of the variance; x1 moves the spread of x3 alone.
    assert found.variance_graphs[:, 0, 2].mean() > 0.9
    assert found.mean_graphs[:, [0, 1], [1, 0]].any(axis=1).mean() > 0.9
    # Edges that explain nothing are not kept, though two restarts draw all or none.
    assert found.mean_graphs[:, 1, 2].mean() < 0.3
    assert 0 < found.efficiency <= 1
    top = np.argmax(found.log_joint)
    assert found.variance_graphs[top, 0, 2]
    # The same pair has the same joint.
    pairs = np.concatenate([found.mean_graphs, found.variance_graphs], axis=1)
    _, which = np.unique(pairs, axis=0, return_inverse=True)
    for own in np.unique(which):
        assert np.ptp(found.log_joint[which.ravel() == own]) < 1e-6


@pytest.mark.slow
def test_a_restart_without_draws_has_no_networks(problem, weights, stated, quick):
    trained = trained_as(weights, np.array([0.5, 0.5, 1e-6]))
    found = draw_pairs(np.random.default_rng(1), trained, problem, stated, quick, 100)
    np.testing.assert_array_equal(found.used, [True, True, False])


def test_the_joint_takes_for_each_variable_the_networks_that_fit_it_best(problem, weights):
    rng = np.random.default_rng(2)
    mean, variance = (np.triu(rng.random((4, 3, 3)) < 0.5, 1) for _ in range(2))
    every = np.ones(3, dtype=bool)
    joint = log_joint(weights, every, problem, mean, variance)
    single = [log_joint(weights, np.arange(3) == k, problem, mean, variance) for k in range(3)]
    # Sums of 200 rows in single precision.
    assert (joint >= np.max(single, axis=0) - 1e-2).all()
    assert (joint > np.max(single, axis=0) + 1e-2).any()
    # One restart three times is that restart.
    thrice = jax.tree.map(lambda part: part[jnp.array([1, 1, 1])], weights)
    found = log_joint(thrice, every, problem, mean, variance)
    np.testing.assert_allclose(found, single[1], rtol=1e-6)
