"""`intervene` against closed forms and against a real fit's truth."""

import numpy as np
import pytest
from scipy.special import ndtr
from sklearn.exceptions import NotFittedError

import momentdag as md
from momentdag.effects import MonteCarlo, intervene
from momentdag.errors import ExtrapolationWarning, OptionError
from momentdag.graph import MomentGraph

FEW = MonteCarlo(n_draws=20)
SOME = MonteCarlo(n_draws=100)
# Expectations over 512 shifted Sobol points, averaged over samples: errors of a few thousandths
# of an sd.
QUADRATURE = 0.02


def test_mean_and_sd_are_those_of_the_closed_form(star):
    frame = intervene(star, {"x": [-1.0, 1.0], "z": [0.0, 2.0]}, ["y"], monte_carlo=FEW).to_frame()
    assert frame["x"].tolist() == [-1.0, -1.0, 1.0, 1.0]
    assert frame["z"].tolist() == [0.0, 2.0, 0.0, 2.0]
    # With both parents set nothing is left to average.
    np.testing.assert_allclose(frame["mean"], 1 + 2 * frame["x"], rtol=1e-12)
    np.testing.assert_allclose(frame["sd"], np.exp(frame["z"] / 2), rtol=1e-12)
    by_z = intervene(star, {"z": [0.0, 2.0]}, ["y"], monte_carlo=FEW).to_frame()
    np.testing.assert_allclose(by_z["mean"], 1.0, atol=QUADRATURE)
    np.testing.assert_allclose(by_z["sd"] ** 2, 4 + np.exp([0.0, 2.0]), rtol=QUADRATURE)
    by_x = intervene(star, {"x": 1.5}, ["y"], monte_carlo=FEW).to_frame()
    np.testing.assert_allclose(by_x["mean"], 4.0, rtol=1e-12)
    np.testing.assert_allclose(by_x["sd"] ** 2, np.exp(0.5), rtol=QUADRATURE)


def test_what_no_setting_reaches_keeps_its_own_distribution(star):
    frame = intervene(star, {"y": 0.0}, monte_carlo=FEW).to_frame().set_index("target")
    assert list(frame.index) == ["x", "z"]
    np.testing.assert_allclose(frame["mean"], 0.0, atol=1e-9)
    np.testing.assert_allclose(frame["sd"], 1.0, rtol=1e-9)


def test_an_empty_mapping_is_no_intervention(star):
    frame = intervene(star, {}, ["y"], monte_carlo=FEW).to_frame()
    np.testing.assert_allclose(frame["sd"] ** 2, 4 + np.exp(0.5), rtol=QUADRATURE)


def test_effects_pass_through_a_chain(make_fit):
    names = ("a", "b", "c")
    graph = MomentGraph.from_edges(names, mean=[("a", "b"), ("b", "c")])
    functions = {
        "a": (lambda row: 5 + 0 * row[0], lambda row: 2 + 0 * row[0]),
        "b": (lambda row: row[0] ** 2, lambda row: 1 + 0 * row[0]),
        "c": (lambda row: 3 * row[1], lambda row: 0.5 + 0 * row[0]),
    }
    fit = make_fit(names, [(graph, functions, 2)])
    frame = intervene(fit, {"a": 2.0}, ["c", "b"], monte_carlo=FEW).to_frame()
    np.testing.assert_allclose(frame["mean"], [12.0, 4.0], atol=QUADRATURE)
    np.testing.assert_allclose(frame["sd"], [np.sqrt(9.25), 1.0], rtol=QUADRATURE)
    # Setting what lies between cuts the cause off.
    cut = intervene(fit, {"a": 2.0, "b": 0.0}, ["c"], monte_carlo=FEW).to_frame()
    np.testing.assert_allclose(cut[["mean", "sd"]], [[0.0, 0.5]], atol=1e-12)


def test_risk_is_the_probability_of_leaving_the_limits(star):
    result = intervene(
        star,
        {"x": 0.0, "z": 0.0},
        ["y"],
        limits={"y": (-1.0, 2.0)},
        monte_carlo=FEW,
    )
    expected = ndtr(-2.0) + 1 - ndtr(1.0)
    np.testing.assert_allclose(result.to_frame()["outside"], expected, rtol=1e-12)
    one_sided = intervene(star, {"z": 0.0}, limits={"y": (None, 3.0)}, monte_carlo=FEW).to_frame()
    of_y = one_sided[one_sided["target"] == "y"]
    np.testing.assert_allclose(of_y["outside"], 1 - ndtr(2 / np.sqrt(5)), atol=0.005)
    assert one_sided.loc[one_sided["target"] == "x", "outside"].isna().all()


def test_samples_have_the_moments_that_are_reported(star):
    result = intervene(star, {"z": [0.0, 1.0]}, ["x", "y"], n_samples=4000, monte_carlo=FEW)
    samples = result.samples
    assert samples.columns.tolist() == ["setting", "x", "y"]
    assert samples["setting"].value_counts().tolist() == [4000, 4000]
    for k, z in enumerate((0.0, 1.0)):
        drawn = samples[samples["setting"] == k]
        # Monte Carlo: sd of a variance of 4000 draws is 2 %.
        assert drawn["y"].var() == pytest.approx(4 + np.exp(z), rel=0.08)
        assert np.cov(drawn["x"], drawn["y"])[0, 1] == pytest.approx(2.0, rel=0.08)


