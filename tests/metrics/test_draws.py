from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

from momentdag.errors import GraphError, OptionError
from momentdag.graph import MomentGraph
from momentdag.metrics import expected_f1, expected_shd, f1, shd

NAMES = ("a", "b", "c")


@dataclass(frozen=True)
class Draws:
    names: tuple[str, ...]
    mean_graphs: np.ndarray
    variance_graphs: np.ndarray


def random_stack(rng, n_draws, d):
    return np.triu(rng.random((n_draws, d, d)) < 0.5, 1)


@pytest.fixture
def posterior():
    rng = np.random.default_rng(2)
    return Draws(NAMES, random_stack(rng, 50, 3), random_stack(rng, 50, 3))


@pytest.fixture
def truth():
    return MomentGraph.from_edges(NAMES, mean=[("a", "b")], variance=[("a", "b"), ("c", "b")])


def test_expectations_are_means_over_single_graphs():
    rng = np.random.default_rng(1)
    draws, target = random_stack(rng, 40, 6), random_stack(rng, 1, 6)[0].T
    assert expected_shd(draws, target) == np.mean([shd(draw, target) for draw in draws])
    # The same numbers summed in another order.
    expected = np.mean([f1(draw, target) for draw in draws])
    assert expected_f1(draws, target) == pytest.approx(expected, abs=1e-12)


def test_empty_draws_against_an_empty_truth_are_perfect():
    draws = np.zeros((2, 3, 3), dtype=bool)
    assert expected_f1(draws, np.zeros((3, 3))) == 1.0
    draws[0, 0, 1] = True
    assert expected_f1(draws, np.zeros((3, 3))) == 0.5
    assert expected_shd(draws, np.zeros((3, 3))) == 0.5


@pytest.mark.parametrize("moment", ["mean", "variance", "either", "both"])
def test_moment_selects_the_edges_of_posterior_and_truth(posterior, truth, moment):
    pairs = zip(posterior.mean_graphs, posterior.variance_graphs, strict=True)
    drawn = [MomentGraph(NAMES, mean, variance).adjacency(moment) for mean, variance in pairs]
    by_hand = np.mean([shd(graph, truth.adjacency(moment)) for graph in drawn])
    assert expected_shd(posterior, truth, moment=moment) == by_hand
    assert expected_shd(posterior, truth.to_frame(moment), moment=moment) == by_hand


def test_the_moments_of_the_example_differ(posterior, truth):
    moments = ("mean", "variance", "either", "both")
    assert len({expected_shd(posterior, truth, moment=moment) for moment in moments}) == 4


def test_truth_is_matched_to_the_names_of_a_posterior(posterior, truth):
    shuffled = truth.reorder(("c", "a", "b"))
    for metric in (expected_shd, expected_f1):
        value = metric(posterior, truth, moment="variance")
        assert metric(posterior, shuffled, moment="variance") == value
        assert metric(posterior, shuffled.variance_frame, moment="variance") == value
        assert metric(posterior, shuffled.to_networkx("variance"), moment="variance") == value
    with pytest.raises(GraphError, match="not shared"):
        expected_shd(posterior, MomentGraph.from_edges(["a", "b", "x"]), moment="mean")


def test_a_real_posterior_is_accepted(posterior, truth):
    from momentdag.posterior import Posterior, Provenance

    real = Posterior(NAMES, posterior.mean_graphs, posterior.variance_graphs, Provenance("by hand"))
    assert expected_shd(real, truth, moment="mean") == expected_shd(posterior, truth, moment="mean")


def test_moment_must_fit_the_kind_of_draws(posterior, truth):
    with pytest.raises(OptionError, match="each draw holds two graphs"):
        expected_shd(posterior, truth)
    with pytest.raises(OptionError, match="'union'"):
        expected_shd(posterior, truth, moment="union")
    with pytest.raises(OptionError, match="no moment for an array"):
        expected_shd(posterior.mean_graphs, truth.mean_frame, moment="mean")
    with pytest.raises(GraphError, match="MomentGraph holds two"):
        expected_shd(posterior.mean_graphs, truth)


@pytest.mark.parametrize(
    ("draws", "message"),
    [
        (np.zeros((3, 3), dtype=bool), "shape"),
        (np.zeros((0, 3, 3), dtype=bool), "at least one draw"),
        (np.zeros((2, 3, 4), dtype=bool), "shape"),
        (np.full((2, 3, 3), 0.3), "0 and 1"),
        (np.ones((2, 3, 3), dtype=bool), "self-loops"),
        (np.zeros((2, 4, 4), dtype=bool), "same size"),
        (pd.DataFrame({"a": [0]}), "shape"),
    ],
)
def test_malformed_draws_are_refused(draws, message):
    with pytest.raises(GraphError, match=message):
        expected_shd(draws, np.zeros((3, 3)))


def test_malformed_posteriors_are_refused(truth):
    three, two = np.zeros((3, 3, 3), dtype=bool), np.zeros((2, 3, 3), dtype=bool)
    with pytest.raises(GraphError, match="as many mean as variance"):
        expected_shd(Draws(NAMES, three, two), truth, moment="mean")
    with pytest.raises(GraphError, match="over 2 variables"):
        expected_shd(Draws(("a", "b"), three, three), truth, moment="mean")
    with pytest.raises(GraphError, match="mean_graphs"):
        expected_shd(truth, truth, moment="mean")  # a MomentGraph has names but no draws
