import numpy as np
import pytest

from momentdag.errors import GraphError, OptionError
from momentdag.graph import MomentGraph
from momentdag.posterior import Posterior, Provenance
from momentdag.posterior.monte_carlo import standard_error

EMPTY = MomentGraph.from_edges("abc")
CHAIN = MomentGraph.from_edges("abc", mean=[("a", "b")], variance=[("b", "c")])
FORK = MomentGraph.from_edges("abc", mean=[("a", "b"), ("a", "c")], variance=[("a", "c")])


def from_graphs(graphs, **options):
    return Posterior(
        "abc",
        np.stack([graph.mean_graph for graph in graphs]),
        np.stack([graph.variance_graph for graph in graphs]),
        Provenance("by hand"),
        **options,
    )


@pytest.fixture
def posterior():
    return from_graphs([CHAIN, FORK, CHAIN, EMPTY, CHAIN, FORK, CHAIN, CHAIN, FORK, CHAIN])


def test_the_edge_table(posterior):
    table = posterior.edge_table(min_probability=0.3)
    rows = table[["cause", "effect", "moment"]].to_numpy().tolist()
    assert rows == [
        ["a", "b", "mean"],
        ["b", "c", "variance"],
        ["a", "c", "mean"],
        ["a", "c", "variance"],
    ]
    np.testing.assert_allclose(table["probability"], [0.9, 0.6, 0.3, 0.3])
    assert table.loc[1, "standard_error"] == pytest.approx(
        standard_error(posterior.variance_graphs[:, 1, 2])
    )


def test_the_edge_table_holds_every_edge_of_a_choice(posterior):
    assert len(posterior.edge_table()) == 12
    both = posterior.edge_table("both")
    assert len(both) == 6
    assert set(both["moment"]) == {"both"}
    assert both.loc[0, ["cause", "effect", "probability"]].tolist() == ["a", "c", 0.3]
    assert (both["standard_error"] > 0).all()
    assert len(posterior.edge_table("mean", min_probability=1.0)) == 0
    with pytest.raises(GraphError, match="got 'all'"):
        posterior.edge_table("all")


def test_standard_errors_count_correlated_draws():
    rng = np.random.default_rng(0)
    independent = [CHAIN if heads else EMPTY for heads in rng.random(200) < 0.5]
    fresh = from_graphs(independent).edge_table("mean").loc[0]
    stale = from_graphs([g for g in independent for _ in range(5)]).edge_table("mean").loc[0]
    assert stale["probability"] == fresh["probability"]
    # Five copies of each draw say no more than one; the estimates scatter by some 15 %.
    assert stale["standard_error"] == pytest.approx(fresh["standard_error"], rel=0.3)


def test_parent_sets(posterior):
    table = posterior.parent_sets("c")
    sets = table[["mean_parents", "variance_parents"]].to_numpy().tolist()
    assert sets == [[(), ("b",)], [("a",), ("a",)], [(), ()]]
    np.testing.assert_allclose(table["probability"], [0.6, 0.3, 0.1])
    first = [graph == CHAIN for graph in posterior]
    assert table.loc[0, "standard_error"] == pytest.approx(standard_error(first))
    with pytest.raises(GraphError, match="'x'"):
        posterior.parent_sets("x")


def test_most_probable_pairs(posterior):
    table = posterior.most_probable_pairs(2)
    assert table["graph"].tolist() == [CHAIN, FORK]
    np.testing.assert_allclose(table["probability"], [0.6, 0.3])
    assert posterior.most_probable_pairs()["probability"].sum() == pytest.approx(1)
    for k in (0, -1, 2.0, True):
        with pytest.raises(OptionError, match="positive integer"):
            posterior.most_probable_pairs(k)


def test_the_log_posterior_breaks_ties():
    table = from_graphs([EMPTY, CHAIN, FORK, FORK], log_posterior=[1.0, 2.0, 0.5, 0.5])
    pairs = table.most_probable_pairs()
    assert pairs["graph"].tolist() == [FORK, CHAIN, EMPTY]
    assert pairs["log_posterior"].tolist() == [0.5, 2.0, 1.0]


def test_the_map_pair():
    graphs = [EMPTY, CHAIN, FORK, FORK]
    assert from_graphs(graphs).map_graph() == FORK
    assert from_graphs(graphs, log_posterior=[1.0, 2.0, 0.5, 0.5]).map_graph() == CHAIN
    assert from_graphs([FORK, CHAIN]).map_graph() == FORK
