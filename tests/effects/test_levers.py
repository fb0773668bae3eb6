"""Levers: the right one first, at the right setting, within the constraint."""

import numpy as np
import pytest

from momentdag.effects import MonteCarlo, intervene, levers
from momentdag.effects.inputs import read_inputs
from momentdag.effects.levers import variance_held_fixed, variance_only_probability
from momentdag.effects.posterior_samples import draw_samples
from momentdag.effects.propagation import propagate
from momentdag.effects.settings import Settings
from momentdag.errors import ExtrapolationWarning, OptionError
from momentdag.graph import MomentGraph
from momentdag.posterior import Posterior, Provenance

FEW = MonteCarlo(n_draws=20)
NAMES = ("m", "n", "s", "y")
ROOT = (lambda row: 0 * row[0], lambda row: 1 + 0 * row[0])


@pytest.fixture
def plant(make_fit):
    """Return a fit of y = 3 m + n² + exp(s) e, all causes standard normal."""
    graph = MomentGraph.from_edges(NAMES, mean=[("m", "y"), ("n", "y")], variance=[("s", "y")])
    functions = dict.fromkeys("mns", ROOT)
    functions["y"] = (lambda row: 3 * row[0] + row[1] ** 2, lambda row: np.exp(row[2]))
    summary = (-3.0, -1.645, 0.0, 1.645, 3.0, 0.0, 4.0)
    return make_fit(NAMES, [(graph, functions, 2)], summary=summary)


def test_settings_are_the_best_that_hold_the_mean(plant):
    ranking = levers(plant, "y", rank_by="total", monte_carlo=FEW)
    settings = dict(zip(ranking.to_frame()["levers"], ranking.settings, strict=True))
    # Var(y) = 9 + 2 + e². Setting m to 0 leaves 2 + e², setting s to its least 11 + e^-3.29,
    # setting n to ±1, where n² has its mean, 9 + e².
    table = ranking.to_frame().set_index("levers")
    total = 11 + np.exp(2)
    # Quadrature of 512 points, 20 samples.
    assert table.loc["m", "variance_ratio"] == pytest.approx((2 + np.exp(2)) / total, rel=0.05)
    assert table.loc["s", "variance_ratio"] == pytest.approx((11 + np.exp(-3.29)) / total, rel=0.05)
    assert table.loc["n", "variance_ratio"] == pytest.approx((9 + np.exp(2)) / total, rel=0.05)
    # A tenth of the sd of 4 may be given up: 3 m within ±0.4 and n² within 1 ± 0.4.
    assert abs(settings["m"]["m"]) < 0.14
    assert 0.6 < settings["n"]["n"] ** 2 < 1.4
    assert settings["s"]["s"] == pytest.approx(-1.645)
    assert ranking.tolerance == pytest.approx(0.4)
    assert table.index.tolist() == ["m", "s", "n"]
    assert ranking.recommended == settings["m"]
    assert table["p_variance_only"].tolist() == [0.0, 1.0, 0.0]
    assert table["p_variance_edge_only"].tolist() == [0.0, 1.0, 0.0]
    assert table["holds"].all()


def test_by_level_what_matters_where_it_is_set_comes_first(plant):
    ranking = levers(plant, "y", monte_carlo=FEW)
    table = ranking.to_frame().set_index("levers")
    total, spread = 11 + np.exp(2), np.exp(2)
    # Held anywhere, m takes 9 away, n 2, and s nothing; only the level of s matters.
    by_level = {"s": (11 + np.exp(-3.29)) / total, "m": 1.0, "n": 1.0}
    by_holding = {"s": 1.0, "m": (2 + spread) / total, "n": (9 + spread) / total}
    assert table.index.tolist() == ["s", "m", "n"]
    for name in table.index:
        # Quadrature of 512 points, 20 samples, each value of a lever with two noise rows.
        assert table.loc[name, "ratio_by_level"] == pytest.approx(by_level[name], rel=0.05)
        assert table.loc[name, "ratio_by_holding"] == pytest.approx(by_holding[name], rel=0.05)
        product = table.loc[name, "ratio_by_level"] * table.loc[name, "ratio_by_holding"]
        # Exact in each sample; samples differ by the error of their quadrature only.
        assert product == pytest.approx(table.loc[name, "variance_ratio"], rel=0.01)
    assert set(ranking.recommended) == {"s"}
    assert ranking.rank_by == "level"
    columns = ranking.to_frame().columns.tolist()
    at = columns.index("variance_ratio_high")
    assert columns[at + 1 : at + 3] == ["ratio_by_level", "ratio_by_holding"]


