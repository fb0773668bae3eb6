"""Directions between columns of different kinds: right where they can be known, open elsewhere."""

import numpy as np
import pytest

import momentdag as md
from momentdag.table import Dataset


def fit(simulation, n_draws=300):
    """Fit a mixed simulation with its kinds; no draws are stuck on two columns."""
    frame = simulation.data.copy()
    labels = {}
    for name, kind in simulation.kinds.items():
        if kind == "category":
            levels = sorted(frame[name].unique())
            labels[name] = tuple(levels)
            frame[name] = frame[name].map({level: k for k, level in enumerate(levels)})
    data = Dataset(
        frame.astype(float).to_numpy(), list(frame.columns), dict(simulation.kinds), labels
    )
    return md.MomentDAG(n_draws=n_draws, random_state=0).fit(data)


def direction(cause, effect, seed):
    """Return P(x -> y) given that there is an edge; x is the cause."""
    simulation = md.simulate.mixed_pair(np.random.default_rng(seed), cause, effect, 800)
    probabilities = fit(simulation).posterior_.edge_probabilities("either")
    there, back = probabilities.loc["x", "y"], probabilities.loc["y", "x"]
    assert there + back > 0.9
    return there / (there + back)


OTHERS = ("binary", "count", "ordered", "category")
PAIRS = [*(("continuous", kind) for kind in OTHERS), *((kind, "continuous") for kind in OTHERS)]


@pytest.mark.slow
@pytest.mark.parametrize(("cause", "effect"), PAIRS[:4])
def test_directions_are_found(cause, effect):
    found = np.array([direction(cause, effect, seed) for seed in range(7004, 7008)])
    assert (found > 0.5).sum() >= 3


@pytest.mark.parametrize("n_seeds", [2, pytest.param(6, marks=pytest.mark.slow)])
def test_two_binary_columns_have_no_direction(n_seeds):
    found = np.array([direction("binary", "binary", 7000 + k) for k in range(n_seeds)])
    assert 0.3 < found.mean() < 0.7
    assert ((found > 0.05) & (found < 0.95)).all()


@pytest.mark.slow
@pytest.mark.parametrize(("cause", "effect"), PAIRS)
def test_directions_are_found_and_certainty_is_earned(cause, effect):
    found = np.array([direction(cause, effect, seed) for seed in range(7000, 7020)])
    assert (found > 0.5).mean() >= 0.75
    sure = (found > 0.9) | (found < 0.1)
    assert (found[sure] < 0.1).mean() <= 0.1


@pytest.mark.slow
def test_mixed_graphs_are_found():
    scores = []
    for seed in range(100, 106):
        simulation = md.simulate.mixed(np.random.default_rng(seed), 800, n_variables=6)
        model = fit(simulation)
        truth = set(simulation.graph.edges("mean"))
        found = set(model.mean_graph_.edges)
        scores.append(2 * len(truth & found) / (len(truth) + len(found)))
    assert np.mean(scores) >= 0.8


def test_a_binary_effect_has_no_variance_parents():
    simulation = md.simulate.mixed_pair(np.random.default_rng(1), "continuous", "binary", 300)
    posterior = fit(simulation).posterior_
    assert posterior.edge_probabilities("variance").loc["x", "y"] == 0
    required = md.Knowledge(required=[("x", "y", "variance")])
    data = Dataset(simulation.data.astype(float).to_numpy(), ["x", "y"])
    with pytest.raises(md.errors.OptionError, match="follows from its mean"):
        md.MomentDAG(knowledge=required, random_state=0).fit(data)
