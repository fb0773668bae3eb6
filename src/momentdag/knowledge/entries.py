"""Convert the short forms in which knowledge can be written into one canonical form.

Nothing here depends on the columns of a table. Malformed entries are refused; contradictions are
found later, by `check`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any, Literal, TypeAlias, get_args

from momentdag.errors import KnowledgeError, quote
from momentdag.graph import Selection

Strength: TypeAlias = Literal["hard", "soft"]
Graph: TypeAlias = Literal["mean", "variance"]
EdgeEntry: TypeAlias = tuple[str, str] | tuple[str, str, Selection]
VariableEntry: TypeAlias = str | tuple[str, Selection]
Edge: TypeAlias = tuple[str, str, Selection]
Marked: TypeAlias = tuple[str, Selection]
Prior: TypeAlias = tuple[Edge, float]
# The keys are an EdgeEntry; Mapping is invariant in them, so a narrower type would refuse dicts
# of plain pairs.
PriorEntries: TypeAlias = Mapping[Any, float] | Iterable[tuple[EdgeEntry, float]]

_GRAPHS: dict[Selection, tuple[Graph, ...]] = {
    "mean": ("mean",),
    "variance": ("variance",),
    "both": ("mean", "variance"),
    "either": ("mean", "variance"),
}


def graphs_of(moment: Selection | None) -> tuple[Graph, ...]:
    """Return the graphs that a moment refers to."""
    return () if moment is None else _GRAPHS[moment]


def as_choice(field: str, value: Any, choices: Sequence[str]) -> Any:
    """Return ``value`` if it is one of ``choices``."""
    if not isinstance(value, str) or value not in choices:
        raise KnowledgeError(f"Expected {field} among {list(choices)}; got {quote(value)}.")
    return str(value)


def as_fraction(field: str, value: Any, low: float, advice: str) -> float:
    """Return ``value`` as a float strictly between ``low`` and 1."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = float("nan")
    if isinstance(value, str | bytes | bool) or not low < number < 1:
        raise KnowledgeError(
            f"Expected {field} strictly between {low:g} and 1; got {quote(value)}. {advice}"
        )
    return number


def _as_list(field: str, entries: Any, of: str, *, ordered: bool = False) -> list[Any]:
    # A bare string is iterable too, and would be taken letter by letter; a set has no first entry.
    refused = (str, bytes, Mapping, Set) if ordered else (str, bytes, Mapping)
    if isinstance(entries, refused) or not isinstance(entries, Iterable):
        raise KnowledgeError(f"Expected {field} to be a sequence of {of}; got {quote(entries)}.")
    return list(entries)


def _as_parts(field: str, entry: Any, form: str, sizes: Sequence[int]) -> list[Any]:
    parts = _as_list(f"each entry of {field}", entry, form, ordered=True)
    if len(parts) not in sizes:
        raise KnowledgeError(f"Expected each entry of {field} as {form}; got {quote(entry)}.")
    return parts


def _as_name(field: str, name: Any) -> str:
    if not isinstance(name, str):
        raise KnowledgeError(f"Expected column names (text) in {field}; got {quote(name)}.")
    return str(name)


def as_tiers(tiers: Any) -> tuple[tuple[str, ...], ...]:
    """Read tiers; every name may stand in one tier only and no tier may be empty."""
    read: list[tuple[str, ...]] = []
    home: dict[str, int] = {}
    for number, tier in enumerate(_as_list("tiers", tiers, "tiers", ordered=True), start=1):
        listed = _as_list(f"tier {number}", tier, "column names")
        members = [_as_name("tiers", name) for name in listed]
        if not members:
            raise KnowledgeError(
                f"Expected a column name in each tier; tier {number} is empty. Leave it out."
            )
        for name in members:
            if name in home:
                raise KnowledgeError(
                    f"Expected each column in one tier; {quote(name)} is in tier {home[name]} and "
                    f"in tier {number}. Keep one of them."
                )
            home[name] = number
        read.append(tuple(members))
    return tuple(read)


def as_tier_flags(flags: Any, n_tiers: int) -> tuple[bool, ...]:
    """Read one flag for all tiers, or one for each."""
    if isinstance(flags, bool):
        if flags and n_tiers == 0:
            raise KnowledgeError("Expected tiers where forbid_within_tiers is set; got none.")
        return (flags,) * n_tiers
    read = _as_list("forbid_within_tiers", flags, "booleans, or one boolean", ordered=True)
    if len(read) != n_tiers or not all(isinstance(flag, bool) for flag in read):
        raise KnowledgeError(
            f"Expected forbid_within_tiers to be one boolean, or one for each of the {n_tiers} "
            f"tiers; got {quote(flags)}."
        )
    return tuple(read)


