"""Fit again with other seeds or on resampled rows, and compare the posteriors."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from momentdag.display.printable import Described
from momentdag.errors import DataWarning, OptionError
from momentdag.graph import MomentGraph
from momentdag.knowledge import Knowledge
from momentdag.parallel import run, shared
from momentdag.posterior import Posterior, Provenance
from momentdag.posterior.monte_carlo import evenly_spaced
from momentdag.table import Dataset

if TYPE_CHECKING:
    from momentdag.estimator import MomentDAG

__all__ = ["Stability", "bootstrap", "refit", "reseed"]

Kind: TypeAlias = Literal["seeds", "bootstrap"]


@dataclass(frozen=True, eq=False, repr=False)
class Stability(Described):
    """Posteriors of several fits to the same table.

    Parameters
    ----------
    kind : {"seeds", "bootstrap"}
    posteriors : tuple of Posterior
        One for each refit.
    knowledge : Knowledge
        Knowledge of the estimator.

    Examples
    --------
    >>> edge = MomentGraph.from_edges("ab", mean=[("a", "b")])
    >>> none = MomentGraph.from_edges("ab")
    >>> fits = [
    ...     Posterior("ab", [graph.mean_graph], [graph.variance_graph], Provenance("by hand"))
    ...     for graph in (edge, edge, none)
    ... ]
    >>> Stability("seeds", tuple(fits), Knowledge()).edge_spread()[["low", "high", "frequency"]]
       low  high  frequency
    0  0.0   1.0   0.666667
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

        For bootstrap refits this is bagging.
        """
        fewest = min(posterior.n_draws for posterior in self.posteriors)
        mean_graphs, variance_graphs = (
            np.concatenate(
                [p.graphs(moment)[evenly_spaced(p.n_draws, fewest)] for p in self.posteriors]
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
        """Return how much the probability of each edge varies between refits.

        Returns
        -------
        DataFrame
            Columns cause, effect, moment; probability (mean over refits), sd, low, high; and
            frequency, the share of refits in which it exceeds one half. Largest sd first; edges
            that reach ``min_probability`` in no refit are left out.
        """
        names = self.posteriors[0].names
        parts = []
        for moment in ("mean", "variance"):
            probabilities = np.stack([p.graphs(moment).mean(axis=0) for p in self.posteriors])
            causes, effects = np.nonzero(probabilities.max(axis=0) >= min_probability)
            series = probabilities[:, causes, effects]
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
        """Return the jointly acyclic pair closest to all refits; it obeys hard knowledge."""
        hard = self.knowledge if self.knowledge.strength == "hard" else None
        return self.pooled().consensus(knowledge=hard)

    def describe(self) -> str:
        """Return the comparison in plain sentences."""
        table = self.edge_spread()
        variation = "other seeds" if self.kind == "seeds" else "resampled rows"
        stable = table[table["low"] > 0.5]
        unstable = table[(table["low"] <= 0.5) & (table["high"] > 0.5)]
        lines = [
            f"{self.n_refits} fits with {variation}: {len(stable)} edges have a probability above "
            f"one half in every fit, {len(unstable)} only in some."
        ]
        lines += [
            f"- {row['cause']} -> {row['effect']} ({row['moment']}): {row['low']:.2f} to "
            f"{row['high']:.2f}, above one half in {row['frequency']:.0%} of the fits."
            for _, row in unstable.iterrows()
        ]
        if self.kind == "seeds" and len(unstable):
            lines.append(
                "The data are the same, so the search or the chains have not converged: ask for "
                "more draws, starts or chains."
            )
        return "\n".join(lines)


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
        Its options are used. It need not be fitted and is not changed.
    X : table, shape (n_samples, n_variables)
    n_refits : int
        At least 2.
    n_jobs : int
        Fits that run at the same time; for a cluster see `momentdag.parallel`.

    Returns
    -------
    Stability

    Raises
    ------
    OptionError, DataError, KnowledgeError
        If the number of refits, the table or the knowledge cannot be used.

    Examples
    --------
    Edges whose probability depends on the seed::

        print(md.stability.reseed(np.random.default_rng(1), md.MomentDAG(), data))
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

    Copied rows count twice, so a single refit is more certain than it should be: read the spread
    between refits and the pooled draws. Parameters, result and errors are those of `reseed`.

    Examples
    --------
    One pair of graphs for 20 resampled tables::

        md.stability.bootstrap(np.random.default_rng(1), md.MomentDAG(), data).consensus()
    """
    dataset = _read(X, n_refits)
    return _refits("bootstrap", rng, estimator, dataset, rng.spawn(n_refits), n_jobs)


def refit(estimator: MomentDAG, dataset: Dataset, seed: int) -> Posterior:
    """Return the posterior of a clone of ``estimator``, fitted quietly on one process."""
    fresh = clone(estimator).set_params(random_state=seed, n_jobs=1, verbose=False)
    with warnings.catch_warnings():
        # The fit of the caller gives these warnings; here the spread between fits is reported.
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", DataWarning)
        posterior: Posterior = fresh.fit(dataset).posterior_
    return posterior


def _read(X: Any, n_refits: int) -> Dataset:
    if isinstance(n_refits, bool) or not isinstance(n_refits, int | np.integer) or n_refits < 2:
        raise OptionError(f"Expected n_refits to be an integer of at least 2; got {n_refits!r}.")
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
    # Rows are drawn in the worker, so that only the shared table is sent.
    if row_rng is not None:
        rows = row_rng.integers(dataset.n_samples, size=dataset.n_samples)
        dataset = dataset.take_rows(rows)
    return refit(estimator, dataset, seed)
