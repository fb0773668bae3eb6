"""Fitted mechanisms: functions, noise, memory, and what is stored."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import quad
from scipy.stats import kstest

import momentdag as md
from momentdag.engines.evidence.local.features import FeatureMap, Kernel
from momentdag.engines.evidence.local.inputs import RankScale
from momentdag.engines.evidence.local.location_scale import LocalScorer
from momentdag.engines.evidence.local.tuning import TUNING
from momentdag.engines.evidence.model import EvidenceModel
from momentdag.engines.standardise import canonical_order, standardise
from momentdag.graph import MomentGraph

NAMES = ("a", "b", "y")
GRAPH = MomentGraph.from_edges(NAMES, mean=[("a", "y")], variance=[("b", "y")])
EMPTY = MomentGraph.from_edges(NAMES)


def make_model(n=300, budget_bytes=2**20, ranks=False, noise="flexible"):
    rng = np.random.default_rng(1)
    a, b = rng.uniform(-2, 2, (2, n))
    skewed = rng.gamma(2.0, size=n)  # a shape that needs the tilt
    y = 100 + 10 * (np.sin(a) + np.exp(0.5 * b) * (skewed - 2) / np.sqrt(2))
    dataset = md.Dataset.from_table(pd.DataFrame({"a": a, "b": b, "y": y}))
    columns = canonical_order(dataset.standardised, dataset.names)
    z = dataset.standardised[:, columns]
    rows = np.arange(0, n, n // 40)
    kernel = Kernel("network", 1.5, 0.3)
    scales = tuple(map(RankScale.of, z.T)) if ranks else None
    mean = FeatureMap(z, kernel, rows, TUNING.mean_detail, scales)
    scale = FeatureMap(z, kernel, rows, TUNING.scale_detail, scales)
    scorer = LocalScorer(z, mean, scale, noise)
    model = EvidenceModel(standardise(dataset).units, columns, scorer, budget_bytes)
    return model, dataset.values


@pytest.fixture(scope="module", params=[False, True], ids=["values", "ranks"])
def model_and_values(request):
    return make_model(ranks=request.param)


def test_drawn_functions_scatter_around_the_mean_functions(model_and_values):
    model, values = model_and_values
    rows = values[:20]
    rng = np.random.default_rng(2)
    drawn = [model.draw_functions(rng, GRAPH)["y"].moments(rows) for _ in range(500)]
    means, sds = (np.array(part) for part in zip(*drawn, strict=True))
    mean, sd = model.mean_functions(GRAPH)["y"].moments(rows)
    spread = means.std(axis=0)
    # Five standard errors of 500 draws.
    np.testing.assert_array_less(np.abs(means.mean(axis=0) - mean), 5 * spread / np.sqrt(500))
    np.testing.assert_allclose(np.sqrt((sds**2).mean(axis=0)), sd, rtol=0.05)
    np.testing.assert_array_equal(model.moments(rows, GRAPH, "y")[0], mean)


def test_functions_read_their_parents_only(model_and_values):
    model, values = model_and_values
    function = model.draw_functions(np.random.default_rng(0), GRAPH)["y"]
    mean, sd = function.moments(values)
    other = values.copy()
    other[:, 1:] += 1.0  # b and y itself
    np.testing.assert_array_equal(function.moments(other)[0], mean)
    other = values.copy()
    other[:, [0, 2]] += 1.0
    np.testing.assert_array_equal(function.moments(other)[1], sd)


def test_a_scale_stays_as_it_is_beyond_the_data(model_and_values):
    model, values = model_and_values
    function = model.draw_functions(np.random.default_rng(0), GRAPH)["y"]
    edge = np.array([[0.0, values[:, 1].max(), 0.0], [0.0, values[:, 1].min(), 0.0]])
    beyond = edge * [1, 50, 1]
    # Ranks move by half a row at the edge.
    np.testing.assert_allclose(function.moments(beyond)[1], function.moments(edge)[1], rtol=0.02)
    assert len(np.unique(function.moments(edge)[1].round(3))) == 2


def test_a_draw_does_not_depend_on_what_is_asked_for_first():
    model, values = make_model()
    some = model.draw_functions(np.random.default_rng(3), GRAPH)
    all_ = model.draw_functions(np.random.default_rng(3), GRAPH)
    assert list(all_) == list(NAMES)
    assert len(all_) == 3
    in_order = {name: all_[name].moments(values)[0] for name in all_}
    for name in reversed(NAMES):
        np.testing.assert_array_equal(some[name].moments(values)[0], in_order[name])
    again = model.draw_functions(np.random.default_rng(4), GRAPH)["y"].moments(values)[0]
    assert not np.array_equal(again, in_order["y"])


@pytest.mark.parametrize("noise", ["flexible", "student", "gaussian"])
def test_noise_is_that_of_the_fitted_density(noise):
    model, _ = make_model(noise=noise)
    mechanism = model.mean_functions(GRAPH)["y"]
    density = model.mechanism(GRAPH, "y").noise
    # The noise of these data is skewed, which flexible noise alone can be.
    is_skewed = bool(density.coefficients) or density.base.skew != 1
    assert is_skewed == (noise == "flexible")
    grid = np.array([-1.2, -0.5, 0.0, 0.7, 2.0])
    mass = [
        quad(lambda e: np.exp(density.log_density(np.array([e]))[0]), -30, to, limit=300)[0]
        for to in grid
    ]
    # The tilt is constant within each cell of a grid of 301.
    np.testing.assert_allclose(mechanism.noise_cdf(grid), mass, atol=2e-3)
    draws = mechanism.draw_noise(np.random.default_rng(0), 5000)
    assert kstest(draws, mechanism.noise_cdf).pvalue > 1e-3
    # Five standard errors of a mean, and of a variance with a kurtosis below ten.
    assert abs(draws.mean()) < 5 / np.sqrt(5000)
    assert abs(draws.var() - 1) < 5 * np.sqrt(9 / 5000)


def test_memory_is_bounded_and_what_was_dropped_comes_back_the_same():
    model, values = make_model()
    model.mechanism(GRAPH, "y")
    one = model._mechanisms.used
    small, _ = make_model(budget_bytes=int(1.5 * one))
    before = small.mean_functions(GRAPH)["y"].moments(values)
    reverse = MomentGraph.from_edges(NAMES, mean=[("y", "a")], variance=[("y", "b")])
    for graph in (EMPTY, reverse):
        for name in NAMES:
            small.mechanism(graph, name)
    assert small._mechanisms.used <= 1.5 * one
    after = small.mean_functions(GRAPH)["y"].moments(values)
    np.testing.assert_array_equal(before, after)


def test_a_stored_model_is_small_and_answers_the_same():
    model, values = make_model()
    empty = len(pickle.dumps(model))
    for graph in (GRAPH, EMPTY):
        for name in NAMES:
            model.mechanism(graph, name)
    stored = pickle.dumps(model)
    assert len(stored) < 1.01 * empty
    loaded = pickle.loads(stored)
    for asked in (model, loaded):
        asked.mechanism(GRAPH, "y")
    np.testing.assert_array_equal(
        model.mean_functions(GRAPH)["y"].moments(values),
        loaded.mean_functions(GRAPH)["y"].moments(values),
    )
