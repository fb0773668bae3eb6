import numpy as np
import pytest

from momentdag.datasets import load_syntren
from momentdag.errors import OptionError

N_EDGES = [24, 22, 26, 34, 23, 22, 20, 19, 23, 22]


@pytest.mark.parametrize("i", range(1, 11))
def test_each_set_has_its_own_graph(i):
    loaded = load_syntren(i)
    assert loaded.union_graph.to_numpy().sum() == N_EDGES[i - 1]
    assert loaded.graph is None
    assert (loaded.data > 0).all(axis=None)


@pytest.mark.parametrize("i", range(1, 11))
def test_columns_and_graph_belong_together(i):
    loaded = load_syntren(i)
    dependence = np.abs(loaded.data.rank().corr().to_numpy())
    edges = loaded.union_graph.to_numpy()
    absent = ~(edges | edges.T | np.eye(20, dtype=bool))
    # A misaligned graph has no reason to join the more dependent pairs.
    assert dependence[edges].mean() > dependence[absent].mean()


@pytest.mark.parametrize("i", [0, 11, 1.0, "1", True])
def test_other_numbers_are_refused(i):
    with pytest.raises(OptionError, match="1 to 10"):
        load_syntren(i)
