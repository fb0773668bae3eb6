"""Stability: what other seeds, resampled rows and leaving out a piece of knowledge change."""

from momentdag.stability.audit import KnowledgeAudit, audit_knowledge
from momentdag.stability.refits import Stability, bootstrap, reseed

__all__ = ["KnowledgeAudit", "Stability", "audit_knowledge", "bootstrap", "reseed"]
