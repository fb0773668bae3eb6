"""What is known about the causes before the data are seen, by column name.

A `Knowledge` is a frozen value: tiers, orders, required and forbidden edges, roots, sinks and edge
priors. `Knowledge.check` finds unknown names and contradictions, `Knowledge.compile` turns the
statements into the arrays (`CompiledKnowledge`) that engines use.
"""

from momentdag.knowledge.compiled import CompiledKnowledge
from momentdag.knowledge.entries import Strength
from momentdag.knowledge.statements import Statement
from momentdag.knowledge.value import Knowledge

__all__ = ["CompiledKnowledge", "Knowledge", "Statement", "Strength"]
