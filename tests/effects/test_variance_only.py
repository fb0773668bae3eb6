"""Which causes move the spread alone."""

import numpy as np

import momentdag as md
from momentdag.effects.variance_only import causes_of, variance_only_probability
from momentdag.graph import MomentGraph
from momentdag.posterior import Provenance

NAMES = ("a", "b", "c", "y")


def posterior(*graphs):
    return md.Posterior(
        NAMES,
        np.array([graph.mean_graph for graph in graphs]),
        np.array([graph.variance_graph for graph in graphs]),
        Provenance("by hand"),
    )


def test_a_way_to_a_mean_parent_counts_against_a_lever():
    # a moves the variance of y, and the variance of b, which moves the mean of y.
    graph = MomentGraph.from_edges(
        NAMES, mean=[("b", "y")], variance=[("a", "y"), ("a", "b"), ("c", "y")]
    )
    draws = posterior(graph)
    assert variance_only_probability(draws, ["a"], "y") == 0.0
    assert variance_only_probability(draws, ["b"], "y") == 0.0
    assert variance_only_probability(draws, ["c"], "y") == 1.0


def test_probabilities_are_shares_and_joint_levers_need_all():
    first = MomentGraph.from_edges(NAMES, variance=[("a", "y"), ("c", "y")])
    second = MomentGraph.from_edges(NAMES, mean=[("a", "y")], variance=[("c", "y")])
    third = MomentGraph.from_edges(NAMES, variance=[("a", "y")])
    draws = posterior(first, first, second, third)
    assert variance_only_probability(draws, ["a"], "y") == 0.75
    assert variance_only_probability(draws, ["c"], "y") == 0.75
    assert variance_only_probability(draws, ["a", "c"], "y") == 0.5
    assert causes_of(draws, "y") == {"a": 1.0, "c": 0.75}
