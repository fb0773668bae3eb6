import numpy as np
import pytest

import momentdag as md
from momentdag.effects.trust import Trust, judge
from momentdag.graph import MomentGraph

FEW = md.effects.MonteCarlo(n_draws=8, n_rows=32)
NAMES = ("z", "x", "y")
GRAPH = MomentGraph.from_edges(NAMES, mean=[("x", "y")], variance=[("z", "y")])
FUNCTIONS = {
    "z": (lambda row: 0 * row[0], lambda row: 1 + 0 * row[0]),
    "x": (lambda row: 0 * row[0], lambda row: 1 + 0 * row[0]),
    "y": (lambda row: row[1], lambda row: np.exp(0.8 * row[0])),
}


def make(make_fit, *verdicts):
    return make_fit(NAMES, [(GRAPH, FUNCTIONS, 400)], verdict=list(verdicts))


def test_an_answer_has_the_verdict_of_the_columns_it_rests_on(make_fit):
    model = make(make_fit, "do not use", "weak", "fine")
    # y rests on all three, x on itself alone.
    assert judge(model, ["y"]) == Trust("do not use", "fine", ("z",))
    assert judge(model, ["x"]).grade == "weak"
    assert "does not reproduce z" in judge(model, ["y"]).message()
    assert Trust("fine", "fine").message() == ""
    assert Trust("fine", "do not use").message() == (
        "Do not use this answer: chains of draws contradict each other."
    )


def test_every_answer_carries_it(make_fit):
    model = make(make_fit, "fine", "weak", "fine")
    answers = [
        md.effects.intervene(model, {"z": 0.0}, ["y"], monte_carlo=FEW),
        md.effects.decompose_variance(model, "y", monte_carlo=FEW),
        md.effects.levers(model, "y", monte_carlo=FEW),
    ]
    assert [answer.trust.grade for answer in answers] == ["weak"] * 3


def test_nothing_is_recommended_on_a_column_that_is_not_reproduced(make_fit):
    model = make(make_fit, "fine", "fine", "do not use")
    refused = md.effects.levers(model, "y", monte_carlo=FEW)
    assert refused.recommended is None
    assert refused.recommendation().startswith("None. Do not use this answer")
    forced = md.effects.levers(model, "y", monte_carlo=FEW, force=True)
    assert set(forced.recommended) == {"z"}


def test_a_recommendation_is_a_sentence(make_fit):
    ranking = md.effects.levers(make(make_fit, "fine", "fine", "fine"), "y", monte_carlo=FEW)
    sentence = ranking.recommendation()
    assert sentence.startswith("Set z to -")
    assert "of today's" in sentence
    assert ranking.to_dict()["recommendation"] == sentence


def test_levers_without_effect_are_marked(make_fit):
    idle = MomentGraph.from_edges(NAMES, mean=[("x", "y"), ("z", "y")])
    functions = {**FUNCTIONS, "y": (lambda row: row[1], lambda row: 1 + 0 * row[0])}
    model = make_fit(NAMES, [(idle, functions, 400)])
    table = md.effects.levers(model, "y", monte_carlo=FEW).to_frame().set_index("levers")
    assert table["has_effect"].to_dict() == {"x": True, "z": False}


def test_what_is_fixed_is_no_lever_and_costs_count(make_fit):
    model = make(make_fit, "fine", "fine", "fine")
    table = md.effects.levers(model, "y", fixed=["z"], monte_carlo=FEW).to_frame()
    assert table["levers"].tolist() == ["x"]
    assert md.effects.levers(model, "y", candidates=[], monte_carlo=FEW).to_frame().empty
    assert "cost" not in table
    first = [
        md.effects.levers(model, "y", costs=costs, monte_carlo=FEW).to_frame()["levers"].iloc[0]
        for costs in ({"z": 1.0}, {"z": 100.0})
    ]
    assert first == ["z", "x"]
    for wrong, word in (
        ({"costs": {"z": 0.0}}, "costs"),
        ({"costs": {"w": 1.0}}, "'w'"),
        ({"fixed": ["w"]}, "'w'"),
        ({"fixed": ["z"], "candidates": ["z"]}, "both"),
    ):
        with pytest.raises(md.errors.OptionError, match=word):
            md.effects.levers(model, "y", **wrong)
