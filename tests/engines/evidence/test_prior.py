"""The prior over graph pairs, by numerical integration and by hand."""

import itertools
from math import log

import numpy as np
import pytest
from scipy.integrate import quad

from momentdag.engines.evidence.local.protocol import Parents
from momentdag.engines.evidence.prior import GraphPrior, adjacency
from momentdag.engines.evidence.support.bitmasks import column_mask
from momentdag.knowledge import Knowledge

NAMES = ["a", "b", "c", "d"]
LOST = log(0.2 / 0.8)  # what a violation costs at confidence 0.8


def prior(d: int = 3, with_variance_graph: bool = True, **statements: object) -> GraphPrior:
    return GraphPrior(Knowledge(**statements).compile(NAMES[:d]), with_variance_graph)


def graph(*edges: str, d: int = 3) -> np.ndarray:
    matrix = np.zeros((d, d), dtype=bool)
    for cause, effect in edges:
        matrix[NAMES.index(cause), NAMES.index(effect)] = True
    return matrix


@pytest.mark.parametrize("d", [2, 3, 4])
def test_log_rate_integrates_the_edge_rate_out(d: int) -> None:
    possible = d * (d - 1) // 2
    for k in range(possible + 1):
        integral, _ = quad(lambda rate, k=k: rate**k * (1 - rate) ** (possible - k), 0, 1)
        # quad's own accuracy on a polynomial.
        assert float(prior(d).log_rate(k)) == pytest.approx(log(integral), abs=1e-9)
    assert prior(d).log_rate(np.arange(2)).shape == (2,)


def test_log_weight_without_knowledge_is_a_rate_for_each_graph() -> None:
    own = prior()
    mean_graphs = np.stack([graph(), graph("ab"), graph("ab", "bc", "ac")])
    variance_graphs = np.stack([graph("ac"), graph("ab", "cb"), graph()])
    expected = own.log_rate([0, 1, 3]) + own.log_rate([1, 2, 0])
    np.testing.assert_allclose(own.log_weight(mean_graphs, variance_graphs), expected, rtol=1e-12)
    assert own.log_weight(graph("ab"), graph()).shape == ()


def test_log_weight_of_all_subgraphs_of_an_order_sums_to_one() -> None:
    own = prior(3)
    subsets = [
        graph(*edges) for k in range(4) for edges in itertools.combinations(("ab", "ac", "bc"), k)
    ]
    weights = [
        float(own.log_weight(mean_graph, variance_graph))
        for mean_graph in subsets
        for variance_graph in subsets
    ]
    assert np.exp(weights).sum() == pytest.approx(1.0, abs=1e-12)


def test_stated_edges_count_by_their_odds_and_not_in_the_rate() -> None:
    own = prior(edge_priors={("a", "b", "mean"): 0.8, ("b", "c", "variance"): 0.1})
    empty = float(own.log_weight(graph(), graph()))
    for mean_graph, variance_graph, change in [
        (graph("ab"), graph(), log(4)),
        (graph(), graph("ab"), float(own.log_rate(1) - own.log_rate(0))),
        (graph(), graph("bc"), log(1 / 9)),
        (graph("bc"), graph(), float(own.log_rate(1) - own.log_rate(0))),
        (
            graph("ab", "ac"),
            graph("bc"),
            log(4) + log(1 / 9) + float(own.log_rate(1) - own.log_rate(0)),
        ),
    ]:
        weight = float(own.log_weight(mean_graph, variance_graph))
        assert weight - empty == pytest.approx(change, abs=1e-12)


