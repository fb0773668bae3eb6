"""How each statement of the knowledge fares in the posterior."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from momentdag.knowledge import Knowledge
from momentdag.knowledge.compiled import compile_statements
from momentdag.knowledge.statements import Statement
from momentdag.posterior import Posterior

__all__ = ["Audit", "AuditedStatement", "audit_knowledge"]

_MOSTLY = 0.9


@dataclass(frozen=True)
class AuditedStatement:
    """One statement.

    Parameters
    ----------
    text : str
    kind : str
    share : float
        Share of the draws that obey it; of an edge prior, the edge's posterior probability.
    prior : float or None
        The stated probability of an edge prior.
    reading : str
        What that means, in a few words.
    """

    text: str
    kind: str
    share: float
    prior: float | None
    reading: str


@dataclass(frozen=True)
class Audit:
    """All statements.

    Parameters
    ----------
    strength : str
        "hard" or "soft".
    used : bool
        Whether the fit used this knowledge; if not, the shares say how far data alone bear it out.
    statements : list of AuditedStatement
    """

    strength: str
    used: bool
    statements: list[AuditedStatement]


def audit_knowledge(posterior: Posterior, knowledge: Knowledge, used: bool) -> Audit:
    """Work out, for each statement, the share of draws that obey it.

    Raises
    ------
    KnowledgeError
        If the knowledge contradicts itself or names other columns.
    """
    knowledge.check(posterior.names)
    statements = knowledge.statements()
    audited = [_audit(posterior, statement, statements) for statement in _single(statements)]
    return Audit(knowledge.strength, used, audited)


def _single(statements: tuple[Statement, ...]) -> Iterator[Statement]:
    """Yield the statements, those about the prior in both graphs one graph at a time."""
    for statement in statements:
        if statement.kind == "prior" and statement.moment == "both":
            yield replace(statement, moment="mean")
            yield replace(statement, moment="variance")
        else:
            yield statement


def _audit(
    posterior: Posterior, statement: Statement, statements: tuple[Statement, ...]
) -> AuditedStatement:
    if statement.kind == "prior":
        cause, effect = statement.variables
        share = posterior.edge_probability(cause, effect, statement.moment or "either")
        stated = statement.probability if statement.probability is not None else 0.5
        reading = "the data made it likelier" if share > stated else "the data made it less likely"
        return AuditedStatement(statement.text, "prior", share, stated, reading)
    alone = [statement]
    if statement.kind == "tier":  # a tier says something only beside the others
        alone = [other for other in statements if other.kind == "tier"]
    compiled = compile_statements(alone, posterior.names, None)
    share = float(compiled.allows(posterior.mean_graphs, posterior.variance_graphs).mean())
    return AuditedStatement(statement.text, statement.kind, share, None, _reading(share))


def _reading(share: float) -> str:
    if share == 1:
        return "holds in every draw"
    if share > _MOSTLY:
        return "nearly always holds"
    return "often broken" if share >= 1 - _MOSTLY else "conflicts with the data"
