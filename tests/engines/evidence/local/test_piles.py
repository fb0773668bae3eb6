"""Coarse levels of columns whose values pile up."""

import numpy as np

from momentdag.engines.evidence.local.piles import coarse_levels


def test_piles_are_levels_of_their_own_and_levels_rise_with_values():
    rng = np.random.default_rng(0)
    column = np.where(rng.random(400) < 0.3, 0.0, rng.normal(size=400))
    column[rng.random(400) < 0.1] = 2.5
    levels = coarse_levels(column)
    order = np.argsort(column, kind="stable")
    assert (np.diff(levels[order]) >= 0).all()
    for pile in (0.0, 2.5):
        (level,) = set(levels[column == pile])
        assert set(column[levels == level]) == {pile}
    assert 10 <= len(set(levels)) <= 16


def test_smooth_columns_and_constants_have_none():
    assert coarse_levels(np.random.default_rng(0).normal(size=100)) is None
    assert coarse_levels(np.zeros(50)) is None