def test_joint_levers_split_likewise(plant):
    ranking = levers(plant, "y", max_levers=2, monte_carlo=FEW)
    (at,) = (k for k, setting in enumerate(ranking.settings) if set(setting) == {"m", "s"})
    row = ranking.to_frame().iloc[at]
    spread = np.exp(2)
    # Both held anywhere leave 2 + e²; as above for the tolerances.
    assert row["ratio_by_holding"] == pytest.approx((2 + spread) / (11 + spread), rel=0.05)
    assert row["ratio_by_level"] == pytest.approx((2 + np.exp(-3.29)) / (2 + spread), rel=0.05)


def test_where_no_level_matters_the_best_to_hold_fixed_is_first(make_fit):
    names = ("n", "m", "y")
    graph = MomentGraph.from_edges(names, mean=[("n", "y"), ("m", "y")])
    y = (lambda row: row[0] + 3 * row[1], lambda row: 1 + 0 * row[0])
    fit = make_fit(names, [(graph, {"n": ROOT, "m": ROOT, "y": y}, 2)])
    ranking = levers(fit, "y", monte_carlo=FEW)
    assert ranking.to_frame()["levers"].tolist() == ["m", "n"]
    assert (ranking.to_frame()["ratio_by_level"] > 0.9).all()
    assert set(ranking.recommended) == {"m"}


def test_a_level_that_matters_is_not_recommended_if_holding_costs_more(make_fit):
    names = ("c", "x", "m", "y")
    graph = MomentGraph.from_edges(
        names, mean=[("c", "x"), ("c", "y"), ("x", "y"), ("m", "y")], variance=[("x", "y")]
    )
    functions = {
        "c": ROOT,
        "m": ROOT,
        # x makes up for c: 3 (c - x) is nearly zero until x is held fixed.
        "x": (lambda row: row[0], lambda row: 0.1 + 0 * row[0]),
        "y": (lambda row: 3 * (row[0] - row[1]) + row[2], lambda row: np.exp(row[1])),
    }
    fit = make_fit(names, [(graph, functions, 2)])
    ranking = levers(fit, "y", candidates=["x", "m"], tolerance=100.0, monte_carlo=FEW)
    table = ranking.to_frame()
    assert table["levers"].tolist() == ["x", "m"]
    assert table["ratio_by_level"][0] < 0.9
    assert table["variance_ratio"][0] > 1 > table["variance_ratio"][1]
    assert set(ranking.recommended) == {"m"}


def test_a_setting_that_breaks_the_constraint_comes_last(plant):
    # m may only be set where it moves the mean by far more than allowed.
    ranking = levers(plant, "y", bounds={"m": (1.0, 2.0)}, monte_carlo=FEW)
    table = ranking.to_frame()
    assert table["levers"].tolist() == ["s", "n", "m"]
    assert table["holds"].tolist() == [True, True, False]
    assert table["p_held"].tolist()[-1] == 0.0
    assert 1.0 <= ranking.settings[-1]["m"] <= 2.0


def test_joint_levers_beat_single_ones(plant):
    ranking = levers(plant, "y", max_levers=3, monte_carlo=FEW)
    table = ranking.to_frame()
    assert sorted(len(setting) for setting in ranking.settings) == [1, 1, 1, 2, 2, 2, 3]
    assert len(ranking.recommended) == 3
    # All three set: only e^-3.29 of own noise is left.
    assert table["variance_ratio"][0] == pytest.approx(np.exp(-3.29) / (11 + np.exp(2)), rel=0.05)
    for setting, ratio in zip(ranking.settings, table["variance_ratio"], strict=True):
        singles = [
            r
            for s, r in zip(ranking.settings, table["variance_ratio"], strict=True)
            if len(s) == 1 and set(s) < set(setting)
        ]
        assert all(ratio < single for single in singles)


