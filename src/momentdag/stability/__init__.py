"""Stability: what other seeds, resampled rows and leaving out a statement change."""

from momentdag.stability.audit import KnowledgeAudit, audit_knowledge
from momentdag.stability.refits import Stability, bootstrap, reseed

__all__ = ["KnowledgeAudit", "Stability", "audit_knowledge", "bootstrap", "reseed"]
