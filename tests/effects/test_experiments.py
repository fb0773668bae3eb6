"""Expected information: against integration, and where the answer is known."""

import numpy as np
import pandas as pd
import pytest
from scipy import integrate, stats

import momentdag as md
from momentdag.effects import MonteCarlo, next_experiment
from momentdag.effects.experiments import information
from momentdag.errors import OptionError

SMALL = MonteCarlo(n_draws=40, n_rows=64)
QUICK = {"noise": "gaussian", "n_starts": 1, "n_kicks": 0}


def entropy(p):
    return stats.bernoulli(p).entropy() / np.log(2)


@pytest.mark.parametrize("gap", [0.5, 2.0, 8.0])
def test_information_of_two_draws_against_integration(gap):
    weights = np.array([0.3, 0.7])
    centres, sds, holds = np.array([0.0, gap]), np.array([1.0, 1.5]), np.array([True, False])

    def integrand(y):
        densities = weights * stats.norm.pdf(y, centres, sds)
        return entropy(densities[0] / densities.sum()) * densities.sum()

    left, _ = integrate.quad(integrand, -12, 12 + gap, limit=200)
    found = information(centres, sds, holds, weights)
    assert found == pytest.approx(entropy(0.3) - left, abs=0.01)  # fifteen nodes for each draw


def test_information_has_its_limits():
    holds, weights = np.array([True, False, False, True]), np.full(4, 0.25)
    far = np.array([0.0, 50.0, 100.0, 150.0])
    assert information(far, np.ones(4), holds, weights) == pytest.approx(1.0)
    assert information(np.zeros(4), np.ones(4), holds, weights) == pytest.approx(0.0, abs=1e-12)
    assert information(far, np.ones(4), np.ones(4, dtype=bool), weights) == 0.0


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    x = rng.normal(size=120)
    return pd.DataFrame({"x": x, "y": x + rng.normal(size=120)})


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_an_open_direction_is_worth_an_experiment_and_a_known_one_is_not(table):
    open_fit = md.MomentDAG(n_draws=100, random_state=0, engine_options=QUICK).fit(table)
    plan = next_experiment(open_fit, target="y", n_rows=(10, 100), monte_carlo=SMALL)
    frame = plan.to_frame().set_index("rows")
    assert (frame["gain"] <= frame["open"] + 1e-9).all()
    assert frame.loc[100, "mean_gain"] >= frame.loc[10, "mean_gain"]
    assert frame.loc[100, "mean_gain"] > 0.2  # bits: which of the two is the cause
    assert plan.best["variable"] == "x"
    assert "whether it moves the mean of y" in plan.describe()
    assert frame.loc[10, "gain_per_100_rows"] == pytest.approx(10 * frame.loc[10, "gain"])

    known = md.Knowledge(required=[("x", "y", "mean")], forbidden=[("x", "y", "variance")])
    settled = md.MomentDAG(knowledge=known, n_draws=100, random_state=0, engine_options=QUICK).fit(
        table
    )
    plan = next_experiment(settled, target="y", monte_carlo=SMALL)
    assert plan.best is None
    assert "is settled" in plan.describe()
    with pytest.raises(OptionError, match="other than the target"):
        next_experiment(settled, target="y", candidates=["y"])
    with pytest.raises(OptionError, match="a list of names"):
        next_experiment(settled, target="y", candidates="x")
    with pytest.raises(OptionError, match="two rising levels"):
        next_experiment(settled, target="y", levels={"x": (1.0, 1.0)}, monte_carlo=SMALL)
    with pytest.raises(OptionError, match="whole numbers >= 4"):
        next_experiment(settled, target="y", n_rows=(2,))
    with pytest.raises(OptionError, match="at least one number of rows"):
        next_experiment(settled, target="y", n_rows=())
    with pytest.raises(OptionError, match="at least one variable to set"):
        next_experiment(settled, target="y", candidates=[], monte_carlo=SMALL)
