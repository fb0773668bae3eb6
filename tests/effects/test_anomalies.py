"""Whose noise made a row unusual, where it is known."""

import numpy as np
import pytest

import momentdag as md
from momentdag.errors import OptionError

FAST = md.effects.MonteCarlo(n_draws=8, n_rows=64)


def test_the_disturbed_noise_is_named_and_parts_add_up(star):
    # y = 1 + 2 x + exp(z / 2) e
    row = {"x": 3.0, "z": 0.0, "y": 1 + 2 * 3.0 + 0.3}
    answer = star.attribute_anomaly(row, "y", monte_carlo=FAST)
    assert answer.first == "x"
    table = answer.to_frame().set_index("variable")
    assert table.loc["x", "noise"] == pytest.approx(3.0)
    assert table.loc["y", "noise"] == pytest.approx(0.3)
    # Distances add up to y - E y = 6.3.
    assert table["distance"].sum() == pytest.approx(6.3, abs=0.15)
    assert table["share"].sum() == pytest.approx(1.0)
    own = star.attribute_anomaly({"x": 0.1, "z": 0.0, "y": 6.0}, "y", monte_carlo=FAST)
    assert own.first == "y"
    assert "its own noise" in own.summary()


def test_a_cause_of_the_spread_has_its_share(star):
    # e = 1.5 is ordinary, but at z = 4 the sd is 7.4.
    row = {"x": 0.0, "z": 4.0, "y": 1 + 1.5 * np.exp(2.0)}
    table = star.attribute_anomaly(row, "y", monte_carlo=FAST).to_frame().set_index("variable")
    assert table.loc["z", "share"] > 0.4
    assert table.loc["x", "share"] < 0.05


def test_ordinary_rows_have_nothing_to_explain(star):
    answer = star.attribute_anomaly({"x": 0.0, "z": 0.0, "y": 1.0}, "y", monte_carlo=FAST)
    assert "nothing to explain" in answer.summary()


@pytest.mark.parametrize("target", ["thickness", "defects", "rating", "passed", "outcome"])
def test_every_kind_of_target(mixed_fit, target):
    row = mixed_fit.sample(1, random_state=1).iloc[0]
    answer = mixed_fit.attribute_anomaly(row, target, monte_carlo=FAST)
    table = answer.to_frame()
    assert target in set(table["variable"])
    assert table["surprise"].sum() == pytest.approx(float(answer.surprise.mean()))
    assert ("distance" in table) == (target != "outcome")
    assert answer.plot().data
    assert "momentdag" in answer._repr_html_()


def test_one_row_at_a_time(mixed_fit):
    with pytest.raises(OptionError, match="Expected one row; got 2"):
        mixed_fit.attribute_anomaly(mixed_fit.sample(2), "thickness")


@pytest.mark.slow
def test_the_disturbed_variable_comes_first():
    named = []
    rng = np.random.default_rng(0)
    for seed in range(5):
        simulation = md.simulate.mean_variance_hnm(
            np.random.default_rng(seed), n_variables=4, edges_per_node=1, n_samples=400
        )
        model = md.MomentDAG(n_draws=200, random_state=0, engine_options={"n_starts": 1}).fit(
            simulation.data
        )
        usual = simulation.intervene(np.random.default_rng(7), {}, 4000)
        names, found = list(simulation.graph.names), 0
        while found < 20:
            name, noise = names[rng.integers(4)], int(rng.integers(2**31))
            row = simulation.intervene(np.random.default_rng(noise), {}, 1)
            mean, sd = (part[0, names.index(name)]
                        for part in simulation.mechanisms.moments(row.to_numpy()))  # fmt: skip
            do = {name: float(mean + rng.choice([-1, 1]) * 5 * sd)}
            disturbed = simulation.intervene(np.random.default_rng(noise), do, 1)
            reached = [name, *simulation.graph.descendants(name)]
            target = reached[rng.integers(len(reached))]
            distance = (usual[target] - usual[target].mean()).abs()
            if (distance >= abs(disturbed[target].iloc[0] - usual[target].mean())).mean() > 0.01:
                continue  # the disturbance did not make this variable unusual
            found += 1
            answer = model.attribute_anomaly(disturbed.iloc[0], target, monte_carlo=FAST)
            named.append(answer.first == name)
    # 49 of 50 in the first sets.
    assert np.mean(named) >= 0.9
