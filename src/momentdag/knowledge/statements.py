"""A single statement of knowledge as a value that can be shown, compared and left out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from momentdag.errors import quote
from momentdag.graph import Selection

Kind: TypeAlias = Literal[
    "tier", "within", "order", "required", "forbidden", "root", "sink", "prior"
]


def quoted(names: Iterable[str]) -> str:
    """List names in quotes."""
    return ", ".join(quote(name) for name in names)


@dataclass(frozen=True)
class Statement:
    """One statement of a `Knowledge`.

    Parameters
    ----------
    kind : str
        Type of statement: ``"tier"``, ``"within"`` (no edges within a tier), ``"order"``,
        ``"required"``, ``"forbidden"``, ``"root"``, ``"sink"`` or ``"prior"``.
    variables : tuple of str
        The columns it is about; for edges and orders the cause or earlier one first.
    moment : str, optional
        The graph or graphs it is about.
    probability : float, optional
        The stated probability of an edge prior.
    tier : (int, int), optional
        Number of the tier, from one, and the number of tiers. Not compared, as leaving out one
        tier renumbers the others.

    Examples
    --------
    >>> from momentdag.knowledge import Knowledge
    >>> for statement in Knowledge(required=[("dose", "pain", "variance")]).statements():
    ...     statement.text
    "'dose' causes the variance of 'pain'."
    """

    kind: Kind
    variables: tuple[str, ...]
    moment: Selection | None = None
    probability: float | None = None
    tier: tuple[int, int] | None = field(default=None, compare=False)

    @property
    def text(self) -> str:
        """The statement as a plain sentence."""
        first, last = quote(self.variables[0]), quote(self.variables[-1])
        number, n_tiers = self.tier if self.tier is not None else (0, 0)
        match self.kind, self.moment:
            case "tier", _:
                return (
                    f"Tier {number} of {n_tiers} holds {quoted(self.variables)}: after every "
                    "earlier tier, before every later one."
                )
            case "within", _:
                return f"No edges within tier {number} ({quoted(self.variables)})."
            case "order", _:
                return f"{first} comes before {last}."
            case "required", "either":
                return f"{first} causes the mean or the variance of {last}, or both."
            case "required", "both":
                return f"{first} causes both the mean and the variance of {last}."
            case "required", moment:
                return f"{first} causes the {moment} of {last}."
            case "forbidden", "both":
                return f"{first} directly causes neither the mean nor the variance of {last}."
            case "forbidden", moment:
                return f"{first} does not directly cause the {moment} of {last}."
            case "root", "both":
                return f"Nothing causes {first}."
            case "root", moment:
                return f"Nothing causes the {moment} of {first}."
            case "sink", "both":
                return f"{first} causes nothing."
            case "sink", moment:
                return f"{first} causes the {moment} of nothing."
            case "prior", "both":
                return (
                    f"{first} causes the mean of {last} with prior probability "
                    f"{self.probability!r}, and its variance likewise."
                )
            case _, moment:
                return (
                    f"{first} causes the {moment} of {last} with prior probability "
                    f"{self.probability!r}."
                )

    @property
    def label(self) -> str:
        """A short name for use inside a sentence."""
        listed = quoted(self.variables)
        arrow = " -> ".join(quote(name) for name in self.variables)
        # The default is not shown: the short form without a moment means the same.
        plain = "either" if self.kind == "required" else "both"
        suffix = "" if self.moment in (None, plain) else f" ({self.moment})"
        match self.kind:
            case "tier":
                return f"tier {self.tier[0] if self.tier else '?'} ({listed})"
            case "within":
                return f"no edges within tier {self.tier[0] if self.tier else '?'} ({listed})"
            case "order":
                return f"order {quote(self.variables[0])} before {quote(self.variables[-1])}"
            case "root" | "sink":
                return f"{self.kind} {listed}{suffix}"
            case "prior":
                return f"edge prior {arrow}{suffix} = {self.probability!r}"
            case "required" | "forbidden":
                return f"{self.kind} edge {arrow}{suffix}"

    def __str__(self) -> str:
        return self.text
