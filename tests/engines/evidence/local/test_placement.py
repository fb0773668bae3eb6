"""Residuals are put where their own density wants them."""

import numpy as np
import pytest

from momentdag.engines.evidence.local.noise.density import NoiseDensity
from momentdag.engines.evidence.local.noise.likelihood import noise_evidence, noise_likelihood
from momentdag.engines.evidence.local.noise.placement import Placement, find_placement
from momentdag.engines.evidence.local.noise.shapes import shape


def test_the_likeliest_place_is_found():
    density = NoiseDensity(shape(6.0, 1 / 0.6))
    e = density.draw(np.random.default_rng(0), (4000,))
    log_std = np.linspace(-1, 1, 4000)
    residual = 0.2 + e * np.exp(log_std + 0.3)
    found, gain = find_placement(density, residual, log_std, Placement())
    assert gain > 100
    # Standard errors are near 0.01.
    assert found.shift == pytest.approx(0.2, abs=0.05)
    assert found.widening == pytest.approx(0.3, abs=0.05)


@pytest.mark.parametrize("sample", ["exponential", "gamma", "lognormal"])
def test_placing_never_costs_and_pays_for_skewed_noise(sample):
    rng = np.random.default_rng(3)
    y = {
        "exponential": rng.exponential(size=400),
        "gamma": rng.gamma(0.5, size=400),
        "lognormal": np.exp(rng.normal(size=400)),
    }[sample]
    y = (y - y.mean()) / y.std()
    zero = np.zeros(400)
    before, _ = noise_evidence(y, "flexible")
    placed = noise_likelihood(y, y, zero, None, "flexible")
    assert placed.log_likelihood >= before
    if sample == "gamma":  # whose edge is sharpest
        assert placed.log_likelihood > before + 5


def test_normal_noise_stays_where_it_is():
    y = np.random.default_rng(1).normal(size=300)
    placed = noise_likelihood(y, y, np.zeros(300), None, "gaussian")
    assert placed.placement == Placement()
