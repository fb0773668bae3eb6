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
from momentdag.engines.evidence.local.protocol import Evidences, ScoreCounts, Scorer
from momentdag.engines.evidence.options import EvidenceOptions
from momentdag.engines.evidence.prior import GraphPrior
from momentdag.engines.evidence.search.parents import ParentSearch
from momentdag.engines.evidence.search.tuning import TUNING
from momentdag.engines.evidence.support.shared_cache import SharedCache
from momentdag.engines.standardise import as_inputs
from momentdag.errors import OptionError
from momentdag.knowledge import CompiledKnowledge

__all__ = ["Problem", "as_causes_and_effects", "dequantise", "pose_problem"]

FloatArray: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Problem:
    """Data in canonical column order, prior, and what the search has settled so far.

    Parameters
    ----------
    values, targets : float array, shape (n, d)
        Standardised columns as causes and as effects.
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
    """

    values: FloatArray
    targets: FloatArray
    inducing_rows: npt.NDArray[np.intp]
    options: EvidenceOptions
    prior: GraphPrior
    rates: tuple[float, float]
    hyperparameters: Hyperparameters = field(default_factory=Hyperparameters)
    candidates: tuple[int, ...] | None = None
    counts: ScoreCounts = field(default_factory=ScoreCounts)

    @property
    def knowledge(self) -> CompiledKnowledge:
        """The compiled knowledge."""
        return self.prior.knowledge

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return self.prior.n_variables

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
        rows = np.sort(rng.choice(len(self.values), n_rows, replace=False))
        n_inducing = min(len(self.inducing_rows), n_rows)
        return replace(
            self,
            values=self.values[rows],
            targets=self.targets[rows],
            inducing_rows=np.sort(rng.choice(n_rows, n_inducing, replace=False)),
        )

    def scorer(self, hyperparameters: Hyperparameters) -> Scorer:
        """Return a scorer with other hyper-parameters."""
        scorer = make_scorer(
            self.values, self.targets, self.inducing_rows, hyperparameters, self.options
        )
        scorer.counts = self.counts
        return scorer

    def search(
        self, evidences: Evidences | None = None, shared_cache: SharedCache | None = None
    ) -> ParentSearch:
        """Return a search with empty memory, but for evidences computed elsewhere."""
        scorer, prior = self.scorer(self.hyperparameters), self.prior.modular(*self.rates)
        return ParentSearch(scorer, prior, self.candidates, evidences, shared_cache)

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

    Raises
    ------
    OptionError
        If knowledge requires a variance edge and the family has none.
    """
    if len(values) > options.max_rows:
        values = values[np.sort(rng.choice(len(values), options.max_rows, replace=False))]
    causes, effects = as_causes_and_effects(rng, values, options)
    n_inducing = options.n_inducing
    if n_inducing is None:
        n_inducing = min(max(40, len(causes) // 20), 80)
    n_inducing = min(n_inducing, len(causes))
    inducing_rows = np.sort(rng.choice(len(causes), n_inducing, replace=False))
    prior = GraphPrior(knowledge, options.family == "gp")
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
    d = knowledge.n_variables
    expected = min(d, d * (d - 1) / 4)
    return Problem(causes, effects, inducing_rows, options, prior, (expected, expected))


def as_causes_and_effects(
    rng: np.random.Generator, values: FloatArray, options: EvidenceOptions
) -> tuple[FloatArray, FloatArray]:
    """Return standardised columns (n, d) as they enter as causes, and as effects."""
    values = as_inputs(values)
    # As an effect a rounded column is spread out; as a cause it stays as it was measured.
    if options.dequantise and options.family != "linear":
        return values, dequantise(rng, values)
    return values, values


def dequantise(rng: np.random.Generator, values: FloatArray) -> FloatArray:
    """Spread tied values uniformly over the gap each of them stands for.

    A density for a continuous variable can be made arbitrarily large at values that repeat, and a
    flexible one would spend itself on the grid of the instrument. Columns in which at least half
    of the rows repeat a value are therefore jittered within half the distance to the neighbouring
    values; others are left as they are, and so is a table that has no rounded column.
    """
    spread = values
    for j in range(values.shape[1]):
        distinct, which = np.unique(values[:, j], return_inverse=True)
        u = rng.random(len(values)) - 0.5
        if len(distinct) > len(values) / 2:
            continue
        if spread is values:
            spread = values.copy()
        gaps = np.diff(distinct)
        below = np.concatenate([gaps[:1], gaps])[which]
        above = np.concatenate([gaps, gaps[-1:]])[which]
        spread[:, j] += u * np.where(u < 0, below, above)
    return spread
