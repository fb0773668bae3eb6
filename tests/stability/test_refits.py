import numpy as np
import pytest

from momentdag import Knowledge, MomentDAG, simulate
from momentdag.errors import DataError, OptionError
from momentdag.graph import MomentGraph, is_acyclic
from momentdag.posterior import Posterior, Provenance
from momentdag.stability import Stability, bootstrap, reseed

GRAPH = MomentGraph.from_edges("abc", mean=[("a", "b")], variance=[("c", "b")])
OPTIONS = {"n_starts": 1, "n_kicks": 0, "n_inducing": 10, "noise": "gaussian"}


def posterior(graph, n_draws=100):
    return Posterior(
        graph.names, [graph.mean_graph] * n_draws, [graph.variance_graph] * n_draws, Provenance("e")
    )


@pytest.fixture(scope="module")
def data():
    return simulate.mean_variance_hnm_from_graph(np.random.default_rng(0), GRAPH, 150).data


@pytest.fixture(scope="module")
def estimator():
    return MomentDAG(n_draws=100, engine_options=OPTIONS, random_state=5)


@pytest.fixture(scope="module")
def reseeded(data, estimator):
    return reseed(np.random.default_rng(0), estimator, data, n_refits=2)


@pytest.fixture(scope="module")
def resampled(data, estimator):
    return bootstrap(np.random.default_rng(0), estimator, data, n_refits=2)


def test_exact_posteriors_do_not_depend_on_the_seed(reseeded):
    spread = reseeded.edge_spread()
    # Three variables are enumerated in every world: systematic draws differ by a few in a hundred.
    assert spread["sd"].max() < 0.04
    assert reseeded.consensus() == GRAPH
    assert "0 only in some." in reseeded.describe()
    assert len({p.provenance.seed for p in reseeded.posteriors}) == 2


def test_bootstrap_refits_see_other_rows(resampled):
    assert resampled.n_refits == 2
    assert len({p.provenance.data_hash for p in resampled.posteriors}) == 2
    assert resampled.edge_spread()["sd"].max() > 0.01


@pytest.mark.slow  # starts two processes
def test_the_number_of_processes_does_not_change_the_refits(resampled, data, estimator):
    again = bootstrap(np.random.default_rng(0), estimator, data, n_refits=2, n_jobs=2)
    for first, second in zip(resampled.posteriors, again.posteriors, strict=True):
        np.testing.assert_array_equal(first.mean_graphs, second.mean_graphs)


def test_the_estimator_is_left_as_it_was(reseeded, estimator):
    assert reseeded.n_refits == 2
    assert estimator.random_state == 5
    assert not hasattr(estimator, "posterior_")


def test_the_spread_is_that_between_the_fits():
    one = posterior(MomentGraph.from_edges("ab", mean=[("a", "b")]))
    other = posterior(MomentGraph.from_edges("ab", variance=[("b", "a")]))
    stability = Stability("seeds", (one, one, one, other), Knowledge())
    first = stability.edge_spread().set_index(["cause", "effect", "moment"]).loc["a", "b", "mean"]
    assert first[["probability", "low", "high", "frequency"]].tolist() == [0.75, 0, 1, 0.75]
    assert first["sd"] == pytest.approx(np.sqrt(0.75 * 0.25))
    assert "a -> b (mean): 0.00 to 1.00, above one half in 75% of the fits." in str(stability)
    assert "ask for more draws, starts or chains" in str(stability)


def test_the_consensus_of_fits_that_disagree_is_acyclic():
    ring = [[("a", "b"), ("b", "c")], [("b", "c"), ("c", "a")], [("c", "a"), ("a", "b")]]
    fits = tuple(posterior(MomentGraph.from_edges("abc", mean=edges)) for edges in ring)
    stability = Stability("bootstrap", fits, Knowledge())
    agreed = stability.consensus()
    assert is_acyclic(agreed.union_graph)
    assert agreed.mean_graph.sum() == 2
    known = Stability("bootstrap", fits, Knowledge(order=[("c", "b")]))
    assert not known.consensus().has_path("b", "c")


def test_every_fit_has_the_same_weight_in_the_pool():
    long, short = posterior(GRAPH, 300), posterior(MomentGraph.from_edges("abc"), 100)
    pooled = Stability("seeds", (long, short), Knowledge()).pooled()
    assert pooled.n_draws == 200
    assert pooled.edge_probability("a", "b", "mean") == 0.5
    assert pooled.diagnostics().n_chains == 2


def test_what_cannot_be_refitted(estimator, data):
    for number in (1, 2.0, True):
        with pytest.raises(OptionError, match="n_refits to be an integer of at least 2"):
            reseed(np.random.default_rng(0), estimator, data, n_refits=number)
    with pytest.raises(DataError):
        bootstrap(np.random.default_rng(0), estimator, data[["a"]], n_refits=2)
