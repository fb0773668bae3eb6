"""The `Knowledge` value: what a caller states, by column name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from os import PathLike
from typing import Any, get_args

from momentdag.errors import KnowledgeError
from momentdag.knowledge import check, compiled, entries, files
from momentdag.knowledge.entries import (
    Edge,
    EdgeEntry,
    Marked,
    Prior,
    PriorEntries,
    Strength,
    VariableEntry,
)
from momentdag.knowledge.statements import Statement


@dataclass(frozen=True, init=False, repr=False)
class Knowledge:
    """What is known about the two graphs before the data are seen.

    Every edge statement is about the mean graph, the variance graph or both: append ``"mean"``,
    ``"variance"``, ``"both"`` or ``"either"`` to it.

    Parameters
    ----------
    tiers : sequence of sequences of str
        Earlier tiers come before later ones in the shared order, so nothing in a later tier causes
        anything in an earlier one. A column in no tier is free.
    order : sequence of (first, second)
        ``first`` comes before ``second`` in the shared order: ``second`` is not its ancestor.
    required : sequence of (cause, effect[, moment])
        Edges that exist. The default moment is ``"either"``: the edge is in the mean graph, the
        variance graph or both, which is what "a causes b" means.
    forbidden : sequence of (cause, effect[, moment])
        Edges that do not exist. The default moment is ``"both"``: neither graph has the edge
        (``"either"`` says the same and is stored as ``"both"``).
    edge_priors : mapping from (cause, effect[, moment]) to probability
        Prior probability of an edge, strictly between 0 and 1; by default the same for each graph.
        It replaces the engine's base rate, whatever the strength.
    strength : {"hard", "soft"}
        Hard statements hold in every draw. Soft ones each hold with probability ``confidence``:
        every violation multiplies the prior weight of a graph pair by (1 - c) / c. Violations are
        counted for each edge in each graph and for each ordered pair (see
        `CompiledKnowledge.soft_log_weight`). Contradictions are refused either way.
    roots, sinks : sequence of str or (name, moment)
        Columns without causes, and columns without effects; by default in both graphs.
    forbid_within_tiers : bool or sequence of bool
        Whether there are no edges within a tier: one flag for all, or one for each.
    confidence : float
        Strictly between 0.5 and 1; used with ``strength="soft"``.

    Raises
    ------
    KnowledgeError
        If an entry is malformed: not text, unknown moment, self-edge, column in two tiers,
        probability outside its range.

    Examples
    --------
    >>> knowledge = Knowledge(
    ...     tiers=[["age"], ["dose", "stress"], ["response"]],
    ...     required=[("dose", "response")],
    ...     forbidden=[("stress", "response", "mean")],
    ... )
    >>> knowledge.check(["age", "dose", "stress", "response"])
    >>> knowledge.check(["age", "dose", "stres", "response"])
    Traceback (most recent call last):
    momentdag.errors.KnowledgeError: Expected only columns of the table; 'stress', in tier 2
    ('dose', 'stress'), is not one. Did you mean 'stres'?
    """

    tiers: tuple[tuple[str, ...], ...]
    order: tuple[tuple[str, str], ...]
    required: tuple[Edge, ...]
    forbidden: tuple[Edge, ...]
    edge_priors: tuple[Prior, ...]
    strength: Strength
    roots: tuple[Marked, ...]
    sinks: tuple[Marked, ...]
    forbid_within_tiers: tuple[bool, ...]
    confidence: float

    def __init__(
        self,
        tiers: Sequence[Sequence[str]] = (),
        order: Iterable[tuple[str, str]] = (),
        required: Iterable[EdgeEntry] = (),
        forbidden: Iterable[EdgeEntry] = (),
        edge_priors: PriorEntries = (),
        strength: Strength = "hard",
        *,
        roots: Iterable[VariableEntry] = (),
        sinks: Iterable[VariableEntry] = (),
        forbid_within_tiers: bool | Sequence[bool] = False,
        confidence: float = 0.9,
    ) -> None:
        read_tiers = entries.as_tiers(tiers)
        values: dict[str, object] = {
            "tiers": read_tiers,
            "order": entries.as_orders(order),
            "required": entries.as_required(required),
            "forbidden": entries.as_forbidden(forbidden),
            "edge_priors": entries.as_priors(edge_priors),
            "strength": entries.as_choice("strength", strength, get_args(Strength)),
            "roots": entries.as_marked("roots", roots),
            "sinks": entries.as_marked("sinks", sinks),
            "forbid_within_tiers": entries.as_tier_flags(forbid_within_tiers, len(read_tiers)),
            "confidence": entries.as_fraction(
                "confidence", confidence, 0.5, 'For certainty use strength="hard".'
            ),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def statements(self) -> tuple[Statement, ...]:
        """Return everything stated, one `Statement` each.

        Examples
        --------
        >>> knowledge = Knowledge(order=[("a", "b")], roots=["a"])
        >>> [statement.text for statement in knowledge.statements()]
        ["'a' comes before 'b'.", "Nothing causes 'a'."]
        """
        of = len(self.tiers)
        found = [Statement("tier", t, tier=(k, of)) for k, t in enumerate(self.tiers, start=1)]
        flagged = zip(self.tiers, self.forbid_within_tiers, strict=True)
        found += [
            Statement("within", tier, tier=(k, of))
            for k, (tier, flag) in enumerate(flagged, start=1)
            if flag and len(tier) > 1
        ]
        found += [Statement("order", pair) for pair in self.order]
        found += [Statement("required", (a, b), moment) for a, b, moment in self.required]
        found += [Statement("forbidden", (a, b), moment) for a, b, moment in self.forbidden]
        found += [Statement("root", (name,), moment) for name, moment in self.roots]
        found += [Statement("sink", (name,), moment) for name, moment in self.sinks]
        found += [Statement("prior", (a, b), m, p) for (a, b, m), p in self.edge_priors]
        return tuple(found)

    def without(self, statement: Statement) -> Knowledge:
        """Return the knowledge with one statement left out.

        Leaving out a tier frees its columns; the other tiers keep their order.

        Raises
        ------
        KnowledgeError
            If the knowledge does not contain it.

        Examples
        --------
        >>> knowledge = Knowledge(order=[("a", "b"), ("b", "c")])
        >>> knowledge.without(knowledge.statements()[0])
        Knowledge(order=(('b', 'c'),))
        """
        if statement not in self.statements():
            raise KnowledgeError(
                f"Expected a statement of this knowledge; got {statement.label}. "
                "Choose one from statements()."
            )
        changed: dict[str, Any] = {item.name: getattr(self, item.name) for item in fields(self)}
        gone: object = statement.variables
        match statement.kind:
            case "tier":
                kept = [at for at, tier in enumerate(self.tiers) if tier != gone]
                changed["tiers"] = [self.tiers[at] for at in kept]
                changed["forbid_within_tiers"] = [self.forbid_within_tiers[at] for at in kept]
            case "within":
                flagged = zip(self.tiers, self.forbid_within_tiers, strict=True)
                changed["forbid_within_tiers"] = [flag and tier != gone for tier, flag in flagged]
            case kind:
                field = {"root": "roots", "sink": "sinks", "prior": "edge_priors"}.get(kind, kind)
                if statement.moment is not None:
                    gone = (*statement.variables, statement.moment)
                if statement.probability is not None:
                    gone = (gone, statement.probability)
                changed[field] = [entry for entry in changed[field] if entry != gone]
        return Knowledge(**changed)

    def check(self, names: Sequence[str]) -> None:
        """Refuse unknown names and contradictions, naming the statements that cause them.

        Parameters
        ----------
        names : sequence of str
            The columns of the table.

        Raises
        ------
        KnowledgeError
            With every problem found; a cycle is shown as the chain of statements that form it.

        Examples
        --------
        >>> Knowledge(tiers=[["a"], ["b"]], required=[("b", "a")]).check(["a", "b"])
        Traceback (most recent call last):
        momentdag.errors.KnowledgeError: Expected statements that one order can satisfy; these form
        a cycle: required edge 'b' -> 'a'; tiers put 'a' (tier 1) before 'b' (tier 2). Remove or
        change one of them.
        """
        check.check(self.statements(), names)

    def compile(self, names: Sequence[str]) -> compiled.CompiledKnowledge:
        """Check the statements and turn them into arrays in the order of ``names``.

        Raises
        ------
        KnowledgeError
            As from `check`.

        Examples
        --------
        >>> Knowledge(order=[("b", "a")]).compile(["a", "b"]).precedes.astype(int).tolist()
        [[0, 0], [1, 0]]
        """
        self.check(names)
        return compiled.compile_statements(
            self.statements(), names, None if self.strength == "hard" else self.confidence
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the statements as plain lists and dictionaries, as they stand in a file."""
        return files.to_dict(self)

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Knowledge:
        """Read what `to_dict` returns; unknown keys are refused.

        Examples
        --------
        >>> Knowledge.from_dict({"roots": ["age"], "strength": "soft"})
        Knowledge(strength='soft', roots=(('age', 'both'),))
        """
        return cls(**files.arguments(content))

    def to_file(self, path: str | PathLike[str]) -> None:
        """Write a ``.toml`` or ``.json`` file, or a Tetrad knowledge file (``.txt``, ``.prior``).

        Raises
        ------
        KnowledgeError
            If the suffix is unknown or the format cannot express a statement.
        StorageError
            If the file cannot be written.
        """
        files.write(self, path)

    @classmethod
    def from_file(cls, path: str | PathLike[str]) -> Knowledge:
        """Read a ``.toml`` or ``.json`` file, or a Tetrad knowledge file (``.txt``, ``.prior``).

        Raises
        ------
        KnowledgeError
            If there is no such file or it is malformed; the message names the file and the place.

        Examples
        --------
        >>> import tempfile, pathlib
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder) / "lab.toml"
        ...     _ = path.write_text('tiers = [["age"], ["dose"]]')
        ...     Knowledge.from_file(path)
        Knowledge(tiers=(('age',), ('dose',)))
        """
        with files.naming_the_file(path):
            return cls(**files.read(path))

    def describe(self) -> str:
        """Return all statements as plain sentences, one to a line.

        Examples
        --------
        >>> print(Knowledge(order=[("a", "b")], strength="soft").describe())
        Soft knowledge (each statement holds with probability 0.9):
        - 'a' comes before 'b'.
        """
        head = "Hard knowledge (holds in every draw):"
        if self.strength == "soft":
            head = f"Soft knowledge (each statement holds with probability {self.confidence:g}):"
        priors = [f"- {said}" for said in self.statements() if said.kind == "prior"]
        others = [f"- {said}" for said in self.statements() if said.kind != "prior"]
        lines = ([head, *others] if others else []) + (["Edge priors:", *priors] if priors else [])
        return "\n".join(lines) if lines else "No knowledge."

    def __bool__(self) -> bool:
        return bool(self.statements())

    def __repr__(self) -> str:
        default = Knowledge()
        shown = {item.name: getattr(self, item.name) for item in fields(self)}
        if not any(self.forbid_within_tiers):
            del shown["forbid_within_tiers"]
        said = (f"{k}={v!r}" for k, v in shown.items() if v != getattr(default, k))
        return f"Knowledge({', '.join(said)})"
