"""The chain against exact enumeration: same scores, same prior, every kind of knowledge."""

import numpy as np
import pytest

from momentdag.engines.evidence.local.hyperparameters import Hyperparameters, make_scorer
from momentdag.engines.evidence.local.linear import LinearFit, LinearScorer
from momentdag.engines.evidence.options import EvidenceOptions
from momentdag.engines.evidence.prior import GraphPrior, adjacency
from momentdag.engines.evidence.sampling.chain import Chain
from momentdag.engines.evidence.sampling.exact import enumerate_posterior
from momentdag.engines.evidence.sampling.pools import make_pools
from momentdag.engines.evidence.search.orders import search_order
from momentdag.engines.evidence.search.parents import ParentSearch
from momentdag.knowledge import Knowledge
from momentdag.metrics import graph_distribution, total_variation
from momentdag.simulate import linear_anm, mean_variance_hnm

NAMES = ["a", "b", "c", "d"]


def gaussian_search(seed, d, n_samples, knowledge):
    simulation = mean_variance_hnm(
        np.random.default_rng(seed), d, 1, n_samples, mean_scale=0.7, log_std_spread=0.4
    )
    values = simulation.data.to_numpy()
    values = (values - values.mean(axis=0)) / values.std(axis=0)
    scorer = make_scorer(
        values, values, np.arange(15), Hyperparameters(), EvidenceOptions(noise="gaussian")
    )
    prior = GraphPrior(knowledge.compile(NAMES[:d]), True)
    return ParentSearch(scorer, prior.modular(1, 1)), prior


def run_chain(search, prior, n_steps, thinning, pool_size=None):
    d = prior.n_variables
    knowledge = prior.knowledge
    start = tuple(knowledge.random_order(np.random.default_rng(0)).tolist())

    def positions(order, variable):
        low, high = knowledge.feasible_positions(np.array(order), variable)
        return range(low, high + 1)

    def ignore(done, total):
        return None

    best = search_order(search, np.random.default_rng(0), start, positions, 0, ignore)
    pools = make_pools(search)
    if pool_size is not None:
        pools = [
            pool._replace(
                parents=pool.parents[:pool_size],
                unions=pool.unions[:pool_size],
                log_weight=pool.log_weight[:pool_size],
            )
            for pool in pools
        ]
    weights = np.ones((3, d, d)) * (1 - np.eye(d))
    chain = Chain(np.random.default_rng(1), search, prior, pools, weights, best.parents)
    draws = []
    for step in range(n_steps):
        chain.step()
        if step % thinning == 0:
            draws.append(np.stack(adjacency(tuple(chain.parents))))
    return np.array(draws), chain


def compare(draws, exact):
    p = np.exp(exact.log_probability)
    both = np.stack([exact.mean_graphs, exact.variance_graphs], axis=1)
    marginals = np.abs(draws.mean(axis=0) - (both * p[:, None, None, None]).sum(axis=0)).max()
    distance = total_variation(graph_distribution(draws), graph_distribution(both, weights=p))
    return marginals, distance


KNOWLEDGE = {
    "nothing": Knowledge(),
    "hard": Knowledge(order=[("a", "b")], forbidden=[("a", "c", "variance")]),
    "required": Knowledge(required=[("b", "a", "mean")]),
    "priors": Knowledge(edge_priors={("a", "b", "mean"): 0.9, ("c", "b"): 0.05}),
    "soft": Knowledge(order=[("c", "a")], required=[("a", "b")], strength="soft"),
}
RARER = ("required", "priors")


@pytest.mark.parametrize(
    "known",
    [*("nothing", "hard", "soft"), *(pytest.param(k, marks=pytest.mark.slow) for k in RARER)],
)
def test_three_variables_match_enumeration(known):
    search, prior = gaussian_search(0, 3, 60, KNOWLEDGE[known])
    exact = enumerate_posterior(search.log_evidence, prior)
    n_steps = 40_000 if prior.knowledge.is_soft else 60_000
    draws, chain = run_chain(search, prior, n_steps, 10)
    marginals, distance = compare(draws, exact)
    # Neighbouring draws are alike: the standard error of a marginal is up to 0.012 here. The slow
    # test below runs long enough for 0.02.
    assert marginals < 0.05
    assert distance < 0.08
    assert 0.01 < chain.n_accepted / chain.n_steps < 0.9
    assert prior.knowledge.allows(draws[:, 0], draws[:, 1]).all()


class RandomScores:
    """Evidences drawn at random: a rough posterior without barriers."""

    n_variables = 3
    fit_bytes = 64

    def __init__(self, rng):
        self._values = rng.normal(size=(3, 8, 8))

    def fit(self, variable, parents):
        return LinearFit(self._values[variable, parents.mean, parents.variance])

    def screen(self, variable, fit, parents, mean_additions, variance_additions):
        return dict.fromkeys(mean_additions, 0.0), dict.fromkeys(variance_additions, 0.0)


def test_chain_reaches_what_the_pools_leave_out():
    prior = GraphPrior(Knowledge().compile(NAMES[:3]), True)
    search = ParentSearch(RandomScores(np.random.default_rng(0)), prior.modular(1, 1))
    exact = enumerate_posterior(search.log_evidence, prior)
    draws, _ = run_chain(search, prior, 200_000, 10, pool_size=2)
    marginals, distance = compare(draws, exact)
    # 20 000 correlated draws over about a hundred effective pairs: 0.02 and 0.05 are chance.
    assert marginals < 0.04
    assert distance < 0.09


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "d"), [(0, 3), (1, 3), (0, 4), (1, 4)])
def test_long_chains_match_enumeration_closely(seed, d):
    search, prior = gaussian_search(seed, d, 60, Knowledge())
    exact = enumerate_posterior(search.log_evidence, prior)
    draws, _ = run_chain(search, prior, 3_000_000, 20)
    marginals, distance = compare(draws, exact)
    assert marginals < 0.02
    assert distance < 0.05


@pytest.mark.slow
def test_linear_family_matches_enumeration():
    simulation = linear_anm(np.random.default_rng(3), 4, None, 500)
    values = simulation.data.to_numpy()
    values = (values - values.mean(axis=0)) / values.std(axis=0)
    prior = GraphPrior(Knowledge().compile(NAMES), False)
    search = ParentSearch(LinearScorer(values), prior.modular(3, 0))
    exact = enumerate_posterior(search.log_evidence, prior)
    draws, _ = run_chain(search, prior, 300_000, 10)
    marginals, distance = compare(draws, exact)
    # A Markov equivalence class is flat: the chain must cross it freely.
    assert marginals < 0.02
    assert distance < 0.03
