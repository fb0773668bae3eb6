import numpy as np
import pytest

from momentdag.errors import OptionError
from momentdag.graph import MomentGraph
from momentdag.simulate import (
    Change,
    draw_changes,
    mean_variance_hnm_from_graph,
    regimes,
    sergio_adiabatic,
)

GRAPH = MomentGraph.from_edges(
    ["a", "b", "c"], mean=[("a", "b"), ("b", "c")], variance=[("a", "c")]
)


@pytest.fixture(scope="module")
def base():
    return mean_variance_hnm_from_graph(np.random.default_rng(0), GRAPH, 400)


def of(table, regime):
    return table.data[table.data["regime"] == regime]


def test_each_kind_does_what_it_says_and_nothing_else(base):
    changes = {
        "set": [Change("b", "hard", 0.5, spread=0.1)],
        "moved": [Change("a", "mean", -2.0)],
        "scattered": [Change("a", "variance", 3.0)],
        "skewed": [Change("a", "noise", 2.0)],
    }
    table = regimes(np.random.default_rng(1), base, changes, 4000)
    a, b = base.data["a"], base.data["b"]
    # a has no parents: X = E, whose sd is 1. Bounds are four standard errors of 4000 rows.
    assert of(table, "set")["b"].mean() == pytest.approx(b.mean() + 0.5 * b.std(ddof=0), abs=0.02)
    assert of(table, "set")["b"].std() == pytest.approx(0.1 * b.std(ddof=0), rel=0.05)
    assert of(table, "moved")["a"].mean() == pytest.approx(-2 * a.std(ddof=0), abs=0.07)
    assert of(table, "moved")["a"].std() == pytest.approx(1.0, rel=0.05)
    assert of(table, "scattered")["a"].std() == pytest.approx(3.0, rel=0.05)
    skewed = of(table, "skewed")["a"]
    assert skewed.mean() == pytest.approx(0.0, abs=0.07)
    assert skewed.std() == pytest.approx(1.0, rel=0.1)
    assert skewed.skew() > 1.5
    assert abs(of(table, "moved")["a"].skew()) < 0.2


def test_the_truth_lists_every_regime_and_variable(base):
    changes = {"r": [Change("a", "mean"), Change("a", "variance"), Change("c", "noise")], "s": []}
    table = regimes(np.random.default_rng(1), base, {**changes, "t": [Change("b", "hard")]}, 10)
    truth = table.targets.set_index(["regime", "variable"])
    assert len(truth) == 9
    assert truth.loc[("r", "a"), ["mean", "variance"]].all()
    assert truth.loc[("r", "c")].to_dict() == {
        "mean": False, "variance": False, "noise_shape": True, "set": False,
    }  # fmt: skip
    assert not truth.loc["s"].to_numpy().any()
    assert truth.loc[("t", "b"), ["mean", "variance", "set"]].all()
    assert table.set_cells["b"].tolist() == [False] * 30 + [True] * 10
    assert not table.set_cells[["a", "c"]].to_numpy().any()


def test_samples_of_two_regimes_share_their_noise(base):
    table = regimes(np.random.default_rng(1), base, {"r": [Change("b", "mean", 1.0)]}, 10)
    one, two = (table.sample(np.random.default_rng(5), name, 50) for name in ("reference", "r"))
    np.testing.assert_array_equal(one["a"], two["a"])
    sd = base.data["b"].std(ddof=0)
    np.testing.assert_allclose(two["b"] - one["b"], sd)


def test_drawn_changes_have_the_stated_kinds_and_sizes():
    kinds = {"m": ["mean"], "v": ["variance"], "both": ["mean", "variance"]}
    changes = draw_changes(np.random.default_rng(0), ["a", "b", "c"], kinds, n_targets=2)
    assert {name: len(each) for name, each in changes.items()} == {"m": 2, "v": 2, "both": 4}
    assert all(1 <= abs(change.size) <= 2 for change in changes["m"])
    assert all(2 <= max(change.size, 1 / change.size) <= 3 for change in changes["v"])


def test_what_makes_no_sense_is_refused(base):
    rng = np.random.default_rng(0)
    with pytest.raises(OptionError, match="'r' to change variables among"):
        regimes(rng, base, {"r": [Change("nobody", "mean")]})
    with pytest.raises(OptionError, match="changes 'a' by"):
        regimes(rng, base, {"r": [Change("a", "hard"), Change("a", "mean")]})
    with pytest.raises(OptionError, match="no changes in the reference"):
        regimes(rng, base, {"reference": [Change("a", "hard")]})
    with pytest.raises(OptionError, match="structural equations"):
        regimes(rng, sergio_adiabatic(rng, 4, n_samples=20), {})
    with pytest.raises(OptionError, match="a number > 0"):
        Change("a", "variance", -1.0)
    with pytest.raises(OptionError, match="spread"):
        Change("a", "hard", spread=-1.0)
    with pytest.raises(OptionError, match="among"):
        regimes(rng, base, {}, 5).sample(rng, "other", 3)
