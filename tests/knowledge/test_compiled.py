"""The compiled arrays mean what the statements say: by hand, and against enumeration."""

import itertools
from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from momentdag.errors import KnowledgeError
from momentdag.graph import BoolArray, is_acyclic, reachability
from momentdag.knowledge import CompiledKnowledge, Knowledge

ABC = ["a", "b", "c"]
MOMENTS = ["mean", "variance", "both", "either"]


def edges(matrix: BoolArray, names: list[str]) -> set[str]:
    return {names[i] + names[j] for i, j in np.argwhere(matrix)}


def test_arrays_of_a_hand_example() -> None:
    names = ["d", "c", "b", "a"]
    compiled = Knowledge(
        tiers=[["a"], ["b"]],
        order=[("b", "c")],
        required=[("c", "d"), ("a", "b", "mean"), ("a", "c", "both")],
        forbidden=[("a", "d", "variance")],
        edge_priors={("a", "d", "mean"): 0.2, ("b", "d"): 0.5},
    ).compile(names)
    assert compiled.names == tuple(names)
    assert compiled.n_variables == 4
    assert edges(compiled.precedes, names) == {"ab", "ac", "ad", "bc", "bd", "cd"}
    assert edges(compiled.required_mean, names) == {"ab", "ac"}
    assert edges(compiled.required_variance, names) == {"ac"}
    assert edges(compiled.required_either, names) == {"cd"}
    backwards = {"ba", "ca", "da", "cb", "db", "dc"}
    assert edges(compiled.forbidden_mean, names) == backwards
    assert edges(compiled.forbidden_variance, names) == backwards | {"ad"}
    assert edges(~np.isnan(compiled.log_odds_mean), names) == {"ad", "bd"}
    assert edges(~np.isnan(compiled.log_odds_variance), names) == {"bd"}
    assert compiled.log_odds_mean[3, 0] == pytest.approx(log(0.25))
    assert compiled.log_odds_variance[2, 0] == 0.0
    assert not compiled.is_soft


def test_roots_sinks_and_tiers_without_edges_within() -> None:
    compiled = Knowledge(
        tiers=[["a", "b"], ["c"]],
        roots=[("b", "variance")],
        sinks=["c"],
        forbid_within_tiers=[True, False],
    ).compile([*ABC, "d"])
    within_and_back = {"ab", "ba", "ca", "cb"}
    names = [*ABC, "d"]
    assert edges(compiled.forbidden_mean, names) == within_and_back | {"cd"}
    assert edges(compiled.forbidden_variance, names) == within_and_back | {"cd", "db"}
    # A root is without causes; it need not stand before anything.
    assert edges(compiled.precedes, names) == {"ac", "bc"}


def test_soft_knowledge_forbids_nothing() -> None:
    statements = {
        "tiers": [["a"], ["b", "c"]],
        "required": [("a", "b"), ("b", "c", "mean")],
        "forbidden": [("a", "c")],
        "forbid_within_tiers": False,
    }
    soft = Knowledge(**statements, strength="soft", confidence=0.75).compile(ABC)  # type: ignore[arg-type]
    for name in ("precedes", "required_mean", "required_either", "forbidden_mean"):
        assert not getattr(soft, name).any()
    assert soft.is_soft
    cost = log(0.25 / 0.75)
    assert edges(soft.order_penalty == cost, ABC) == {"ab", "ac"}
    assert edges(soft.absence_penalty_either == cost, ABC) == {"ab"}
    assert edges(soft.absence_penalty_mean == cost, ABC) == {"bc"}
    assert edges(soft.presence_penalty_variance == cost, ABC) == {"ac"}


def test_arrays_are_read_only() -> None:
    with pytest.raises(ValueError, match="read-only"):
        Knowledge().compile(ABC).precedes[0, 1] = True


def test_compile_refuses_contradictions() -> None:
    with pytest.raises(KnowledgeError, match="cycle"):
        Knowledge(order=[("a", "b"), ("b", "a")]).compile(ABC)


