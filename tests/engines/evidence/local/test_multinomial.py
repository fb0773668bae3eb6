"""The score of a category, against closed forms and numerical integration."""

import itertools

import numpy as np
import pytest
from scipy.special import gammaln, log_softmax, logsumexp

from momentdag.engines.evidence.local.cumulative import CumulativeModel
from momentdag.engines.evidence.local.levels import LEVELS, LevelTuning
from momentdag.engines.evidence.local.multinomial import MultinomialModel, draw_coefficients

N = 30
ONE = LevelTuning(mean_amplitudes=((4.0, 1.0),))
NOTHING = (np.full((N, 1), N**-0.5), np.array([10.0 * N]))


def basis(x):
    x = x - x.mean()
    functions = np.column_stack([np.full(len(x), len(x) ** -0.5), x / np.linalg.norm(x)])
    return functions, np.array([10.0 * len(x), float(len(x))])


def test_without_parents_the_evidence_is_that_of_a_uniform_dirichlet_prior():
    codes = np.repeat([0, 1, 2], [5, 10, 15])
    exact = gammaln(3) + gammaln(np.array([6, 11, 16])).sum() - gammaln(N + 3)
    assert MultinomialModel(codes, LEVELS).fit(NOTHING).log_evidence == pytest.approx(exact)


def test_what_a_parent_gains_against_numerical_integration():
    rng = np.random.default_rng(0)
    x = rng.normal(size=N)
    codes = (rng.random(N) < 1 / (1 + np.exp(-1.5 * x))).astype(int)
    functions, variances = basis(x)
    model = MultinomialModel(codes, ONE)
    gain = model.fit((functions, variances)).log_evidence - model.empty.log_evidence
    # Only differences of the two levels matter: b ~ N(0, 2 · 9), w ~ N(0, 2 · 4 · n).
    b, w = np.linspace(-14, 14, 201), np.linspace(-80, 80, 401)
    shift = b[:, None, None] + w[:, None] * functions[:, 1]
    sign = 2 * codes - 1
    likelihood = -np.logaddexp(0, -sign * shift).sum(axis=2)
    log_b = -0.5 * b**2 / 18 - 0.5 * np.log(2 * np.pi * 18) + np.log(b[1] - b[0])
    variance = 8.0 * variances[1]
    log_w = -0.5 * w**2 / variance - 0.5 * np.log(2 * np.pi * variance) + np.log(w[1] - w[0])
    with_parent = logsumexp(likelihood + log_b[:, None] + log_w)
    without = logsumexp(-np.logaddexp(0, -sign * b[:, None]).sum(axis=1) + log_b)
    assert gain == pytest.approx(with_parent - without, abs=0.1)


def test_names_of_levels_do_not_matter():
    rng = np.random.default_rng(1)
    x = rng.normal(size=N)
    codes = rng.integers(0, 3, N)
    evidences = [
        MultinomialModel(np.array(names)[codes], LEVELS).fit(basis(x)).log_evidence
        for names in itertools.permutations(range(3))
    ]
    np.testing.assert_allclose(evidences, evidences[0], atol=0.02)


def test_two_levels_are_nearly_the_bernoulli_case():
    rng = np.random.default_rng(2)
    x = rng.normal(size=400)
    codes = (rng.random(400) < 1 / (1 + np.exp(-x))).astype(int)
    nothing = basis(x)[0][:, :1], np.array([4000.0])
    two = MultinomialModel(codes, LEVELS).fit(basis(x)).log_evidence
    assert two == pytest.approx(
        CumulativeModel(codes, LEVELS).fit(basis(x), nothing).log_evidence, abs=1.0
    )


def test_parents_that_matter_are_worth_it_and_others_are_not():
    rng = np.random.default_rng(3)
    x, z = rng.normal(size=(2, 400))
    codes = (np.outer(x, [1.5, 0, -1.5]) + rng.gumbel(size=(400, 3))).argmax(axis=1)
    model = MultinomialModel(codes, LEVELS)
    empty = model.empty.log_evidence
    assert model.fit(basis(x)).log_evidence > empty + 30
    assert model.fit(basis(z)).log_evidence < empty - 1
    assert model.screen_mean(model.empty, *basis(x)) > 30
    assert model.screen_mean(model.empty, *basis(z)) < 1


def test_row_wise_log_likelihoods_and_draws_belong_to_the_fit():
    rng = np.random.default_rng(4)
    x = rng.normal(size=N)
    codes = rng.integers(0, 3, N)
    fit = MultinomialModel(codes, LEVELS).fit(basis(x))
    design = np.column_stack([np.ones(N), basis(x)[0][:, 1]])
    expected = log_softmax(design @ fit.coefficients, axis=1)[np.arange(N), codes]
    np.testing.assert_allclose(fit.log_likelihood, expected)
    drawn = np.array([draw_coefficients(fit, rng).coefficients for _ in range(1500)])
    np.testing.assert_allclose(
        drawn.mean(axis=0), fit.coefficients, atol=0.12 * drawn.std(axis=0).max()
    )
