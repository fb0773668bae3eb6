"""Which statements change the answer, and where knowledge and data conflict."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.base import clone

from momentdag.display import text
from momentdag.display.printable import Described
from momentdag.errors import OptionError
from momentdag.knowledge import CompiledKnowledge, Knowledge
from momentdag.knowledge.compiled import compile_statements
from momentdag.knowledge.entries import graphs_of
from momentdag.knowledge.statements import Statement
from momentdag.knowledge.tables import compile_for_table
from momentdag.parallel import run, shared
from momentdag.posterior import Posterior
from momentdag.stability.refits import refit
from momentdag.table import Dataset

if TYPE_CHECKING:
    from momentdag.estimator import MomentDAG

__all__ = ["KnowledgeAudit", "audit_knowledge", "share_of_draws"]

_SURE = 0.95


@dataclass(frozen=True, eq=False, repr=False)
class KnowledgeAudit(Described):
    """The effect of each statement on the answer.

    Parameters
    ----------
    table : DataFrame
        One row for each statement, the most influential first. Columns statement (a sentence),
        kind; redundant, whether the other statements imply it; support, the probability that it
        holds given the data and the *other* statements; binds, whether support is below 0.95, so
        that the statement decides something; conflict, whether support is below 0.05;
        largest_change, the largest difference that leaving it out makes to the probability of an
        edge; changed_edge, which one; total_change, the sum of the differences over all edges.
        For an edge prior, support is the probability of the edge (of the graph that agrees less
        with the stated one).
    chance : float
        Largest change that another seed makes: smaller changes are due to chance.
    """

    table: pd.DataFrame
    chance: float

    def to_frame(self) -> pd.DataFrame:
        """Return a copy of the table."""
        return self.table.copy()

    @property
    def conflicts(self) -> tuple[str, ...]:
        """The statements that the data contradict."""
        return tuple(self.table.loc[self.table["conflict"], "statement"])

    def describe(self) -> str:
        """Return the audit in plain sentences."""
        lines = [
            f"Audit of {len(self.table)} statements. Changing only the seed changes an edge's "
            f"probability by up to {self.chance:.2f}."
        ]
        lines += [
            f"- {row['statement']} {_verdict(row, self.chance)}" for _, row in self.table.iterrows()
        ]
        return "\n".join(lines)

    def _headline(self) -> str:
        change = self.table["largest_change"].max()
        return (
            f"{text.count(len(self.table), 'statement')}, {len(self.conflicts)} against the data; "
            f"leaving one out changes an edge by up to {change:.2f}, chance {self.chance:.2f}"
        )


class _Change(NamedTuple):
    largest: float
    edge: str
    total: float


def audit_knowledge(
    rng: np.random.Generator, estimator: MomentDAG, X: Any, *, n_jobs: int = 1
) -> KnowledgeAudit:
    """Fit with all statements and without each in turn, and compare.

    Parameters
    ----------
    rng : numpy.random.Generator
    estimator : MomentDAG
        With knowledge. It need not be fitted and is not changed.
    X : table, shape (n_samples, n_variables)
    n_jobs : int
        Fits that run at the same time.

    Returns
    -------
    KnowledgeAudit

    Raises
    ------
    OptionError
        If the estimator has no knowledge.
    DataError, KnowledgeError
        If the table or the knowledge cannot be used.

    Notes
    -----
    Support is a posterior probability under the engine's prior over graphs. One edge among many
    possible ones has a small prior probability, so a statement about which the data say nothing
    may count as binding.

    Examples
    --------
    With an ``estimator`` that has knowledge, the statements the data contradict::

        rng = np.random.default_rng(0)
        md.stability.audit_knowledge(rng, estimator, data).conflicts
    """
    knowledge = estimator.knowledge
    if not knowledge:
        raise OptionError("The estimator has no knowledge to audit. Set knowledge=... first.")
    dataset = Dataset.from_table(X, min_variables=2)
    full = compile_for_table(knowledge, dataset.names, dataset.roots, {})
    statements = knowledge.statements()
    reduced = [knowledge.without(statement) for statement in statements]
    redundant = [
        _equal(full, compile_for_table(less, dataset.names, dataset.roots, {})) for less in reduced
    ]
    seed, other_seed = (int(value) for value in rng.integers(2**31 - 1, size=2))
    # Leaving out a redundant statement changes nothing, so it needs no fit.
    variants = [(knowledge, seed), (knowledge, other_seed)]
    variants += [
        (less, seed) for less, implied in zip(reduced, redundant, strict=True) if not implied
    ]
    with shared(dataset):
        tasks = [(estimator, dataset, *variant) for variant in variants]
        fits = iter(list(run(_refit, tasks, n_jobs)))
    complete, reseeded = next(fits), next(fits)
    rows = []
    for statement, implied in zip(statements, redundant, strict=True):
        without = complete if implied else next(fits)
        change = _compare(complete, without)
        support, binds, conflict = _support(knowledge, statement, without)
        rows.append(
            {
                "statement": statement.text,
                "kind": statement.kind,
                "redundant": implied,
                "support": support,
                "binds": binds and not implied,
                "conflict": conflict and not implied,
                "largest_change": change.largest,
                "changed_edge": change.edge,
                "total_change": change.total,
            }
        )
    table = pd.DataFrame(rows).sort_values(
        "total_change", ascending=False, kind="stable", ignore_index=True
    )
    return KnowledgeAudit(table, _compare(complete, reseeded).largest)


def share_of_draws(knowledge: Knowledge, statement: Statement, posterior: Posterior) -> float:
    """Return the share of draws that obey one statement of ``knowledge``, taken as hard."""
    if statement.kind == "tier":
        # A tier says something only relative to the others: it follows and precedes them.
        names, place = statement.variables, knowledge.tiers.index(statement.variables)
        order = [(a, b) for tier in knowledge.tiers[:place] for a in tier for b in names]
        order += [(a, b) for tier in knowledge.tiers[place + 1 :] for a in names for b in tier]
        compiled = Knowledge(order=order).compile(posterior.names)
    else:
        compiled = compile_statements([statement], posterior.names, None)
    return float(np.mean(compiled.allows(posterior.mean_graphs, posterior.variance_graphs)))


def _refit(estimator: MomentDAG, dataset: Dataset, knowledge: Knowledge, seed: int) -> Posterior:
    return refit(clone(estimator).set_params(knowledge=knowledge), dataset, seed)


def _equal(first: CompiledKnowledge, second: CompiledKnowledge) -> bool:
    return all(
        np.array_equal(getattr(first, item.name), getattr(second, item.name), equal_nan=True)
        for item in fields(first)
        if item.name != "names"
    )


def _compare(first: Posterior, second: Posterior) -> _Change:
    largest, edge, total = 0.0, "", 0.0
    for moment in ("mean", "variance"):
        change = np.abs(first.graphs(moment).mean(axis=0) - second.graphs(moment).mean(axis=0))
        total += float(change.sum())
        if change.max() > largest:
            i, j = np.unravel_index(int(change.argmax()), change.shape)
            largest = float(change.max())
            edge = f"{first.names[i]} -> {first.names[j]} ({moment})"
    return _Change(largest, edge, total)


def _support(
    knowledge: Knowledge, statement: Statement, posterior: Posterior
) -> tuple[float, bool, bool]:
    """Return support, binds and conflict of a statement in a posterior made without it."""
    if statement.probability is None:
        support = share_of_draws(knowledge, statement, posterior)
        return support, support < _SURE, support < 1 - _SURE
    cause, effect = statement.variables
    stated = statement.probability
    probabilities = [
        posterior.edge_probability(cause, effect, graph) for graph in graphs_of(statement.moment)
    ]
    farthest = max(probabilities, key=lambda probability: abs(probability - stated))
    conflict = farthest < 1 - _SURE if stated > 0.5 else farthest > _SURE and stated < 0.5
    return farthest, conflict, conflict


def _verdict(row: Any, chance: float) -> str:
    if row["redundant"]:
        return "The other statements imply it."
    if row["conflict"]:
        text = f"The data contradict it (support {row['support']:.2f})."
    elif row["binds"]:
        text = f"It decides what the data leave open (support {row['support']:.2f})."
    else:
        text = f"The data agree with it anyway (support {row['support']:.2f})."
    if row["largest_change"] > chance:
        text += (
            f" It changes the probability of {row['changed_edge']} by {row['largest_change']:.2f}."
        )
    return text