def every_graph() -> BoolArray:
    """All 64 directed graphs over three variables, shape (64, 3, 3)."""
    places = [(i, j) for i in range(3) for j in range(3) if i != j]
    graphs = np.zeros((64, 3, 3), dtype=bool)
    for graph, bits in zip(graphs, itertools.product([False, True], repeat=6), strict=True):
        for place, bit in zip(places, bits, strict=True):
            graph[place] = bit
    return graphs


GRAPHS = every_graph()
MEAN_GRAPHS, VARIANCE_GRAPHS = GRAPHS.repeat(64, axis=0), np.tile(GRAPHS, (64, 1, 1))


def holds(mean: bool, variance: bool, moment: str) -> bool:
    return {
        "mean": mean,
        "variance": variance,
        "both": mean and variance,
        "either": mean or variance,
    }[moment]


def obeyed(knowledge: Knowledge, mean_graph: BoolArray, variance_graph: BoolArray) -> bool:
    """Decide from the statements, trying every order; shares nothing with the compiled arrays."""
    at = {name: i for i, name in enumerate(ABC)}
    pair = {"mean": mean_graph, "variance": variance_graph}
    for cause, effect, moment in knowledge.required:
        place = at[cause], at[effect]
        if not holds(mean_graph[place], variance_graph[place], moment):
            return False
    for key, graph in pair.items():
        for cause, effect, said in knowledge.forbidden:
            if said in (key, "both") and graph[at[cause], at[effect]]:
                return False
        for name, said in knowledge.roots:
            if said in (key, "both") and graph[:, at[name]].any():
                return False
        for name, said in knowledge.sinks:
            if said in (key, "both") and graph[at[name]].any():
                return False
        for tier, flag in zip(knowledge.tiers, knowledge.forbid_within_tiers, strict=True):
            if flag and any(graph[at[x], at[y]] for x in tier for y in tier):
                return False
    tier_of = {name: k for k, tier in enumerate(knowledge.tiers) for name in tier}
    for order in itertools.permutations(ABC):
        place_of = {name: k for k, name in enumerate(order)}
        forwards = all(
            place_of[ABC[i]] < place_of[ABC[j]] for i, j in np.argwhere(mean_graph)
        ) and all(place_of[ABC[i]] < place_of[ABC[j]] for i, j in np.argwhere(variance_graph))
        in_order = all(place_of[x] < place_of[y] for x, y in knowledge.order)
        in_tiers = all(
            place_of[x] < place_of[y] for x in tier_of for y in tier_of if tier_of[x] < tier_of[y]
        )
        if forwards and in_order and in_tiers:
            return True
    return False


@pytest.mark.parametrize(
    "knowledge",
    [
        Knowledge(),
        Knowledge(order=[("a", "b")]),
        # Two constraints that only together rule out the edges c -> b, c -> a and so on.
        Knowledge(order=[("a", "b"), ("b", "c")]),
        Knowledge(order=[("a", "c")], required=[("c", "b")]),
        Knowledge(tiers=[["a", "b"], ["c"]], forbid_within_tiers=True),
        Knowledge(tiers=[["b"], ["a"]], roots=[("c", "mean")]),
        Knowledge(required=[("a", "b", "both"), ("b", "c", "variance")]),
        Knowledge(required=[("a", "b")], forbidden=[("a", "b", "mean"), ("b", "c")]),
        Knowledge(sinks=["a"], forbidden=[("c", "a", "variance")]),
        Knowledge(order=[("a", "b")], roots=["b"], strength="soft"),
    ],
    ids=repr,
)
def test_allows_agrees_with_enumeration(knowledge: Knowledge) -> None:
    allowed = knowledge.compile(ABC).allows(MEAN_GRAPHS, VARIANCE_GRAPHS)
    if knowledge.strength == "soft":  # then only a shared order is asked for
        knowledge = Knowledge()
    expected = [
        obeyed(knowledge, mean_graph, variance_graph)
        for mean_graph, variance_graph in zip(MEAN_GRAPHS, VARIANCE_GRAPHS, strict=True)
    ]
    np.testing.assert_array_equal(allowed, expected)
    assert allowed.any()