def test_joint_levers_may_offset_each_other(plant):
    # Neither bound allows to hold the mean alone: m shifts it up, n lowers it by at most one.
    bounds = {"m": (0.25, 0.3), "n": (-0.3, 0.3)}
    ranking = levers(
        plant, "y", bounds=bounds, candidates=["m", "n"], max_levers=2, monte_carlo=FEW
    )
    table = ranking.to_frame().set_index("levers")
    assert not table.loc[["m", "n"], "holds"].any()
    assert table.loc["m + n", "holds"] or table.loc["n + m", "holds"]


@pytest.mark.parametrize(("goal", "sign"), [("raise_mean", 1), ("lower_mean", -1)])
def test_the_reverse_moves_the_mean_and_holds_the_spread(plant, goal, sign):
    ranking = levers(plant, "y", goal=goal, tolerance=0.4, monte_carlo=FEW)
    table = ranking.to_frame()
    assert table["levers"][0] == "m"
    # m = ±1.645 moves the mean by 4.9 and leaves an sd ratio of √(9.4 / 18.4) = 0.71.
    assert sign * table["mean_change"][0] == pytest.approx(4.94, rel=0.02)
    total = levers(plant, "y", goal=goal, rank_by="total", tolerance=0.4, monte_carlo=FEW)
    assert total.to_frame().equals(table)  # these goals have one order
    strict = levers(plant, "y", goal=goal, tolerance=0.1, monte_carlo=FEW).to_frame()
    assert not strict.set_index("levers").loc["m", "holds"]
    assert strict["levers"][0] == "n" if goal == "raise_mean" else True


def test_a_lever_that_steadies_a_real_fit(fitted):
    ranking = levers(fitted, "y", monte_carlo=MonteCarlo(n_draws=50))
    table = ranking.to_frame()
    assert set(ranking.recommended) == {"z"}
    assert ranking.recommended["z"] < -1.5
    assert table["p_variance_only"][0] > 0.9
    assert table["variance_ratio_low"][0] <= table["variance_ratio"][0]
    some = MonteCarlo(n_draws=50)
    before = intervene(fitted, {}, ["y"], monte_carlo=some).to_frame()["sd"][0]
    after = intervene(fitted, ranking.recommended, ["y"], monte_carlo=some).to_frame()["sd"][0]
    # Other samples of the same posterior: Monte Carlo error of 50 draws.
    assert (after / before) ** 2 == pytest.approx(table["variance_ratio"][0], rel=0.1)
    assert "recommended" in repr(ranking)


def test_nothing_is_recommended_where_nothing_helps(make_fit):
    names = ("x", "y")
    graph = MomentGraph.from_edges(names)
    ranking = levers(make_fit(names, [(graph, {"x": ROOT, "y": ROOT}, 2)]), "y", monte_carlo=FEW)
    assert ranking.recommended is None
    assert len(ranking.to_frame()) == 0
    assert "nothing recommended" in repr(ranking)


def test_bounds_beyond_the_data_warn(plant):
    with pytest.warns(ExtrapolationWarning, match="'s' was observed"):
        levers(plant, "y", bounds={"s": (-5.0, 0.0)}, candidates=["s"], monte_carlo=FEW)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"target": "w"}, "'w'"),
        ({"goal": "steadier"}, "goal"),
        ({"rank_by": "price"}, "rank_by"),
        ({"tolerance": 0.0}, "tolerance"),
        ({"candidates": ["w"]}, "'w'"),
        ({"candidates": ["y"]}, "cannot be its own lever"),
        ({"bounds": {"s": (1.0, 0.0)}}, "low < high"),
        ({"max_levers": 4}, "max_levers"),
        ({"confidence": 1.0}, "confidence"),
        ({"n_settings": 3}, "n_settings"),
        ({"level": 0.0}, "level"),
    ],
)
def test_wrong_questions_are_refused(plant, arguments, message):
    with pytest.raises(OptionError, match=message):
        levers(plant, **{"target": "y", **arguments})


def average_held_fixed(fit, columns, n_draws=50):
    """Return the average over samples, which differ in their noise points only."""
    rng = np.random.default_rng(0)
    samples = draw_samples(rng, read_inputs(fit), n_draws, 512, "both")
    return np.mean([variance_held_fixed(rng, sample, columns, 2) for sample in samples])


