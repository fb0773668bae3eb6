"""Fit again with other seeds, or on resampled rows, and hold the posteriors side by side."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from momentdag.data import Dataset
from momentdag.errors import DataWarning, OptionError
from momentdag.graph import MomentGraph
from momentdag.knowledge import Knowledge
from momentdag.parallel import run, shared
from momentdag.posterior import Posterior, Provenance

if TYPE_CHECKING:
    from momentdag.estimator import MomentDAG

__all__ = ["Stability", "bootstrap", "refit", "reseed"]

Kind: TypeAlias = Literal["seeds", "bootstrap"]


@dataclass(frozen=True, eq=False)
class Stability:
    """Posteriors of several fits to the same table.

    Parameters
    ----------
    kind : {"seeds", "bootstrap"}
    posteriors : tuple of Posterior
        One for each refit.
    knowledge : Knowledge
        What the fits were told.
    """

    kind: Kind
    posteriors: tuple[Posterior, ...]
    knowledge: Knowledge

    @property
    def n_refits(self) -> int:
        """Number of fits."""
        return len(self.posteriors)

    def pooled(self) -> Posterior:
        """Return all draws as one posterior, in which every refit has the same weight.

        Of bootstrap refits this is bagging: the average over what the sample might have been.
        """
        fewest = min(posterior.n_draws for posterior in self.posteriors)
        # Evenly spaced, so that a longer posterior is thinned and not cut off.
        kept = [
            np.floor((np.arange(fewest) + 0.5) * posterior.n_draws / fewest).astype(np.intp)
            for posterior in self.posteriors
        ]
        mean_graphs, variance_graphs = (
            np.concatenate(
                [p.graphs(moment)[rows] for p, rows in zip(self.posteriors, kept, strict=True)]
            )
            for moment in ("mean", "variance")
        )
        first = self.posteriors[0]
        return Posterior(
            first.names,
            mean_graphs,
            variance_graphs,
            Provenance(first.provenance.engine, {"pooled_over": self.kind, "n": self.n_refits}),
            chains=np.repeat(np.arange(self.n_refits), fewest),
        )

    def edge_spread(self, min_probability: float = 0.05) -> pd.DataFrame:
        """Return how far the probability of each edge varies between refits.

        Returns
        -------
        DataFrame
            Columns cause, effect, moment; probability (mean over refits), sd, low, high; and
            frequency, the share of refits in which it exceeds one half. Largest sd first; edges
            whose probability nowhere reaches ``min_probability`` are left out.
        """
        names = self.posteriors[0].names
        parts = []
        for moment in ("mean", "variance"):
            found = np.stack([p.graphs(moment).mean(axis=0) for p in self.posteriors])
            causes, effects = np.nonzero(found.max(axis=0) >= min_probability)
            series = found[:, causes, effects]
            parts.append(
                pd.DataFrame(
                    {
                        "cause": [names[i] for i in causes],
                        "effect": [names[j] for j in effects],
                        "moment": moment,
                        "probability": series.mean(axis=0),
                        "sd": series.std(axis=0),
                        "low": series.min(axis=0),
                        "high": series.max(axis=0),
                        "frequency": (series > 0.5).mean(axis=0),
                    }
                )
            )
        table = pd.concat(parts, ignore_index=True)
        return table.sort_values("sd", ascending=False, kind="stable", ignore_index=True)

    def consensus(self) -> MomentGraph:
        """Return the jointly acyclic pair that stands best for all refits; hard knowledge holds."""
        hard = self.knowledge if self.knowledge.strength == "hard" else None
        return self.pooled().consensus(knowledge=hard)

    def describe(self) -> str:
        """Return the outcome in plain sentences."""
        table = self.edge_spread()
        what = "other seeds" if self.kind == "seeds" else "resampled rows"
        steady = table[table["low"] > 0.5]
        unsteady = table[(table["low"] <= 0.5) & (table["high"] > 0.5)]
        lines = [
            f"{self.n_refits} fits with {what}: {len(steady)} edges have a probability above one "
            f"half in every fit, {len(unsteady)} in some of them only."
        ]
        lines += [
            f"- {row['cause']} -> {row['effect']} ({row['moment']}): {row['low']:.2f} to "
            f"{row['high']:.2f}, above one half in {row['frequency']:.0%} of the fits."
            for _, row in unsteady.iterrows()
        ]
        if self.kind == "seeds" and len(unsteady):
            lines.append(
                "The data are the same, so this is the search or the chains: ask for more draws, "
                "starts or chains."
            )
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.describe()


def reseed(
    rng: np.random.Generator,
    estimator: MomentDAG,
    X: Any,
    n_refits: int = 10,
    *,
    n_jobs: int = 1,
) -> Stability:
    """Fit an estimator to the same table with other seeds.

    Parameters
    ----------
    rng : numpy.random.Generator
    estimator : MomentDAG
        Its options are used; it need not be fitted and is not changed.
    X : table, shape (n_samples, n_variables)
    n_refits : int
        At least 2.
    n_jobs : int
        Fits at a time; on a cluster, see `momentdag.parallel`, as many as it takes.

    Returns
    -------
    Stability

    Raises
    ------
    OptionError, DataError, KnowledgeError
        If the number of refits, or what a fit is given, cannot be used.

    Examples
    --------
    >>> import momentdag as md
    >>> data = md.simulate.preset("linear-anm-3", np.random.default_rng(0), n_samples=100).data
    >>> estimator = md.MomentDAG(n_draws=100, engine_options={"n_starts": 1})
    >>> reseed(np.random.default_rng(1), estimator, data, n_refits=2).n_refits
    2
    """
    dataset = _read(X, n_refits)
    return _refits("seeds", rng, estimator, dataset, [None] * n_refits, n_jobs)


def bootstrap(
    rng: np.random.Generator,
    estimator: MomentDAG,
    X: Any,
    n_refits: int = 20,
    *,
    n_jobs: int = 1,
) -> Stability:
    """Fit an estimator to rows drawn with replacement.

    A fit is surer of a resampled table than of the table itself, as its copied rows count twice;
    read the spread between fits and the pooled draws, not a single refit.

    Parameters, result and errors are those of `reseed`.

    Examples
    --------
    >>> import momentdag as md
    >>> data = md.simulate.preset("linear-anm-2", np.random.default_rng(0), n_samples=100).data
    >>> estimator = md.MomentDAG(n_draws=100, engine_options={"n_starts": 1})
    >>> bootstrap(np.random.default_rng(1), estimator, data, n_refits=2).consensus().names
    ('x1', 'x2')
    """
    dataset = _read(X, n_refits)
    return _refits("bootstrap", rng, estimator, dataset, rng.spawn(n_refits), n_jobs)


def refit(estimator: MomentDAG, dataset: Dataset, seed: int) -> Posterior:
    """Return the posterior of a clone of ``estimator``, fitted quietly on one process."""
    fresh = clone(estimator).set_params(random_state=seed, n_jobs=1, verbose=False)
    with warnings.catch_warnings():
        # Told once by the caller's own fit; here the spread between fits is the finding.
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", DataWarning)
        posterior: Posterior = fresh.fit(dataset).posterior_
    return posterior


def _read(X: Any, n_refits: int) -> Dataset:
    if isinstance(n_refits, bool) or not isinstance(n_refits, int | np.integer) or n_refits < 2:
        raise OptionError(f"Expected n_refits to be a whole number from 2; got {n_refits!r}.")
    return Dataset.from_table(X, min_variables=2)


def _refits(
    kind: Kind,
    rng: np.random.Generator,
    estimator: MomentDAG,
    dataset: Dataset,
    row_rngs: Sequence[np.random.Generator | None],
    n_jobs: int,
) -> Stability:
    seeds = rng.integers(2**31 - 1, size=len(row_rngs))
    tasks = [
        (estimator, dataset, row_rng, int(seed))
        for row_rng, seed in zip(row_rngs, seeds, strict=True)
    ]
    with shared(dataset):
        posteriors = tuple(run(_refit, tasks, n_jobs))
    stated = Knowledge() if estimator.knowledge is None else estimator.knowledge
    return Stability(kind, posteriors, stated)


def _refit(
    estimator: MomentDAG, dataset: Dataset, row_rng: np.random.Generator | None, seed: int
) -> Posterior:
    # Rows are drawn where the fit runs, so that only the table itself has to travel.
    if row_rng is not None:
        rows = row_rng.integers(dataset.n_samples, size=dataset.n_samples)
        dataset = Dataset(dataset.values[rows], dataset.names)
    return refit(estimator, dataset, seed)
