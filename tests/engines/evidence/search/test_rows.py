import numpy as np
import pytest

from momentdag.engines.evidence.search.rows import choose_rows


def table(counts):
    """Return rows with an indicator of -1 or 1 for every regime but the first."""
    codes = np.repeat(np.arange(len(counts)), counts)
    indicators = np.where(codes[:, None] == np.arange(1, len(counts)), 1.0, -1.0)
    return np.hstack([np.zeros((len(codes), 2)), indicators]), codes


def test_every_regime_has_its_share_and_small_ones_half_of_an_equal_one():
    values, codes = table([800, 150, 50])
    rows = choose_rows(np.random.default_rng(0), values, 300, 2)
    assert len(set(rows.tolist())) == 300
    assert (np.diff(rows) > 0).all()
    counts = np.bincount(codes[rows])
    assert counts.min() >= 50  # all there are
    assert counts[0] == pytest.approx(180, abs=15)


def test_without_regimes_rows_are_plain_random_ones():
    values = np.zeros((50, 3))
    rows = choose_rows(np.random.default_rng(3), values, 20, 0)
    expected = np.sort(np.random.default_rng(3).choice(50, 20, replace=False))
    np.testing.assert_array_equal(rows, expected)
