"""Unknown names and contradictions are refused by name, cycles as a chain of statements."""

from typing import Any

import pytest

from momentdag.errors import KnowledgeError
from momentdag.knowledge import Knowledge

NAMES = ["a", "b", "c", "d"]


def problem(names: list[str] = NAMES, **arguments: Any) -> str:
    with pytest.raises(KnowledgeError) as caught:
        Knowledge(**arguments).check(names)
    return str(caught.value)


def test_consistent_knowledge_passes() -> None:
    Knowledge(
        tiers=[["a"], ["b", "c"]],
        order=[("b", "c"), ("d", "b")],
        required=[("a", "b"), ("a", "c", "both"), ("d", "b", "variance")],
        forbidden=[("a", "b", "mean"), ("b", "c")],
        edge_priors={("a", "b", "variance"): 0.4, ("a", "d"): 0.1},
        roots=["a", ("b", "mean")],
        sinks=["c"],
    ).check(NAMES)
    Knowledge().check([])


def test_unknown_names_come_with_the_statement_and_a_suggestion() -> None:
    message = problem(["raf", "mek", "PKC"], required=[("raff", "mek")], roots=["pkc", "zzz"])
    assert "'raff', in required edge 'raff' -> 'mek', is not one. Did you mean 'raf'?" in message
    assert "'pkc', in root 'pkc', is not one. Did you mean 'PKC'?" in message
    assert "'zzz', in root 'zzz', is not one. The columns are 'raf', 'mek', 'PKC'." in message


def test_unknown_names_are_refused_for_soft_knowledge_too() -> None:
    assert "'x', in order 'x' before 'a'" in problem(order=[("x", "a")], strength="soft")


@pytest.mark.parametrize("names", ["abc", ["a", "a"], ["a", 1]])
def test_the_columns_themselves_must_be_unique_text(names: Any) -> None:
    with pytest.raises(KnowledgeError, match="unique column names"):
        Knowledge(roots=["a"]).check(names)


@pytest.mark.parametrize("strength", ["hard", "soft"])
def test_a_cycle_is_the_chain_of_its_statements(strength: str) -> None:
    message = problem(
        tiers=[["a"], ["b"]],
        order=[("b", "c"), ("a", "d")],
        required=[("c", "a", "variance")],
        strength=strength,
    )
    assert message == (
        "Expected statements that one order can satisfy; these form a cycle: "
        "order puts 'b' before 'c'; required edge 'c' -> 'a' (variance); "
        "tiers put 'a' (tier 1) before 'b' (tier 2). Remove or change one of them."
    )


def test_the_shortest_cycle_is_shown() -> None:
    message = problem(order=[("a", "b"), ("b", "c"), ("c", "a"), ("b", "a")])
    assert "cycle: order puts 'a' before 'b'; order puts 'b' before 'a'. Remove" in message


def test_distant_tiers_are_compared_directly() -> None:
    message = problem(tiers=[["a"], ["b"], ["c"]], required=[("c", "a")])
    assert "required edge 'c' -> 'a'; tiers put 'a' (tier 1) before 'c' (tier 3). " in message


@pytest.mark.parametrize(
    ("arguments", "contradicted"),
    [
        ({"forbidden": [("a", "b")]}, "forbidden edge 'a' -> 'b'"),
        ({"roots": ["b"]}, "root 'b'"),
        ({"sinks": ["a"]}, "sink 'a'"),
        (
            {"tiers": [["a", "b"]], "forbid_within_tiers": True},
            "no edges within tier 1 ('a', 'b')",
        ),
        (
            {"forbidden": [("a", "b", "mean")], "roots": [("b", "variance")]},
            "forbidden edge 'a' -> 'b' (mean) and root 'b' (variance)",
        ),
    ],
)
def test_impossible_required_edges(arguments: dict[str, Any], contradicted: str) -> None:
    message = problem(required=[("a", "b")], **arguments)
    assert message == (
        "Expected required edges that are possible; required edge 'a' -> 'b' contradicts "
        f"{contradicted}. Remove one of them."
    )


@pytest.mark.parametrize(
    ("required", "forbidden", "clash"),
    [
        ("mean", "mean", True),
        ("mean", "variance", False),
        ("variance", "mean", False),
        ("variance", "both", True),
        ("both", "mean", True),
        ("either", "mean", False),
        ("either", "variance", False),
        ("either", "both", True),
    ],
)
def test_required_and_forbidden_clash_by_moment(required: Any, forbidden: Any, clash: bool) -> None:
    edges: list[dict[str, Any]] = [
        {"forbidden": [("a", "b", forbidden)]},
        {"roots": [("b", forbidden)]},
        {"sinks": [("a", forbidden)]},
    ]
    for against in edges:
        knowledge = Knowledge(required=[("a", "b", required)], **against)
        if clash:
            with pytest.raises(KnowledgeError, match="contradicts"):
                knowledge.check(NAMES)
        else:
            knowledge.check(NAMES)


@pytest.mark.parametrize(
    ("arguments", "decided"),
    [
        ({"forbidden": [("a", "b", "mean")]}, "forbidden edge 'a' -> 'b' (mean)"),
        ({"required": [("a", "b", "both")]}, "required edge 'a' -> 'b' (both)"),
        ({"roots": ["b"], "sinks": ["a"]}, "root 'b' and sink 'a'"),
        (
            {"order": [("b", "c"), ("c", "a")]},
            "order puts 'b' before 'c'; order puts 'c' before 'a'",
        ),
    ],
)
def test_priors_on_decided_edges(arguments: dict[str, Any], decided: str) -> None:
    message = problem(edge_priors={("a", "b", "mean"): 0.25}, **arguments)
    assert message == (
        "Expected edge priors on edges left open; edge prior 'a' -> 'b' (mean) = 0.25 is about an "
        f"edge already decided by {decided}. Remove one of them."
    )


def test_priors_may_say_how_an_either_edge_is_shared() -> None:
    Knowledge(required=[("a", "b")], edge_priors={("a", "b", "mean"): 0.9}).check(NAMES)
    Knowledge(required=[("a", "b", "mean")], edge_priors={("a", "b", "variance"): 0.9}).check(NAMES)


def test_all_problems_are_listed_at_once() -> None:
    message = problem(order=[("a", "b"), ("b", "a")], required=[("c", "d")], forbidden=[("c", "d")])
    assert "\n(1) Expected statements that one order" in message
    assert "\n(2) Expected required edges that are possible" in message
