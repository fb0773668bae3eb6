import numpy as np
import pytest

from momentdag.baselines.icdh import ICDHOptions, learn_icdh
from momentdag.baselines.one_graph import GraphLimits
from momentdag.graph import is_acyclic
from momentdag.knowledge import Knowledge
from momentdag.table import Dataset


def learn(dataset, **options):
    limits = GraphLimits.of(Knowledge(), dataset.names)
    return learn_icdh(
        np.random.default_rng(0), dataset, limits, 1, ICDHOptions(**{"n_starts": 1, **options})
    )


@pytest.fixture(scope="module")
def dataset():
    """cause -> effect in the mean, spread -> effect in the spread alone."""
    rng = np.random.default_rng(1)
    cause, spread, noise = rng.normal(size=(3, 400))
    effect = 2 * np.sin(1.5 * cause) + 0.7 * np.exp(0.8 * spread) * noise
    return Dataset(np.column_stack([effect, cause, spread]), ["effect", "cause", "spread"])


def test_likelihood_follows_both_moments_and_least_squares_the_mean(dataset):
    by_mean = learn(dataset, updates="least_squares", last_pass="none")
    assert by_mean.status == "complete"
    assert by_mean.graphs[0, 1, 0]
    assert not by_mean.graphs[0, 2].any()
    for updates in ("likelihood", "joint"):
        found = learn(dataset, updates=updates, last_pass="none")
        assert found.status == "complete"
        assert found.graphs[0, 1, 0]
        assert found.graphs[0, 2, 0]
        # What least squares leaves out, the objective counts.
        assert found.details["objectives"] < by_mean.details["objectives"]


@pytest.mark.parametrize("updates", ["likelihood", "least_squares"])
def test_the_last_pass_leaves_causes_of_the_mean(dataset, updates):
    found = learn(dataset, updates=updates)
    assert found.status == "complete"
    expected = np.zeros((3, 3), dtype=bool)
    expected[1, 0] = True
    assert np.array_equal(found.graphs[0], expected)


def test_the_last_pass_keeps_what_is_required(dataset):
    limits = GraphLimits.of(Knowledge(required=[("spread", "cause", "mean")]), dataset.names)
    found = learn_icdh(np.random.default_rng(0), dataset, limits, 1, ICDHOptions())
    assert found.graphs[0, 2, 1]
    assert limits.permits(found.graphs[0])


def test_a_higher_threshold_keeps_fewer_edges(dataset):
    assert not learn(dataset, threshold=100.0).graphs.any()


def test_a_constraint_that_is_not_met_is_a_failure(dataset):
    found = learn(dataset, max_penalty=5.0, max_steps=3, tolerance=1e-12)
    assert "above the tolerance" in found.status
    assert is_acyclic(found.graphs[0])


def test_the_start_with_the_lowest_objective_is_kept(dataset):
    several = learn(dataset, n_starts=3, n_hidden=2, max_steps=30)
    objectives = several.details["objectives"]
    assert len(set(objectives)) == 3
    limits = GraphLimits.of(Knowledge(), dataset.names)
    options = ICDHOptions(n_starts=1, n_hidden=2, max_steps=30)
    rng = np.random.default_rng(0)
    one_by_one = [learn_icdh(rng, dataset, limits, 1, options) for _ in range(3)]
    assert [one.details["objectives"][0] for one in one_by_one] == objectives
    best = one_by_one[int(np.argmin(objectives))]
    assert np.array_equal(several.graphs, best.graphs)
