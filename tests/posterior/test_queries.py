import numpy as np
import pytest

from momentdag.errors import GraphError, OptionError
from momentdag.graph import MomentGraph
from momentdag.posterior import Posterior, Provenance
from momentdag.posterior.queries import distinct_pairs

NAMES = ("a", "b", "c", "d")
CHOICES = ("mean", "variance", "either", "both", "mean_only", "variance_only")


def from_graphs(graphs, **options):
    return Posterior(
        graphs[0].names,
        np.stack([graph.mean_graph for graph in graphs]),
        np.stack([graph.variance_graph for graph in graphs]),
        Provenance("by hand"),
        **options,
    )


def random_posterior(seed, n_draws=60, d=4, density=0.4):
    rng = np.random.default_rng(seed)
    places = np.argsort(rng.random((n_draws, d)), axis=1)
    before = places[:, :, None] < places[:, None, :]
    mean, variance = (before & (rng.random((n_draws, d, d)) < density) for _ in range(2))
    return Posterior(NAMES[:d], mean, variance, Provenance("random"))


@pytest.fixture
def posterior():
    chain = MomentGraph.from_edges(NAMES, mean=[("a", "b")], variance=[("b", "c")])
    fork = MomentGraph.from_edges(NAMES, mean=[("a", "b"), ("a", "c")], variance=[("a", "b")])
    back = MomentGraph.from_edges(NAMES, mean=[("c", "b"), ("b", "a")])
    return from_graphs([chain] * 5 + [fork] * 3 + [back] * 2)


def has(graph, cause, effect, moment):
    mean, variance = (graph.has_edge(cause, effect, m) for m in ("mean", "variance"))
    return {
        "mean": mean,
        "variance": variance,
        "either": mean or variance,
        "both": mean and variance,
        "mean_only": mean and not variance,
        "variance_only": variance and not mean,
    }[moment]


def test_edges_by_hand(posterior):
    expected = [0.8, 0.3, 0.8, 0.3, 0.5, 0.0]
    found = [posterior.edge_probability("a", "b", moment) for moment in CHOICES]
    assert found == pytest.approx(expected)
    assert posterior.edge_probability("b", "c", "variance_only") == 0.5
    assert posterior.edge_probability("b", "c", "mean_only") == 0


@pytest.mark.parametrize("moment", CHOICES)
def test_every_choice_agrees_with_asking_each_draw(moment):
    posterior = random_posterior(0)
    table = posterior.edge_probabilities(moment)
    assert (table.index.name, table.columns.name) == ("cause", "effect")
    for cause in NAMES:
        for effect in NAMES:
            share = np.mean([has(graph, cause, effect, moment) for graph in posterior])
            assert table.loc[cause, effect] == pytest.approx(share)
            assert posterior.edge_probability(cause, effect, moment) == pytest.approx(share)


def test_unknown_choices_and_names_are_refused(posterior):
    with pytest.raises(GraphError, match=r"variance_only.*got 'median'"):
        posterior.edge_probabilities("median")
    with pytest.raises(GraphError, match="got 'x'"):
        posterior.path_probability("a", "x")
    with pytest.raises(OptionError, match="on among"):
        posterior.influence_probability("a", "b", "either")


def test_paths_by_hand(posterior):
    assert posterior.path_probability("a", "c", "mean") == pytest.approx(0.3)
    assert posterior.path_probability("a", "c", "variance") == 0
    assert posterior.path_probability("a", "c", "either") == pytest.approx(0.8)
    assert posterior.path_probability("c", "a", "mean") == pytest.approx(0.2)
    assert posterior.path_probability("a", "a") == 0


@pytest.mark.parametrize("moment", ["mean", "variance", "either"])
def test_paths_agree_with_asking_each_draw(moment):
    posterior = random_posterior(1)
    table = posterior.ancestor_probabilities(moment)
    for cause in NAMES:
        for effect in NAMES:
            share = np.mean([graph.has_path(cause, effect, moment) for graph in posterior])
            assert table.loc[cause, effect] == pytest.approx(share)
            assert posterior.path_probability(cause, effect, moment) == pytest.approx(share)


def test_ancestors_in_blocks(monkeypatch):
    posterior = random_posterior(2)
    whole = posterior.ancestor_probabilities()
    monkeypatch.setattr("momentdag.posterior.queries._BLOCK", 100)
    np.testing.assert_allclose(posterior.ancestor_probabilities(), whole, rtol=1e-12)


def test_influence_by_hand(posterior):
    # chain: a -> b (mean), b -> c (variance); fork: a is a direct mean parent of c.
    assert posterior.influence_probability("a", "c", "variance") == pytest.approx(0.5)
    assert posterior.influence_probability("a", "c", "mean") == pytest.approx(0.3)
    assert posterior.influence_probability("b", "c", "variance") == pytest.approx(0.5)


@pytest.mark.parametrize("on", ["mean", "variance"])
def test_influence_agrees_with_its_definition(on):
    posterior = random_posterior(3, density=0.25)

    def influences(graph, cause, effect):
        return any(
            parent == cause or graph.has_path(cause, parent, "either")
            for parent in graph.parents(effect, on)
        )

    for cause in NAMES:
        for effect in NAMES:
            share = np.mean([influences(graph, cause, effect) for graph in posterior])
            assert posterior.influence_probability(cause, effect, on) == pytest.approx(share)


def test_subgraphs(posterior):
    assert posterior.subgraph_probability([("a", "b", "mean"), ("b", "c", "variance")]) == 0.5
    assert posterior.subgraph_probability([("a", "b"), ("a", "c")]) == pytest.approx(0.3)
    assert posterior.subgraph_probability([("a", "b", "both"), ("c", "b")]) == 0
    assert posterior.subgraph_probability([]) == 1
    for edge in ("ab", ("a",), ("a", "b", "mean", "variance")):
        with pytest.raises(GraphError, match=r"\(cause, effect\)"):
            posterior.subgraph_probability([edge])


def test_a_predicate_is_asked_once_for_each_distinct_pair(posterior):
    asked = []

    def few_edges(graph):
        asked.append(graph)
        return len(graph.edges()) < 2 or graph.has_edge("c", "b")

    assert posterior.probability(few_edges) == pytest.approx(0.2)
    assert len(asked) == len(set(asked)) == 3
    with pytest.raises(OptionError, match="it returned 2"):
        posterior.probability(lambda graph: 2)


def test_the_standard_error_of_a_predicate():
    alternating = [MomentGraph.from_edges("ab", mean=[("a", "b")]), MomentGraph.from_edges("ab")]
    posterior = from_graphs(alternating * 50)
    # Alternating draws have the largest ESS, 100, and one half is not changed by smoothing.
    error = posterior.standard_error(lambda graph: graph.has_edge("a", "b"))
    assert error == pytest.approx(0.05)


def test_distinct_pairs_tell_mean_from_variance():
    mean = MomentGraph.from_edges("ab", mean=[("a", "b")])
    variance = MomentGraph.from_edges("ab", variance=[("a", "b")])
    pairs = distinct_pairs(from_graphs([mean, variance, mean]))
    assert sorted(pairs.counts.tolist()) == [1, 2]
    assert pairs.which[0] == pairs.which[2] != pairs.which[1]
