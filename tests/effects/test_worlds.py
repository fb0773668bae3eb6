"""Worlds: even noise, weights, and options that are checked."""

import numpy as np
import pytest
from scipy.special import stdtr

from momentdag.effects.fitted import read_fit
from momentdag.effects.worlds import MonteCarlo, World, draw_worlds
from momentdag.errors import OptionError
from momentdag.graph import MomentGraph


@pytest.mark.parametrize(
    "wrong",
    [{"n_draws": 1}, {"n_rows": 100}, {"n_rows": 4}, {"random_state": -1}, {"n_draws": 9.5}],
)
def test_monte_carlo_refuses_what_cannot_be(wrong):
    with pytest.raises(OptionError, match=next(iter(wrong))):
        MonteCarlo(**wrong)


def test_noise_has_the_distribution_of_the_mechanism_and_unit_variance(fitted):
    (world,) = draw_worlds(np.random.default_rng(0), read_fit(fitted), 1, 1024, "both")
    column = world.graph.index("y")
    noise = world.noise(column)
    assert noise.mean() == pytest.approx(0.0, abs=1e-12)
    assert noise.std() == pytest.approx(1.0)
    p = np.sort(world.mechanisms["y"].noise_cdf(noise))
    # A shifted Sobol column has one point in each of 1024 cells.
    np.testing.assert_allclose(p, (np.arange(1024) + 0.5) / 1024, atol=0.003)


def test_heavy_tails_keep_their_variance():
    class Heavy:
        def noise_cdf(self, noise):
            return stdtr(3.0, noise * np.sqrt(3.0))

    uniforms = (np.arange(64)[:, None] + 0.5) / 64
    graph = MomentGraph.from_edges(["a"])
    noise = World(graph, {"a": Heavy()}, uniforms, 1.0).noise(0)
    assert noise.var() == pytest.approx(1.0)
    assert np.abs(noise).max() > 3  # normal quantiles at the same points end at 2.5


def test_worlds_follow_the_posterior(fitted):
    parts = read_fit(fitted)
    for uncertainty, n in (("both", 50), ("function", 50)):
        worlds = draw_worlds(np.random.default_rng(0), parts, 50, 64, uncertainty)
        assert len(worlds) == n
        assert {world.weight for world in worlds} == {1 / n}
    distinct = draw_worlds(np.random.default_rng(0), parts, 200, 64, "graph")
    shares = dict(parts.posterior.distinct_pairs())
    # All 200 draws are taken, so weights are exactly the shares.
    assert {world.graph: pytest.approx(world.weight) for world in distinct} == shares
    best = parts.posterior.map_graph()
    given_best = draw_worlds(np.random.default_rng(0), parts, 5, 64, "function")
    assert all(world.graph == best for world in given_best)