@st.composite
def consistent(draw: st.DrawFn, n_variables: int, strength: str = "hard") -> Knowledge:
    """Statements that a hidden order obeys, so that they cannot contradict one another."""
    names = [chr(ord("a") + i) for i in range(n_variables)]
    hidden = draw(st.permutations(names))
    pairs = list(itertools.combinations(hidden, 2))
    places = draw(st.lists(st.integers(0, 3), min_size=n_variables, max_size=n_variables))
    # Places sorted along the hidden order give tiers; those in place 0 are free.
    placed = list(zip(hidden, sorted(places), strict=True))
    tiers = [[name for name, place in placed if place == k] for k in (1, 2, 3)]
    tiers = [draw(st.permutations(tier)) for tier in tiers if tier]
    required = draw(
        st.lists(st.tuples(st.sampled_from(pairs), st.sampled_from(MOMENTS)), max_size=4)
    )
    taken = {pair for pair, _ in required}
    backwards = [(y, x) for x, y in pairs]
    free = [pair for pair in pairs if pair not in taken] + backwards
    forbidden = draw(
        st.lists(st.tuples(st.sampled_from(free), st.sampled_from(MOMENTS)), max_size=4)
    )
    return Knowledge(
        tiers=tiers,
        order=draw(st.lists(st.sampled_from(pairs), max_size=4)),
        required=[(*pair, moment) for pair, moment in required],  # type: ignore[misc]
        forbidden=[(*pair, moment) for pair, moment in forbidden],  # type: ignore[misc]
        strength=strength,  # type: ignore[arg-type]
    )


@settings(max_examples=30, deadline=None)
@given(knowledge=consistent(3), picks=st.lists(st.integers(0, 4095), min_size=60, max_size=60))
def test_allows_agrees_with_enumeration_for_random_knowledge(
    knowledge: Knowledge, picks: list[int]
) -> None:
    mean_graphs, variance_graphs = MEAN_GRAPHS[picks], VARIANCE_GRAPHS[picks]
    expected = [obeyed(knowledge, m, v) for m, v in zip(mean_graphs, variance_graphs, strict=True)]
    allowed = knowledge.compile(ABC).allows(mean_graphs, variance_graphs)
    np.testing.assert_array_equal(allowed, expected)


@settings(max_examples=50, deadline=None)
@given(knowledge=consistent(7), seed=st.integers(0, 2**32 - 1))
def test_every_sampled_order_obeys_all_hard_statements(knowledge: Knowledge, seed: int) -> None:
    names = list("abcdefg")
    compiled = knowledge.compile(names)
    rng = np.random.default_rng(seed)
    for _ in range(3):
        order = compiled.random_order(rng)
        assert compiled.is_feasible_order(order)
        place = {names[variable]: k for k, variable in enumerate(order)}
        assert sorted(place.values()) == list(range(7))
        for earlier, later in itertools.combinations(knowledge.tiers, 2):
            assert max(place[x] for x in earlier) < min(place[y] for y in later)
        for first, second in knowledge.order:
            assert place[first] < place[second]
        for cause, effect, _ in knowledge.required:
            assert place[cause] < place[effect]


@settings(max_examples=40, deadline=None)
@given(knowledge=consistent(6), seed=st.integers(0, 2**32 - 1))
def test_what_passes_the_check_can_be_satisfied(knowledge: Knowledge, seed: int) -> None:
    compiled = knowledge.compile(list("abcdef"))
    mean_graph = (compiled.required_mean | compiled.required_either) & ~compiled.forbidden_mean
    variance_graph = (
        compiled.required_variance | compiled.required_either
    ) & ~compiled.forbidden_variance
    assert compiled.allows(mean_graph, variance_graph)
    # So can any graph that follows a feasible order, has these edges and avoids the forbidden.
    order = compiled.random_order(np.random.default_rng(seed))
    forwards = np.zeros((6, 6), dtype=bool)
    forwards[np.ix_(order, order)] = np.triu(np.ones((6, 6), dtype=bool), 1)
    assert compiled.allows(
        forwards & ~compiled.forbidden_mean, forwards & ~compiled.forbidden_variance
    )


