import copy
import pickle

import numpy as np
import pytest

from momentdag.errors import GraphError, OptionError
from momentdag.graph import MomentGraph
from momentdag.posterior import Posterior, Provenance


def upper(rng, n_draws, d, density=0.3):
    return np.triu(rng.random((n_draws, d, d)) < density, k=1)


@pytest.fixture
def posterior():
    rng = np.random.default_rng(0)
    return Posterior(
        ["a", "b", "c"], upper(rng, 50, 3), upper(rng, 50, 3), Provenance("test", {"x": 1}, "ab", 3)
    )


def test_draws_survive_packing_exactly():
    rng = np.random.default_rng(1)
    mean, variance = upper(rng, 20, 11), upper(rng, 20, 11)
    posterior = Posterior([f"x{i}" for i in range(11)], mean, variance, Provenance("test"))
    np.testing.assert_array_equal(posterior.mean_graphs, mean)
    np.testing.assert_array_equal(posterior.variance_graphs, variance)
    np.testing.assert_array_equal(posterior.graphs("either"), mean | variance)
    np.testing.assert_array_equal(posterior.graphs("both"), mean & variance)
    assert posterior.draw(-1) == MomentGraph(posterior.names, mean[-1], variance[-1])
    assert list(posterior)[7] == posterior.draw(7)


def test_there_is_no_draw_beyond_the_last(posterior):
    assert posterior.draw(49) == posterior.draw(-1)
    assert posterior.draw(0) == posterior.draw(-50)
    for which in (50, -51):
        with pytest.raises(GraphError, match=f"from 0 to 49; got {which}"):
            posterior.draw(which)


def test_is_a_frozen_value_also_where_it_is_sent(posterior):
    for value in (posterior, copy.deepcopy(posterior), pickle.loads(pickle.dumps(posterior))):
        assert value.names == posterior.names
        assert value.provenance == posterior.provenance
        np.testing.assert_array_equal(value.mean_graphs, posterior.mean_graphs)
        with pytest.raises(AttributeError):
            value.names = ("x", "y", "z")
        with pytest.raises(ValueError, match="read-only"):
            value._mean_bits[0] = 0


def test_unpacked_graphs_are_the_callers_own(posterior):
    before = posterior.edge_probabilities("mean")
    posterior.mean_graphs[:] = True
    assert posterior.edge_probabilities("mean").equals(before)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"options": {"draws": np.zeros(2)}}, "plain JSON values.*Convert arrays to lists"),
        ({"options": {"limit": float("nan")}}, "plain JSON values"),
        ({"seed": np.int64(3)}, "seed as an int"),
        ({"status": None}, "status as text"),
    ],
)
def test_provenance_that_could_not_be_saved_is_refused_at_once(fields, message):
    with pytest.raises(OptionError, match=message):
        Provenance("test", **fields)


def test_two_thousand_draws_of_a_hundred_variables_stay_below_ten_megabytes():
    rng = np.random.default_rng(2)
    graphs = upper(rng, 2000, 100)
    posterior = Posterior([f"x{i}" for i in range(100)], graphs, graphs, Provenance("test"))
    assert posterior.n_bytes < 10e6


def test_edge_probabilities_are_labelled_frequencies(posterior):
    for moment in ("mean", "variance", "either", "both"):
        table = posterior.edge_probabilities(moment)
        assert table.index.name == "cause"
        assert table.columns.name == "effect"
        expected = posterior.graphs(moment)[:, 0, 2].mean()
        assert table.loc["a", "c"] == expected == posterior.edge_probability("a", "c", moment)
    assert posterior.edge_probability("c", "a") == 0


def test_refuses_cyclic_draws_and_wrong_shapes(posterior):
    one = np.zeros((1, 2, 2), dtype=bool)
    one[0, 0, 1] = True
    with pytest.raises(GraphError, match="draw 0"):
        Posterior(["a", "b"], one, one.transpose(0, 2, 1), Provenance("test"))
    with pytest.raises(GraphError, match="shape"):
        Posterior(["a"], one, one, Provenance("test"))
    with pytest.raises(GraphError, match="at least one draw"):
        Posterior(["a", "b"], one[:0], one[:0], Provenance("test"))
    with pytest.raises(GraphError, match="0 and 1"):  # probabilities are no draws
        Posterior(["a", "b"], one * 0.3, one, Provenance("test"))
    with pytest.raises(GraphError, match="mean_graphs without self-loops"):
        Posterior(["a", "b"], [np.eye(2)], one, Provenance("test"))
    with pytest.raises(GraphError, match="unique"):
        Posterior(["a", "a"], one, one, Provenance("test"))
    with pytest.raises(GraphError, match="log_posterior"):
        Posterior(["a", "b"], one, one, Provenance("test"), log_posterior=[1.0, 2.0])
    with pytest.raises(GraphError, match="'zzz'"):
        posterior.edge_probability("zzz", "a")
    with pytest.raises(GraphError, match="moment"):
        posterior.graphs("median")
