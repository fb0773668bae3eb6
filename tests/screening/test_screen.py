import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from momentdag import Knowledge, MomentDAG, simulate
from momentdag.engines.evidence.engine import EvidenceEngine
from momentdag.errors import DataError, OptionError
from momentdag.graph import MomentGraph
from momentdag.screening import heteroscedasticity
from momentdag.screening.screen import holm

NAMES = ["dose", "stress", "response"]


def table(rng, n=300, strength=1.0):
    dose, stress = rng.normal(size=(2, n))
    response = np.sin(2 * dose) + np.exp(strength * stress) * rng.normal(size=n)
    return pd.DataFrame({"dose": dose, "stress": stress, "response": response})


@pytest.fixture(scope="module")
def screening():
    return heteroscedasticity(table(np.random.default_rng(0)))


def test_it_names_the_variable_and_what_moves_its_spread(screening):
    assert screening.is_heteroscedastic
    assert screening.variables == ("response",)
    assert screening.table.loc["response", "moves_with"] == "stress"
    assert screening.table.loc["response", ["white", "forest_white"]].max() < 0.001
    assert screening.graph.has_edge("stress", "response", "variance")
    assert not screening.from_fit


def test_the_table_is_a_copy_with_one_row_for_each_column(screening):
    frame = screening.to_frame()
    assert frame.index.tolist() == NAMES
    frame["p_value"] = 0.0
    assert screening.table["p_value"].max() > 0
    assert (screening.table["p_adjusted"] >= screening.table["p_value"]).all()


def test_the_sentences_match_the_table(screening):
    text = str(screening)
    assert "response: its spread changes with other columns (p < 0.001)" in text
    assert "most clearly with stress" in text
    assert "dose: no sign that its spread changes" in text
    assert text.endswith("The directions used here come from a quick search.")


def test_against_the_arrow_constant_noise_is_not_mistaken():
    rng = np.random.default_rng(5)
    x = rng.uniform(-2, 2, 400)
    data = pd.DataFrame({"y": x**2 + 0.4 * rng.normal(size=400), "x": x})
    screening = heteroscedasticity(data)
    # The spread of x given y depends on y; in the right direction nothing depends.
    assert screening.graph.edges("mean") == [("x", "y")]
    assert not screening.is_heteroscedastic
    assert screening.table.loc["x", "n_predictors"] == 0
    assert np.isnan(screening.table.loc["x", "p_adjusted"])
    assert "there is nothing to test it against" in screening.describe()
    assert "expect an empty variance graph" in screening.describe()


def test_knowledge_restricts_what_a_column_is_tested_against():
    data = table(np.random.default_rng(0), n=80)
    known = Knowledge(tiers=[["response"], ["dose", "stress"]])
    screening = heteroscedasticity(data, knowledge=known)
    assert screening.table.loc["response", "n_predictors"] == 0


@pytest.fixture(scope="module")
def small():
    return table(np.random.default_rng(1), n=150)


@pytest.fixture(scope="module")
def pair(small):
    return small[["stress", "response"]]


@pytest.fixture(scope="module")
def pair_screening(pair):
    return heteroscedasticity(pair)


def test_the_seed_settles_the_answer(pair, pair_screening):
    again = heteroscedasticity(pair)
    pd.testing.assert_frame_equal(pair_screening.table, again.table)


def test_units_do_not_matter(pair, pair_screening):
    other_units = heteroscedasticity(pair * [1000.0, 5.0] + [3.0, -7.0])
    # Rounding hardly ever changes a rank; forests may break a tie in another way.
    pd.testing.assert_frame_equal(pair_screening.table, other_units.table, rtol=1e-3)


@pytest.fixture(scope="module")
def model(small):
    knowledge = Knowledge(order=[("dose", "response")])
    options = {"n_starts": 1, "n_kicks": 0, "noise": "gaussian"}
    return MomentDAG(n_draws=1000, random_state=0, knowledge=knowledge, engine_options=options).fit(
        small
    )


def test_a_fitted_model_takes_the_place_of_the_search(small, model, monkeypatch):
    monkeypatch.setattr(EvidenceEngine, "fit", None)  # calling it would fail
    screening = heteroscedasticity(small, model=model)
    assert screening.from_fit
    assert screening.graph == model.best_graph_
    assert screening.variables == ("response",)
    assert screening.describe().endswith("The directions used here are those of the fit.")


def test_the_pair_of_a_model_can_be_chosen(small, model):
    reversed_pair = MomentGraph.from_edges(NAMES, mean=[("response", "stress")])
    screening = heteroscedasticity(small, model=model, graph=reversed_pair)
    assert screening.graph == reversed_pair
    # Not against stress, its effect in this pair, but against dose, which knowledge puts first.
    assert screening.table.loc["response", "n_predictors"] == 1
    # Knowledge of the model: response comes after dose.
    assert screening.table.loc["dose", "n_predictors"] == 1
    free = heteroscedasticity(small, model=model, graph=reversed_pair, knowledge=Knowledge())
    assert free.table.loc["dose", "n_predictors"] == 2


def test_models_that_cannot_be_used(small, model):
    with pytest.raises(OptionError, match="pass model=estimator"):
        heteroscedasticity(small, graph=model.best_graph_)
    with pytest.raises(DataError, match="Expected the columns"):
        heteroscedasticity(small.rename(columns={"dose": "Dose"}), model=model)
    with pytest.raises(NotFittedError):
        heteroscedasticity(small, model=MomentDAG())


def test_what_cannot_be_screened():
    with pytest.raises(OptionError, match="level between 0 and 1; got 5"):
        heteroscedasticity(table(np.random.default_rng(0)), level=5)
    with pytest.raises(DataError, match="2"):
        heteroscedasticity(np.random.default_rng(0).normal(size=(50, 1)))


def test_holm_is_the_step_down_method():
    np.testing.assert_allclose(holm([0.03, 0.01, 0.04, np.nan]), [0.06, 0.03, 0.06, np.nan])
    assert np.isnan(holm([np.nan])).all()


def any_alarm(simulation):
    return heteroscedasticity(simulation.data).is_heteroscedastic


def nonlinear(rng):
    return simulate.nonlinear_anm(rng, 5, 1, 500)


def linear(rng):
    return simulate.linear_anm(rng, 5, 1, 500)


@pytest.mark.slow
@pytest.mark.parametrize("homoscedastic", [nonlinear, linear])
def test_false_alarms_keep_their_level(homoscedastic):
    alarms = [any_alarm(homoscedastic(np.random.default_rng(1000 + k))) for k in range(60)]
    # A true rate of 5 % gives 3 of 60; more than 8 with a chance below 1 in 100.
    assert sum(alarms) <= 8


@pytest.mark.slow
def test_the_default_heteroscedastic_simulation_is_noticed():
    screenings = [
        heteroscedasticity(simulate.mean_variance_hnm(np.random.default_rng(1000 + k)).data)
        for k in range(10)
    ]
    assert np.mean([screening.is_heteroscedastic for screening in screenings]) >= 0.9
