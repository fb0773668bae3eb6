"""Mechanisms of discrete variables, in the data's units."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning

import momentdag as md
from momentdag.engines.evidence.model import EvidenceModel
from momentdag.engines.protocol import as_continuous, as_discrete
from momentdag.graph import MomentGraph
from momentdag.storage.state import State
from momentdag.table import Dataset

NAMES = ("x", "flag", "rating", "visits", "machine")
KINDS = ("continuous", "binary", "ordered", "count", "category")
STAR = MomentGraph.from_edges(NAMES, mean=[("x", name) for name in NAMES[1:]])


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    x = rng.normal(size=600)
    rating = np.digitize(1.5 * x + rng.logistic(size=600), [-2, 0, 2]) + 1.0
    machine = (np.outer(x, [1.5, 0, -1.5]) + rng.gumbel(size=(600, 3))).argmax(axis=1)
    return pd.DataFrame(
        {
            "x": x,
            "flag": 2.0 * (rng.random(600) < 1 / (1 + np.exp(-2 * x))) + 5,
            "rating": rating,
            "visits": rng.negative_binomial(3, 3 / (3 + np.exp(1 + 0.5 * x))).astype(float),
            "machine": machine.astype(float),
        }
    )


@pytest.fixture(scope="module")
def model(rows):
    data = Dataset(rows.to_numpy(), NAMES, kinds=KINDS)
    options = {"n_starts": 1, "n_kicks": 0, "n_chains": 2}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # so few draws tell little
        return md.MomentDAG(n_draws=40, random_state=0, engine_options=options).fit(data).scm_


@pytest.mark.parametrize("name", NAMES[1:])
def test_moments_and_draws_follow_the_data(model, rows, name):
    mechanism = as_discrete(model.mean_functions(STAR)[name])
    values = rows.to_numpy()
    mean, sd = mechanism.moments(values)
    column = rows[name].to_numpy()
    rng = np.random.default_rng(1)
    drawn = mechanism.settle(values, rng.random(len(rows)))
    assert set(drawn) <= set(np.arange(0, 200.0)) if name == "visits" else set(column)
    for low in (True, False):
        part = (rows["x"] < 0).to_numpy() == low
        for found in (mean[part].mean(), drawn[part].mean()):
            assert found == pytest.approx(column[part].mean(), abs=0.2 * column.std())
        spread = np.sqrt(np.mean(sd[part] ** 2) + mean[part].var())
        assert spread == pytest.approx(column[part].std(), rel=0.25)


@pytest.mark.parametrize("name", NAMES[1:])
def test_probabilities_belong_together(model, rows, name):
    mechanism = as_discrete(model.mean_functions(STAR)[name])
    values = rows.to_numpy()[:50]
    y = rows[name].to_numpy()[:50]
    levels = np.arange(0, 300.0) if name == "visits" else mechanism.levels
    masses = np.exp([mechanism.log_masses(values, np.full(50, level)) for level in levels])
    np.testing.assert_allclose(masses.sum(axis=0), 1, atol=1e-6)
    below = mechanism.distribution(values, y)
    expected = (masses * (levels[:, None] <= y)).sum(axis=0)
    np.testing.assert_allclose(below, expected, atol=1e-6)
    inside = mechanism.probability(values, levels[1], levels[1])
    np.testing.assert_allclose(inside, masses[1], atol=1e-6)
    np.testing.assert_allclose(mechanism.moments(values)[0], levels @ masses, rtol=1e-3)
    if name != "visits":
        np.testing.assert_allclose(mechanism.shares(values).T, masses, atol=1e-9)


def test_functions_are_drawn_and_come_back_to_the_bit(model, rows):
    stored = model.to_state()
    found = EvidenceModel.from_state(State(json.loads(json.dumps(stored.content)), stored.arrays))
    values = rows.to_numpy()[:20]
    spread = []
    for name in NAMES:
        drawn = [m.draw_functions(np.random.default_rng(0), STAR)[name] for m in (model, found)]
        np.testing.assert_array_equal(*(one.moments(values) for one in drawn))
        middle = model.mean_functions(STAR)[name].moments(values)[0]
        spread.append(np.abs(drawn[0].moments(values)[0] - middle).max())
    assert (np.array(spread) > 0).all()


def test_a_mechanism_is_one_or_the_other(model):
    functions = model.mean_functions(STAR)
    assert as_discrete(functions["x"]) is None
    with pytest.raises(TypeError, match="discrete"):
        as_continuous(functions["flag"])


def test_rows_have_densities_of_all_kinds(model, rows):
    fit = md.Posterior(
        NAMES, STAR.mean_graph[None], STAR.variance_graph[None], md.posterior.Provenance("by hand")
    )
    found = model.log_density(rows.to_numpy(), fit)
    assert np.isfinite(found).all()
    shuffled = rows.copy()
    shuffled["flag"] = rows["flag"].to_numpy()[::-1]
    assert model.log_density(shuffled.to_numpy(), fit).mean() < found.mean() - 0.1
    other = rows.copy()
    other.loc[:, "rating"] = 17.0  # never seen
    assert (model.log_density(other.to_numpy(), fit) == -np.inf).all()


@pytest.mark.parametrize("unit", [1e-6, pytest.param(1.0, marks=pytest.mark.slow), 1e6])
def test_levels_between_whole_numbers_are_the_levels_of_the_file(unit):
    rng = np.random.default_rng(0)
    x = rng.normal(size=200)
    grades = (
        unit
        * np.array([1.25, 1.5, 2.75, 10 / 3])[np.digitize(x + rng.logistic(size=200), [-1, 0, 1])]
    )
    data = Dataset(np.column_stack([x, grades]), ["x", "grade"])
    assert data.kinds == ("continuous", "ordered")
    quick = {"posterior": "plain", "n_starts": 1, "n_kicks": 0, "n_inducing": 10}
    model = md.MomentDAG(n_draws=1000, random_state=0, engine_options=quick).fit(data).scm_
    graph = MomentGraph.from_edges(("x", "grade"), mean=[("x", "grade")])
    mechanism = as_discrete(model.mean_functions(graph)["grade"])
    np.testing.assert_allclose(mechanism.levels, np.unique(grades), rtol=1e-6)
    values = data.values
    assert np.isfinite(mechanism.log_masses(values, grades)).all()
    shares = mechanism.shares(values)
    below = mechanism.distribution(values, np.full(200, 1.5 * unit))
    np.testing.assert_allclose(below, shares[:, :2].sum(axis=1))
    inside = mechanism.probability(values, 1.5 * unit, 2.75 * unit)
    np.testing.assert_allclose(inside, shares[:, 1:3].sum(axis=1))


def test_shares_of_a_count_are_those_of_the_values_seen(model, rows):
    mechanism = as_discrete(model.mean_functions(STAR)["visits"])
    shares = mechanism.shares(rows.to_numpy()[:30])
    assert shares.shape == (30, len(np.unique(rows["visits"])))
    assert ((shares.sum(axis=1) > 0.9) & (shares.sum(axis=1) <= 1 + 1e-9)).all()
