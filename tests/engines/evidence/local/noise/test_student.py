"""Student densities: standardised by quadrature, with the constants that fits rest on."""

import numpy as np
import pytest
from scipy.integrate import quad

from momentdag.engines.evidence.local.noise.student import (
    GAUSSIAN,
    STUDENT_GRID,
    Student,
    best_student,
    student,
)

# e = sinh(t) on an even grid of t reaches far into heavy tails; trapezoid sums of smooth functions
# that vanish at both ends are accurate far beyond any tolerance here.
T = np.linspace(-14, 14, 60_001)
E = np.sinh(T)
WEIGHT = np.cosh(T) * (T[1] - T[0])


@pytest.mark.parametrize("df", [*STUDENT_GRID, 2.5, 40.0])
def test_students_are_standardised(df: float) -> None:
    base = Student(df)
    mass = np.exp(base.log_density(E * E)) * WEIGHT
    # The variance of df = 2.5 beyond sinh(14) is about 1e-3, of df = 3 below 1e-5.
    tolerance = 2e-3 if df < 3 else 1e-5
    np.testing.assert_allclose(
        [mass.sum(), mass @ E, mass @ E**2], [1, 0, 1], rtol=tolerance, atol=1e-9
    )
    # A running sum ends half a step late: the error is one step's probability, some 5e-4.
    np.testing.assert_allclose(base.distribution(E[::500]), np.cumsum(mass)[::500], atol=5e-4)


@pytest.mark.parametrize("df", [12.0, 6.0, 4.0, 3.0, 2.5])
def test_weights_are_slopes_of_the_log_density(df: float) -> None:
    base, e, h = Student(df), np.array([-7.0, -0.4, 0.9, 2.5]), 1e-5
    slope = (base.log_density((e + h) ** 2) - base.log_density((e - h) ** 2)) / (2 * h)
    # A central difference: h² from curvature, 1e-16 / h from rounding.
    np.testing.assert_allclose(base.weights(e * e), -slope / e, rtol=1e-7)


@pytest.mark.parametrize("df", [12.0, 6.0, 4.0, 3.0])
def test_information_constants_are_expectations(df: float) -> None:
    base = Student(df)
    mass = np.exp(base.log_density(E * E)) * WEIGHT
    weights = base.weights(E * E)
    psi = E * weights
    # Bounded integrands: quadrature is exact to rounding.
    scale_information = mass @ (E * psi - 1) ** 2
    assert base.scale_information == pytest.approx(scale_information, rel=1e-8)
    assert base.curvature_ratio == pytest.approx(mass @ psi**2 / (mass @ weights), rel=1e-8)
    assert not base.is_normal


def test_normal_is_the_limit() -> None:
    assert GAUSSIAN.is_normal
    assert GAUSSIAN.scale_information == 2.0
    assert GAUSSIAN.curvature_ratio == 1.0
    e = np.array([0.0, 1.0, 3.0])
    # t(df) differs from the normal by terms of order e⁴ / df.
    near = Student(1e6)
    np.testing.assert_allclose(near.log_density(e * e), GAUSSIAN.log_density(e * e), atol=1e-4)
    assert near.scale_information == pytest.approx(2.0, abs=1e-5)


@pytest.mark.parametrize("df", [np.inf, 6.0, 3.0])
def test_partial_moments_are_integrals(df: float) -> None:
    base = Student(df)
    for e in (-2.0, 0.3, 4.0):
        for k, found in ((1, base.first_moment), (2, base.second_moment)):
            integral, _ = quad(
                lambda t, k=k: t**k * np.exp(base.log_density(np.array(t * t))), -np.inf, e
            )
            # quad's own accuracy, in tails that fall off like t^-2 for df = 3.
            assert float(found(np.array(e))) == pytest.approx(integral, abs=1e-6)
    sizes = np.exp(base.log_density(E * E)) * WEIGHT @ np.abs(E)
    assert base.mean_size == pytest.approx(sizes, rel=1e-5)


@pytest.mark.parametrize("df", STUDENT_GRID)
def test_quantiles_invert_the_distribution(df: float) -> None:
    e = np.linspace(-3, 3, 13)
    base = student(df)
    np.testing.assert_allclose(base.quantile(base.distribution(e)), e, atol=1e-9)


def test_the_best_of_the_grid_is_the_most_likely() -> None:
    e2 = np.random.default_rng(5).standard_t(4, 300) ** 2
    likelihoods = [student(df).log_density(e2).sum() for df in STUDENT_GRID]
    assert best_student(e2).df == STUDENT_GRID[int(np.argmax(likelihoods))]
    assert best_student(np.full(10, 1.0)).is_normal
