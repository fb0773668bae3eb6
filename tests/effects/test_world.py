"""The world check, against models whose columns are known in closed form."""

import numpy as np
import pandas as pd
import pytest

import momentdag as md
from momentdag.effects.inputs import EffectInputs
from momentdag.effects.world import check_world, describe_world
from momentdag.graph import MomentGraph
from momentdag.table import Observed

NAMES = ("x", "y")
GRAPH = MomentGraph.from_edges(NAMES, mean=[("x", "y")])
# x has mean 0 and sd 1; y has mean 3, sd sqrt(4 + 1) and correlation 2 / sqrt(5) with x.
FUNCTIONS = {
    "x": (lambda row: 0 * row[0], lambda row: 1 + 0 * row[0]),
    "y": (lambda row: 3 + 2 * row[0], lambda row: 1 + 0 * row[0]),
}
SD, CORRELATION = np.sqrt(5), 2 / np.sqrt(5)


def check(make_fit, mean=3.0, sd=SD, correlation=CORRELATION):
    """Check the known model against a table with these moments of y."""
    inputs = make_fit(NAMES, [(GRAPH, FUNCTIONS, 4)])
    normal = {"min": -3, "q05": -1.645, "median": 0, "q95": 1.645, "max": 3}
    rows = [[z * s + m for z in normal.values()] + [m, s] for m, s in ((0.0, 1.0), (mean, sd))]
    summary = pd.DataFrame(rows, index=pd.Index(NAMES), columns=[*normal, "mean", "sd"])
    correlations = np.array([[1, correlation], [correlation, 1]])
    observed = Observed(summary, {}, correlations)
    return check_world(EffectInputs(inputs.posterior_, inputs.scm_, observed)).check


def test_a_model_of_the_data_is_fine(make_fit):
    table = check(make_fit)
    np.testing.assert_allclose(table["modelled_mean"], [0, 3], atol=0.02)
    np.testing.assert_allclose(table["modelled_sd"], [1, SD], rtol=0.02)
    assert table["correlation_gap"].max() < 0.02
    assert table["quantile_gap"].max() < 0.05
    assert table["verdict"].tolist() == ["fine", "fine"]
    assert describe_world(table) == "The model reproduces the mean and spread of all 2 columns."


@pytest.mark.parametrize(
    ("observed", "verdict", "words"),
    [
        ({"sd": SD / 1.15}, "weak", "all 2 columns, 1 of them roughly"),
        ({"sd": SD / 1.5}, "do not use", "y: sd 1.49 observed, 2.24 modelled"),
        ({"sd": SD * 1.5}, "do not use", "1 of 2 columns"),
        ({"mean": 3 + 0.15 * SD}, "weak", "roughly"),
        ({"mean": 3 + 0.5 * SD}, "do not use", "y: mean 4.12 observed, 3 modelled"),
        ({"correlation": 0.2}, "weak", "roughly"),
    ],
)
def test_what_is_off_is_said(make_fit, observed, verdict, words):
    table = check(make_fit, **observed)
    assert table["verdict"].iloc[1] == verdict
    assert words in describe_world(table)


@pytest.mark.parametrize(("mean", "sd"), [(3 + 0.3 * SD, SD), (3.0, 1.1 * SD), (3.5, SD / 1.07)])
def test_a_column_is_moved_to_the_level_and_spread_of_the_data(make_fit, mean, sd):
    table = check(make_fit, mean=mean, sd=sd).set_index("column")
    assert table.loc["y", "modelled_mean"] == pytest.approx(mean, abs=0.1 * SD)
    assert table.loc["y", "modelled_sd"] == pytest.approx(sd, rel=0.1)
    assert table.loc["y", "shifted_by"] == pytest.approx(mean - 3, abs=0.1 * SD)
    assert table.loc["x", "noise_times"] == 1


def test_answers_are_those_of_the_aligned_world(make_fit):
    # Observed: y lies higher by 0.4 sd, and its noise has 1.3 times the sd of the model's.
    inputs = make_fit(NAMES, [(GRAPH, FUNCTIONS, 4)])
    sd = np.sqrt(4 + 1.3**2)
    summary = inputs.result_.observed.summary.copy()
    summary.loc["y", ["mean", "sd"]] = 3 + 0.4 * SD, sd
    summary.loc["x", ["mean", "sd"]] = 0, 1
    observed = Observed(summary, {}, np.array([[1, CORRELATION], [CORRELATION, 1]]))
    world = check_world(EffectInputs(inputs.posterior_, inputs.scm_, observed))
    assert world.alignment.keys() == {1}
    np.testing.assert_allclose(world.alignment[1], (0.4 * SD, 1.3), rtol=0.05)
    inputs.world_alignment = lambda: world.alignment
    low, high = (md.effects.intervene(inputs, do={"x": x}, targets=["y"]) for x in (0.0, 1.0))
    assert low.means.mean() == pytest.approx(3 + 0.4 * SD, abs=0.05)
    assert high.means.mean() - low.means.mean() == pytest.approx(2, abs=1e-6)
    assert high.sds.mean() == pytest.approx(1.3, rel=0.03)


def test_a_fit_without_mechanisms_cannot_be_checked():
    data = md.simulate.preset("linear-anm-2", np.random.default_rng(1), 100).data
    model = md.MomentDAG(n_draws=500, random_state=0, engine_options={"family": "linear"})
    with pytest.raises(md.errors.OptionError, match="no mechanisms"):
        model.fit(data).world_check()


def test_both_engines_reproduce_what_they_were_fitted_to(fitted):
    table = fitted.world_check()
    assert set(table["verdict"]) <= {"fine", "weak"}
    assert fitted.world_check().equals(table)
    table["verdict"] = "changed"
    assert "changed" not in set(fitted.world_check()["verdict"])