def _as_two_names(field: str, parts: Sequence[Any]) -> tuple[str, str]:
    first, second = (_as_name(field, part) for part in parts[:2])
    if first == second:
        raise KnowledgeError(
            f"Expected two different columns in each entry of {field}; got {quote(first)} twice."
        )
    return first, second


def _as_edge(field: str, entry: Any, default: Selection, allowed: Sequence[str]) -> Edge:
    """Read (cause, effect) or (cause, effect, moment)."""
    parts = _as_parts(field, entry, "(cause, effect[, moment])", (2, 3))
    cause, effect = _as_two_names(field, parts)
    if len(parts) == 2:
        return cause, effect, default
    named = f"the moment of {field} entry {quote(cause)} -> {quote(effect)}"
    return cause, effect, as_choice(named, parts[2], allowed)


def as_orders(entries: Any) -> tuple[tuple[str, str], ...]:
    """Read (first, second) pairs; a repeated pair counts once."""
    pairs = _as_list("order", entries, "(first, second)")
    read = (_as_parts("order", pair, "(first, second)", (2,)) for pair in pairs)
    return tuple(dict.fromkeys(_as_two_names("order", parts) for parts in read))


def as_required(entries: Any) -> tuple[Edge, ...]:
    """Read required edges; (cause, effect) alone asks for an edge in at least one graph."""
    edges = _as_list("required", entries, "(cause, effect[, moment])")
    read = (_as_edge("required", edge, "either", get_args(Selection)) for edge in edges)
    return tuple(dict.fromkeys(read))


def _as_both(moment: Selection) -> Selection:
    # "Not in either graph" and "not in both graphs" are meant as the same statement.
    return "both" if moment == "either" else moment


def as_forbidden(entries: Any) -> tuple[Edge, ...]:
    """Read forbidden edges; (cause, effect) alone applies to both graphs."""
    edges = _as_list("forbidden", entries, "(cause, effect[, moment])")
    read = (_as_edge("forbidden", edge, "both", get_args(Selection)) for edge in edges)
    return tuple(dict.fromkeys((a, b, _as_both(moment)) for a, b, moment in read))


def as_marked(field: str, entries: Any) -> tuple[Marked, ...]:
    """Read roots or sinks: a name, or (name, moment); a name alone applies to both graphs."""
    read: list[Marked] = []
    for entry in _as_list(field, entries, "column names or (name, moment)"):
        parts = [entry]
        if not isinstance(entry, str):
            parts = _as_parts(field, entry, "(name, moment)", (2,))
        name = _as_name(field, parts[0])
        moment: Selection = "both"
        if len(parts) == 2:
            moment = as_choice(
                f"the moment of {field} {quote(name)}", parts[1], get_args(Selection)
            )
        read.append((name, _as_both(moment)))
    return tuple(dict.fromkeys(read))


def as_priors(entries: Any) -> tuple[Prior, ...]:
    """Read edge priors from a mapping or pairs; each edge of each graph may have one."""
    if isinstance(entries, Mapping):
        entries = entries.items()
    read: list[Prior] = []
    stated: dict[tuple[str, str, str], float] = {}
    for item in _as_list("edge_priors", entries, "(edge, probability) pairs, or a mapping"):
        stated_edge, stated_probability = _as_parts(
            "edge_priors", item, "(edge, probability)", (2,)
        )
        # A prior on "either" would not say how to share it between the two graphs.
        edge = _as_edge("edge_priors", stated_edge, "both", ("mean", "variance", "both"))
        cause, effect, moment = edge
        probability = as_fraction(
            f"the prior of {quote(cause)} -> {quote(effect)}",
            stated_probability,
            0.0,
            "Use required for a certain edge and forbidden for an impossible one.",
        )
        for graph in graphs_of(moment):
            earlier = stated.setdefault((cause, effect, graph), probability)
            if earlier != probability:
                raise KnowledgeError(
                    f"Expected one prior for {quote(cause)} -> {quote(effect)} in the {graph} "
                    f"graph; got {earlier} and {probability}. Keep one of them."
                )
        read.append((edge, probability))
    return tuple(dict.fromkeys(read))
