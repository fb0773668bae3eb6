from itertools import product

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from momentdag.datasets import load_sachs
from momentdag.datasets.reference import read_edges
from momentdag.errors import GraphError
from momentdag.graph import MomentGraph, is_acyclic
from momentdag.metrics import f1, precision, recall, shd, shd_rate, sid

EMPTY = np.zeros((3, 3), dtype=bool)


def matrix(d, *edges):
    adjacency = np.zeros((d, d), dtype=bool)
    for cause, effect in edges:
        adjacency[cause, effect] = True
    return adjacency


def frame(names, *edges):
    table = pd.DataFrame(False, index=names, columns=names)
    for cause, effect in edges:
        table.loc[cause, effect] = True
    return table


def random_dag(rng, d):
    order = rng.permutation(d)
    return np.triu(rng.random((d, d)) < 0.5, 1)[np.ix_(order, order)]


# Truth 0 -> 1, 0 -> 2, 1 -> 2, 2 -> 3; each row: estimate, SHD, true positives, estimated edges.
TRUTH = matrix(4, (0, 1), (0, 2), (1, 2), (2, 3))
GOLDEN = [
    (TRUTH, 0, 4, 4),
    (matrix(4), 4, 0, 0),
    (matrix(4, (1, 0), (0, 2), (1, 2), (2, 3)), 1, 3, 4),  # one reversed
    (matrix(4, (0, 1), (0, 2), (1, 2)), 1, 3, 3),  # one missing
    (matrix(4, (0, 1), (0, 2), (1, 2), (2, 3), (0, 3)), 1, 4, 5),  # one extra
    (matrix(4, (1, 0), (1, 2), (1, 3)), 4, 1, 3),  # reversed, missing x 2, extra
    (TRUTH.T, 4, 0, 4),  # all reversed
]


@pytest.mark.parametrize(("estimate", "distance", "n_both", "n_estimated"), GOLDEN)
def test_edges_counted_by_hand(estimate, distance, n_both, n_estimated):
    assert shd(estimate, TRUTH) == distance
    assert shd(TRUTH, estimate) == distance
    assert shd_rate(estimate, TRUTH) == distance / 6
    assert precision(estimate, TRUTH) == (n_both / n_estimated if n_estimated else 0.0)
    assert recall(estimate, TRUTH) == n_both / 4
    assert f1(estimate, TRUTH) == 2 * n_both / (n_estimated + 4)


def test_two_empty_graphs_agree_and_one_empty_graph_scores_zero():
    one = matrix(3, (0, 1))
    for score in (precision, recall, f1):
        assert score(EMPTY, EMPTY) == 1.0
        assert score(EMPTY, one) == 0.0
        assert score(one, EMPTY) == 0.0


def test_published_sachs_graphs_have_the_documented_distances():
    graphs = {truth: load_sachs(truth).union_graph for truth in ("17", "20")}
    graphs["18"] = nx.DiGraph(read_edges("sachs_edges_18_cdt.csv"))  # other node order, cyclic
    assert shd(graphs["17"], graphs["20"]) == 4
    assert shd(graphs["17"], graphs["18"]) == 7
    assert shd(graphs["18"], graphs["20"]) == 3
    # Of the 17 edges cdt's list lacks erk > akt and pkc > pka and turns plcg > pip3 and
    # pip3 > pip2 round: 13 shared.
    assert f1(graphs["18"], graphs["17"]) == 2 * 13 / (18 + 17)


def test_labelled_graphs_are_matched_by_name_not_by_position():
    truth = frame(["a", "b", "c"], ("a", "b"), ("b", "c"))
    estimate = frame(["c", "a", "b"], ("a", "b"), ("b", "c"))
    assert shd(estimate, truth) == 0
    assert sid(estimate, truth) == 0
    assert f1(estimate, truth) == 1.0
    # Without labels position counts, and the same matrices disagree.
    assert shd(estimate.to_numpy(), truth.to_numpy()) > 0
    as_networkx = nx.DiGraph([("b", "c"), ("a", "b")])  # node order b, c, a
    assert shd(as_networkx, truth) == 0
    assert shd(estimate, as_networkx) == 0


@pytest.mark.parametrize("metric", [shd, shd_rate, precision, recall, f1, sid])
def test_other_names_and_sizes_are_refused(metric):
    truth = frame(["a", "b", "c"], ("a", "b"))
    with pytest.raises(GraphError, match="not shared"):
        metric(frame(["a", "b", "x"]), truth)
    with pytest.raises(GraphError, match="same size"):
        metric(np.zeros((2, 2)), truth)
    with pytest.raises(GraphError, match="MomentGraph holds two"):
        metric(MomentGraph.from_edges(["a", "b", "c"]), truth)


def test_rate_needs_two_variables():
    with pytest.raises(GraphError, match="two variables"):
        shd_rate([[0]], [[0]])


matrices = hnp.arrays(bool, (4, 4)).map(lambda a: a & ~np.eye(4, dtype=bool))


@given(matrices, matrices, matrices, st.permutations(range(4)))
def test_shd_is_a_metric_that_ignores_the_order_of_variables(a, b, c, order):
    assert shd(a, a) == 0
    assert (shd(a, b) == 0) == np.array_equal(a, b)
    assert shd(a, b) == shd(b, a)
    assert shd(a, c) <= shd(a, b) + shd(b, c)
    to = np.ix_(order, order)
    assert shd(a[to], b[to]) == shd(a, b)
    assert f1(a[to], b[to]) == f1(a, b)


