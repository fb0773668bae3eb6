"""One data set with what is known about it: everything a worker process needs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from momentdag.engines.evidence.local.hyperparameters import Hyperparameters, make_scorer
from momentdag.engines.evidence.local.interventions import InterventionScorer
from momentdag.engines.evidence.local.mixed import has_variance_parents
from momentdag.engines.evidence.local.protocol import Evidences, ScoreCounts, Scorer
from momentdag.engines.evidence.options import EvidenceOptions
from momentdag.engines.evidence.prior import GraphPrior
from momentdag.engines.evidence.sampling.worlds import Worlds, canonical_rows
from momentdag.engines.evidence.search.parents import ParentSearch
from momentdag.engines.evidence.search.rows import choose_rows
from momentdag.engines.evidence.search.tuning import TUNING
from momentdag.engines.evidence.support.shared_cache import SharedCache
from momentdag.engines.standardise import ColumnUnits, as_inputs
from momentdag.errors import OptionError
from momentdag.knowledge import CompiledKnowledge
from momentdag.table import Kind

__all__ = ["Problem", "pose_problem"]

FloatArray: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Problem:
    """Data in canonical column order, prior, and what the search has settled so far.

    Parameters
    ----------
    values : float array, shape (n, d)
        Standardised columns.
    units : ColumnUnits or None
        Of the columns, with their kinds; None for continuous ones.
    inducing_rows : int array, shape (M,)
    options : EvidenceOptions
    prior : GraphPrior
    rates : (float, float)
        Numbers of mean and variance edges that fix the rates of the modular prior.
    hyperparameters : Hyperparameters
    candidates : tuple of int or None
        Bit masks of the candidate parents; None for everyone.
    counts : ScoreCounts
        Of the local scores that were computed in this process.
    worlds : Worlds or None
        Worlds in which local scores are noted as they are made.
    set_cells : bool array, shape (n, d), or None
        The cells that an experimenter set: they are no evidence on their causes.
    """

    values: FloatArray
    units: ColumnUnits | None
    inducing_rows: npt.NDArray[np.intp]
    options: EvidenceOptions
    prior: GraphPrior
    rates: tuple[float, float]
    hyperparameters: Hyperparameters = field(default_factory=Hyperparameters)
    candidates: tuple[int, ...] | None = None
    counts: ScoreCounts = field(default_factory=ScoreCounts)
    worlds: Worlds | None = None
    set_cells: npt.NDArray[np.bool_] | None = None

    @property
    def knowledge(self) -> CompiledKnowledge:
        """The compiled knowledge."""
        return self.prior.knowledge

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return self.prior.n_variables

    @property
    def variables(self) -> int:
        """Bit mask of the variables that are no regimes."""
        return (1 << (self.n_variables - self.prior.n_regimes)) - 1

    @property
    def is_large(self) -> bool:
        """Whether there are so many variables that each has its own candidate parents."""
        return self.n_variables > TUNING.all_candidates_up_to

    @property
    def n_starts(self) -> int:
        """Starts of the order search."""
        if self.options.n_starts is not None:
            return self.options.n_starts
        return TUNING.n_starts_of_many if self.is_large else TUNING.n_starts

    @property
    def thinning(self) -> int:
        """Steps of a chain between two draws."""
        if self.options.thinning is not None:
            return self.options.thinning
        return max(TUNING.least_thinning, TUNING.thinning_per_variable * self.n_variables)

    def no_evidences(self) -> Evidences:
        """Return room for the evidences of every variable."""
        return [{} for _ in range(self.n_variables)]

    def with_fewer_rows(self, rng: np.random.Generator, n_rows: int) -> Problem:
        """Return the problem on ``n_rows`` random rows."""
        n_regimes = self.prior.n_regimes
        rows = choose_rows(rng, self.values, n_rows, n_regimes)
        n_inducing = min(len(self.inducing_rows), n_rows)
        return replace(
            self,
            values=self.values[rows],
            inducing_rows=choose_rows(rng, self.values[rows], n_inducing, n_regimes),
            set_cells=None if self.set_cells is None else self.set_cells[rows],
        )

    def scorer(self, hyperparameters: Hyperparameters) -> Scorer:
        """Return a scorer with other hyper-parameters."""

        def make(values: FloatArray, inducing_rows: npt.NDArray[np.intp]) -> Scorer:
            chosen = (hyperparameters, self.options, self.units)
            return make_scorer(values, values, inducing_rows, *chosen)

        scorer: Scorer
        if self.set_cells is None:
            scorer = make(self.values, self.inducing_rows)
        else:
            scorer = InterventionScorer(self.values, self.inducing_rows, self.set_cells, make)
        scorer.counts = self.counts
        return scorer

    def search(
        self,
        evidences: Evidences | None = None,
        shared_cache: SharedCache | None = None,
        before: ParentSearch | None = None,
    ) -> ParentSearch:
        """Return a search with empty memory, but for evidences computed elsewhere.

        One that goes on where another of the same scores was, ``before``, knows its fits.
        """
        prior = self.prior.modular(*self.rates)
        record = None if self.worlds is None else self.worlds.record
        scorer = self.scorer(self.hyperparameters) if before is None else before.scorer
        fits = None if before is None else before.fits
        return ParentSearch(scorer, prior, self.candidates, evidences, shared_cache, record, fits)

    @contextmanager
    def in_worker(self) -> Iterator[Problem]:
        """Yield the problem as a task uses it: on one thread, with counts of its own."""
        with threadpool_limits(1):
            yield replace(self, counts=ScoreCounts())


def pose_problem(
    rng: np.random.Generator,
    values: FloatArray,
    knowledge: CompiledKnowledge,
    options: EvidenceOptions,
    units: ColumnUnits | None = None,
    n_regimes: int = 0,
    set_cells: npt.NDArray[np.bool_] | None = None,
) -> Problem:
    """Return the problem that the first search starts from.

    Parameters
    ----------
    rng : numpy Generator
        Chooses the rows of a long table, and the inducing rows.
    values : float array, shape (n, d)
        Standardised columns in the order of ``knowledge``.
    knowledge : CompiledKnowledge
    options : EvidenceOptions
    units : ColumnUnits, optional
        Of the columns, with their kinds.
    n_regimes : int
        The last so many columns tell the regime of a row.
    set_cells : bool array, shape (n, d), optional
        The cells that an experimenter set.

    Raises
    ------
    OptionError
        If knowledge requires a variance edge and the family, or the kind of its effect, has none.
    """
    causes = as_inputs(values)
    # In an order of their own, so that nothing that is chosen from rows depends on their places.
    rows = canonical_rows(causes)
    if len(causes) > options.max_rows:
        rows = rows[choose_rows(rng, causes[rows], options.max_rows, n_regimes)]
    causes = causes[rows]
    if set_cells is not None:
        set_cells = set_cells[rows]
    knowledge = _without_impossible_edges(knowledge, () if units is None else units.kinds)
    n_inducing = options.n_inducing
    if n_inducing is None:
        n_inducing = min(max(40, len(causes) // 20), 80)
    n_inducing = min(n_inducing, len(causes))
    inducing_rows = choose_rows(rng, causes, n_inducing, n_regimes)
    prior = GraphPrior(knowledge, options.family == "gp", n_regimes)
    only_variance = knowledge.required_variance | (
        knowledge.required_either & knowledge.forbidden_mean
    )
    if not prior.with_variance_graph and only_variance.any():
        raise OptionError(
            f"The knowledge requires a variance edge; the family {options.family!r} has no "
            "variance graph.",
            fit_with={"engine_options": {"family": "gp"}},
        )
    # To begin with, one edge a variable, or half of all there could be.
    d = knowledge.n_variables - n_regimes
    expected = min(d, d * (d - 1) / 4)
    rates = (expected, expected)
    return Problem(causes, units, inducing_rows, options, prior, rates, set_cells=set_cells)


def _without_impossible_edges(
    knowledge: CompiledKnowledge, kinds: tuple[Kind, ...]
) -> CompiledKnowledge:
    """Return the knowledge that also forbids variance edges into binary columns and categories.

    What moves the share of a level moves its variance with it: there is nothing else to cause.
    """
    closed = np.array([not has_variance_parents(kind) for kind in kinds], dtype=bool)
    if not closed.any():
        return knowledge
    into = np.broadcast_to(closed, knowledge.forbidden_variance.shape)
    required = knowledge.required_variance | (knowledge.required_either & knowledge.forbidden_mean)
    if (required & into).any():
        cause, effect = (knowledge.names[k] for k in np.argwhere(required & into)[0])
        raise OptionError(
            f"The knowledge requires a variance edge {cause} -> {effect}; {effect} is binary or a "
            "category, whose variance follows from its mean. State a mean edge, or another kind."
        )
    return replace(knowledge, forbidden_variance=knowledge.forbidden_variance | into)
