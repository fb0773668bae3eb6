import numpy as np
import pytest
from statsmodels.stats.diagnostic import het_breuschpagan, het_white

from momentdag.screening.spread import (
    combine,
    explains,
    forest_white,
    normal_scores,
    spread_tests,
    white_terms,
)


def heteroscedastic(rng, n=300):
    X = rng.normal(size=(n, 3))
    return X, np.exp(0.6 * X[:, 1]) * rng.normal(size=n)


def test_linear_and_white_terms_give_the_published_tests():
    X, residual = heteroscedastic(np.random.default_rng(0))
    with_constant = np.column_stack([np.ones(len(X)), X])
    assert explains(X, residual**2) == pytest.approx(het_breuschpagan(residual, with_constant)[1])
    assert explains(white_terms(X), residual**2) == pytest.approx(
        het_white(residual, with_constant)[1]
    )


@pytest.mark.parametrize(("n", "n_terms"), [(540, 54), (539, 18), (179, 9)])
def test_few_rows_allow_fewer_terms(n, n_terms):
    assert white_terms(np.zeros((n, 9))).shape == (n, n_terms)


def test_fewer_than_two_rows_for_each_term_test_nothing():
    rng = np.random.default_rng(0)
    assert np.isnan(explains(rng.normal(size=(20, 10)), rng.normal(size=20)))
    assert not np.isnan(explains(rng.normal(size=(20, 9)), rng.normal(size=20)))


def test_normal_scores_tame_an_outlier():
    column = np.array([[1.0], [2.0], [1e9], [3.0]])
    np.testing.assert_allclose(normal_scores(column)[:, 0], [-1.15, -0.32, 1.15, 0.32], atol=0.01)


def test_the_tests_keep_their_level(monkeypatch):
    monkeypatch.setattr(
        "momentdag.screening.spread._N_TREES", 12
    )  # the level does not depend on it
    rng = np.random.default_rng(0)
    p_values = np.array(
        [spread_tests(rng, rng.normal(size=200), rng.normal(size=(200, 3))) for _ in range(30)]
    )
    combined = [combine(list(row)) for row in p_values]
    # Of 30 tests at level 0.1, 3 reject on average; more than 8 with a chance below 1 in 400.
    assert (np.column_stack([p_values, combined]) < 0.1).sum(axis=0).max() <= 8


def test_a_forest_finds_what_squares_cannot():
    rng = np.random.default_rng(1)
    X = rng.uniform(-3, 3, size=(600, 2))
    residual = np.where(np.sin(4 * X[:, 0]) > 0, 2.0, 0.5) * rng.normal(size=600)
    assert forest_white(rng, residual, X) < 1e-6
    assert explains(white_terms(normal_scores(X)), residual**2) > 1e-3


def test_the_seed_settles_the_forest():
    X, residual = heteroscedastic(np.random.default_rng(0))
    first, second = (forest_white(np.random.default_rng(5), residual, X) for _ in range(2))
    assert first == second


def test_too_few_rows_for_a_tree_find_nothing():
    X, residual = heteroscedastic(np.random.default_rng(0), n=12)
    assert forest_white(np.random.default_rng(0), residual, X) == 1.0


def test_combining_leaves_out_what_is_missing():
    assert combine([0.03, float("nan")]) == pytest.approx(0.03)
    assert np.isnan(combine([float("nan")]))
