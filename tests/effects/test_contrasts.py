"""Contrasts: paired, total and direct."""

import numpy as np
import pytest

from momentdag.effects import MonteCarlo, contrast, direct_effect, total_effect
from momentdag.errors import OptionError
from momentdag.graph import MomentGraph

FEW = MonteCarlo(n_draws=20)
NAMES = ("a", "b", "y")


@pytest.fixture
def mediated(make_fit):
    """Return a fit of y = a + 3 b + exp(a) e with b = 2 a + e, means known to 0.5 only."""
    graph = MomentGraph.from_edges(
        NAMES, mean=[("a", "b"), ("a", "y"), ("b", "y")], variance=[("a", "y")]
    )
    functions = {
        "a": (lambda row: 0 * row[0], lambda row: 1 + 0 * row[0]),
        "b": (lambda row: 2 * row[0], lambda row: 1 + 0 * row[0]),
        "y": (lambda row: row[0] + 3 * row[1], lambda row: np.exp(row[0])),
    }
    return make_fit(NAMES, [(graph, functions, 2)], shift=0.5)


def test_a_difference_is_more_certain_than_its_parts(mediated):
    row = contrast(mediated, {"a": 1.0}, {"a": 0.0}, ["y"], monte_carlo=FEW).to_frame().loc[0]
    # The shifts of the means are the same on both sides, and cancel.
    for column in ("mean_difference", "mean_difference_low", "mean_difference_high"):
        assert row[column] == pytest.approx(7.0, abs=1e-9)
    # Var(y | do a) = 9 + e^(2a); the mediator's variance is the same sample on both sides.
    ratio = np.sqrt((9 + np.e**2) / (9 + 1))
    assert row["sd_ratio"] == pytest.approx(ratio, rel=1e-9)
    assert row["sd_difference"] == pytest.approx(np.sqrt(9 + np.e**2) - np.sqrt(10), rel=1e-9)
    assert (row["p_mean_rises"], row["p_sd_falls"]) == (1.0, 0.0)


def test_no_effect_is_exactly_none(mediated):
    frame = contrast(mediated, {"y": 1.0}, {}, monte_carlo=FEW).to_frame()
    assert frame["target"].tolist() == ["a", "b"]
    assert (frame[["mean_difference_low", "mean_difference_high"]] == 0).all(axis=None)
    assert (frame["sd_ratio"] == 1).all()


def test_total_and_direct_effects(mediated):
    total = total_effect(mediated, "a", "y", (0.0, 1.0), monte_carlo=FEW)
    assert total.do == {"a": 1.0}
    assert total.reference == {"a": 0.0}
    assert total.mean_differences == pytest.approx(7.0)
    direct = direct_effect(mediated, "a", "y", (0.0, 1.0), monte_carlo=FEW)
    assert direct.do == {"b": 0.0, "a": 1.0}  # the rest at its median
    np.testing.assert_allclose(direct.mean_differences, 1.0)
    np.testing.assert_allclose(direct.sd_ratios, np.e)
    held = direct_effect(mediated, "a", "y", hold={"b": 2.0}, monte_carlo=FEW)
    assert held.reference == {"b": 2.0, "a": -2.0}  # by default from the 5 % to the 95 % quantile
    np.testing.assert_allclose(held.mean_differences, 4.0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda fit: contrast(fit, {"a": [0.0, 1.0]}, {}), "one value"),
        (
            lambda fit: contrast(fit, {"a": 0.0}, {"b": 0.0}, ["b"]),
            "not set; 'b' is",
        ),
        (lambda fit: direct_effect(fit, "a", "y", hold={"y": 0.0}), "hold names the target"),
        (lambda fit: direct_effect(fit, "a", "y", hold={"a": 0.0}), "hold names the cause"),
        (lambda fit: total_effect(fit, "a", "y", (1.0,)), "two values"),
        (lambda fit: total_effect(fit, "w", "y"), "'w'"),
    ],
)
def test_wrong_questions_are_refused(mediated, call, message):
    with pytest.raises(OptionError, match=message):
        call(mediated)
