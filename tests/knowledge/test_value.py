"""Knowledge is a value: comparable, hashable, copyable, readable, and statements can leave it."""

import copy
import pickle
from dataclasses import FrozenInstanceError, replace

import pytest

from momentdag.errors import KnowledgeError
from momentdag.knowledge import Knowledge, Statement

FULL = Knowledge(
    tiers=[["a", "b"], ["c"], ["d"]],
    order=[("a", "b"), ("d", "e")],
    required=[("a", "c"), ("b", "c", "mean"), ("b", "d", "variance"), ("a", "d", "both")],
    forbidden=[("a", "b"), ("c", "d", "mean")],
    edge_priors={("a", "e"): 0.2, ("b", "e", "variance"): 0.7},
    strength="soft",
    roots=["a", ("b", "mean")],
    sinks=["e", ("d", "variance")],
    forbid_within_tiers=[True, False, False],
    confidence=0.8,
)


def test_only_an_empty_knowledge_is_false() -> None:
    assert not Knowledge()
    assert not Knowledge(strength="soft")
    assert all([Knowledge(tiers=[["a"]]), Knowledge(roots=["a"]), FULL])


def test_equal_content_is_equal_and_hashes_alike() -> None:
    again = pickle.loads(pickle.dumps(FULL))
    assert again == FULL
    assert hash(again) == hash(FULL)
    assert copy.deepcopy(FULL) == FULL
    assert Knowledge() != FULL


def test_it_cannot_be_changed_but_replaced() -> None:
    with pytest.raises(FrozenInstanceError):
        FULL.strength = "hard"  # type: ignore[misc]
    hard = replace(FULL, strength="hard")
    assert hard.strength == "hard"
    assert hard.statements() == FULL.statements()


def test_repr_builds_the_same_value() -> None:
    assert eval(repr(FULL)) == FULL
    assert repr(Knowledge()) == "Knowledge()"


def test_every_statement_is_a_sentence() -> None:
    assert [statement.text for statement in FULL.statements()] == [
        "Tier 1 of 3 holds 'a', 'b': after every earlier tier, before every later one.",
        "Tier 2 of 3 holds 'c': after every earlier tier, before every later one.",
        "Tier 3 of 3 holds 'd': after every earlier tier, before every later one.",
        "No edges within tier 1 ('a', 'b').",
        "'a' comes before 'b'.",
        "'d' comes before 'e'.",
        "'a' causes the mean or the variance of 'c', or both.",
        "'b' causes the mean of 'c'.",
        "'b' causes the variance of 'd'.",
        "'a' causes both the mean and the variance of 'd'.",
        "'a' directly causes neither the mean nor the variance of 'b'.",
        "'c' does not directly cause the mean of 'd'.",
        "Nothing causes 'a'.",
        "Nothing causes the mean of 'b'.",
        "'e' causes nothing.",
        "'d' causes the variance of nothing.",
        "'a' causes the mean of 'e' with prior probability 0.2, and its variance likewise.",
        "'b' causes the variance of 'e' with prior probability 0.7.",
    ]


def test_describe_separates_priors_from_statements() -> None:
    lines = FULL.describe().splitlines()
    assert lines[0] == "Soft knowledge (each statement holds with probability 0.8):"
    assert lines[-3] == "Edge priors:"
    assert len(lines) == 2 + len(FULL.statements())
    assert Knowledge().describe() == "No knowledge."
    assert Knowledge(roots=["a"]).describe().startswith("Hard knowledge (holds in every draw):")


@pytest.mark.parametrize("left_out", FULL.statements(), ids=lambda statement: statement.label)
def test_without_leaves_out_one_statement_and_nothing_else(left_out: Statement) -> None:
    rest = FULL.without(left_out)
    gone = {left_out}
    if left_out.kind == "tier":  # the flag of a tier goes with it
        gone.add(Statement("within", left_out.variables))
    assert [s for s in FULL.statements() if s not in gone] == list(rest.statements())
    assert (rest.strength, rest.confidence) == (FULL.strength, FULL.confidence)


def test_statements_stay_the_same_when_tiers_are_renumbered() -> None:
    rest = FULL
    for statement in FULL.statements():
        if statement in rest.statements():
            rest = rest.without(statement)
    assert not rest


def test_without_refuses_what_was_not_stated() -> None:
    with pytest.raises(KnowledgeError, match=r"got root 'z'\. Choose one from statements"):
        FULL.without(Statement("root", ("z",), "both"))
