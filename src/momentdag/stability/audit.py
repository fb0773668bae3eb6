"""Which piece of knowledge changes the answer, and where knowledge and data conflict."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.base import clone

from momentdag.data import Dataset
from momentdag.errors import OptionError
from momentdag.knowledge import CompiledKnowledge, Knowledge
from momentdag.knowledge.entries import graphs_of
from momentdag.knowledge.statements import Statement
from momentdag.parallel import run, shared
from momentdag.posterior import Posterior
from momentdag.stability.refits import refit

if TYPE_CHECKING:
    from momentdag.estimator import MomentDAG

__all__ = ["KnowledgeAudit", "audit_knowledge", "holds"]

_SURE = 0.95


@dataclass(frozen=True, eq=False)
class KnowledgeAudit:
    """What each statement does to the answer.

    Parameters
    ----------
    table : DataFrame
        One row for each statement, the most influential first. Columns statement (a sentence),
        kind; redundant, whether the other statements imply it; support, the probability that it
        holds given the data and the *other* statements; binds, whether that is below 0.95, so
        that the statement rules out what the data leave open; conflict, whether it is below 0.05;
        largest_change, the largest difference that leaving it out makes to the probability of an
        edge; changed_edge, which one; total_change, the sum of the differences over all edges.
        For an edge prior, support is the probability of the edge (of the graph that agrees less
        with the stated one).
    chance : float
        Largest change that a mere change of the seed makes: smaller ones mean nothing.
    """

    table: pd.DataFrame
    chance: float

    def to_frame(self) -> pd.DataFrame:
        """Return a copy of the table."""
        return self.table.copy()

    @property
    def conflicts(self) -> tuple[str, ...]:
        """The statements that the data speak against."""
        return tuple(self.table.loc[self.table["conflict"], "statement"])

    def describe(self) -> str:
        """Return the audit in plain sentences."""
        lines = [
            f"Audit of {len(self.table)} statements. Another seed alone changes the probability of "
            f"some edge by {self.chance:.2f}."
        ]
        lines += [f"- {row['statement']} {_reading(row, self.chance)}" for row in self._rows()]
        return "\n".join(lines)

    def _rows(self) -> list[Any]:
        return [row for _, row in self.table.iterrows()]

    def __str__(self) -> str:
        return self.describe()


class _Change(NamedTuple):
    largest: float
    edge: str
    total: float


def audit_knowledge(
    rng: np.random.Generator, estimator: MomentDAG, X: Any, *, n_jobs: int = 1
) -> KnowledgeAudit:
    """Fit once with all statements, and once without each, and compare.

    Parameters
    ----------
    rng : numpy.random.Generator
    estimator : MomentDAG
        With knowledge; need not be fitted and is not changed.
    X : table, shape (n_samples, n_variables)
    n_jobs : int
        Fits at a time.

    Returns
    -------
    KnowledgeAudit

    Raises
    ------
    OptionError
        If the estimator has no knowledge.
    DataError, KnowledgeError
        If what a fit is given cannot be used.

    Notes
    -----
    Support is a posterior probability under the engine's own prior over graphs: a statement about
    one edge among many possible ones starts from a small prior probability, and one that the data
    are silent about may therefore count as binding.

    Examples
    --------
    >>> import momentdag as md
    >>> rng = np.random.default_rng(0)
    >>> cause = rng.uniform(-2, 2, 200)
    >>> X = np.column_stack([cause, np.sin(2 * cause) + 0.3 * rng.normal(size=200)])
    >>> wrong = md.Knowledge(forbidden=[("x1", "x2")])
    >>> estimator = md.MomentDAG(knowledge=wrong, n_draws=100, engine_options={"n_starts": 1})
    >>> audit_knowledge(rng, estimator, X).conflicts
    ("'x1' directly causes neither the mean nor the variance of 'x2'.",)
    """
    knowledge = estimator.knowledge
    if not knowledge:
        raise OptionError("Expected an estimator with knowledge to audit; it has none.")
    dataset = Dataset.from_table(X, min_variables=2)
    full = knowledge.compile(dataset.names)
    statements = knowledge.statements()
    reduced = [knowledge.without(statement) for statement in statements]
    redundant = [_same(full, less.compile(dataset.names)) for less in reduced]
    seed, other = (int(value) for value in rng.integers(2**31 - 1, size=2))
    # A redundant statement changes nothing: no fit is needed to know that.
    tasks = [(knowledge, seed), (knowledge, other)]
    tasks += [(less, seed) for less, same in zip(reduced, redundant, strict=True) if not same]
    with shared(dataset):
        every = [(estimator, dataset, told, told_seed) for told, told_seed in tasks]
        fits = iter(list(run(_refit, every, n_jobs)))
    told, again = next(fits), next(fits)
    rows = []
    for statement, same in zip(statements, redundant, strict=True):
        untold = told if same else next(fits)
        change = _compare(told, untold)
        support, binds, conflict = _support(knowledge, statement, untold)
        rows.append(
            {
                "statement": statement.text,
                "kind": statement.kind,
                "redundant": same,
                "support": support,
                "binds": binds and not same,
                "conflict": conflict and not same,
                "largest_change": change.largest,
                "changed_edge": change.edge,
                "total_change": change.total,
            }
        )
    table = pd.DataFrame(rows).sort_values(
        "total_change", ascending=False, kind="stable", ignore_index=True
    )
    return KnowledgeAudit(table, _compare(told, again).largest)


def holds(knowledge: Knowledge, statement: Statement, posterior: Posterior) -> float:
    """Return the share of draws in which one statement of ``knowledge`` holds."""
    alone = _alone(knowledge, statement).compile(posterior.names)
    return float(np.mean(alone.allows(posterior.mean_graphs, posterior.variance_graphs)))


def _refit(estimator: MomentDAG, dataset: Dataset, knowledge: Knowledge, seed: int) -> Posterior:
    return refit(clone(estimator).set_params(knowledge=knowledge), dataset, seed)


def _same(first: CompiledKnowledge, second: CompiledKnowledge) -> bool:
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
    """Return support, binds and conflict of a statement in draws made without it."""
    if statement.probability is None:
        support = holds(knowledge, statement, posterior)
        return support, support < _SURE, support < 1 - _SURE
    cause, effect = statement.variables
    stated = statement.probability
    found = [
        posterior.edge_probability(cause, effect, graph) for graph in graphs_of(statement.moment)
    ]
    worst = max(found, key=lambda probability: abs(probability - stated))
    against = worst < 1 - _SURE if stated > 0.5 else worst > _SURE and stated < 0.5
    return worst, against, against


def _alone(knowledge: Knowledge, statement: Statement) -> Knowledge:
    """Return hard knowledge that says nothing but this statement."""
    names = statement.variables
    match statement.kind:
        case "tier":
            place = knowledge.tiers.index(names)
            earlier = [name for tier in knowledge.tiers[:place] for name in tier]
            later = [name for tier in knowledge.tiers[place + 1 :] for name in tier]
            order = [(a, b) for a in earlier for b in names]
            return Knowledge(order=order + [(a, b) for a in names for b in later])
        case "within":
            return Knowledge(tiers=[names], forbid_within_tiers=True)
        case "order":
            return Knowledge(order=[(names[0], names[1])])
        case kind:
            entry: Any = (*names, statement.moment)
            field = {"root": "roots", "sink": "sinks"}.get(kind, kind)
            stated: dict[str, Any] = {field: [entry]}
            return Knowledge(**stated)


def _reading(row: Any, chance: float) -> str:
    if row["redundant"]:
        return "The other statements imply it."
    if row["conflict"]:
        text = f"The data speak against it (support {row['support']:.2f})."
    elif row["binds"]:
        text = f"It decides what the data leave open (support {row['support']:.2f})."
    else:
        text = f"The data agree without being told (support {row['support']:.2f})."
    if row["largest_change"] > chance:
        text += f" It changes {row['changed_edge']} by {row['largest_change']:.2f}."
    return text
