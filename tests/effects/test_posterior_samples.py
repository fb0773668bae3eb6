"""Posterior samples: even noise, weights, and options that are checked."""

import numpy as np
import pytest
from scipy.special import stdtr

from momentdag.effects.inputs import read_inputs
from momentdag.effects.posterior_samples import MonteCarlo, PosteriorSample, draw_samples
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
    (sample,) = draw_samples(np.random.default_rng(0), read_inputs(fitted), 1, 1024, "both")
    column = sample.graph.index("y")
    noise = sample.noise(column)
    assert noise.mean() == pytest.approx(0.0, abs=1e-12)
    assert noise.std() == pytest.approx(1.0)
    p = np.sort(sample.mechanisms["y"].simulated_noise_cdf(noise))
    # A shifted Sobol column has one point in each of 1024 cells; the distribution of the residuals
    # has 400 steps, of which scaling to unit variance shifts some.
    np.testing.assert_allclose(p, (np.arange(1024) + 0.5) / 1024, atol=0.015)


def test_heavy_tails_keep_their_variance():
    class Heavy:
        is_discrete = False

        def simulated_noise_cdf(self, noise):
            return stdtr(3.0, noise * np.sqrt(3.0))

    uniforms = (np.arange(64)[:, None] + 0.5) / 64
    graph = MomentGraph.from_edges(["a"])
    noise = PosteriorSample(graph, {"a": Heavy()}, uniforms, 1.0).noise(0)
    assert noise.var() == pytest.approx(1.0)
    assert np.abs(noise).max() > 3  # normal quantiles at the same points end at 2.5


def test_samples_follow_the_posterior(fitted):
    inputs = read_inputs(fitted)
    for uncertainty, n in (("both", 50), ("function", 50)):
        samples = draw_samples(np.random.default_rng(0), inputs, 50, 64, uncertainty)
        assert len(samples) == n
        assert {sample.weight for sample in samples} == {1 / n}
    distinct = draw_samples(np.random.default_rng(0), inputs, 200, 64, "graph")
    shares = dict(inputs.posterior.distinct_pairs())
    # All 200 draws are taken, so weights are exactly the shares.
    assert {sample.graph: pytest.approx(sample.weight) for sample in distinct} == shares
    best = inputs.posterior.map_graph()
    given_best = draw_samples(np.random.default_rng(0), inputs, 5, 64, "function")
    assert all(sample.graph == best for sample in given_best)
