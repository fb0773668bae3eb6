"""Answers that hold on real tables: each test is a defect that was met on one."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes

import momentdag as md
from momentdag import runs

QUICK = {"n_starts": 1, "n_kicks": 0, "n_chains": 2, "thinning": 10}
FEW = md.effects.MonteCarlo(n_draws=40, n_rows=128)


def draw_wages(rng, n):
    female, married = (rng.random((2, n)) < [[0.5], [0.6]]).astype(float)
    educ = np.clip(np.round(rng.normal(12.5, 2.5, n)), 6, 18)
    causes = pd.DataFrame({"female": female, "married": married, "educ": educ})
    mean = 1.0 - 0.3 * female + 0.15 * married + 0.085 * educ
    sd = 0.3 * np.exp(-0.25 * female + 0.05 * (educ - 12.5))
    return causes.assign(lwage=mean + sd * rng.normal(size=n))


@pytest.fixture(scope="module")
def wages():
    return draw_wages(np.random.default_rng(3), 800)


@pytest.fixture(scope="module")
def wage_model(wages):
    knowledge = md.Knowledge(tiers=[["female", "married", "educ"], ["lwage"]])
    estimator = md.MomentDAG(
        n_draws=300, random_state=0, knowledge=knowledge, engine_options={"n_starts": 1}
    )
    return estimator.fit(wages)


def test_ties_are_met_in_prediction_as_in_the_fit(wage_model, wages):
    """Rounded values, of which each was a tie in the fit, were none in a prediction."""
    graph = wage_model.best_graph_
    mean, _ = wage_model.scm_.moments(wages.to_numpy(), graph, "lwage")
    assert np.mean(wages["lwage"] - mean) == pytest.approx(0, abs=0.02)  # it was 0.17
    # The last bits, in which other units differ, change nothing.
    nudged = wages.to_numpy() * (1 + 1e-15)
    again, _ = wage_model.scm_.moments(nudged, graph, "lwage")
    np.testing.assert_allclose(again, mean, rtol=1e-9)


@pytest.mark.parametrize(
    ("cause", "low", "high", "effect"),
    [("female", 0, 1, -0.3), ("married", 0, 1, 0.15), ("educ", 10, 15, 0.425)],
)
def test_effects_of_tied_causes_have_their_sign_and_size(wage_model, cause, low, high, effect):
    table = md.effects.total_effect(
        wage_model, cause, "lwage", values=(low, high), monte_carlo=FEW
    ).to_frame()
    # The standard error of a difference of two groups of 400 is 0.02.
    assert table["mean_difference"].iloc[0] == pytest.approx(effect, abs=0.06)


def test_between_two_levels_the_answer_lies_between_theirs(wage_model):
    """female = .25 had the answer of female = 1."""
    with pytest.warns(md.errors.ExtrapolationWarning, match="takes the values 0, 1"):
        table = md.effects.intervene(
            wage_model, {"female": [0, 0.25, 1]}, ["lwage"], monte_carlo=FEW
        ).to_frame()
    zero, quarter, one = table["mean"]
    assert one + 0.05 < quarter < zero


def test_discrete_causes_stay_on_their_grid(wage_model, wages):
    drawn = md.effects.intervene(wage_model, {}, n_samples=2000, monte_carlo=FEW).samples
    for name in ("female", "married", "educ"):
        assert set(drawn[name]) <= set(wages[name])
        shares = drawn[name].value_counts(normalize=True)
        observed = wages[name].value_counts(normalize=True)
        assert shares.sub(observed, fill_value=0).abs().max() < 0.06
    # It was 2.24 and 0.56 instead of 2.41 and 0.39.
    assert drawn["lwage"].mean() == pytest.approx(wages["lwage"].mean(), abs=0.03)
    assert drawn["lwage"].std() == pytest.approx(wages["lwage"].std(), rel=0.1)


def test_levers_are_set_to_values_that_occur(wage_model, wages):
    """sex = 1.7, female = 0.1875."""
    ranking = md.effects.levers(wage_model, "lwage", tolerance="1sd", monte_carlo=FEW)
    for setting in ranking.settings:
        for name, value in setting.items():
            assert value in set(wages[name])


@pytest.fixture(
    scope="module",
    params=[{"n_inducing": 15, "noise": "gaussian"}, pytest.param({}, marks=pytest.mark.slow)],
    ids=["quick", "usual"],
)
def diabetes(request):
    frame = load_diabetes(as_frame=True, scaled=False).frame[["s1", "s2", "s3", "s5", "bmi"]]
    # s2 is nearly a formula of the others: LDL from total cholesterol, HDL and triglycerides.
    knowledge = md.Knowledge(tiers=[["bmi", "s1", "s3", "s5"], ["s2"]])
    options = QUICK | request.param
    return md.MomentDAG(
        n_draws=200, random_state=0, knowledge=knowledge, engine_options=options
    ).fit(frame)


def test_a_near_formula_does_not_explode(diabetes):
    """The modelled sd of s2 was 73 times the observed one."""
    world = diabetes.world_check().set_index("column")
    ratio = world["modelled_sd"] / world["observed_sd"]
    assert ratio.between(0.8, 1.2).all()
    gap = (world["modelled_mean"] - world["observed_mean"]) / world["observed_sd"]
    assert gap.abs().max() < 0.2
    assert set(world["verdict"]) <= {"fine", "weak"}


def test_an_interval_contains_its_mean(diabetes):
    table = md.effects.intervene(diabetes, {"s1": [150, 250]}, ["s2"], monte_carlo=FEW).to_frame()
    assert ((table["mean_low"] <= table["mean"]) & (table["mean"] <= table["mean_high"])).all()
    assert (table["sd"] < 2 * diabetes.summary_.loc["s2", "sd"]).all()


def test_levers_stay_within_the_data(diabetes):
    """It recommended holding a column at 1.5e6."""
    ranking = md.effects.levers(diabetes, "s2", monte_carlo=FEW)
    for setting in ranking.settings:
        for name, value in setting.items():
            low, high = diabetes.summary_.loc[name, ["min", "max"]]
            assert low <= value <= high


def test_what_leaves_the_data_is_counted(diabetes):
    usual = md.effects.intervene(diabetes, {"s1": 190}, ["s2"], monte_carlo=FEW).to_frame()
    # Much total cholesterol next to whatever HDL and triglycerides there are: never seen.
    strange = md.effects.intervene(
        diabetes, {"s1": 300, "s3": 99}, ["s2"], monte_carlo=FEW
    ).to_frame()
    assert strange["outside_data"].iloc[0] > usual["outside_data"].iloc[0] + 0.3


@pytest.fixture(scope="module")
def logged(tmp_path_factory):
    """A run of y = log of the file's y, which depends on the log of the file's x."""
    rng = np.random.default_rng(0)
    x = rng.normal(3, 0.3, 400)
    y = 1 + 0.8 * x + 0.2 * rng.normal(size=400)
    folder = tmp_path_factory.mktemp("logged") / "run"
    knowledge = md.Knowledge(order=[("x", "y")])
    estimator = md.MomentDAG(n_draws=200, random_state=0, knowledge=knowledge)
    table = pd.DataFrame({"x": x, "y": y})
    runs.fit(estimator, table, folder, log_columns=("x", "y"))
    return runs.load(folder), np.exp(table)


def test_logarithms_are_set_and_shown_in_the_units_of_the_file(logged):
    """--log-scale bmi followed by --do bmi=30 set log(bmi) to 30."""
    model, table = logged
    result = md.effects.intervene(model, {"x": [20.0, 25.0]}, ["y"], monte_carlo=FEW).to_frame()
    assert result["x"].tolist() == [20.0, 25.0]
    # E exp(1 + 0.8 log x + 0.2 e)
    expected = np.exp(1 + 0.8 * np.log([20.0, 25.0]) + 0.5 * 0.2**2)
    np.testing.assert_allclose(result["mean"], expected, rtol=0.05)
    np.testing.assert_allclose(result["sd"], expected * np.sqrt(np.exp(0.2**2) - 1), rtol=0.2)
    setting = md.effects.levers(model, "y", monte_carlo=FEW).settings[0]
    assert table["x"].min() <= setting["x"] <= table["x"].max()
    with pytest.raises(md.errors.OptionError, match="takes positive values"):
        md.effects.intervene(model, {"x": -1.0}, ["y"])


def test_logarithms_are_remembered_by_a_model_that_is_saved(logged, tmp_path):
    _, table = logged
    knowledge = md.Knowledge(order=[("x", "y")])
    plain = md.MomentDAG(n_draws=200, random_state=0, knowledge=knowledge).fit(np.log(table))
    runs.save(plain, tmp_path / "run", np.log(table), log_columns=("x",))
    assert runs.load(tmp_path / "run").result_.observed.log_columns == ("x",)
    assert plain.result_.observed.log_columns == ()  # the model itself is left alone


def test_risks_are_in_the_units_of_the_file(logged):
    model, _ = logged
    middle = float(np.exp(1 + 0.8 * np.log(20.0)))
    result = md.effects.intervene(
        model, {"x": 20.0}, ["y"], limits={"y": (None, middle)}, monte_carlo=FEW
    ).to_frame()
    assert result["outside"].iloc[0] == pytest.approx(0.5, abs=0.12)


COLUMNS = {
    "continuous": lambda rng, n: rng.normal(5, 2, n),
    "binary": lambda rng, n: (rng.random(n) < 0.3).astype(float),
    "whole numbers": lambda rng, n: rng.poisson(4, n).astype(float),
    "rounded": lambda rng, n: np.round(rng.normal(0, 1, n), 1),
    "large offset": lambda rng, n: 1e6 + np.round(rng.normal(0, 3, n)),
    "tiny": lambda rng, n: 1e-9 * rng.integers(0, 5, n),
}


@pytest.mark.parametrize("kind", COLUMNS)
@pytest.mark.parametrize("inputs", ["values", "ranks"])
def test_fitted_moments_at_the_rows_of_the_fit_are_those_of_the_fit(kind, inputs):
    """One path for training and prediction, whatever the column and the scale of its values."""
    from momentdag.engines.evidence.local.hyperparameters import Hyperparameters, make_scorer
    from momentdag.engines.evidence.local.protocol import Parents
    from momentdag.engines.evidence.model import EvidenceModel
    from momentdag.engines.evidence.options import EvidenceOptions
    from momentdag.engines.standardise import as_inputs, standardise
    from momentdag.graph import MomentGraph

    rng = np.random.default_rng(1)
    x = COLUMNS[kind](rng, 150)
    y = (x - x.mean()) / x.std() + rng.normal(size=150)
    table = standardise(md.Dataset(np.column_stack([x, y]), ["x", "y"]))
    values = as_inputs(table.values)
    default = EvidenceOptions()
    scorer = make_scorer(
        values, values, np.arange(0, 150, 4), Hyperparameters(inputs=inputs), default
    )
    model = EvidenceModel(table.units, table.columns, scorer)
    graph = MomentGraph.from_edges(["x", "y"], mean=[("x", "y")], variance=[("x", "y")])
    cause, effect = (list(table.columns).index(k) for k in (0, 1))
    fit = scorer.fit(effect, Parents(1 << cause, 1 << cause))
    # Through the front door: raw values of the file, standardised again on the way.
    at = model.mechanism(graph, "y").predict(model.standardise(np.column_stack([x, y])))
    np.testing.assert_allclose(scorer.columns[effect] - at.mean, fit.residual, atol=1e-6)
    np.testing.assert_allclose(at.log_std, fit.log_std, atol=1e-6)
