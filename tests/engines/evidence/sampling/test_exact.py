"""Exact posteriors: the numbers of graph pairs, and products of local scores by brute force."""

import itertools

import numpy as np
import pytest

from momentdag.engines.evidence.local.protocol import Parents
from momentdag.engines.evidence.prior import GraphPrior
from momentdag.engines.evidence.sampling.exact import enumerate_pairs, enumerate_posterior
from momentdag.engines.evidence.support.bitmasks import column_mask
from momentdag.graph import is_acyclic
from momentdag.knowledge import Knowledge

NAMES = ["a", "b", "c", "d"]


def prior(d: int, with_variance_graph: bool = True, **statements: object) -> GraphPrior:
    return GraphPrior(Knowledge(**statements).compile(NAMES[:d]), with_variance_graph)


def toy_score(variable: int, parents: Parents) -> float:
    # Any function without symmetry will do.
    return float(
        np.sin(1.0 + 3.1 * variable + 1.7 * parents.mean + 0.9 * parents.variance**2) * 2.0
    )


def as_numbers(mean_graphs: np.ndarray, variance_graphs: np.ndarray) -> np.ndarray:
    d = mean_graphs.shape[-1]
    bits = np.concatenate([g.reshape(-1, d * d) for g in (mean_graphs, variance_graphs)], axis=1)
    return bits @ (1 << np.arange(2 * d * d))


@pytest.mark.parametrize(("d", "n_pairs", "n_graphs"), [(2, 7, 3), (3, 289, 25), (4, 63487, 543)])
def test_numbers_of_pairs(d: int, n_pairs: int, n_graphs: int) -> None:
    mean_graphs, variance_graphs = enumerate_pairs(d, True)
    assert len(mean_graphs) == len(variance_graphs) == n_pairs
    assert len(np.unique(as_numbers(mean_graphs, variance_graphs))) == n_pairs
    assert is_acyclic(mean_graphs | variance_graphs).all()
    mean_graphs, variance_graphs = enumerate_pairs(d, False)
    assert len(mean_graphs) == n_graphs
    assert not variance_graphs.any()


def test_one_variable_has_one_pair() -> None:
    assert [graphs.shape for graphs in enumerate_pairs(1, True)] == [(1, 1, 1)] * 2


def test_pairs_of_three_variables_are_all_that_brute_force_finds() -> None:
    graphs = np.array(list(itertools.product([False, True], repeat=9))).reshape(-1, 3, 3)
    graphs = graphs[is_acyclic(graphs)]
    first, second = (index.ravel() for index in np.indices((len(graphs),) * 2))
    together = is_acyclic(graphs[first] | graphs[second])
    brute = as_numbers(graphs[first][together], graphs[second][together])
    assert sorted(brute) == sorted(as_numbers(*enumerate_pairs(3, True)))


@pytest.mark.parametrize("with_variance_graph", [True, False])
def test_posterior_is_the_normalised_product(with_variance_graph: bool) -> None:
    graph_prior = prior(3, with_variance_graph, edge_priors={("a", "b", "mean"): 0.9})
    posterior = enumerate_posterior(toy_score, graph_prior)
    expected = []
    for mean_graph, variance_graph in zip(
        posterior.mean_graphs, posterior.variance_graphs, strict=True
    ):
        score = float(graph_prior.log_weight(mean_graph, variance_graph))
        for j in range(3):
            own = Parents(column_mask(mean_graph[:, j]), column_mask(variance_graph[:, j]))
            score += toy_score(j, own)
        expected.append(np.exp(score))
    assert len(expected) == (289 if with_variance_graph else 25)
    probability = np.exp(posterior.log_probability)
    # Rounding of sums of a few hundred terms.
    assert probability.sum() == pytest.approx(1.0, abs=1e-12)
    np.testing.assert_allclose(probability, np.array(expected) / np.sum(expected), rtol=1e-10)


def test_large_scores_neither_overflow_nor_vanish() -> None:
    posterior = enumerate_posterior(lambda j, own: -5000.0 - 900.0 * own.mean, prior(3))
    assert np.exp(posterior.log_probability).sum() == pytest.approx(1.0, abs=1e-12)
    assert np.isfinite(posterior.log_probability).all()


def test_impossible_sets_have_no_probability() -> None:
    posterior = enumerate_posterior(
        lambda j, own: -np.inf if own.variance else toy_score(j, own), prior(3)
    )
    probability = np.exp(posterior.log_probability)
    has_variance = posterior.variance_graphs.any(axis=(1, 2))
    assert (probability[has_variance] == 0).all()
    assert probability[~has_variance].sum() == pytest.approx(1.0, abs=1e-12)


def test_each_local_score_is_asked_for_once() -> None:
    asked: list[tuple[int, Parents]] = []

    def score(variable: int, parents: Parents) -> float:
        asked.append((variable, parents))
        return 0.0

    enumerate_posterior(score, prior(3))
    # 4^2 (mean, variance) parent sets of two possible parents, for each of three variables.
    assert len(asked) == len(set(asked)) == 48
    assert not any(own.union >> variable & 1 for variable, own in asked)


@pytest.mark.parametrize("n_draws", [10, 997, 20_000])
def test_sample_frequencies_are_rounded_probabilities(n_draws: int) -> None:
    posterior = enumerate_posterior(toy_score, prior(3))
    drawn = posterior.sample(np.random.default_rng(n_draws), n_draws)
    assert drawn.shape == (n_draws,)
    counts = np.bincount(drawn, minlength=289)
    # One draw more or less than n p, up to the rounding of a cumulative sum.
    assert (np.abs(counts - n_draws * np.exp(posterior.log_probability)) < 1 + 1e-6).all()


def test_sample_is_unbiased_and_in_random_order() -> None:
    posterior = enumerate_posterior(toy_score, prior(2))
    rng = np.random.default_rng(0)
    probability = np.exp(posterior.log_probability)
    draws = np.array([posterior.sample(rng, 5) for _ in range(4000)])
    # Standard error of a frequency at a given place of the sample, times five.
    for place in (0, 4):
        frequency = np.bincount(draws[:, place], minlength=7) / len(draws)
        assert (np.abs(frequency - probability) < 5 * 0.5 / np.sqrt(len(draws))).all()


def test_hard_knowledge_holds_in_every_pair() -> None:
    graph_prior = prior(
        3,
        required=[("a", "b", "variance")],
        forbidden=[("a", "c", "mean")],
        roots=[("a", "both")],
    )
    posterior = enumerate_posterior(toy_score, graph_prior)
    mean_graphs, variance_graphs = posterior.mean_graphs, posterior.variance_graphs
    assert 0 < len(mean_graphs) < 289
    assert variance_graphs[:, 0, 1].all()
    assert not mean_graphs[:, 0, 2].any()
    assert not (mean_graphs | variance_graphs)[:, :, 0].any()
    assert np.exp(posterior.log_probability).sum() == pytest.approx(1.0, abs=1e-12)
    # It is the unrestricted posterior, restricted.
    free = enumerate_posterior(toy_score, prior(3))
    numbers = as_numbers(free.mean_graphs, free.variance_graphs)
    kept = np.isin(numbers, as_numbers(mean_graphs, variance_graphs))
    restricted = np.exp(free.log_probability[kept])
    np.testing.assert_allclose(
        np.exp(posterior.log_probability), restricted / restricted.sum(), rtol=1e-9
    )
    assert kept.sum() == len(mean_graphs)
