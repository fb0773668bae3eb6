from dataclasses import replace
from itertools import product

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from momentdag.engines.variational.distribution import Limits, Parameters
from momentdag.engines.variational.drawing import draw_pairs, log_joint
from momentdag.engines.variational.fitting import Trained, program_of
from momentdag.engines.variational.likelihood import Networks
from momentdag.engines.variational.problem import MeanPart, VariancePart, Weights
from momentdag.engines.variational.stated import state
from momentdag.engines.variational.training import initial_states
from momentdag.knowledge import Knowledge


@pytest.fixture(scope="module")
def problem(make_problem, pair_table):
    return make_problem(pair_table)


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


def test_resampled_draws_follow_the_distribution_of_largest_objective(problem, weights, quick):
    """Against enumeration of two variables: p(order, edges) p(D | A)^(1/λ), normalised."""
    two = problem._replace(
        values=problem.values[:, :2],
        prior=Parameters(*(part[:2, :2] for part in problem.prior[:2]), jnp.zeros(2)),
        limits=Limits.none(2),
    )
    networks = [
        Networks(
            own.first[:1, :2, :2],
            own.hidden[:1, :2],
            own.last[:1, :2],
            own.output[:1, :2],
            own.shift[:1, :, :2, :2],
        )
        for own in (weights.mean.networks, weights.variance.networks)
    ]
    logits, scores = jnp.zeros((1, 2, 2)), jnp.asarray([[0.5, -0.5]])
    single = Weights(MeanPart(networks[0], logits, scores), VariancePart(networks[1], logits))
    options = replace(quick, kl_weight=20.0)
    known = state(Knowledge().compile(("a", "b")), 0.3, None)
    n_draws = 20_000
    trained = trained_as(single, np.ones(1))
    found = draw_pairs(np.random.default_rng(3), trained, two, known, options, n_draws)
    expected = []
    for i, j in ((0, 1), (1, 0)):
        for on_mean, on_variance in product((False, True), repeat=2):
            mean, variance = np.zeros((2, 1, 2, 2), dtype=bool)
            mean[0, i, j], variance[0, i, j] = on_mean, on_variance
            # `log_joint` has the log odds of its edges in it once; the likelihood is tempered.
            log_odds = np.log(0.3 / 0.7) * (on_mean + on_variance)
            joint = log_joint(single, np.ones(1, dtype=bool), two, mean, variance)[0]
            log_p = (joint - log_odds) / options.kl_weight + log_odds
            expected.append((mean.tobytes() + variance.tobytes(), log_p))
    p = np.exp([log_p for _, log_p in expected] - np.max([log_p for _, log_p in expected]))
    p /= p.sum()
    by_pair = dict.fromkeys((key for key, _ in expected), 0.0)  # the empty pair has both orders
    for (key, _), own in zip(expected, p, strict=True):
        by_pair[key] += own
    drawn = [
        mean.tobytes() + variance.tobytes()
        for mean, variance in zip(found.mean_graphs, found.variance_graphs, strict=True)
    ]
    counts = np.array([drawn.count(key) for key in by_pair]) / n_draws
    # Five standard errors of 20 000 draws that came from 80 000.
    np.testing.assert_allclose(counts, list(by_pair.values()), atol=5 * np.sqrt(0.25 / n_draws))
    assert 0 < found.efficiency < 1
    # q itself is elsewhere: the test can fail.
    plain = replace(options, resampling=False)
    away = draw_pairs(np.random.default_rng(3), trained, two, known, plain, n_draws)
    shares = (away.mean_graphs | away.variance_graphs).any(axis=(1, 2)).mean()
    assert abs((1 - shares) - next(iter(by_pair.values()))) > 0.05


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
