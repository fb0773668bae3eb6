import numpy as np
import pytest

from momentdag.baselines import DDSOptions
from momentdag.baselines.dds import learn_dds
from momentdag.baselines.one_graph import GraphLimits
from momentdag.knowledge import Knowledge
from momentdag.table import Dataset

NAMES = ("cause", "effect", "alone")


@pytest.fixture(scope="module")
def dataset():
    rng = np.random.default_rng(0)
    cause, alone, noise = rng.normal(size=(3, 300))
    effect = np.sin(2 * cause) + 0.3 * noise
    return Dataset(np.column_stack([cause, effect, alone]), NAMES)


def learn(dataset, n_draws=300, knowledge=None, **options):
    limits = GraphLimits.of(Knowledge() if knowledge is None else knowledge, dataset.names)
    return learn_dds(np.random.default_rng(0), dataset, limits, n_draws, DDSOptions(**options))


@pytest.mark.slow
def test_who_depends_on_whom_is_found(dataset):
    found = learn(dataset)
    assert found.status == "complete"
    assert found.graphs.shape == (300, 3, 3)
    edges = found.graphs.mean(axis=0)
    # A sine of two turns is no function the other way round: only one direction explains much.
    assert edges[0, 1] > 0.9
    # At 0.1 prior odds and no gain an edge in a drawn order keeps about its prior probability.
    assert max(edges[2].max(), edges[:, 2].max()) < 0.4


def test_a_heavier_divergence_and_a_smaller_prior_leave_fewer_edges(dataset):
    n_edges = [
        learn(dataset, max_steps=1000, **options).graphs.sum()
        for options in ({}, {"edge_probability": 0.001}, {"kl_weight": 1000.0})
    ]
    assert n_edges[0] > n_edges[1] > n_edges[2]


@pytest.mark.slow  # contracts/test_baselines.py states orders and required edges as well
def test_stated_orders_hold_in_every_draw(dataset):
    knowledge = Knowledge(order=[("effect", "cause")], required=[("alone", "effect")])
    found = learn(dataset, n_draws=700, knowledge=knowledge, max_steps=500)
    limits = GraphLimits.of(knowledge, NAMES)
    assert all(limits.permits(graph) for graph in found.graphs)
    assert found.graphs[:, 2, 1].all()


def test_training_cut_short_and_training_gone_astray_are_failures(dataset):
    assert "raise max_steps" in learn(dataset, n_draws=1, max_steps=500).status
    astray = learn(dataset, n_draws=1, learning_rate=1e30)
    assert "became infinite or NaN" in astray.status
    assert astray.details["loss"] is None