@pytest.fixture
def confounded(make_fit):
    """Return a fit of x = c, y = c x + e: once set, x is independent of c."""
    names = ("c", "x", "y")
    graph = MomentGraph.from_edges(names, mean=[("c", "x"), ("c", "y"), ("x", "y")])
    functions = {
        "c": ROOT,
        "x": (lambda row: row[0], lambda row: 1e-9 + 0 * row[0]),
        "y": (lambda row: row[0] * row[1], lambda row: 1 + 0 * row[0]),
    }
    return make_fit(names, [(graph, functions, 2)])


def test_a_held_lever_is_independent_of_its_causes(confounded):
    # Var(Y | do x) = x² + 1 and E x² = 1; without intervention, Var(Y) = Var(c²) + 1 = 3. Fifty
    # samples of 512 pairs with products of fourth order: an error of about 0.02.
    assert average_held_fixed(confounded, [1]) == pytest.approx(2, abs=0.08)


def test_levers_of_a_group_are_held_at_their_joint_values(make_fit):
    names = ("c", "x", "y")
    graph = MomentGraph.from_edges(names, mean=[("c", "x")], variance=[("c", "y"), ("x", "y")])
    functions = {
        "c": ROOT,
        "x": (lambda row: row[0], lambda row: 0.1 + 0 * row[0]),
        "y": (lambda row: 0 * row[0], lambda row: np.exp(row[0] - row[1])),
    }
    fit = make_fit(names, [(graph, functions, 2)])
    # c - x has an sd of 0.1: E exp(2 (c - x)) = e^0.02. Held separately, it would be e^4.
    assert average_held_fixed(fit, [0, 1]) == pytest.approx(np.exp(0.02), rel=0.01)  # quadrature


def test_holding_a_variable_without_a_path_to_the_target_changes_nothing(confounded):
    sample, _ = draw_samples(np.random.default_rng(0), read_inputs(confounded), 2, 64, "both")
    variance = propagate(sample, Settings.none(), [0]).moments()[1][0, 0]
    assert variance_held_fixed(np.random.default_rng(0), sample, [1], 0) == variance


def posterior(*graphs):
    return Posterior(
        "abcy",
        [graph.mean_graph for graph in graphs],
        [graph.variance_graph for graph in graphs],
        Provenance("by hand"),
    )


def test_a_path_to_a_mean_parent_rules_out_variance_only():
    # a moves the variance of y, and the variance of b, which moves the mean of y.
    graph = MomentGraph.from_edges(
        "abcy", mean=[("b", "y")], variance=[("a", "y"), ("a", "b"), ("c", "y")]
    )
    draws = posterior(graph)
    assert variance_only_probability(draws, ["a"], "y") == 0.0
    assert variance_only_probability(draws, ["b"], "y") == 0.0
    assert variance_only_probability(draws, ["c"], "y") == 1.0


def test_probabilities_are_shares_and_joint_levers_need_all():
    first = MomentGraph.from_edges("abcy", variance=[("a", "y"), ("c", "y")])
    second = MomentGraph.from_edges("abcy", mean=[("a", "y")], variance=[("c", "y")])
    third = MomentGraph.from_edges("abcy", variance=[("a", "y")])
    draws = posterior(first, first, second, third)
    assert variance_only_probability(draws, ["a"], "y") == 0.75
    assert variance_only_probability(draws, ["c"], "y") == 0.75
    assert variance_only_probability(draws, ["a", "c"], "y") == 0.5


def test_only_causes_in_some_draw_are_ranked(make_fit):
    none = MomentGraph.from_edges("abcy")
    some = MomentGraph.from_edges("abcy", variance=[("a", "b"), ("b", "y")])
    y = (lambda row: 0 * row[0], lambda row: np.exp(0.5 * row[1]))
    roots = dict.fromkeys("abcy", ROOT)
    fit = make_fit(tuple("abcy"), [(none, roots, 3), (some, {**roots, "y": y}, 1)])
    assert set(levers(fit, "y", monte_carlo=FEW).to_frame()["levers"]) == {"a", "b"}
