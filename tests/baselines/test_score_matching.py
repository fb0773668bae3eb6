import numpy as np
import pytest

from momentdag.baselines.score_matching import estimate_scores


def test_the_score_of_a_normal_law_is_found():
    rng = np.random.default_rng(0)
    covariance = np.array([[1.0, 0.6], [0.6, 1.0]])
    x = rng.multivariate_normal([0.0, 0.0], covariance, size=1000)
    found = estimate_scores(rng, x, n_centres=50)
    exact = -x @ np.linalg.inv(covariance)
    # The law is in the family: what is left is the error of some fifty weights from 1 000 rows.
    assert np.mean((found.values - exact) ** 2) < 0.05 * np.mean(exact**2)
    # E s² / 2 + E ds/dx = -E s² / 2 at the score itself.
    np.testing.assert_allclose(found.losses, -0.5 * np.mean(exact**2, axis=0), rtol=0.15)


def test_the_score_of_heteroscedastic_heavy_tails_is_found():
    rng = np.random.default_rng(1)
    x = rng.normal(size=1500)
    sd, e = np.exp(0.5 * np.tanh(x)), rng.standard_t(3, size=1500)
    found = estimate_scores(rng, np.column_stack([x, sd * e]), n_centres=150).values
    exact = -4 * e / (3 + e**2) / sd
    assert np.corrcoef(found[:, 1], exact)[0, 1] > 0.95


@pytest.mark.parametrize("n_centres", [7, 1000])
def test_few_rows_give_a_score_that_is_better_than_none(n_centres):
    rng = np.random.default_rng(2)
    x = rng.normal(size=(60, 2))  # fewer rows than a thousand centres: all of them
    found = estimate_scores(np.random.default_rng(3), x, n_centres)
    assert found.values.shape == (60, 2)
    assert np.isfinite(found.values).all()
    # Zero is a score of loss zero; what was chosen by held-out rows is better than that.
    assert (found.losses < 0).all()


def test_the_order_of_columns_does_not_matter():
    x = np.random.default_rng(4).normal(size=(300, 2))
    one = estimate_scores(np.random.default_rng(5), x, n_centres=40).values
    # The same columns turned round: components go along.
    two = estimate_scores(np.random.default_rng(5), x[:, ::-1], n_centres=40).values
    np.testing.assert_allclose(one, two[:, ::-1], atol=1e-6)
