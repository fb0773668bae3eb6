"""The inner loops of algorithm 1, line by line, on two variables."""

from dataclasses import replace
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from momentdag.engines.protocol import NullCheckpoint, silent
from momentdag.engines.variational.distribution import Limits, draw_noise
from momentdag.engines.variational.fitting import program_of, settings_of, train
from momentdag.engines.variational.inner_loop import converge
from momentdag.engines.variational.likelihood import evaluate, log_scale_of
from momentdag.engines.variational.options import VariationalOptions
from momentdag.engines.variational.projection import order_constraints
from momentdag.engines.variational.training import draw_steps, initial_states

D, CAP = 2, 40
MEAN, VARIANCE = 0, 1

run = partial(jax.jit, static_argnums=(0, 3))(converge)


@pytest.fixture(scope="module")
def options():
    return replace(
        VariationalOptions.published(),
        tuning="none",
        n_hidden=3,
        batch_size=None,
        mean_steps=CAP,
        variance_steps=CAP,
        max_steps=160,
    )


@pytest.fixture(scope="module")
def problem(make_problem, pair_table):
    return make_problem(pair_table[:40, :D])


@pytest.fixture(scope="module")
def phase(options):
    """Return a function that makes one phase; both have one program each, whatever is asked."""
    noise = draw_noise(np.random.default_rng(1), D, (CAP, 1))

    def phase(which, problem, state=None, **changes):
        own = replace(options, **changes)
        program = program_of(own, problem, ordered=False, projected=True)
        if state is None:
            state = start(own, problem)
        settings = settings_of(own, factor=1.0, warming_up=False)
        return run(program, problem, settings, which, noise, None, state)

    return phase


def start(options, problem):
    program = program_of(options, problem, ordered=False, projected=True)
    states = initial_states(
        np.random.default_rng(0), program, problem, 1, options.n_hidden, shifting=False
    )
    return jax.tree.map(lambda part: part[0], states)


def same(one, two):
    pairs = zip(jax.tree.leaves(one), jax.tree.leaves(two), strict=True)
    return all(np.array_equal(a, b) for a, b in pairs)


def test_the_mean_phase_moves_what_line_6_names(phase, options, problem):
    before = start(options, problem).weights
    after = phase(MEAN, problem).weights
    assert same(before.variance, after.variance)
    assert not same(before.mean.networks, after.mean.networks)
    assert not np.array_equal(before.mean.logits, after.mean.logits)
    assert not np.array_equal(before.mean.scores, after.mean.scores)


def test_the_variance_phase_moves_what_line_14_names(phase, options, problem):
    before = start(options, problem).weights
    after = phase(VARIANCE, problem).weights
    assert same(before.mean, after.mean)
    assert not same(before.variance.networks, after.variance.networks)
    assert not np.array_equal(before.variance.logits, after.variance.logits)


def test_the_scaled_gradient_does_not_see_the_spread(phase, options, problem):
    state = start(options, problem)
    variance = state.weights.variance
    wider = variance.networks._replace(output=variance.networks.output + 1.0)
    other = state._replace(
        weights=state.weights._replace(variance=variance._replace(networks=wider))
    )
    # Without a penalty on them, whose rounding the value of the loss would bring in.
    free = {"variance_l2": 0.0}
    one = phase(MEAN, problem, state, **free).weights.mean
    two = phase(MEAN, problem, other, **free).weights.mean
    assert same(one, two)


def test_a_phase_ends_when_it_has_converged(phase, problem):
    patient = phase(MEAN, problem, inner_tolerance=0.0, inner_patience=10 * CAP)
    assert np.asarray(patient.memory).tolist() == [CAP, 0]
    # Nothing counts as progress: the first step and the patience after it.
    brief = phase(MEAN, problem, inner_tolerance=1e6, inner_patience=7)
    assert np.asarray(brief.memory).tolist() == [8, 0]


def test_without_edges_both_phases_reach_the_closed_form(phase, problem):
    """Every draw is the empty pair: the minimum is the mean, then the root mean square error."""
    nothing = jnp.zeros((D, D))
    values = problem.values * jnp.array([1.0, 2.0]) + jnp.array([2.0, -1.0])
    empty = problem._replace(
        values=values,
        limits=Limits.none(D)._replace(allowed_mean=nothing, allowed_variance=nothing),
    )
    free = {
        "mean_l2": 0.0,
        "variance_l2": 0.0,
        "inner_tolerance": 0.0,
        "inner_patience": 10 * CAP,
    }
    after = phase(VARIANCE, empty, phase(MEAN, empty, **free), **free).weights
    mean = evaluate(after.mean.networks, nothing, values)
    log_sd = log_scale_of(after.variance.networks, nothing, nothing, values)
    # L-BFGS at the precision of float32 losses: errors of the argument are its square root.
    np.testing.assert_allclose(mean[0], values.mean(axis=0), atol=5e-3)
    np.testing.assert_allclose(log_sd[0], np.log(values.std(axis=0)), atol=5e-3)


def test_orderings_hold_after_every_mean_phase(phase, options, problem):
    """Lines 7 and 8: x2 before x1, against the start, with the margin of the paper."""
    before = np.array([[False, False], [True, False]])
    ordered = problem._replace(orders=order_constraints(before, np.full((D, D), 1.5)))
    scores = np.asarray(phase(MEAN, ordered).weights.mean.scores)
    # Feasible to rounding: the last thing a step does is to project.
    assert scores[1] + 1.5 <= scores[0] + 1e-6


def test_the_rows_of_a_phase_stay_and_pairs_are_drawn_for_each_step(options, problem):
    program = program_of(replace(options, batch_size=8), problem, ordered=False, projected=False)
    mean, variance = draw_steps(np.random.default_rng(0), program, problem, 1)
    rounds = program.n_rounds
    for draw in (mean, variance):
        assert draw.rows.shape == (1, rounds, 1, 8)
        assert draw.noise.mean.shape == (1, rounds, CAP, 1, D, D)


@pytest.mark.slow
def test_training_alternates_until_nothing_improves_and_returns_the_best(options, problem):
    longer = replace(options, max_steps=20_000, patience=2)
    trained = train(np.random.default_rng(0), problem, longer, silent, NullCheckpoint())
    assert trained.converged
    assert 0 < trained.n_steps < longer.max_steps
    last = replace(longer, returned="last")
    other = train(np.random.default_rng(0), problem, last, silent, NullCheckpoint())
    assert other.trace == trained.trace
    # Seen with 200 pairs instead of 16: as good as the best seen, up to their error.
    assert trained.objectives[0] > max(trained.trace) - 0.1
    # The noise of two variables that are ignored costs 2.84 nats.
    assert trained.objectives[0] > -2.9
