"""The share of draws that obey each statement of the knowledge."""

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
        Share of the draws that obey it; for an edge prior, the edge's posterior probability.
    prior : float or None
        The stated probability of an edge prior.
    verdict : str
        What the share means, in a few words.
    """

    text: str
    kind: str
    share: float
    prior: float | None
    verdict: str


@dataclass(frozen=True)
class Audit:
    """All statements.

    Parameters
    ----------
    strength : str
        "hard" or "soft".
    used : bool
        Whether the fit used this knowledge; if not, the shares say how well the data support it.
    statements : list of AuditedStatement
    """

    strength: str
    used: bool
    statements: list[AuditedStatement]


def audit_knowledge(posterior: Posterior, knowledge: Knowledge, used: bool) -> Audit:
    """Compute, for each statement, the share of draws that obey it.

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
    """Yield the statements, splitting edge priors about both graphs."""
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
        verdict = "the data made it likelier" if share > stated else "the data made it less likely"
        return AuditedStatement(statement.text, "prior", share, stated, verdict)
    alone = [statement]
    if statement.kind == "tier":  # a tier says something only relative to the others
        alone = [other for other in statements if other.kind == "tier"]
    compiled = compile_statements(alone, posterior.names, None)
    share = float(compiled.allows(posterior.mean_graphs, posterior.variance_graphs).mean())
    return AuditedStatement(statement.text, statement.kind, share, None, _verdict(share))


def _verdict(share: float) -> str:
    if share == 1:
        return "holds in every draw"
    if share > _MOSTLY:
        return "nearly always holds"
    return "often violated" if share >= 1 - _MOSTLY else "conflicts with the data"
