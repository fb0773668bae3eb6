"""The parts of a variance: closed forms, exact sums, a real fit."""

import numpy as np
import pytest

from momentdag.effects import MonteCarlo, decompose_variance, intervene
from momentdag.errors import OptionError
from momentdag.graph import MomentGraph

FEW = MonteCarlo(n_draws=30)


def parts(decomposition):
    return decomposition.to_frame().set_index(["part", "cause"])["variance"]


def test_parts_are_those_of_the_closed_form(star):
    found = parts(decompose_variance(star, "y", monte_carlo=FEW))
    # v = exp(z / 2), z normal: E v = exp(1/8), E v² = exp(1/2). Quadrature: 2 %.
    assert found["own noise", "y"] == pytest.approx(np.exp(0.25), rel=0.02)
    assert found["mean", "x"] == pytest.approx(4.0, rel=0.02)
    assert found["scale", "z"] == pytest.approx(np.exp(0.5) - np.exp(0.25), rel=0.05)
    assert found["mean", "z"] == found["scale", "x"] == 0.0


def test_an_interaction_is_shared_and_a_mediator_keeps_only_its_own(make_fit):
    names = ("a", "b", "c", "y")
    graph = MomentGraph.from_edges(names, mean=[("a", "c"), ("c", "y"), ("b", "y")])
    functions = {
        "a": (lambda row: 0 * row[0], lambda row: 1 + 0 * row[0]),
        "b": (lambda row: 0 * row[0], lambda row: 1 + 0 * row[0]),
        "c": (lambda row: row[0], lambda row: 0.5 + 0 * row[0]),
        "y": (lambda row: row[2] + row[1] + row[2] * row[1], lambda row: 1 + 0 * row[0]),
    }
    found = parts(
        decompose_variance(
            make_fit(names, [(graph, functions, 2)]), "y", monte_carlo=MonteCarlo(n_draws=100)
        )
    )
    # c = a + e_c/2: y = a + e_c/2 + b + (a + e_c/2) b, interactions shared half and half.
    # Pairing at random: 6 % in each of 100 samples.
    assert found["mean", "a"] == pytest.approx(1.5, rel=0.06)
    assert found["mean", "c"] == pytest.approx(0.25 * 1.5, rel=0.06)
    assert found["mean", "b"] == pytest.approx(1 + 1.25 / 2, rel=0.06)
    assert found["own noise", "y"] == pytest.approx(1.0)


def test_many_causes_use_random_orders_and_still_add_up(make_fit):
    causes = tuple("abcdef")
    names = (*causes, "y")
    graph = MomentGraph.from_edges(names, mean=[(name, "y") for name in causes])
    functions = {name: (lambda row: 0 * row[0], lambda row: 1 + 0 * row[0]) for name in causes}
    functions["y"] = (lambda row: row[:6].sum(axis=0), lambda row: 1 + 0 * row[0])
    result = decompose_variance(
        make_fit(names, [(graph, functions, 2)]), "y", monte_carlo=MonteCarlo(n_draws=60)
    )
    np.testing.assert_allclose(result.through_mean.mean(axis=0), 1.0, rtol=0.1)  # as above
    np.testing.assert_allclose(result.total, 7.0, rtol=0.02)


def test_parts_add_up_to_the_variance_exactly(fitted):
    few = MonteCarlo(n_draws=50)
    result = decompose_variance(fitted, "y", monte_carlo=few)
    frame = result.to_frame()
    assert frame["variance"].iloc[:-1].sum() == pytest.approx(frame["variance"].iloc[-1], rel=1e-12)
    assert frame["share"].iloc[:-1].sum() == pytest.approx(1.0, rel=1e-12)
    # What only a few draws hold can have a mean beyond its 95 % quantile.
    large = frame[frame["share"] > 0.05]
    assert len(large) >= 4
    assert (large["low"] < large["variance"]).all()
    assert (large["variance"] < large["high"]).all()
    by_part = result.by_part().set_index("part")["variance"]
    assert by_part["mean"] == pytest.approx(frame.query("part == 'mean'")["variance"].sum())
    # No intervention, from other samples: 50 draws and quadrature.
    variance = intervene(fitted, {}, ["y"], monte_carlo=few).to_frame()["sd"][0] ** 2
    assert by_part["total"] == pytest.approx(variance, rel=0.04)
    # Truth: 100 (Var sin(1.5 x) + ...): the mean's part is x's and the scale's is z's.
    found = parts(result)
    assert found["mean", "x"] > 20 * found["mean", "z"]
    assert found["scale", "z"] > 20 * found["scale", "x"]
    truth = 100 * np.var(np.sin(1.5 * np.linspace(-2, 2, 10_001)))
    assert found["mean", "x"] == pytest.approx(truth, rel=0.3)  # 400 noisy rows


def test_a_root_is_all_own_noise(star):
    found = decompose_variance(star, "x", monte_carlo=FEW).by_part().set_index("part")["share"]
    assert found.to_dict() == {"own noise": 1.0, "mean": 0.0, "scale": 0.0, "total": 1.0}


def test_unknown_targets_are_refused(star):
    with pytest.raises(OptionError, match="'w'"):
        decompose_variance(star, "w")
