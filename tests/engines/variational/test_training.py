from dataclasses import replace

import jax
import numpy as np
import pytest

from momentdag.engines.protocol import NullCheckpoint, silent
from momentdag.engines.variational.fitting import program_of, settings_of, train
from momentdag.engines.variational.training import draw_steps, initial_states, run_chunk


def chunk(options, problem, *, warming_up=False, n_chunks=1, projected=False):
    rng = np.random.default_rng(0)
    program = program_of(options, problem, ordered=False, projected=projected)
    states = initial_states(
        rng, program, problem, options.n_restarts, options.n_hidden, shifting=options.shifting
    )
    settings = settings_of(options, factor=1.0, warming_up=warming_up)
    before = states
    for _ in range(n_chunks):
        draws = draw_steps(rng, program, problem, options.n_restarts)
        states = run_chunk(program, problem, settings, draws, states)
    return before.weights, states.weights


def moved(before, after):
    return not all(
        np.array_equal(a, b)
        for a, b in zip(jax.tree.leaves(before), jax.tree.leaves(after), strict=True)
    )


@pytest.fixture(scope="module")
def problem(make_problem, pair_table):
    # Of 60 rows, as in contracts/test_engines.py, so that compiled programs are shared.
    return make_problem(pair_table[:60])


def test_warm_up_moves_networks_only(problem, quick):
    before, after = chunk(quick, problem, warming_up=True)
    assert moved(before.mean.networks, after.mean.networks)
    assert moved(before.variance.networks, after.variance.networks)
    assert not moved(before.parameters, after.parameters)


def test_restarts_differ_and_do_not_mix(problem, quick):
    _, both = chunk(quick, problem)
    first = both.mean.networks.first
    assert not np.allclose(first[0], first[1])


SETTINGS = [
    {"updates": "published", "gradient": "relaxed", "n_graphs": 1},
    pytest.param(
        {"updates": "joint", "gradient": "relaxed", "optimizer": "lbfgs"}, marks=pytest.mark.slow
    ),
    pytest.param({"updates": "likelihood", "optimizer": "lbfgs"}, marks=pytest.mark.slow),
    pytest.param({"updates": "joint", "batch_size": None}, marks=pytest.mark.slow),
]


@pytest.mark.slow
@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_every_way_of_updating_raises_the_objective(problem, quick, setting):
    options = replace(quick, max_steps=500, warm_up_steps=0, **setting)
    trained = train(np.random.default_rng(1), problem, options, silent, NullCheckpoint())
    # Steps of no length by Adam: the same starts, seen with the same noise.
    still = replace(options, optimizer="adam", learning_rate=1e-9, graph_rate=1e-9, max_steps=1)
    untrained = train(np.random.default_rng(1), problem, still, silent, NullCheckpoint())
    # What networks can save is about a nat; the published way is slow, and a tenth is no chance.
    assert trained.objectives.max() > untrained.objectives.max() + 0.1


@pytest.mark.slow  # of the converged phases, test_inner_loop.py asks the same
def test_the_published_mean_phase_does_not_see_the_variance(problem, quick):
    """By squared error the mean part moves the same wherever the variance networks are."""
    options = replace(quick, updates="published", gradient="relaxed", n_graphs=1, kl_weight=0.0)
    program = program_of(options, problem, ordered=False, projected=False)
    rng = np.random.default_rng(2)
    states = initial_states(rng, program, problem, 2, options.n_hidden, shifting=True)
    draws = draw_steps(rng, program, problem, 2)
    settings = settings_of(options, factor=1.0, warming_up=False)
    other = states.weights.variance.networks._replace(
        output=states.weights.variance.networks.output + 1.0
    )
    elsewhere = states._replace(
        weights=states.weights._replace(variance=states.weights.variance._replace(networks=other))
    )
    one = run_chunk(program, problem, settings, draws, states).weights.mean
    two = run_chunk(program, problem, settings, draws, elsewhere).weights.mean
    assert not moved(one, two)