@pytest.fixture
def unsure(make_fit):
    """Return a fit torn 3 : 1 between x -> y with slope 2 and no edge; means shift by 0.1 sd."""
    names = ("x", "y")
    edge = MomentGraph.from_edges(names, mean=[("x", "y")])
    empty = MomentGraph.from_edges(names)
    root = (lambda row: 0 * row[0], lambda row: 1 + 0 * row[0])
    with_edge = {"x": root, "y": (lambda row: 2 * row[0], lambda row: 1 + 0 * row[0])}
    return make_fit(names, [(edge, with_edge, 75), (empty, {"x": root, "y": root}, 25)], shift=0.1)


def test_intervals_cover_what_they_say(unsure):
    many = MonteCarlo(n_draws=400)
    widths = {}
    for uncertainty in ("both", "graph", "function"):
        result = intervene(unsure, {"x": 1.0}, ["y"], uncertainty=uncertainty, monte_carlo=many)
        assert uncertainty in repr(result) or uncertainty == "both"
        row = result.to_frame().loc[0]
        widths[uncertainty] = row["mean_low"], row["mean"], row["mean_high"]
    # Functions alone, given the probable pair: 2 ± 1.645 * 0.1.
    low, mean, high = widths["function"]
    assert mean == pytest.approx(2.0, abs=0.02)
    assert high - low == pytest.approx(2 * 1.645 * 0.1, rel=0.2)
    # Graphs alone: the two answers 2 and 0 in the ratio 3 : 1, nothing in between.
    low, mean, high = widths["graph"]
    assert (low, high) == pytest.approx((0.0, 2.0), abs=1e-9)
    assert mean == pytest.approx(1.5, abs=1e-9)
    # Both: the quantiles lie beyond those of either alone.
    low, mean, high = widths["both"]
    assert low < 0.0
    assert high > 2.05
    assert mean == pytest.approx(1.5, abs=0.03)


def test_the_same_question_has_the_same_answer(unsure):
    first, second = (intervene(unsure, {"x": 1.0}, monte_carlo=FEW) for _ in range(2))
    np.testing.assert_array_equal(first.means, second.means)
    other = intervene(unsure, {"x": 1.0}, monte_carlo=MonteCarlo(n_draws=20, random_state=1))
    assert not np.array_equal(first.means, other.means)


def test_a_real_fit_answers_in_the_units_of_the_data(fitted):
    frame = intervene(fitted, {"z": [-1.5, 0.0, 1.5]}, ["y"], monte_carlo=SOME).to_frame()
    x = np.linspace(-2, 2, 100_001)
    truth = 10 * np.sqrt(np.var(np.sin(1.5 * x)) + 0.49 * np.exp(1.2 * np.array([-1.5, 0.0, 1.5])))
    # The sd of a sd from 400 rows is a few per cent; at the ends of the data more.
    np.testing.assert_allclose(frame["sd"], truth, rtol=0.15)
    assert (frame["sd_low"] < frame["sd"]).all()
    assert (frame["sd"] < frame["sd_high"]).all()
    curve = intervene(fitted, {"x": [-1.0, 0.0, 1.0]}, ["y"], monte_carlo=SOME).to_frame()
    # Three standard errors of a smooth at these points.
    np.testing.assert_allclose(curve["mean"], 10 * np.sin([-1.5, 0.0, 1.5]), atol=3.0)


def test_leaving_the_range_of_the_data_warns(star):
    with pytest.warns(ExtrapolationWarning, match="'x' was observed from -3 to 3; at 4 the answer"):
        intervene(star, {"x": 4.0}, ["y"], monte_carlo=FEW)


def test_a_variable_named_like_a_result_keeps_apart(make_fit):
    names = ("mean", "y")
    graph = MomentGraph.from_edges(names, mean=[("mean", "y")])
    functions = {
        "mean": (lambda row: 0 * row[0], lambda row: 1 + 0 * row[0]),
        "y": (lambda row: 2 * row[0], lambda row: 1 + 0 * row[0]),
    }
    fit = make_fit(names, [(graph, functions, 2)])
    row = intervene(fit, {"mean": 1.5}, monte_carlo=FEW).to_frame().loc[0]
    assert row["do(mean)"] == 1.5
    assert row["mean"] == pytest.approx(3.0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"do": {"w": 1.0}}, "'w'"),
        ({"do": {"x": []}}, "number or a list"),
        ({"do": {"x": "high"}}, "number or a list"),
        ({"do": {"x": np.nan}}, "finite"),
        ({"do": [("x", 1.0)]}, "mapping"),
        ({"targets": ["x"]}, "not set; 'x' is"),
        ({"targets": "y"}, "list of names"),
        ({"targets": ["y", "y"]}, "no repeats"),
        ({"targets": ["w"]}, "'w'"),
        ({"limits": {"z": (2.0, 1.0)}}, "low < high"),
        ({"limits": {"x": (0.0, 1.0)}}, "Limits given for 'x'"),
        ({"limits": {"y": (0.0,)}}, r"\(low, high\)"),
        ({"n_samples": -1}, "n_samples"),
        ({"level": 1.0}, "level"),
        ({"uncertainty": "noise"}, "uncertainty"),
    ],
)
def test_wrong_questions_are_refused(star, arguments, message):
    with pytest.raises(OptionError, match=message):
        intervene(star, **{"do": {"x": 1.0}, **arguments})


def test_a_fit_without_mechanisms_is_refused(star):
    star.scm_ = None
    with pytest.raises(OptionError, match="mechanisms"):
        intervene(star, {"x": 1.0})
    with pytest.raises(NotFittedError):
        intervene(md.MomentDAG(), {"x": 1.0})
