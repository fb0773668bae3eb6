import numpy as np
import pytest

from momentdag.baselines.one_graph import GraphLimits
from momentdag.baselines.varsort import VarSortOptions, learn_varsort
from momentdag.errors import DataError
from momentdag.knowledge import Knowledge
from momentdag.table import Dataset

NAMES = ("c", "a", "b", "z")


@pytest.fixture
def chain():
    """a -> b -> c with growing variance, and z, which stands alone."""
    rng = np.random.default_rng(0)
    a, z = rng.normal(size=(2, 400))
    b = 2 * a + rng.normal(size=400)
    c = 2 * b + rng.normal(size=400)
    return Dataset(np.column_stack([c, a, b, 0.1 * z]), NAMES)


def learn(dataset, options=None, **statements):
    limits = GraphLimits.of(Knowledge(**statements), dataset.names)
    options = VarSortOptions() if options is None else options
    return learn_varsort(np.random.default_rng(0), dataset, limits, 1, options)


def edges_of(estimate):
    return {(NAMES[i], NAMES[j]) for i, j in np.argwhere(estimate.graphs[0])}


def test_a_chain_of_growing_variance_is_found(chain):
    found = learn(chain)
    assert found.status == "complete"
    assert list(found.details["order"]) == ["z", "a", "b", "c"]
    assert edges_of(found) == {("a", "b"), ("b", "c")}


def test_units_decide(chain):
    scale = np.array([1e-3, 1.0, 1.0, 1.0])
    found = learn(Dataset(chain.values * scale, NAMES))
    assert found.details["order"][0] == "c"
    assert ("b", "c") not in edges_of(found)


def test_equal_variances_are_a_failure(chain):
    assert "same variance" in learn(Dataset(chain.standardised, NAMES)).status


def test_the_looser_criterion_keeps_more():
    rng = np.random.default_rng(3)
    values = rng.normal(size=(60, 4)) * np.array([1.0, 2.0, 3.0, 4.0])
    kept = [
        learn(Dataset(values, NAMES), VarSortOptions(criterion=criterion)).graphs.sum()
        for criterion in ("bic", "aic")
    ]
    assert kept[0] < kept[1]


def test_knowledge_comes_before_variance(chain):
    found = learn(chain, order=[("c", "a")], forbidden=[("c", "b")], required=[("z", "c")])
    order = list(found.details["order"])
    assert order.index("c") < order.index("a")
    assert ("z", "c") in edges_of(found)
    assert ("c", "b") not in edges_of(found)


def test_too_few_rows_are_refused():
    values = np.random.default_rng(0).normal(size=(10, 12))
    with pytest.raises(DataError, match="more rows than columns"):
        learn(Dataset(values, [f"x{i}" for i in range(12)]))
