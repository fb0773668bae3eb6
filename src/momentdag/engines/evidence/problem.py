"""One data set with what is known about it: everything a worker process needs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from momentdag.engines.evidence.candidates import ALL_UP_TO
from momentdag.engines.evidence.exchange import Exchange
from momentdag.engines.evidence.family import Evidences, Scorer
from momentdag.engines.evidence.options import EvidenceOptions
from momentdag.engines.evidence.parents import ParentSearch
from momentdag.engines.evidence.prior import GraphPrior
from momentdag.engines.evidence.scoring import Hyperparameters, make_scorer
from momentdag.knowledge import CompiledKnowledge

__all__ = ["Evidences", "Problem", "beyond"]

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
    hyperparameters : Hyperparameters
    rates : (float, float)
        Numbers of mean and variance edges that fix the rates of the modular prior.
    candidates : tuple of int or None
        Bit masks of the candidate parents; None for everyone.
    """

    values: FloatArray
    targets: FloatArray
    inducing_rows: npt.NDArray[np.intp]
    options: EvidenceOptions
    prior: GraphPrior
    rates: tuple[float, float]
    hyperparameters: Hyperparameters = field(default_factory=Hyperparameters)
    candidates: tuple[int, ...] | None = None

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
        return self.n_variables > ALL_UP_TO

    @property
    def n_starts(self) -> int:
        """Starts of the order search: more where optima are many."""
        if self.options.n_starts is not None:
            return self.options.n_starts
        return 4 if self.is_large else 2

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
        return make_scorer(
            self.values, self.targets, self.inducing_rows, hyperparameters, self.options
        )

    def search(
        self, evidences: Evidences | None = None, exchange: Exchange | None = None
    ) -> ParentSearch:
        """Return a search with empty memory, but for evidences computed elsewhere."""
        scorer, prior = self.scorer(self.hyperparameters), self.prior.modular(*self.rates)
        return ParentSearch(scorer, prior, self.candidates, evidences, exchange)

    @contextmanager
    def worker_search(self, evidences: Evidences, folder: Path) -> Iterator[ParentSearch]:
        """Yield a search for a worker process, which exchanges evidences in ``folder``.

        On one thread, and with evidences of its own: others may use these at the same time.
        """
        own = [dict(known) for known in evidences]
        with threadpool_limits(1), closing(Exchange(folder)) as exchange:
            yield self.search(own, exchange)


def beyond(scored: Evidences, known: Evidences) -> Evidences:
    """Return the evidences that were not known before."""
    return [
        {own: value for own, value in new.items() if own not in old}
        for new, old in zip(scored, known, strict=True)
    ]