def test_soft_knowledge_costs_each_violation_once() -> None:
    own = prior(
        required=[("a", "b", "either")],
        forbidden=[("b", "c", "variance")],
        order=[("a", "c")],
        strength="soft",
        confidence=0.8,
    )

    def rates(mean_graph: np.ndarray, variance_graph: np.ndarray) -> float:
        return float(own.log_rate(mean_graph.sum()) + own.log_rate(variance_graph.sum()))

    for mean_graph, variance_graph, violations in [
        (graph("ab"), graph(), 0),
        (graph(), graph("ab"), 0),
        (graph(), graph(), 1),  # a -> b is missing
        (graph("ab"), graph("bc"), 1),
        (graph("ab", "bc"), graph(), 0),
        (graph("cb", "ba"), graph(), 2),  # missing, and c is an ancestor of a
        (graph("ca"), graph("bc"), 3),
    ]:
        weight = float(own.log_weight(mean_graph, variance_graph))
        expected = rates(mean_graph, variance_graph) + violations * LOST
        assert weight == pytest.approx(expected, abs=1e-12)


def test_modular_odds_are_those_of_the_posterior_mean_rate() -> None:
    modular = prior(4, edge_priors={("a", "b", "mean"): 0.9}).modular(2, 0.5)
    # Given k of N edges and a uniform prior the rate has mean (k + 1) / (N + 2).
    mean_rate, variance_rate = 3 / 8, 1.5 / 8
    assert modular.mean_log_odds[1, 0] == pytest.approx(log(mean_rate / (1 - mean_rate)))
    assert modular.mean_log_odds[0, 1] == pytest.approx(log(9))
    assert modular.variance_log_odds[0, 1] == pytest.approx(
        log(variance_rate / (1 - variance_rate))
    )
    weight = modular.log_weight(1, Parents(0b101, 0b1000))
    expected = log(9) + log(mean_rate / (1 - mean_rate))
    assert weight == pytest.approx(expected + log(variance_rate / (1 - variance_rate)))


def test_modular_odds_stay_finite_at_full_and_empty_graphs() -> None:
    for k in (0, 6):
        modular = prior(4).modular(k, 6 - k)
        assert np.isfinite(modular.mean_log_odds).all()
        assert np.isfinite(modular.variance_log_odds).all()


def test_modular_odds_carry_soft_edges() -> None:
    soft = {"strength": "soft", "confidence": 0.8}
    plain = prior().modular(1, 1)
    wanted = prior(required=[("a", "b", "variance")], **soft).modular(1, 1)
    unwanted = prior(forbidden=[("a", "b", "mean")], **soft).modular(1, 1)
    gained = wanted.variance_log_odds - plain.variance_log_odds
    np.testing.assert_allclose(gained, -LOST * graph("ab"), atol=1e-12)
    np.testing.assert_array_equal(wanted.mean_log_odds, plain.mean_log_odds)
    lost = unwanted.mean_log_odds - plain.mean_log_odds
    np.testing.assert_allclose(lost, LOST * graph("ab"), atol=1e-12)
    np.testing.assert_array_equal(unwanted.variance_log_odds, plain.variance_log_odds)


def test_modular_masks_are_the_hard_knowledge() -> None:
    modular = prior(
        required=[("a", "b", "mean"), ("b", "c", "either")], forbidden=[("a", "c", "variance")]
    ).modular(1, 1)
    # a before b before c, so nothing runs backwards.
    assert modular.required_mean == (0, 0b001, 0)
    assert modular.required_variance == (0, 0, 0)
    assert modular.required_either == (0, 0, 0b010)
    assert modular.allowed_mean == (0, 0b001, 0b011)
    assert modular.allowed_variance == (0, 0b001, 0b010)
    without = prior(with_variance_graph=False).modular(1, 0)
    assert without.allowed_variance == (0, 0, 0)
    assert without.allowed_mean == (0b110, 0b101, 0b011)


def test_masks_and_adjacency_are_inverse() -> None:
    parents = (Parents(0, 0b110), Parents(0b100, 0), Parents(0, 0))
    mean_graph, variance_graph = adjacency(parents)
    np.testing.assert_array_equal(mean_graph, graph("cb"))
    np.testing.assert_array_equal(variance_graph, graph("ba", "ca"))
    rebuilt = tuple(
        Parents(column_mask(mean_graph[:, j]), column_mask(variance_graph[:, j])) for j in range(3)
    )
    assert rebuilt == parents