@given(matrices, matrices)
def test_f1_is_the_harmonic_mean(a, b):
    p, r = precision(a, b), recall(a, b)
    # Two ways to round the same fraction.
    assert f1(a, b) == pytest.approx(2 * p * r / (p + r) if p + r else 0.0, abs=1e-12)


def test_sid_takes_the_estimate_first_and_rows_as_causes():
    # Truth 0 -> 1 <- 2. The empty estimate adjusts for nothing, which is right for the effects of
    # 0 and of 2 (both are roots), and wrong for "1 on 0" and "1 on 2": 2 errors.
    collider = matrix(3, (0, 1), (2, 1))
    assert sid(estimate=EMPTY, truth=collider) == 2
    # The other way round: all effects are null, and the estimate's parents of 1 ({0, 2}) make it
    # claim the same; 0 and 2 have no parents, and 1 is independent of them. No error.
    assert sid(estimate=collider, truth=EMPTY) == 0
    # Read with columns as causes the truth would be the fork 1 -> 0, 1 -> 2, where only the two
    # effects of 1 come out right without adjustment: 4 errors, not 2.
    assert sid(estimate=EMPTY, truth=collider.T) == 4


def test_sid_of_a_supergraph_is_zero_and_of_a_reversal_is_not():
    chain = matrix(3, (0, 1), (1, 2))
    assert sid(matrix(3, (0, 1), (1, 2), (0, 2)), chain) == 0
    # Reversed chain 2 -> 1 -> 0: it denies 0 on 1 and 1 on 2 (parents); 0 on 2 is blocked by
    # adjusting for 1; and it claims 2 on 1, 2 on 0 and, adjusting for 2, 1 on 0: all six wrong.
    assert sid(chain.T, chain) == 6


def dags(d):
    pairs = [(i, j) for i in range(d) for j in range(d) if i != j]
    for flags in product((False, True), repeat=len(pairs)):
        graph = matrix(d, *(pair for pair, flag in zip(pairs, flags, strict=True) if flag))
        if is_acyclic(graph):
            yield graph


def sid_from_a_linear_model(estimate, truth, rng):
    """Count wrong effects in a linear Gaussian model of the truth with random coefficients.

    Its total effects and covariance are exact, and coefficients drawn from a density make
    accidental agreement impossible, so an adjustment is valid iff the numbers agree.
    """
    d = len(truth)
    weights = truth * rng.uniform(0.5, 2.0, (d, d)) * rng.choice([-1, 1], (d, d))
    noise = rng.uniform(0.5, 2.0, d)
    total = np.linalg.inv(np.eye(d) - weights)  # total[i, j]: effect of i on j
    covariance = total.T @ np.diag(noise) @ total
    wrong = 0
    for i in range(d):
        cut = weights.copy()
        cut[:, i] = 0.0
        silent = noise.copy()
        silent[i] = 0.0
        after = np.linalg.inv(np.eye(d) - cut)
        spread = np.diag(after.T @ np.diag(silent) @ after)  # variances under do(i)
        adjust = np.flatnonzero(estimate[:, i])
        for j in range(d):
            if j == i:
                continue
            if j in adjust:  # j is taken for a cause of i, so it would keep its distribution
                claimed = (0.0, covariance[j, j])
            else:
                given = [i, *adjust]
                slope = np.linalg.solve(covariance[np.ix_(given, given)], covariance[given, j])
                left = covariance[j, j] - slope @ covariance[given, j]
                z = slope[1:]
                claimed = (slope[0], left + z @ covariance[np.ix_(adjust, adjust)] @ z)
            # Exact algebra on numbers of order 1 to 100: rounding is far below 1e-7.
            wrong += not np.allclose(claimed, (total[i, j], spread[j]), rtol=1e-7, atol=1e-7)
    return wrong


def test_sid_agrees_with_effects_in_linear_models_for_every_pair_of_three_node_dags():
    rng = np.random.default_rng(0)
    graphs = list(dags(3))
    assert len(graphs) == 25
    for estimate, truth in product(graphs, graphs):
        assert sid(estimate, truth) == sid_from_a_linear_model(estimate, truth, rng)


@pytest.mark.parametrize("seed", range(5))
def test_sid_agrees_with_effects_in_linear_models_for_larger_dags(seed):
    rng = np.random.default_rng(seed)
    for _ in range(20):
        estimate, truth = random_dag(rng, 5), random_dag(rng, 5)
        assert sid(estimate, truth) == sid_from_a_linear_model(estimate, truth, rng)


def test_sid_refuses_cycles_and_names_them():
    cyclic = frame(["a", "b", "c"], ("a", "b"), ("b", "a"))
    with pytest.raises(GraphError, match="estimate; it has the cycle a -> b -> a"):
        sid(cyclic, frame(["a", "b", "c"]))
    with pytest.raises(GraphError, match="acyclic truth"):
        sid(frame(["a", "b", "c"]), cyclic)


def test_sid_of_one_variable_is_zero():
    assert sid([[0]], [[0]]) == 0
