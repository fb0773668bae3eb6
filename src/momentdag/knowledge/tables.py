"""Compile knowledge for the columns of one table: some are left out, some are never effects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace

import numpy as np

from momentdag.errors import KnowledgeError, quote
from momentdag.knowledge.compiled import CompiledKnowledge
from momentdag.knowledge.value import Knowledge

__all__ = ["add_regimes", "compile_for_table"]


def compile_for_table(
    knowledge: Knowledge,
    names: tuple[str, ...],
    roots: tuple[str, ...],
    left_out: Mapping[str, str],
    regimes: tuple[str, ...] = (),
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
    regimes : tuple of str
        What statements call the regimes: they stand after the columns, see `add_regimes`.

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
    if regimes:
        wide = _compile(knowledge, (*names, *regimes), roots)
        return add_regimes(wide, len(regimes))
    return _compile(knowledge, names, roots)


def add_regimes(compiled: CompiledKnowledge, n_regimes: int) -> CompiledKnowledge:
    """Return knowledge in which the last ``n_regimes`` variables are regimes.

    A regime is a root for certain, and comes before everything else. Unless something is stated,
    it is expected to change one variable in each graph, whatever the number of edges.

    Raises
    ------
    KnowledgeError
        If a statement gives a regime a cause, or puts something before it.
    """
    names = compiled.names
    d = len(names) - n_regimes
    required = compiled.required_mean | compiled.required_variance | compiled.required_either
    for against, what in ((required, "causes"), (compiled.precedes, "something before it")):
        if against[:, d:].any():
            i, j = (int(k) for k in np.argwhere(against[:, d:])[0])
            raise KnowledgeError(
                f"Expected no statement that gives a regime {what}; {quote(names[i])} stands "
                f"before {quote(names[d + j])} in one. Regimes are roots."
            )
    into = np.zeros((len(names), len(names)), dtype=bool)
    into[:, d:] = ~np.eye(len(names), dtype=bool)[:, d:]
    precedes = compiled.precedes.copy()
    precedes[d:, :d] = True
    # Among themselves in one order: it means nothing, and orders need not be searched.
    precedes[d:, d:] = np.triu(np.ones((n_regimes, n_regimes), dtype=bool), 1)
    odds = []
    for stated in (compiled.log_odds_mean, compiled.log_odds_variance):
        own = stated.copy()
        own[d:, :d] = np.where(np.isnan(own[d:, :d]), -np.log(d), own[d:, :d])
        odds.append(own)
    return replace(
        compiled,
        precedes=precedes,
        forbidden_mean=compiled.forbidden_mean | into,
        forbidden_variance=compiled.forbidden_variance | into,
        log_odds_mean=odds[0],
        log_odds_variance=odds[1],
    )


def _compile(
    knowledge: Knowledge, names: tuple[str, ...], roots: tuple[str, ...]
) -> CompiledKnowledge:
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
