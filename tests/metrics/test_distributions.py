import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from momentdag.errors import DataError, GraphError, OptionError
from momentdag.metrics import GraphKey, graph_distribution, kl_divergence, total_variation

EDGE = np.array([[0, 1], [0, 0]], dtype=bool)
EMPTY = np.zeros((2, 2), dtype=bool)


def probability(distribution, *matrices):
    """Look a graph up by its matrices, without making a key."""
    found = [
        p for key, p in distribution.items() if np.array_equal(key.matrices(), np.array(matrices))
    ]
    return found[0] if found else 0.0


def test_shares_of_single_graphs():
    distribution = graph_distribution(np.array([EDGE, EMPTY, EDGE, EDGE]))
    assert len(distribution) == 2
    assert probability(distribution, EDGE) == pytest.approx(3 / 4, abs=1e-12)  # summed quarters
    assert probability(distribution, EMPTY) == pytest.approx(1 / 4, abs=1e-12)
    assert probability(distribution, EDGE.T) == 0.0


def test_shares_of_pairs_keep_the_moments_apart():
    pairs = np.array([[EDGE, EMPTY], [EMPTY, EDGE], [EDGE, EMPTY], [EDGE, EDGE]])
    distribution = graph_distribution(pairs)
    assert len(distribution) == 3
    assert probability(distribution, EDGE, EMPTY) == pytest.approx(1 / 2, abs=1e-12)
    assert probability(distribution, EMPTY, EDGE) == pytest.approx(1 / 4, abs=1e-12)


def test_a_posterior_gives_pairs_or_one_moment():
    posterior = SimpleNamespace(
        names=("a", "b"),
        mean_graphs=np.array([EDGE, EMPTY, EMPTY]),
        variance_graphs=np.array([EDGE, EDGE, EMPTY]),
    )
    assert len(graph_distribution(posterior)) == 3
    either = graph_distribution(posterior, moment="either")
    assert probability(either, EDGE) == pytest.approx(2 / 3, abs=1e-12)
    both = graph_distribution(posterior, moment="both")
    assert probability(both, EDGE) == pytest.approx(1 / 3, abs=1e-12)


def test_keys_of_named_graphs_do_not_depend_on_the_order_of_columns():
    rng = np.random.default_rng(0)
    draws = np.triu(rng.random((200, 4, 4)) < 0.5, 1)
    names = np.array(["d", "b", "c", "a"])
    order = [2, 0, 3, 1]
    p = graph_distribution(draws, names=names)
    q = graph_distribution(draws[:, order][:, :, order], names=names[order])
    assert p == q
    assert total_variation(p, q) == 0.0
    # The same matrices under exchanged names are other graphs.
    assert total_variation(p, graph_distribution(draws, names=names[order])) > 0.1


def test_weights_give_an_exact_distribution():
    graphs = np.array([EDGE, EMPTY, EDGE.T, EDGE])
    distribution = graph_distribution(graphs, weights=[1.0, 3.0, 0.0, 4.0])
    assert len(distribution) == 2
    assert probability(distribution, EDGE) == 5 / 8
    assert probability(distribution, EMPTY) == 3 / 8


def test_keys_are_hashable_values():
    (key,) = graph_distribution(np.array([EDGE]), names=["a", "b"])
    assert key == GraphKey(("a", "b"), 1, 2, key.bits)
    assert np.array_equal(key.matrices()[0], EDGE)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"names": ["a"]}, GraphError, "2 unique names"),
        ({"names": ["a", "a"]}, GraphError, "2 unique names"),
        ({"moment": "mean"}, OptionError, "no moment"),
        ({"weights": [1.0]}, OptionError, "shape"),
        ({"weights": [1.0, -1.0]}, OptionError, "not negative"),
        ({"weights": [0.0, 0.0]}, OptionError, "not all zero"),
    ],
)
def test_options_that_do_not_fit_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        graph_distribution(np.array([EDGE, EMPTY]), **options)


def test_three_graphs_in_a_draw_are_refused():
    with pytest.raises(GraphError, match="n_draws, 2"):
        graph_distribution(np.array([[EDGE, EDGE, EDGE]]))


def test_names_for_a_posterior_are_refused():
    posterior = SimpleNamespace(
        names=("a", "b"), mean_graphs=EDGE[None], variance_graphs=EDGE[None]
    )
    with pytest.raises(OptionError, match="already has names"):
        graph_distribution(posterior, names=["a", "b"])


P, Q = {"x": 0.5, "y": 0.3, "z": 0.2}, {"x": 0.25, "y": 0.75}


def test_distances_by_hand():
    # Sums of a few numbers of order 1: rounding only.
    assert total_variation(P, Q) == pytest.approx(0.45, abs=1e-12)
    expected = 0.25 * math.log(0.25 / 0.5) + 0.75 * math.log(0.75 / 0.3)
    assert kl_divergence(Q, P) == pytest.approx(expected, abs=1e-12)
    assert kl_divergence(P, Q) == math.inf


def test_smoothing_mixes_q_with_the_uniform_distribution_on_both_supports():
    s = 0.3
    mixed = {"x": 0.7 * 0.25 + 0.1, "y": 0.7 * 0.75 + 0.1, "z": 0.1}
    assert kl_divergence(P, Q, smoothing=s) == pytest.approx(kl_divergence(P, mixed), abs=1e-12)


def test_disjoint_distributions_are_one_apart():
    assert total_variation({"x": 1.0}, {"y": 1.0}) == 1.0


distributions = st.lists(st.floats(0.01, 1.0), min_size=4, max_size=4).map(
    lambda w: {key: weight / sum(w) for key, weight in zip("abcd", w, strict=True)}
)


@given(distributions, distributions)
def test_pinsker_and_symmetry(p, q):
    distance = total_variation(p, q)
    assert distance == total_variation(q, p)
    # Pinsker's inequality, with room for rounding where both sides vanish.
    assert distance <= math.sqrt(kl_divergence(p, q) / 2) + 1e-7
    assert kl_divergence(p, p) == 0.0


@pytest.mark.parametrize("bad", [{"x": 0.5}, {"x": 1.5, "y": -0.5}, {"x": math.nan}, {}])
def test_mappings_that_are_no_distributions_are_refused(bad):
    with pytest.raises(DataError, match="p to hold probabilities"):
        total_variation(bad, Q)
    with pytest.raises(DataError, match="q to hold probabilities"):
        kl_divergence(Q, bad)


@pytest.mark.parametrize("smoothing", [-0.1, 1.0, math.nan])
def test_smoothing_out_of_range_is_refused(smoothing):
    with pytest.raises(OptionError, match="smoothing"):
        kl_divergence(P, Q, smoothing=smoothing)


def test_distributions_over_different_kinds_of_graphs_are_refused():
    single = graph_distribution(np.array([EDGE]))
    others = (
        graph_distribution(np.array([[EDGE, EDGE]])),
        graph_distribution(np.array([EDGE]), names=["a", "b"]),
        graph_distribution(np.zeros((1, 3, 3), dtype=bool)),
    )
    for other in others:
        with pytest.raises(GraphError, match="same kind"):
            total_variation(single, other)
