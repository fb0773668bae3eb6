"""Find unknown names and contradictions, and name the statements that cause them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations, pairwise
from typing import Any

import networkx as nx

from momentdag.errors import KnowledgeError, did_you_mean, quote
from momentdag.knowledge.entries import graphs_of
from momentdag.knowledge.statements import Kind, Statement, quoted


def check(statements: Sequence[Statement], names: Sequence[str]) -> None:
    """Raise `KnowledgeError` unless the statements are about ``names`` and can all hold."""
    whole = isinstance(names, str) or not all(isinstance(name, str) for name in names)
    if whole or len(set(names)) < len(names):
        raise KnowledgeError(f"Expected unique column names to check against; got {quote(names)}.")
    problems = _unknown_names(statements, names)
    if not problems:
        found = _Statements(statements)
        order = _StatedOrder(statements)
        problems = [
            *_cycle(found, order),
            *_impossible_required_edges(found),
            *_empty_priors(found, order),
        ]
    if len(problems) == 1:
        raise KnowledgeError(problems[0])
    if problems:
        numbered = "\n".join(f"({k}) {text}" for k, text in enumerate(problems, start=1))
        raise KnowledgeError(f"Expected consistent knowledge; got these problems:\n{numbered}")


def _unknown_names(statements: Sequence[Statement], names: Sequence[str]) -> list[str]:
    known = set(names)
    found: dict[str, str] = {}
    for statement in statements:
        for name in statement.variables:
            if name in known or name in found:
                continue
            advice = did_you_mean(name, names, n=2).lstrip()
            if not advice:
                shown = quoted(names[:20]) + (", ..." if len(names) > 20 else "")
                advice = f"The columns are {shown}."
            found[name] = (
                f"Expected only columns of the table; {quote(name)}, in {statement.label}, is not "
                f"one. {advice}"
            )
    return list(found.values())


class _Statements:
    """The statements, indexed by the edge or variable they are about."""

    def __init__(self, statements: Iterable[Statement]) -> None:
        self._by_kind: dict[Kind, list[Statement]] = {}
        self._by_variables: dict[tuple[Kind, tuple[str, ...]], list[Statement]] = {}
        for statement in statements:
            self._by_kind.setdefault(statement.kind, []).append(statement)
            key = (statement.kind, statement.variables)
            self._by_variables.setdefault(key, []).append(statement)

    def of_kind(self, *kinds: Kind) -> list[Statement]:
        return [statement for kind in kinds for statement in self._by_kind.get(kind, [])]

    def about(self, kind: Kind, *variables: str) -> list[Statement]:
        return self._by_variables.get((kind, variables), [])

    def against_edge(self, cause: str, effect: str, graph: str) -> list[Statement]:
        """Return the statements, order statements aside, that rule out an edge in one graph."""
        candidates = [
            *self.about("forbidden", cause, effect),
            *self.about("root", effect),
            *self.about("sink", cause),
        ]
        within = [s for s in self.of_kind("within") if {cause, effect} <= set(s.variables)]
        return [s for s in candidates if graph in graphs_of(s.moment)] + within


class _StatedOrder:
    """What comes before what, and which statement says so."""

    def __init__(self, statements: Sequence[Statement]) -> None:
        self._before: nx.DiGraph[Any] = nx.DiGraph()
        self._later: dict[str, set[str]] = {}
        for first, second in combinations([s for s in statements if s.kind == "tier"], 2):
            places = [s.tier[0] if s.tier is not None else 0 for s in (first, second)]
            for a in first.variables:
                for b in second.variables:
                    said = (
                        f"tiers put {quote(a)} (tier {places[0]}) before {quote(b)} "
                        f"(tier {places[1]})"
                    )
                    self._before.add_edge(a, b, said=said)
        for statement in statements:
            if statement.kind == "order":
                a, b = statement.variables
                self._before.add_edge(a, b, said=f"order puts {quote(a)} before {quote(b)}")
            elif statement.kind == "required":
                self._before.add_edge(*statement.variables, said=statement.label)

    def path(self, start: str, end: str) -> list[str]:
        """Return a shortest path from ``start`` to ``end``, or nothing."""
        if start not in self._before:
            return []
        if start not in self._later:
            self._later[start] = set(nx.descendants(self._before, start))
        if end not in self._later[start]:
            return []
        return list(nx.shortest_path(self._before, start, end))

    def chain(self, path: Sequence[str]) -> str:
        """Return the statements along a path."""
        return "; ".join(self._before.edges[arc]["said"] for arc in pairwise(path))


def _cycle(found: _Statements, order: _StatedOrder) -> list[str]:
    # Tiers alone form no cycle, so the shortest cycle contains some other statement.
    cycles = []
    for statement in found.of_kind("order", "required"):
        first, second = statement.variables
        if path := order.path(second, first):
            cycles.append([first, *path])
    if not cycles:
        return []
    return [
        "Expected statements that one order can satisfy; these form a cycle: "
        f"{order.chain(min(cycles, key=len))}. Remove or change one of them."
    ]


def _impossible_required_edges(found: _Statements) -> list[str]:
    problems = []
    for statement in found.of_kind("required"):
        cause, effect = statement.variables
        graphs = graphs_of(statement.moment)
        against = [found.against_edge(cause, effect, graph) for graph in graphs]
        # "either" fails when both graphs are closed to the edge, all others when one of them is.
        if all(against) if statement.moment == "either" else any(against):
            others = dict.fromkeys(other.label for labels in against for other in labels)
            problems.append(
                f"Expected required edges that are possible; {statement.label} contradicts "
                f"{' and '.join(others)}. Remove one of them."
            )
    return problems


def _empty_priors(found: _Statements, order: _StatedOrder) -> list[str]:
    """Report edge priors about edges that other statements have already decided."""
    problems = []
    for statement in found.of_kind("prior"):
        cause, effect = statement.variables
        graphs = graphs_of(statement.moment)
        decided = [s for graph in graphs for s in found.against_edge(cause, effect, graph)]
        for other in found.about("required", cause, effect):
            if other.moment != "either" and set(graphs) & set(graphs_of(other.moment)):
                decided.append(other)
        said = list(dict.fromkeys(other.label for other in decided))
        if path := order.path(effect, cause):
            said.append(order.chain(path))
        if said:
            problems.append(
                f"Expected edge priors on edges left open; {statement.label} is about an edge "
                f"already decided by {' and '.join(said)}. Remove one of them."
            )
    return problems
