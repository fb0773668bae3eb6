from dataclasses import replace

import jax
import numpy as np
import pytest

from momentdag.engines.protocol import NullCheckpoint, silent
from momentdag.engines.variational.fitting import shares_of, train

NO_CHECKPOINT = NullCheckpoint()


class Memory:
    """A checkpoint in memory."""

    def __init__(self):
        self.kept = {}

    def load(self, stage):
        return self.kept.get(stage)

    def save(self, stage, content, arrays):
        self.kept[stage] = dict(content), {key: array.copy() for key, array in arrays.items()}


@pytest.fixture(scope="module")
def problem(make_problem, pair_table):
    # Of 60 rows, as in contracts/test_engines.py, so that compiled programs are shared.
    return make_problem(pair_table[:60])


def same(one, two):
    leaves = zip(jax.tree.leaves(one.weights), jax.tree.leaves(two.weights), strict=True)
    return all(np.array_equal(a, b) for a, b in leaves)


def test_all_restarts_are_kept_and_their_spread_reported(problem, quick):
    trained = train(np.random.default_rng(0), problem, quick, silent, NO_CHECKPOINT)
    assert trained.objectives.shape == trained.shares.shape == (2,)
    assert all(len(part) == 2 for part in jax.tree.leaves(trained.weights))
    assert trained.spread == pytest.approx(abs(np.diff(trained.objectives)[0]) / 2)
    assert (trained.n_steps, len(trained.trace), trained.converged) == (1000, 2, False)
    assert same(trained, train(np.random.default_rng(0), problem, quick, silent, NO_CHECKPOINT))
    assert not same(trained, train(np.random.default_rng(1), problem, quick, silent, NO_CHECKPOINT))


def test_shares_make_the_objective_of_the_mixture_largest(quick):
    objectives, n_samples = np.array([-3.1, -3.0, -3.2]), 40
    shares = shares_of(objectives, n_samples, quick)

    def of_mixture(w):
        return w @ (n_samples * objectives - quick.kl_weight * np.log(w))

    assert shares.sum() == pytest.approx(1)
    others = np.random.default_rng(0).dirichlet(100 * shares, size=200)
    assert max(map(of_mixture, others)) < of_mixture(shares)
    best = np.array([0.0, 1.0, 0.0])
    np.testing.assert_array_equal(
        shares_of(objectives, n_samples, replace(quick, restarts="best")), best
    )
    np.testing.assert_array_equal(
        shares_of(objectives, n_samples, replace(quick, kl_weight=0.0)), best
    )
    # Far apart: nothing overflows.
    np.testing.assert_array_equal(shares_of(objectives, 10**6, quick), best)


def test_training_ends_when_nothing_improves(problem, quick):
    options = replace(quick, max_steps=50_000, warm_up_steps=0, tolerance=10.0, n_cuts=1)
    trained = train(np.random.default_rng(0), problem, options, silent, NO_CHECKPOINT)
    # The first chunk counts as an improvement, then two idle chunks for the cut and two to end.
    assert trained.converged
    assert len(trained.trace) == 5


def test_a_killed_fit_goes_on_to_the_same_bits(problem, quick):
    options = replace(quick, max_steps=1500)
    whole = train(np.random.default_rng(3), problem, options, silent, NO_CHECKPOINT)
    memory = Memory()

    def kill(stage, done, total):
        if done == 1000:
            raise SystemExit

    with pytest.raises(SystemExit):
        train(np.random.default_rng(3), problem, options, kill, memory)
    resumed = train(np.random.default_rng(3), problem, options, silent, memory)
    assert same(whole, resumed)
    assert resumed.trace == whole.trace


def interrupt_after(steps):
    def progress(stage, done, total):
        if done >= steps:
            raise KeyboardInterrupt

    return progress


def test_an_interruption_raises_or_returns_what_there_is(problem, quick):
    with pytest.raises(KeyboardInterrupt):
        train(np.random.default_rng(0), problem, quick, interrupt_after(500), NO_CHECKPOINT)
    partial = replace(quick, return_partial=True)
    trained = train(
        np.random.default_rng(0), problem, partial, interrupt_after(500), NullCheckpoint()
    )
    assert trained.interrupted
    assert trained.n_steps == 500
    assert np.isfinite(trained.objectives).all()


def test_progress_tells_the_objective(problem, quick):
    heard = []
    train(
        np.random.default_rng(0),
        problem,
        quick,
        lambda *report: heard.append(report),
        NullCheckpoint(),
    )
    assert [done for _, done, _ in heard] == [0, 500, 1000]
    assert all("objective" in stage for stage, _, _ in heard[1:])


def test_a_restart_that_loses_its_numbers_is_put_back(problem, quick):
    wild = replace(quick, learning_rate=1e30)
    trained = train(np.random.default_rng(0), problem, wild, silent, NO_CHECKPOINT)
    assert np.isfinite(trained.objectives).all()
    assert all(np.isfinite(part).all() for part in jax.tree.leaves(trained.weights))
