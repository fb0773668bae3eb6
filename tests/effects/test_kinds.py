"""Answers about tables with columns of every kind."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning

import momentdag as md
from momentdag.effects import MonteCarlo, contrast, decompose_variance, intervene, levers
from momentdag.errors import OptionError
from momentdag.table import Dataset

SOME = MonteCarlo(n_draws=40, n_rows=256)
MACHINES = ("M1", "M2", "M3")


@pytest.fixture(scope="module")
def fitted():
    """Return a fit of: machine and speed -> thickness -> faults, and speed -> passed."""
    rng = np.random.default_rng(0)
    n = 600
    machine = rng.integers(0, 3, n)
    speed = rng.uniform(0, 2, n)
    thickness = np.array([0.0, 2.0, -1.0])[machine] + np.exp(speed - 1) * rng.normal(size=n)
    faults = rng.poisson(np.exp(0.3 + 0.4 * thickness))
    passed = rng.random(n) < 1 / (1 + np.exp(4 * (speed - 1)))
    columns = {
        "machine": machine,
        "speed": speed,
        "thickness": thickness,
        "faults": faults,
        "passed": passed,
    }
    data = Dataset(
        np.column_stack(list(columns.values())).astype(float),
        list(columns),
        kinds=("category", "continuous", "continuous", "count", "binary"),
        labels={"machine": MACHINES, "passed": ("no", "yes")},
    )
    knowledge = md.Knowledge(tiers=[["machine", "speed"], ["thickness"], ["faults", "passed"]])
    options = {"n_starts": 1, "n_kicks": 0, "n_chains": 2}
    model = md.MomentDAG(n_draws=80, random_state=0, knowledge=knowledge, engine_options=options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # so few draws tell little
        return model.fit(data)


def test_the_pair_of_graphs_is_found(fitted):
    assert set(fitted.mean_graph_.edges) == {
        ("machine", "thickness"),
        ("thickness", "faults"),
        ("speed", "passed"),
    }
    assert set(fitted.variance_graph_.edges) == {("speed", "thickness")}


def test_levels_are_set_by_their_names(fitted):
    frame = intervene(
        fitted, {"machine": list(MACHINES)}, ["thickness", "faults"], monte_carlo=SOME
    ).to_frame()
    assert frame["machine"].tolist() == ["M1", "M1", "M2", "M2", "M3", "M3"]
    means = frame[frame["target"] == "thickness"]["mean"].to_numpy()
    np.testing.assert_allclose(means, [0, 2, -1], atol=0.35)
    faults = frame[frame["target"] == "faults"]["mean"].to_numpy()
    assert faults[1] > 1.5 * faults[0] > 1.5 * faults[2]


def test_a_binary_target_has_a_probability_and_a_category_one_for_each_level(fitted):
    frame = intervene(fitted, {"speed": [0.3, 1.7]}, monte_carlo=SOME).to_frame()
    by_target = frame.set_index(["target", "speed"])["mean"]
    assert by_target["passed=yes", 0.3] > 0.85
    assert by_target["passed=yes", 1.7] < 0.15
    shares = [by_target[f"machine={name}", 0.3] for name in MACHINES]
    assert sum(shares) == pytest.approx(1)
    np.testing.assert_allclose(shares, 1 / 3, atol=0.08)
    sd = frame.set_index(["target", "speed"])["sd"]
    assert sd["thickness", 1.7] > 1.6 * sd["thickness", 0.3]


def test_limits_and_samples_of_discrete_targets(fitted):
    answer = intervene(
        fitted,
        {"machine": "M2"},
        ["faults", "passed=yes"],
        limits={"faults": (None, 4.5)},
        n_samples=400,
        monte_carlo=SOME,
    )
    frame = answer.to_frame().set_index("target")
    drawn = answer.samples
    assert drawn["faults"].isin(range(200)).all()
    assert set(drawn["passed=yes"]) <= {0.0, 1.0}
    share = (drawn["faults"] > 4.5).mean()
    assert frame.loc["faults", "outside"] == pytest.approx(share, abs=0.08)


def test_a_category_can_be_a_lever_and_is_named_by_its_level(fitted):
    table = levers(fitted, "thickness", monte_carlo=SOME).table.set_index("levers")
    assert table.loc["machine", "setting"] in {f"machine={name}" for name in MACHINES}
    assert table.loc["speed", "variance_ratio"] < 0.7


def test_contrasts_of_levels(fitted):
    frame = contrast(
        fitted, {"machine": "M2"}, {"machine": "M1"}, ["thickness"], monte_carlo=SOME
    ).to_frame()
    assert frame["mean_difference"].iloc[0] == pytest.approx(2, abs=0.4)
    with pytest.raises(OptionError, match="two levels"):
        md.effects.total_effect(fitted, "machine", "thickness", monte_carlo=SOME)
    total = md.effects.total_effect(
        fitted, "machine", "thickness", ("M3", "M2"), monte_carlo=SOME
    ).to_frame()
    assert total["mean_difference"].iloc[0] == pytest.approx(3, abs=0.5)


def test_a_count_is_decomposed_and_a_category_is_not(fitted):
    parts = decompose_variance(fitted, "faults", monte_carlo=SOME).by_part()
    total = parts.set_index("part")["variance"]
    assert total["total"] == pytest.approx(total.drop("total").sum())
    with pytest.raises(OptionError, match="category"):
        decompose_variance(fitted, "machine")
    with pytest.raises(OptionError, match="category"):
        levers(fitted, "machine")


@pytest.mark.parametrize(
    ("do", "message"),
    [
        ({"machine": "M9"}, "no level 'M9'"),
        ({"machine": 0.5}, "among its levels"),
        ({"speed": "fast"}, "number"),
    ],
)
def test_levels_that_do_not_exist_are_refused(fitted, do, message):
    with pytest.raises(OptionError, match=message):
        intervene(fitted, do, monte_carlo=SOME)


def test_an_unknown_level_as_target_is_refused(fitted):
    with pytest.raises(OptionError, match="machine=M9"):
        intervene(fitted, {"speed": 1.0}, ["machine=M9"], monte_carlo=SOME)


def test_the_world_is_reproduced_for_every_kind(fitted):
    table = fitted.world_check()
    assert set(table["verdict"]) <= {"fine", "weak"}
    assert isinstance(table, pd.DataFrame)
