"""Every exporter works on a fit with columns of every kind."""

import json

import pytest

from momentdag.effects import export
from momentdag.effects.inputs import consensus_pair


@pytest.mark.parametrize(
    "name", [one for one in export.__all__ if one.startswith("to_") and one != "to_dowhy"]
)
def test_every_exporter_takes_it(mixed_fit, name):
    for package in ("pgmpy", "arviz"):
        if name == f"to_{package}":
            pytest.importorskip(package)
    assert getattr(export, name)(mixed_fit)


def test_families_are_those_of_the_kinds(mixed_fit):
    text = export.to_formulas(mixed_fit)
    lines = {line.split(" ~ ")[0]: line for line in text.splitlines()}
    assert lines["thickness"] == "thickness ~ machine; sigma ~ temperature"
    assert lines["defects"] == "defects ~ thickness; shape ~ 1; family = negbinomial"
    assert lines["rating"] == "rating ~ temperature; disc ~ 1; family = cumulative"
    assert lines["passed"] == "passed ~ defects + rating; family = bernoulli"
    assert lines["machine"] == "machine ~ 1; family = categorical"
    for smooth in (False, True):
        back = export.from_formulas(export.to_formulas(mixed_fit, smooth=smooth))
        assert back.reorder(mixed_fit.posterior_.names) == consensus_pair(mixed_fit)


def test_nodes_carry_their_kind(mixed_fit):
    union = export.to_networkx(mixed_fit)
    assert union.nodes["passed"]["kind"] == "binary"
    back = export.from_graphml(export.to_graphml(mixed_fit))
    assert back.reorder(mixed_fit.posterior_.names) == consensus_pair(mixed_fit)
    nodes = json.loads(json.dumps(export.to_cytoscape(mixed_fit)))["elements"]["nodes"]
    assert {node["data"]["name"]: node["data"]["kind"] for node in nodes}["defects"] == "count"


def test_dowhy_draws_values_that_occur(mixed_fit, mixed_data):
    gcm = pytest.importorskip("dowhy.gcm")
    model = export.to_dowhy(mixed_fit)
    assert not isinstance(model, gcm.InvertibleStructuralCausalModel)
    drawn = gcm.draw_samples(model, 2000)[list(mixed_data.names)]
    for name in ("machine", "rating", "passed", "outcome"):
        assert set(drawn[name]) == set(mixed_data.to_frame()[name])
    assert (drawn["defects"] % 1 == 0).all()
    # Shares of 300 rows have a standard error of 0.03; three of them.
    shares = mixed_data.to_frame()["outcome"].value_counts(normalize=True)
    found = drawn["outcome"].value_counts(normalize=True)
    assert (shares - found).abs().max() < 0.09


def test_dowhy_answers_interventions_on_a_category(mixed_fit):
    gcm = pytest.importorskip("dowhy.gcm")
    model = export.to_dowhy(mixed_fit)
    thickness = [
        gcm.interventional_samples(
            model, {"machine": lambda _, to=to: to}, num_samples_to_draw=500
        )["thickness"].mean()
        for to in (0.0, 2.0)
    ]
    # 1.6 and 2.5, with a standard error of 0.02 from the rows and 0.01 from the draws.
    assert thickness == pytest.approx([1.6, 2.5], abs=0.1)


def test_a_family_can_be_left_out_in_a_formula():
    graph = export.from_formulas(
        "a ~ 1; family = bernoulli\nb ~ a; shape ~ a; family = negbinomial"
    )
    assert graph.edges("variance") == [("a", "b")]
    assert graph.edges("mean") == [("a", "b")]
