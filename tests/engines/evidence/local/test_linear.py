"""The BGe score against sequential predictives of its normal-Wishart prior."""

import itertools

import numpy as np
import pytest
from scipy.special import gammaln

from momentdag.engines.evidence.local.linear import LinearScorer
from momentdag.engines.evidence.local.protocol import Parents


def table(d: int, n: int = 60, centred: bool = True) -> np.ndarray:
    rng = np.random.default_rng(d)
    values = rng.normal(size=(n, d)) @ (np.eye(d) + 0.6 * rng.normal(size=(d, d)))
    if centred:
        values -= values.mean(axis=0)
    return values / values.std(axis=0)


def log_predictives(values: np.ndarray) -> float:
    """Sum the log multivariate-t predictives of mu | L ~ N(0, L^-1), L ~ W(d + 2, (t I)^-1).

    The scatter t = alpha_mu (alpha_w - d - 1) / (alpha_mu + 1) = 1/2 is that of Kuipers, Moffa and
    Heckerman (2014).
    """
    d = values.shape[1]
    size, degrees = 1.0, d + 2.0
    mean, scatter = np.zeros(d), 0.5 * np.eye(d)
    total = 0.0
    for row in values:
        nu = degrees - d + 1
        scale = scatter * (size + 1) / (size * nu)
        deviation = row - mean
        distance = deviation @ np.linalg.solve(scale, deviation)
        total += (
            gammaln((nu + d) / 2)
            - gammaln(nu / 2)
            - 0.5 * d * np.log(nu * np.pi)
            - 0.5 * np.linalg.slogdet(scale)[1]
            - 0.5 * (nu + d) * np.log1p(distance / nu)
        )
        scatter = scatter + size / (size + 1) * np.outer(deviation, deviation)
        mean = mean + deviation / (size + 1)
        size, degrees = size + 1, degrees + 1
    return float(total)


def total(scorer: LinearScorer, parents: dict[int, int]) -> float:
    return sum(
        scorer.fit(j, Parents(parents.get(j, 0), 0)).log_evidence for j in range(scorer.n_variables)
    )


def complete(order: tuple[int, ...]) -> dict[int, int]:
    return {j: sum(1 << i for i in order[:k]) for k, j in enumerate(order)}


@pytest.mark.parametrize("d", [1, 2, 3, 4])
@pytest.mark.parametrize("centred", [True, False])
def test_complete_graphs_have_the_normal_wishart_evidence(d: int, centred: bool) -> None:
    values = table(d, centred=centred)
    scorer = LinearScorer(values)
    expected = log_predictives(values)
    for order in itertools.permutations(range(d)):
        # Sums of some hundred terms of size up to a thousand in double precision.
        assert total(scorer, complete(order)) == pytest.approx(expected, rel=1e-8)


def test_markov_equivalent_graphs_have_equal_evidence() -> None:
    scorer = LinearScorer(table(3))
    a, b, c = 1, 2, 4
    chain = total(scorer, {1: a, 2: b})  # a -> b -> c
    back = total(scorer, {1: c, 0: b})  # a <- b <- c
    fork = total(scorer, {0: b, 2: b})  # a <- b -> c
    collider = total(scorer, {1: a | c})  # a -> b <- c
    # Rounding of log determinants, as above.
    assert chain == pytest.approx(back, rel=1e-10)
    assert chain == pytest.approx(fork, rel=1e-10)
    assert abs(chain - collider) > 0.1
    assert total(scorer, {1: a}) == pytest.approx(total(scorer, {0: b}), rel=1e-10)


def test_a_cause_gains_and_an_unrelated_variable_loses() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(size=(200, 3))
    values[:, 2] += values[:, 0]
    scorer = LinearScorer(values / values.std(axis=0))
    empty = scorer.fit(2, Parents(0, 0))
    mean_gains, variance_gains = scorer.screen(2, empty, Parents(0, 0), [0, 1], [0, 1])
    assert mean_gains[0] > 20
    assert mean_gains[1] < 0
    assert variance_gains == {}
    for i, gain in mean_gains.items():
        assert gain == scorer.fit(2, Parents(1 << i, 0)).log_evidence - empty.log_evidence


def test_variance_parents_are_refused() -> None:
    with pytest.raises(ValueError, match="no variance parents"):
        LinearScorer(table(2)).fit(0, Parents(0, 2))
