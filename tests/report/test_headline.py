import pytest

from momentdag.report.doubt import DoubtContent
from momentdag.report.headline import write_headline

NOTHING = {"mean": [], "variance": [], "variance_only": []}
PAIR = {"cause": "stress", "effect": "yield", "probability": 0.9}


def write(strongest=NOTHING, counts=(0, 0), world="fine", draws="fine", doubt=None, findings=0):
    counted = dict(zip(("mean", "variance"), counts, strict=True))
    return write_headline(3, strongest, counted, world, draws, doubt, findings, None)


def test_what_was_found_names_who_moves_only_a_spread():
    found = write({**NOTHING, "variance_only": [PAIR]}, (2, 1)).found
    assert found == (
        "Among 3 variables, 2 edges probably move a mean and 1 a spread; most clearly stress "
        "moves only the spread of yield."
    )
    assert write().found == "Among 3 variables no edge has a probability of one half or more."
    moved = write({**NOTHING, "variance": [PAIR]}, (0, 1)).found
    assert moved.endswith("stress moves the spread of yield.")


def test_how_sure_says_every_doubt():
    doubt = DoubtContent("", True, 2, [], [])
    sure = write(world="weak", doubt=doubt, findings=1).sure
    assert sure == (
        "The model reproduces some columns only roughly, the draws agree, 2 edges are sure only "
        "as far as the model's form is right and the residuals show 1 kind of misfit."
    )


@pytest.mark.parametrize("grades", [("do not use", "fine"), ("fine", "do not use")])
def test_nobody_is_told_to_act_on_what_is_not_to_be_used(grades):
    headline = write(world=grades[0], draws=grades[1])
    assert headline.grade == "do not use"
    assert headline.act.startswith("Do not act")
