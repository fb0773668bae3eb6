"""Compile knowledge for the columns of one table: some are left out, some are never effects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace

import numpy as np

from momentdag.errors import KnowledgeError, quote
from momentdag.knowledge.compiled import CompiledKnowledge
from momentdag.knowledge.value import Knowledge

__all__ = ["compile_for_table"]


def compile_for_table(
    knowledge: Knowledge,
    names: tuple[str, ...],
    roots: tuple[str, ...],
    left_out: Mapping[str, str],
) -> CompiledKnowledge:
    """Compile what the user states, and that columns made of dates are never effects.

    Parameters
    ----------
    knowledge : Knowledge
    names : tuple of str
        The columns that are fitted.
    roots : tuple of str
        Those that are never effects: a certain statement, whatever the strength of the others.
    left_out : mapping from name to str
        Columns of the source that are not fitted, and why.

    Raises
    ------
    KnowledgeError
        If the two contradict each other, or a statement is about a column that was left out.
    """
    for statement in knowledge.statements():
        for name in statement.variables:
            if name in left_out and name not in names:
                raise KnowledgeError(
                    f"Expected knowledge of columns that are fitted; {quote(name)}, in "
                    f"{statement.label}, was left out of the table. {left_out[name]} Leave out the "
                    "statement, or keep the column by stating its kind or by a recipe."
                )
    compiled = knowledge.compile(names)
    if not roots:
        return compiled
    stated = {item.name: getattr(knowledge, item.name) for item in fields(knowledge)}
    try:
        both = Knowledge(**{**stated, "roots": [*knowledge.roots, *roots]})
        if knowledge.strength == "hard":
            return both.compile(names)
        both.check(names)
    except KnowledgeError as error:
        raise KnowledgeError(
            f"{error} Columns of dates, here {', '.join(map(quote, roots))}, are never effects."
        ) from error
    # Soft statements stay soft; this one is certain.
    columns = np.isin(names, roots)[None, :] & ~np.eye(len(names), dtype=bool)
    return replace(
        compiled,
        forbidden_mean=compiled.forbidden_mean | columns,
        forbidden_variance=compiled.forbidden_variance | columns,
    )
