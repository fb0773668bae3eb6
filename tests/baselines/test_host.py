import numpy as np
import pytest

from momentdag.baselines.host import HOSTOptions, learn_host
from momentdag.baselines.one_graph import GraphLimits
from momentdag.knowledge import Knowledge
from momentdag.table import Dataset

NAMES = ("effect", "middle", "root", "alone")


@pytest.fixture(scope="module")
def dataset():
    """root -> middle in the spread, middle -> effect in the mean, and alone."""
    rng = np.random.default_rng(0)
    root, alone, e1, e2 = rng.normal(size=(4, 500))
    middle = np.exp(0.8 * root) * e1
    effect = 2 * np.tanh(middle) + 0.5 * e2
    return Dataset(np.column_stack([effect, middle, root, alone]), NAMES)


def learn(dataset, **options):
    limits = GraphLimits.of(Knowledge(), dataset.names)
    return learn_host(np.random.default_rng(0), dataset, limits, 1, HOSTOptions(**options))


def edges_of(estimate):
    return {(NAMES[i], NAMES[j]) for i, j in np.argwhere(estimate.graphs[0])}


def test_causes_of_mean_and_spread_are_found_in_order(dataset):
    found = learn(dataset)
    assert found.status == "complete"
    order = list(found.details["order"])
    assert order.index("root") < order.index("middle") < order.index("effect")
    assert {("root", "middle"), ("middle", "effect")} <= edges_of(found)
    # Each of four absent edges is kept with probability alpha.
    assert len(edges_of(found)) <= 3


def test_each_place_goes_to_residuals_close_to_normal(dataset):
    # Under normality with 500 rows the statistic is below 0.99 once in a thousand.
    assert min(learn(dataset).details["normality"]) > 0.985


@pytest.mark.slow
def test_alpha_decides_how_many_edges_stay(dataset):
    counts = [learn(dataset, alpha=alpha).graphs.sum() for alpha in (1e-12, 0.05, 1.0)]
    assert counts[0] <= counts[1] < counts[2] == 6


@pytest.mark.slow
def test_tests_may_look_at_fewer_rows(dataset):
    # Twenty rows cannot be that sure of a cause of the spread; five hundred can.
    assert ("root", "middle") in edges_of(learn(dataset, alpha=1e-6))
    assert ("root", "middle") not in edges_of(learn(dataset, alpha=1e-6, max_test_rows=20))


def test_unfinished_regressions_are_a_failure(dataset):
    found = learn(dataset, max_steps=1)
    assert "raise max_steps" in found.status
    assert found.details["n_stopped"] > found.details["n_regressions"] / 2
