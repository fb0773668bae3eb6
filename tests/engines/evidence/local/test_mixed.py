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
