import math

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

from momentdag.errors import DataError, GraphError
from momentdag.metrics import r2_sortability, varsortability

CHAIN = [[0, 1, 0], [0, 0, 1], [0, 0, 0]]


def with_variances(*sds):
    return np.random.default_rng(0).normal(size=(500, len(sds))) * np.array(sds)


def chain_data(rng, n_samples=5000):
    x = rng.normal(size=n_samples)
    y = 2 * x + rng.normal(size=n_samples)
    return np.column_stack([x, y, 2 * y + rng.normal(size=n_samples)])


def test_chain_by_hand():
    # Paths of the chain: 0>1, 1>2 (length 1), 0>2 (length 2).
    assert varsortability(with_variances(1, 2, 3), CHAIN) == 1.0
    assert varsortability(with_variances(3, 2, 1), CHAIN) == 0.0
    assert varsortability(with_variances(2, 1, 3), CHAIN) == 2 / 3
    assert varsortability(with_variances(1, 3, 2), CHAIN) == 2 / 3


def test_a_pair_counts_once_for_each_length_of_path():
    # Triangle 0>1, 1>2, 0>2: paths 0>1, 1>2, 0>2 of length 1, and 0>2 of length 2. Only 1>2 falls.
    triangle = [[0, 1, 1], [0, 0, 1], [0, 0, 0]]
    assert varsortability(with_variances(1, 3, 2), triangle) == 3 / 4
    # Diamond: two paths of length 2 from 0 to 3 count once. 0>1, 0>2, 1>3, 2>3 and 0>3; 1>3 and
    # 2>3 fall.
    diamond = [[0, 1, 1, 0], [0, 0, 0, 1], [0, 0, 0, 1], [0, 0, 0, 0]]
    assert varsortability(with_variances(1, 3, 4, 2), diamond) == 3 / 5


def test_standardised_data_say_nothing():
    values = with_variances(1, 2, 3)
    assert varsortability((values - values.mean(0)) / values.std(0), CHAIN) == 0.5


def test_r2_agrees_with_regressions_and_ignores_scale():
    rng = np.random.default_rng(1)
    values = chain_data(rng)
    r2 = []
    for j in range(3):
        others = np.delete(values, j, axis=1)
        r2.append(LinearRegression().fit(others, values[:, j]).score(others, values[:, j]))
    # The middle is explained best, then the end: 0>1 and 0>2 rise, 1>2 falls.
    assert r2[0] < r2[2] < r2[1]
    assert r2_sortability(values, CHAIN) == 2 / 3
    assert r2_sortability(values * [100, 1, 0.01] + [5, -3, 1], CHAIN) == 2 / 3
    assert varsortability(values * [100, 1, 0.01], CHAIN) == 0.0


def test_columns_are_matched_to_the_graph_by_name():
    table = pd.DataFrame(with_variances(1, 2, 3), columns=["a", "b", "c"])
    graph = pd.DataFrame(CHAIN, index=["a", "b", "c"], columns=["a", "b", "c"])
    for metric in (varsortability, r2_sortability):
        value = metric(table, graph)
        assert metric(table[["c", "a", "b"]], graph) == value
        assert metric(table, graph.loc[["b", "a", "c"], ["c", "b", "a"]]) == value
        with pytest.raises(GraphError, match="not shared"):
            metric(table.rename(columns={"a": "x"}), graph)
    assert varsortability(table, graph) == 1.0


def test_a_graph_without_edges_has_no_sortability():
    assert math.isnan(varsortability(with_variances(1, 2), np.zeros((2, 2))))
    assert math.isnan(r2_sortability(with_variances(1, 2), np.zeros((2, 2))))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.zeros(3), "table of numbers"),
        (np.ones((1, 3)), "two rows"),
        ([["x", "y", "z"]] * 4, "table of numbers"),
        ([[1.0, np.nan, 2.0], [2.0, 1.0, 0.0]], "finite"),
        (
            np.column_stack([np.arange(5), np.ones(5), np.arange(5)]),
            "column 1 is constant",
        ),
        (pd.DataFrame([[0, 1, 2], [3, 5, 4]], columns=["a", "a", "b"]), "unique"),
    ],
)
def test_unusable_values_are_refused(values, message):
    for metric in (varsortability, r2_sortability):
        with pytest.raises(DataError, match=message):
            metric(values, CHAIN)


def test_cycles_and_too_few_rows_are_refused():
    with pytest.raises(GraphError, match="cycle 0 -> 1 -> 0"):
        varsortability(with_variances(1, 2), [[0, 1], [1, 0]])
    with pytest.raises(DataError, match="more rows"):
        r2_sortability(with_variances(1, 2, 3)[:3], CHAIN)
