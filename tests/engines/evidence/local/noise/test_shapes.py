"""Shapes of noise: standardised by quadrature, mirrored by their skew, and quick to compare."""

import numpy as np
import pytest
from scipy.integrate import quad

from momentdag.engines.evidence.local.noise.shapes import (
    SHAPES,
    SYMMETRIC,
    Shape,
    log_likelihoods,
    shape,
)
from momentdag.engines.evidence.local.noise.student import STUDENT_GRID, student

# As for Student densities: far into the tails, and exact for smooth functions. Here densities have
# a kink in their second derivative at the mode.
T = np.linspace(-14, 14, 60_001)
E = np.sinh(T)
WEIGHT = np.cosh(T) * (T[1] - T[0])


@pytest.mark.parametrize("base", [*SHAPES, shape(5.0, 2.0)])
def test_shapes_are_standardised(base: Shape) -> None:
    mass = np.exp(base.log_density(E)) * WEIGHT
    np.testing.assert_allclose([mass.sum(), mass @ E, mass @ E**2], [1, 0, 1], atol=2e-5)
    # A running sum ends half a step late: the error is one step's probability, some 5e-4.
    np.testing.assert_allclose(base.distribution(E[::500]), np.cumsum(mass)[::500], atol=5e-4)
    p = np.linspace(0.001, 0.999, 33)
    np.testing.assert_allclose(base.distribution(base.quantile(p)), p, atol=1e-10)


@pytest.mark.parametrize("skew", [1.0, 0.7, 1.8])
def test_partial_moments_are_integrals(skew: float) -> None:
    base = shape(6.0, skew)
    for e in (-1.5, 0.1, 2.0):
        for k, found in enumerate(base.moments(np.array(e)), start=1):
            integral, _ = quad(
                lambda t, k=k: t**k * np.exp(base.log_density(np.array(t))), -np.inf, e
            )
            # quad's own accuracy across the kink.
            assert float(found) == pytest.approx(integral, abs=1e-6)


def test_skew_is_a_mirror() -> None:
    e = np.linspace(-5, 5, 41)
    left, right = shape(4.0, 0.6), shape(4.0, 1 / 0.6)
    np.testing.assert_allclose(left.log_density(e), right.log_density(-e), atol=1e-12)
    # The longer tail is where the skew says.
    assert right.log_density(np.array(4.0)) > right.log_density(np.array(-4.0)) + 1


def test_without_skew_a_shape_is_its_tails() -> None:
    e = np.linspace(-5, 5, 41)
    for k, df in zip(SYMMETRIC, STUDENT_GRID, strict=True):
        tails = student(df)
        np.testing.assert_allclose(SHAPES[k].log_density(e), tails.log_density(e * e), atol=1e-12)
        np.testing.assert_allclose(SHAPES[k].distribution(e), tails.distribution(e), atol=1e-12)


def test_likelihoods_are_those_of_each_shape() -> None:
    e = np.random.default_rng(5).standard_t(4, 300)
    one_by_one = [base.log_density(e).sum() for base in SHAPES]
    np.testing.assert_allclose(log_likelihoods(e), one_by_one, rtol=1e-12)
