"""The knowledge file of Tetrad (Java), read and written.

The text starts with ``/knowledge``; then come up to three sections. ``addtemporal`` has one line
for each tier, ``1 a b``, where ``1*`` forbids edges within the tier and ``1-`` lets it cause the
next tier only; ``forbiddirect`` and ``requiredirect`` have one ``cause effect`` on a line. Lines
that begin with ``//`` are comments. Tetrad has one graph: a forbidden edge is in neither of ours, a
required one in at least one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from momentdag.errors import KnowledgeError, quote
from momentdag.storage.budget import BUDGET

if TYPE_CHECKING:
    from momentdag.knowledge.value import Knowledge

_SECTIONS = ("addtemporal", "forbiddirect", "requiredirect")
_TIER = re.compile(r"([0-9]{1,9})(\*?)(-?)")


def parse(text: str) -> dict[str, Any]:
    """Return the arguments of `Knowledge` for a Tetrad file."""
    lines = [(number, line.split()) for number, line in enumerate(text.splitlines(), start=1)]
    lines = [(number, words) for number, words in lines if words and words[0][:2] != "//"]
    if not lines or lines[0][1] != ["/knowledge"]:
        found = " ".join(lines[0][1]) if lines else "an empty file"
        raise KnowledgeError(
            "Expected a Tetrad knowledge file, whose first line is '/knowledge'; got "
            f"{quote(found)}."
        )
    sections: dict[str, list[tuple[int, list[str]]]] = {}
    current = ""
    for number, words in lines[1:]:
        if len(words) == 1 and words[0].lower() in _SECTIONS:
            current = words[0].lower()
            if current in sections:
                raise KnowledgeError(
                    f"Expected each section once; line {number} repeats {current}."
                )
            sections[current] = []
        elif current:
            sections[current].append((number, words))
        else:
            raise KnowledgeError(
                f"Expected one of the sections {list(_SECTIONS)} at line {number}; got "
                f"{quote(' '.join(words))}."
            )
    tiers, flags, skipped = _parse_tiers(sections.get("addtemporal", []))
    return {
        "tiers": tiers,
        "forbid_within_tiers": flags,
        "forbidden": [*skipped, *_parse_edges(sections.get("forbiddirect", []))],
        "required": _parse_edges(sections.get("requiredirect", [])),
    }


def _parse_tiers(
    lines: list[tuple[int, list[str]]],
) -> tuple[list[list[str]], list[bool], list[tuple[str, str]]]:
    """Return the non-empty tiers, their within flags, and the edges that skip a tier with '-'."""
    members: dict[int, list[str]] = {}
    within: dict[int, bool] = {}
    only_next: list[int] = []
    for number, words in lines:
        matched = _TIER.fullmatch(words[0])
        if matched is None:
            raise KnowledgeError(
                "Expected a tier as its number, then '*' or '-' if wanted, then names; line "
                f"{number} is {quote(' '.join(words))}."
            )
        tier = int(matched[1])
        if tier in members:
            raise KnowledgeError(f"Expected each tier once; line {number} repeats tier {tier}.")
        members[tier] = words[1:]
        within[tier] = bool(matched[2])
        if matched[3]:
            only_next.append(tier)
    n_skipped = sum(
        len(members[tier]) * len(members[later])
        for tier in only_next
        for later in members
        if later > tier + 1
    )
    if n_skipped > BUDGET.values:
        raise KnowledgeError(
            f"Expected at most {BUDGET.values} forbidden edges; tiers marked '-' forbid "
            f"{n_skipped}."
        )
    skipped = [
        (cause, effect)
        for tier in only_next
        for later in sorted(members)
        if later > tier + 1
        for cause in members[tier]
        for effect in members[later]
    ]
    kept = [tier for tier in sorted(members) if members[tier]]
    return [members[tier] for tier in kept], [within[tier] for tier in kept], skipped


def _parse_edges(lines: list[tuple[int, list[str]]]) -> list[tuple[str, ...]]:
    for number, words in lines:
        if len(words) != 2:
            raise KnowledgeError(
                f"Expected 'cause effect' at line {number}, or one of the sections "
                f"{list(_SECTIONS)}; got {quote(' '.join(words))}."
            )
    return [tuple(words) for _, words in lines]


def render(knowledge: Knowledge) -> str:
    """Return the text of a Tetrad file, or refuse what that format cannot express."""
    advice = "Write a .toml or .json file instead."
    if knowledge.strength == "soft":
        raise KnowledgeError(f"Expected hard knowledge for the Tetrad format; got soft. {advice}")
    holds = {"tier": None, "within": None, "required": "either", "forbidden": "both"}
    for statement in knowledge.statements():
        if statement.kind not in holds or statement.moment != holds[statement.kind]:
            raise KnowledgeError(
                "Expected only what the Tetrad format can express (tiers, edges required in either "
                f"graph, edges forbidden in both); got {statement.label}. {advice}"
            )
        for name in statement.variables:
            if name.split() != [name] or name.startswith("//"):
                raise KnowledgeError(
                    "Expected names without spaces that do not begin with '//', as the Tetrad "
                    f"format separates by spaces; got {name!r}. Rename it. {advice}"
                )
    lines = ["/knowledge", "", "addtemporal", ""]
    for number, tier in enumerate(knowledge.tiers, start=1):
        star = "*" if knowledge.forbid_within_tiers[number - 1] else ""
        lines.append(f"{number}{star} {' '.join(tier)}")
    for section, edges in zip(
        _SECTIONS[1:], (knowledge.forbidden, knowledge.required), strict=True
    ):
        lines += ["", section, "", *(f"{cause} {effect}" for cause, effect, _ in edges)]
    return "\n".join(lines) + "\n"
