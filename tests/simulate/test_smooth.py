from typing import Any, get_args

import numpy as np
import pytest
from scipy import integrate, stats

from momentdag.errors import OptionError
from momentdag.simulate.smooth import Form, Marginal, MarginalForm, Noise, SmoothFunction

GRID = np.linspace(-2.5, 2.5, 501)


@pytest.mark.parametrize(("shape", "monotone"), [("monotone", True), ("non-monotone", False)])
def test_shapes_are_what_they_say(shape: Any, monotone: bool) -> None:
    rng = np.random.default_rng(0)
    forms = set()
    for _ in range(60):
        function = SmoothFunction.draw(rng, shape)
        steps = np.diff(function(GRID))
        assert bool(np.all(steps > 0) or np.all(steps < 0)) is monotone
        forms.add(function.form)
    assert len(forms) == 3


@pytest.mark.parametrize("form", get_args(Form))
def test_functions_are_nonlinear_smooth_and_saturate(form: Any) -> None:
    function = SmoothFunction(form, 2.0, 0.3)
    output = function(GRID)
    line = np.polyval(np.polyfit(GRID, output, 1), GRID)
    assert np.var(output - line) > 0.01 * np.var(output)
    # Steps of 0.01 in the input change the output by at most its slope (2 times 1) times that.
    assert np.abs(np.diff(output)).max() < 0.021
    assert function(np.array([1e3, 1e300])).tolist() == [function(np.array([np.inf]))[0]] * 2


def test_unknown_shape() -> None:
    with pytest.raises(OptionError, match="shape among"):
        SmoothFunction.draw(np.random.default_rng(0), "wavy")  # type: ignore[arg-type]


@pytest.mark.parametrize("form", get_args(MarginalForm))
def test_marginals_are_standardised(form: MarginalForm) -> None:
    marginal = Marginal(form, weight=0.4, distance=3.0, width=0.6, gamma_shape=1.5, sign=-1.0)
    # The draw is a map of one uniform, in two pieces for the mixture: integrate over it.
    for power, moment in ((1, 0.0), (2, 1.0)):
        found, _ = integrate.quad(
            lambda u, p=power: marginal.quantile(np.array([u]))[0] ** p,
            1e-12,
            1 - 1e-12,
            points=[1e-6, 0.4, 1 - 1e-6],
            limit=500,
        )
        assert found == pytest.approx(moment, abs=1e-5)


def test_all_marginals_are_drawn() -> None:
    rng = np.random.default_rng(1)
    assert {Marginal.draw(rng).form for _ in range(60)} == set(get_args(MarginalForm))


@pytest.mark.parametrize(
    ("kind", "raw"),
    [("gaussian", stats.norm), ("laplace", stats.laplace), ("student_t3", stats.t(3))],
)
def test_noise_has_variance_one_and_cdf_inverts_quantile(kind: Any, raw: Any) -> None:
    noise, u = Noise(kind), np.linspace(0.01, 0.99, 9)
    np.testing.assert_allclose(noise.cdf(noise.quantile(u)), u)
    np.testing.assert_allclose(noise.quantile(u), raw.ppf(u) / raw.std())
