"""Rows in which a variable was set: left out of its likelihood exactly, and of nothing else."""

import numpy as np
import pytest
from scipy import stats

from momentdag.engines.evidence.local.hyperparameters import Hyperparameters, make_scorer
from momentdag.engines.evidence.local.interventions import (
    InterventionScorer,
    reordered_cells,
    scorer_of,
    used_rows,
)
from momentdag.engines.evidence.local.protocol import Parents, ScoreCounts
from momentdag.engines.evidence.local.rows import row_log_densities
from momentdag.engines.evidence.options import EvidenceOptions

N = 60


@pytest.fixture(scope="module")
def values():
    rng = np.random.default_rng(0)
    x = rng.normal(size=N)
    y = 0.8 * x + 0.6 * rng.normal(size=N)
    y[:25] = rng.normal(size=25)  # set, whatever x was
    return np.round(np.column_stack([x, y, rng.normal(size=N)]), 8)


@pytest.fixture(scope="module")
def set_cells():
    cells = np.zeros((N, 3), dtype=bool)
    cells[:25, 1] = True
    return cells


def scorer_on(values, set_cells, options):
    def make(rows, inducing_rows):
        return make_scorer(rows, rows, inducing_rows, Hyperparameters(), options)

    inducing = np.arange(0, N, 4)
    if set_cells is None:
        return make(values, inducing)
    return InterventionScorer(values, inducing, set_cells, make)


def log_marginal(rows):
    """Return the log density of rows (n, p) under the normal-Wishart prior, one after the other.

    The prior of three variables has mean 0, one row's worth of it, and five degrees of freedom with
    the scatter matrix ½ I; of p of the variables it has 2 + p degrees.
    """
    p = rows.shape[1]
    mean, kappa, nu, scatter = np.zeros(p), 1.0, 2.0 + p, 0.5 * np.eye(p)
    total = 0.0
    for row in rows:
        df = nu - p + 1
        shape = scatter * (kappa + 1) / (kappa * df)
        total += stats.multivariate_t(mean, shape, df).logpdf(row)
        gap = row - mean
        scatter = scatter + kappa / (kappa + 1) * np.outer(gap, gap)
        mean = (kappa * mean + row) / (kappa + 1)
        kappa, nu = kappa + 1, nu + 1
    return total


def test_the_linear_family_by_hand(values, set_cells):
    scorer = scorer_on(values, set_cells, EvidenceOptions(family="linear"))
    free = values[25:]
    # y uses the rows in which it was not set, as a ratio of marginal likelihoods of these rows ...
    by_hand = log_marginal(free[:, [0, 1]]) - log_marginal(free[:, [0]])
    assert scorer.fit(1, Parents(0b001, 0)).log_evidence == pytest.approx(by_hand, abs=1e-8)
    assert scorer.fit(1, Parents(0, 0)).log_evidence == pytest.approx(
        log_marginal(free[:, [1]]), abs=1e-8
    )
    # ... and z, of which y may be a cause, uses all of them.
    by_hand = log_marginal(values[:, [1, 2]]) - log_marginal(values[:, [1]])
    assert scorer.fit(2, Parents(0b010, 0)).log_evidence == pytest.approx(by_hand, abs=1e-8)


def test_free_functions_are_scored_on_the_used_rows_alone(values, set_cells):
    options = EvidenceOptions(noise="gaussian")
    scorer = scorer_on(values, set_cells, options)
    free = values[25:]
    inducing = np.arange(28, N, 4)
    assert set(inducing - 25) <= set(scorer.of(1).mean_features.inducing_rows)
    assert len(scorer.of(1).mean_features.inducing_rows) == 15  # replaced, not lost
    alone = make_scorer(
        free, free, scorer.of(1).mean_features.inducing_rows, Hyperparameters(), options
    )
    parents = Parents(0b101, 0b001)
    assert scorer.fit(1, parents).log_evidence == alone.fit(1, parents).log_evidence
    whole = scorer_on(values, None, options)
    assert scorer.fit(2, parents).log_evidence == whole.fit(2, parents).log_evidence
    # Bases are orthogonal on the rows they are used on.
    functions = scorer.of(1).mean_features(0b101).functions
    np.testing.assert_allclose(functions.T @ functions, np.eye(functions.shape[1]), atol=1e-8)


def test_a_value_that_was_set_matters_as_a_cause_only(values, set_cells):
    other = values.copy()
    other[:25, 1] = -values[:25, 1]
    options = EvidenceOptions(noise="gaussian")
    one, two = (scorer_on(table, set_cells, options) for table in (values, other))
    for parents in (Parents(0, 0), Parents(0b001, 0b100)):
        assert one.fit(1, parents).log_evidence == two.fit(1, parents).log_evidence
    caused = Parents(0b010, 0)
    assert one.fit(2, caused).log_evidence != two.fit(2, caused).log_evidence


def test_rows_that_were_set_have_no_density_in_any_world(values, set_cells):
    scorer = scorer_on(values, set_cells, EvidenceOptions(noise="gaussian"))
    parents = Parents(0b001, 0)
    rows = row_log_densities(scorer, 1, parents, scorer.fit(1, parents))
    assert rows.shape == (N,)
    assert not rows[:25].any()
    assert (rows[25:] != 0).all()
    assert used_rows(scorer, 1).tolist() == list(range(25, N))
    assert used_rows(scorer_on(values, None, EvidenceOptions()), 1) is None


def test_variables_with_the_same_rows_share_their_scorer(values, set_cells):
    scorer = scorer_on(values, set_cells, EvidenceOptions(noise="gaussian"))
    assert scorer_of(scorer, 0) is scorer_of(scorer, 2)
    assert scorer_of(scorer, 0) is not scorer_of(scorer, 1)
    assert (scorer.n_variables, scorer.n_samples) == (3, N)
    scorer.counts = counts = ScoreCounts()
    scorer.fit(0, Parents(0, 0))
    scorer.fit(1, Parents(0, 0))
    assert counts.computed == 2
    assert scorer.counts is counts
    gains, _ = scorer.screen(1, scorer.fit(1, Parents(0, 0)), Parents(0, 0), [0], [])
    assert gains[0] > 5  # x moves y clearly where y was not set


def test_cells_follow_the_order_of_the_columns():
    cells = np.array([[True, False]])
    assert reordered_cells(cells, np.array([1, 0, 2])).tolist() == [[False, True, False]]
