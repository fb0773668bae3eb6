"""Short forms are read into one canonical form, and malformed ones are refused."""

from typing import Any

import numpy as np
import pytest

from momentdag.errors import KnowledgeError
from momentdag.knowledge import Knowledge


def test_short_forms_get_their_documented_moment() -> None:
    knowledge = Knowledge(
        required=[("a", "b"), ("a", "c", "mean")],
        forbidden=[("b", "c"), ("c", "d", "either"), ("d", "e", "variance")],
        roots=["a", ("b", "mean")],
        sinks=[("e", "either")],
        edge_priors={("a", "d"): 0.2, ("a", "e", "mean"): 0.3},
    )
    assert knowledge.required == (("a", "b", "either"), ("a", "c", "mean"))
    assert knowledge.forbidden == (("b", "c", "both"), ("c", "d", "both"), ("d", "e", "variance"))
    assert knowledge.roots == (("a", "both"), ("b", "mean"))
    assert knowledge.sinks == (("e", "both"),)
    assert knowledge.edge_priors == ((("a", "d", "both"), 0.2), (("a", "e", "mean"), 0.3))


def test_one_tier_flag_is_meant_for_every_tier() -> None:
    tiers = [["a", "b"], ["c"]]
    assert Knowledge(tiers=tiers).forbid_within_tiers == (False, False)
    assert Knowledge(tiers=tiers, forbid_within_tiers=True).forbid_within_tiers == (True, True)
    mixed = Knowledge(tiers=tiers, forbid_within_tiers=[True, False])
    assert mixed.forbid_within_tiers == (True, False)


def test_repetition_counts_once() -> None:
    knowledge = Knowledge(order=[("a", "b"), ("a", "b")], forbidden=[("a", "b")] * 3)
    assert len(knowledge.statements()) == 2


def test_text_of_numpy_becomes_plain_text() -> None:
    knowledge = Knowledge(order=np.array([["a", "b"]]), strength=np.str_("soft"))  # type: ignore[arg-type]
    assert [type(name) for name in knowledge.order[0]] == [str, str]
    assert repr(knowledge) == "Knowledge(order=(('a', 'b'),), strength='soft')"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"tiers": ["a", "b"]}, "Expected tier 1 to be a sequence of column names; got 'a'"),
        ({"tiers": [["a"], []]}, "tier 2 is empty"),
        ({"tiers": [["a"], ["b", "a"]]}, "'a' is in tier 1 and in tier 2"),
        ({"tiers": {("a",), ("b",)}}, "Expected tiers to be a sequence"),
        ({"tiers": [["a", 3]]}, r"Expected column names \(text\) in tiers; got 3"),
        ({"tiers": None}, "Expected tiers to be a sequence of tiers; got None"),
        ({"tiers": [["a"]], "forbid_within_tiers": [True, False]}, "each of the 1 tiers"),
        ({"tiers": [["a"]], "forbid_within_tiers": [1]}, "one boolean, or one for each"),
        ({"forbid_within_tiers": True}, "Expected tiers where forbid_within_tiers"),
        ({"order": [("a", "b", "mean")]}, r"order as \(first, second\)"),
        ({"order": ["ab"]}, r"each entry of order to be a sequence of \(first, second\); got 'ab'"),
        ({"order": [{"a", "b"}]}, "Expected each entry of order to be a sequence"),
        ({"order": [("a", "a")]}, "two different columns in each entry of order; got 'a' twice"),
        ({"required": [("a", "a")]}, "two different columns in each entry of required"),
        ({"required": ("a", "b")}, "each entry of required to be a sequence"),
        ({"required": [("a", "b", "spread")]}, "'a' -> 'b' among .*; got 'spread'"),
        ({"forbidden": [("a",)]}, r"forbidden as \(cause, effect\[, moment\]\)"),
        ({"forbidden": [("a", 2)]}, "in forbidden; got 2"),
        ({"roots": "abc"}, "Expected roots to be a sequence"),
        ({"roots": [("a", "b")]}, "the moment of roots 'a' among"),
        ({"sinks": [("a", "mean", "x")]}, "Expected each entry of sinks"),
        ({"edge_priors": {("a", "b"): 0.0}}, "'a' -> 'b' strictly between 0 and 1; got 0.0"),
        ({"edge_priors": {("a", "b"): 1}}, "Use required for a certain edge"),
        ({"edge_priors": {("a", "b"): float("nan")}}, "strictly between 0 and 1; got nan"),
        ({"edge_priors": {("a", "b"): "0.5"}}, "strictly between 0 and 1; got '0.5'"),
        ({"edge_priors": {("a", "b"): 10**400}}, "strictly between 0 and 1"),
        ({"edge_priors": {("a", "b", "either"): 0.5}}, "got 'either'"),
        ({"edge_priors": {("a", "a"): 0.5}}, "two different columns"),
        ({"edge_priors": [("a", "b", 0.5)]}, r"edge_priors as \(edge, probability\)"),
        (
            {"edge_priors": {("a", "b"): 0.5, ("a", "b", "mean"): 0.4}},
            "one prior for 'a' -> 'b' in the mean graph; got 0.5 and 0.4",
        ),
        ({"strength": "firm"}, r"Expected strength among \['hard', 'soft'\]; got 'firm'"),
        ({"strength": ["hard"]}, "Expected strength among"),
        ({"confidence": 0.5}, "Expected confidence strictly between 0.5 and 1; got 0.5"),
        ({"confidence": True}, 'For certainty use strength="hard"'),
    ],
)
def test_malformed_entries_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(KnowledgeError, match=message):
        Knowledge(**arguments)
