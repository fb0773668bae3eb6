import numpy as np
import pytest
from scipy import stats

from momentdag.errors import DataError
from momentdag.simulate.equations import StructuralEquation, StructuralEquations, grow_equations
from momentdag.simulate.mechanisms import Constant, Linear
from momentdag.simulate.options import FloatArray

NONE = np.array([], dtype=np.intp)


def chain() -> StructuralEquations:
    """x1 ~ N(0, 1); x0 = 2 x1 + exp(x1 / 2) E: the order is against the columns."""
    cause = StructuralEquation(NONE, NONE, Constant(0.0), Constant(0.0))
    parent = np.array([1], dtype=np.intp)
    effect = StructuralEquation(parent, parent, Linear(np.array([2.0])), Linear(np.array([0.5])))
    return StructuralEquations((effect, cause), (1, 0), "gaussian")


def test_draw_follows_the_equations() -> None:
    n = 40_000
    values = chain().draw(np.random.default_rng(0), n, {})
    residual = (values[:, 0] - 2 * values[:, 1]) / np.exp(values[:, 1] / 2)
    # Fixed seed; a right sampler falls below the bound for one seed in a thousand.
    assert stats.kstest(values[:, 1], stats.norm.cdf).pvalue > 1e-3
    assert stats.kstest(residual, stats.norm.cdf).pvalue > 1e-3
    # Independent noise: the correlation has sd 1 / sqrt(n); four of them.
    assert abs(np.corrcoef(residual, values[:, 1])[0, 1]) < 4 / np.sqrt(n)


def test_fixed_columns_are_set_and_causes_untouched() -> None:
    setting = np.linspace(-1, 1, 5)
    free = chain().draw(np.random.default_rng(3), 5, {})
    fixed_effect = chain().draw(np.random.default_rng(3), 5, {0: setting})
    assert np.array_equal(fixed_effect[:, 0], setting)
    assert np.array_equal(fixed_effect[:, 1], free[:, 1])
    fixed_cause = chain().draw(np.random.default_rng(3), 5, {1: setting})
    noise = (free[:, 0] - 2 * free[:, 1]) / np.exp(free[:, 1] / 2)
    # The noise is recovered by a division and used again: a few roundings.
    np.testing.assert_allclose(fixed_cause[:, 0], 2 * setting + np.exp(setting / 2) * noise)


@pytest.mark.parametrize(
    ("noise", "std"), [("gaussian", 1.0), ("laplace", 2**0.5), ("student_t3", 3**0.5)]
)
def test_moments_include_the_noise_sd(noise: str, std: float) -> None:
    model = StructuralEquations(chain().equations, (1, 0), noise)  # type: ignore[arg-type]
    values = np.array([[9.0, 1.0], [9.0, -2.0]])
    mean, sd = model.moments(values)
    np.testing.assert_allclose(mean, [[2.0, 0.0], [-4.0, 0.0]])
    np.testing.assert_allclose(sd, std * np.array([[np.exp(0.5), 1.0], [np.exp(-1.0), 1.0]]))


def test_growing_shows_each_equation_the_sample_of_its_causes() -> None:
    seen: dict[int, FloatArray] = {}

    def equation(j: int, values: FloatArray) -> StructuralEquation:
        seen[j] = values.copy()
        return chain().equations[j]

    rng = np.random.default_rng(5)
    model, values = grow_equations(rng, ("a", "b"), [1, 0], 7, "gaussian", equation)
    assert not seen[1].any()
    assert np.array_equal(seen[0][:, 1], values[:, 1])
    assert np.array_equal(model.draw(np.random.default_rng(5), 7, {}), values)


def test_growing_refuses_overflow_by_name() -> None:
    def equation(j: int, values: FloatArray) -> StructuralEquation:
        return StructuralEquation(NONE, NONE, Constant(0.0), Constant(1000.0))

    with pytest.raises(DataError, match=r"'a' is -?inf in row 0"):
        grow_equations(np.random.default_rng(0), ("a",), [0], 3, "gaussian", equation)
