"""Scores of a table with columns of several kinds: what a parent costs that shows nothing."""

import numpy as np
import pytest

from momentdag.engines.evidence.local.hyperparameters import Hyperparameters, make_scorer
from momentdag.engines.evidence.local.protocol import Parents
from momentdag.engines.evidence.options import EvidenceOptions
from momentdag.engines.standardise import ColumnUnits

N = 400


def scorer(kind, column):
    """Return the scorer of four normal columns and one of a kind, which is the last."""
    values = np.column_stack([np.random.default_rng(0).normal(size=(N, 4)), column])
    units = ColumnUnits(
        tuple("abcdy"),
        np.append(np.zeros(4), 0.0),
        np.ones(5),
        ("continuous",) * 4 + (kind,),
    )
    if kind == "count":
        values[:, 4] = np.log1p(values[:, 4])
    rows = np.arange(0, N, 10)
    return make_scorer(values, values, rows, Hyperparameters(), EvidenceOptions(), units)


@pytest.mark.parametrize(
    ("kind", "draw"),
    [
        ("binary", lambda rng: (rng.random(N) < 0.1).astype(float)),
        ("ordered", lambda rng: rng.integers(0, 4, N).astype(float)),
        ("category", lambda rng: rng.integers(0, 3, N).astype(float)),
        ("count", lambda rng: rng.poisson(3, N).astype(float)),
    ],
)
def test_parents_that_show_nothing_have_their_price_each(kind, draw):
    local = scorer(kind, draw(np.random.default_rng(1)))
    empty, one, four = (local.fit(4, Parents(mask, 0)).log_evidence for mask in (0, 0b0001, 0b1111))
    assert one < empty - 1.5
    assert four < empty - 4


def test_a_poisson_count_has_no_dispersion_to_cause():
    rng = np.random.default_rng(3)
    a = np.random.default_rng(0).normal(size=(N, 4))[:, 0]
    local = scorer("count", rng.poisson(np.exp(1 + 0.5 * a)).astype(float))
    mean = local.fit(4, Parents(1, 0)).log_evidence
    assert local.fit(4, Parents(1, 1)).log_evidence < mean - 2
    assert mean > local.fit(4, Parents(0, 0)).log_evidence + 20


@pytest.mark.parametrize("kind", ["ordered", "binary", "category"])
def test_rows_that_are_alike_are_counted_and_not_repeated(kind):
    """The score of a discrete variable with discrete parents is that of every row by itself."""
    rng = np.random.default_rng(4)
    cause, other = rng.integers(0, 3, N).astype(float), (rng.random(N) < 0.4).astype(float)
    effect = np.clip(cause + rng.integers(-1, 2, N), 0, 1 if kind == "binary" else 2)
    values = np.column_stack([cause, other, effect])
    units = ColumnUnits(tuple("xzy"), np.zeros(3), np.ones(3), ("ordered", "binary", kind))
    rows = np.arange(0, N, 10)
    local = make_scorer(values, values, rows, Hyperparameters(), EvidenceOptions(), units)
    parents = Parents(0b11, 0b10 if kind == "ordered" else 0)
    grouped = local._alike(2, parents.union)
    assert len(grouped.first) <= 18
    assert grouped.weights.sum() == N
    model = local.level_models[2][0]
    alike = local._fit_levels(model, parents, grouped)
    by_row = local._fit_levels(model, parents, None)
    assert alike.log_evidence == pytest.approx(by_row.log_evidence, abs=1e-6)
    np.testing.assert_allclose(alike.slope, by_row.slope, atol=1e-6)
    np.testing.assert_allclose(alike.log_likelihood, by_row.log_likelihood, atol=1e-6)
    # A continuous parent makes every row its own.
    values[:, 1] = rng.normal(size=N)
    units = ColumnUnits(tuple("xzy"), np.zeros(3), np.ones(3), ("ordered", "continuous", kind))
    local = make_scorer(values, values, rows, Hyperparameters(), EvidenceOptions(), units)
    assert local._alike(2, 0b11) is None
