import dataclasses

import pytest

import momentdag as md
from momentdag.effects.trust import Trust
from momentdag.errors import OptionError
from momentdag.report import whatif
from momentdag.report.whatif import describe_what_if
from momentdag.report.whatif_grids import WhatIfEffort

SMALL = WhatIfEffort(n_outcomes=1, n_nodes=5, n_map_nodes=3, n_checks=1, n_check_draws=20)


@pytest.fixture(scope="module")
def described(fit):
    return describe_what_if(fit, "run", effort=SMALL)


def test_the_outcome_with_causes_is_offered(described, data):
    (outcome,) = described.outcomes
    assert outcome.name == data.columns[2]
    assert set(outcome.causes) == {"dose", "stress"} == set(described.axes)
    assert set(outcome.tables) == {"dose", "stress", "dose\tstress"}
    assert outcome.limits == pytest.approx(data[outcome.name].quantile([0.05, 0.95]), rel=1e-3)
    assert described.run == "run"


def test_how_accurate_the_page_is_was_measured(described):
    accuracy = described.outcomes[0].accuracy
    assert accuracy.n_settings == 1
    assert 0 < accuracy.sd < 0.05  # few nodes here; a page has more
    assert 0 < accuracy.mean < 0.2


def test_few_rows_are_not_enough_where_the_page_is_too_far_off(fit):
    strict = dataclasses.replace(SMALL, worst=0.0, most_rows=64)
    assert describe_what_if(fit, effort=strict).outcomes[0].n_rows == 64


def test_a_dense_graph_has_one_map_of_each_outcome(mixed_fit):
    few = dataclasses.replace(SMALL, n_outcomes=2, n_map_edges=0)
    for outcome in describe_what_if(mixed_fit, effort=few).outcomes:
        assert len([key for key in outcome.tables if "\t" in key]) == (len(outcome.causes) > 1)


def test_the_spread_can_be_steadied(described):
    robust = described.outcomes[0].robust["stress"]
    assert robust.variance_ratio < 0.8  # today's is mostly that of the mean, which must stay
    assert robust.p_held >= 0.95


def test_nothing_is_recommended_where_the_model_is_not_to_be_used(fit, monkeypatch):
    refused = Trust("do not use", "fine", ("dose",))
    monkeypatch.setattr(whatif, "judge", lambda *_: refused)
    (outcome,) = describe_what_if(fit, effort=SMALL).outcomes
    assert outcome.is_refused
    assert outcome.message.startswith("Do not use this answer")
    assert set(outcome.robust.values()) == {None}


def test_outcomes_can_be_chosen(fit, mixed_fit, linear):
    assert describe_what_if(fit, outcomes=[]) is None
    assert describe_what_if(linear) is None
    with pytest.raises(OptionError, match="Unknown variable 'yeild'"):
        describe_what_if(fit, outcomes=["yeild"])
    with pytest.raises(OptionError, match="category"):
        describe_what_if(mixed_fit, outcomes=["machine"])


def test_a_report_takes_outcomes(fit, data, tmp_path):
    page = md.report.write_report(fit, data, tmp_path / "r.html", outcomes=[]).read_text("utf-8")
    assert 'id="whatif"' not in page