def test_constraints_are_tested_jointly() -> None:
    # d before a and b before c are each compatible with a -> b, c -> d; both together are not.
    names = ["a", "b", "c", "d"]
    graph = np.zeros((4, 4), dtype=bool)
    graph[0, 1] = graph[2, 3] = True
    for order, expected in [([("d", "a")], True), ([("d", "a"), ("b", "c")], False)]:
        assert Knowledge(order=order).compile(names).allows(graph, graph) is expected


@settings(max_examples=30, deadline=None)
@given(knowledge=consistent(3, "soft"), picks=st.lists(st.integers(0, 4095), min_size=20))
def test_soft_weight_counts_violations(knowledge: Knowledge, picks: list[int]) -> None:
    at = {name: i for i, name in enumerate(ABC)}
    acyclic = is_acyclic(MEAN_GRAPHS[picks] | VARIANCE_GRAPHS[picks])
    mean_graphs, variance_graphs = MEAN_GRAPHS[picks][acyclic], VARIANCE_GRAPHS[picks][acyclic]
    expected = []
    for mean_graph, variance_graph in zip(mean_graphs, variance_graphs, strict=True):
        pair = {"mean": mean_graph, "variance": variance_graph}
        ancestors = reachability(mean_graph | variance_graph)
        before = set(knowledge.order)
        for earlier, later in itertools.combinations(knowledge.tiers, 2):
            before |= set(itertools.product(earlier, later))
        violated = sum(bool(ancestors[at[y], at[x]]) for x, y in before)
        missing, present = set(), set()
        for cause, effect, moment in knowledge.required:
            found = {key: bool(graph[at[cause], at[effect]]) for key, graph in pair.items()}
            if moment == "either":
                if not any(found.values()):
                    missing.add((cause, effect, "either"))
            else:
                missing |= {
                    (cause, effect, key)
                    for key, there in found.items()
                    if moment in (key, "both") and not there
                }
        for cause, effect, moment in knowledge.forbidden:
            present |= {
                (cause, effect, key)
                for key, graph in pair.items()
                if moment in (key, "both") and graph[at[cause], at[effect]]
            }
        expected.append((violated + len(missing) + len(present)) * log(0.1 / 0.9))
    weights = knowledge.compile(ABC).soft_log_weight(mean_graphs, variance_graphs)
    # Sums of at most thirty equal terms: only rounding can differ.
    np.testing.assert_allclose(weights, expected, rtol=1e-12, atol=1e-12)


def test_a_soft_root_costs_for_each_edge_into_it() -> None:
    soft = Knowledge(roots=[("c", "mean")], strength="soft", confidence=0.8).compile(ABC)
    graph = np.zeros((3, 3), dtype=bool)
    graph[0, 2] = graph[1, 2] = True
    none = np.zeros_like(graph)
    # One multiplication and one addition of the same two numbers: exact to rounding.
    assert soft.soft_log_weight(graph, none) == pytest.approx(2 * log(0.25), rel=1e-12)
    assert soft.soft_log_weight(none, graph) == 0.0
    assert soft.allows(graph, none) is True


def test_hard_knowledge_has_no_soft_weight() -> None:
    hard = Knowledge(order=[("a", "b")], forbidden=[("b", "c")]).compile(ABC)
    assert not hard.soft_log_weight(MEAN_GRAPHS, VARIANCE_GRAPHS).any()


@pytest.mark.parametrize("call", [CompiledKnowledge.allows, CompiledKnowledge.soft_log_weight])
def test_graphs_of_another_shape_are_refused(call: object) -> None:
    compiled = Knowledge().compile(ABC)
    small = np.zeros((2, 2), dtype=bool)
    with pytest.raises(KnowledgeError, match=r"shape \(\.\.\., 3, 3\); got \(2, 2\)"):
        call(compiled, small, small)  # type: ignore[operator]


def test_stacks_keep_their_leading_shape() -> None:
    compiled = Knowledge(order=[("a", "b")], strength="soft").compile(ABC)
    graphs = np.zeros((2, 5, 3, 3), dtype=bool)
    assert compiled.allows(graphs, graphs).shape == (2, 5)
    assert compiled.soft_log_weight(graphs, graphs).shape == (2, 5)
