"""Thresholds, against the shares that they are to give."""

import numpy as np
import pytest
from scipy.special import expit

from momentdag.engines.evidence.local.level_shares import Thresholds

N = 30


@pytest.mark.parametrize("widest", [1.0, 1000.0])
def test_levels_keep_their_shares_of_the_rows(widest):
    # Rare levels: a uniform prior of the shares, or a normal draw, would double the last one.
    x = np.random.default_rng(0).normal(size=N)
    m, v = 2 * x, np.exp(0.3 * x)
    v[0] *= widest
    counts = np.array([3, N - 6, 2, 1])
    thresholds = Thresholds.of(m, v, counts)

    def shares(t):
        below = expit((t - m[:, None]) / v[:, None]).mean(axis=0)
        return np.diff(below, prepend=0.0, append=1.0)

    np.testing.assert_allclose(shares(thresholds.fitted()), counts / N, rtol=0.01)
    rng = np.random.default_rng(0)
    drawn = np.array([shares(thresholds.draw(rng)) for _ in range(4000)])
    # Four standard errors of the mean of Dirichlet shares.
    error = 4 * np.sqrt(counts / N * (1 - counts / N) / (N + 1) / 4000)
    assert (np.abs(drawn.mean(axis=0) - counts / N) < error + 0.01 * counts / N).all()
