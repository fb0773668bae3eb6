from typing import Any, get_args

import numpy as np
import pytest
from scipy import stats

from momentdag.errors import OptionError
from momentdag.simulate.noise import NoiseKind, draw_noise, noise_std

LAWS: dict[str, Any] = {
    "gaussian": stats.norm(),
    "laplace": stats.laplace(),
    "student_t3": stats.t(3),
}


def test_every_kind_has_a_law() -> None:
    assert set(LAWS) == set(get_args(NoiseKind))


@pytest.mark.parametrize("noise", get_args(NoiseKind))
def test_draws_follow_the_law_and_the_sd_is_its_sd(noise: NoiseKind) -> None:
    draws = draw_noise(np.random.default_rng(0), noise, (200, 100))
    assert draws.shape == (200, 100)
    # With 20 000 draws the test tells these laws apart with certainty; the seed is fixed, and
    # the chance that a right sampler gave a seed below the bound is 0.1 %.
    assert stats.kstest(draws.ravel(), LAWS[noise].cdf).pvalue > 1e-3
    assert noise_std(noise) == pytest.approx(LAWS[noise].std(), rel=1e-12)


def test_refuses_unknown_noise() -> None:
    unknown: Any = "cauchy"
    with pytest.raises(OptionError, match="noise among"):
        draw_noise(np.random.default_rng(0), unknown, (2,))
    with pytest.raises(OptionError, match="noise among"):
        noise_std(unknown)
