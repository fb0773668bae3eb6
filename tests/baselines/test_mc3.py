import numpy as np
import pytest

from momentdag.baselines.mc3 import MC3Options, Target, Walker, learn_mc3
from momentdag.baselines.one_graph import GraphLimits
from momentdag.engines.evidence.local.linear import LinearScorer
from momentdag.engines.evidence.local.protocol import Parents
from momentdag.engines.evidence.prior import GraphPrior
from momentdag.engines.evidence.sampling.exact import enumerate_posterior
from momentdag.knowledge import Knowledge
from momentdag.metrics import graph_distribution, total_variation
from momentdag.simulate import preset
from momentdag.table import Dataset


def exact_posterior(dataset, knowledge):
    scorer = LinearScorer(dataset.standardised)
    prior = GraphPrior(knowledge.compile(dataset.names), with_variance_graph=False)
    return enumerate_posterior(lambda j, own: scorer.fit(j, own).log_evidence, prior)


def learn(dataset, n_draws, knowledge, **options):
    limits = GraphLimits.of(knowledge, dataset.names)
    return learn_mc3(np.random.default_rng(0), dataset, limits, n_draws, MC3Options(**options))


def small_table(n_variables, seed):
    # Forty rows leave several graphs with probabilities that differ.
    simulation = preset(f"linear-anm-{n_variables}", np.random.default_rng(seed), n_samples=40)
    return Dataset.from_table(simulation.data)


@pytest.mark.parametrize("n_temperatures", [1, 3])
@pytest.mark.parametrize("n_variables", [pytest.param(2, marks=pytest.mark.slow), 3])
def test_draws_follow_the_exact_posterior(n_variables, n_temperatures):
    dataset = small_table(n_variables, seed=5)
    exact = exact_posterior(dataset, Knowledge())
    found = learn(dataset, 16_000, Knowledge(), thinning=20, n_temperatures=n_temperatures)
    truth = graph_distribution(exact.mean_graphs, weights=np.exp(exact.log_probability))
    # Draws of this number, were they independent, would lie within about 0.01.
    assert total_variation(graph_distribution(found.graphs), truth) <= 0.02
    # A chain that never left its start would fail, and so would one that went everywhere alike.
    n_graphs = len(exact.log_probability)
    assert total_variation(graph_distribution(exact.mean_graphs), truth) > 0.2
    assert np.exp(exact.log_probability.max()) < 0.95
    assert n_graphs == {2: 3, 3: 25}[n_variables]


def test_knowledge_restricts_the_same_posterior():
    dataset = small_table(3, seed=5)
    knowledge = Knowledge(order=[("x2", "x1")], required=[("x3", "x1")], forbidden=[("x2", "x3")])
    exact = exact_posterior(dataset, knowledge)
    found = learn(dataset, 8000, knowledge, thinning=20)
    truth = graph_distribution(exact.mean_graphs, weights=np.exp(exact.log_probability))
    # As above.
    assert total_variation(graph_distribution(found.graphs), truth) <= 0.02


def test_log_posterior_is_that_of_the_enumeration():
    dataset = small_table(3, seed=2)
    exact = exact_posterior(dataset, Knowledge())
    found = learn(dataset, 300, Knowledge())
    table = {g.tobytes(): p for g, p in zip(exact.mean_graphs, exact.log_probability, strict=True)}
    expected = np.array([table[graph.tobytes()] for graph in found.graphs])
    # Equal up to the normalising constant and rounding.
    assert np.ptp(found.log_posterior - expected) < 1e-8


def test_heat_flattens_the_target():
    dataset = small_table(3, seed=2)
    limits = GraphLimits.of(Knowledge(), dataset.names)
    target = Target(dataset.standardised, dataset.names, limits)
    means = []
    for power in (1.0, 0.2):
        walker, rng, values = Walker(target, power), np.random.default_rng(0), []
        for _ in range(500):
            walker.walk(rng, 20)
            values.append(walker.log_posterior)
        means.append(np.mean(values))
    assert means[1] < means[0] - 1.0


def test_evidence_is_that_of_the_linear_family():
    dataset = small_table(3, seed=0)
    limits = GraphLimits.of(Knowledge(), dataset.names)
    target = Target(dataset.standardised, dataset.names, limits)
    scorer = LinearScorer(dataset.standardised)
    assert target.evidence(1, 0b101) == scorer.fit(1, Parents(0b101, 0)).log_evidence
    assert target.n_scores == 1


def test_chains_that_have_not_mixed_are_a_failure():
    simulation = preset("sparse-10", np.random.default_rng(0))
    dataset = Dataset.from_table(simulation.data)
    assert "mix poorly" in learn(dataset, 40, Knowledge(), thinning=1).status
    assert learn(small_table(2, seed=5), 1000, Knowledge()).status == "complete"
