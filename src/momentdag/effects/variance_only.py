"""The probability that variables move the spread of a target and leave its mean alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from momentdag.graph import BoolArray, reachability
from momentdag.posterior import Posterior
from momentdag.posterior.queries import distinct_pairs

__all__ = ["causes_of", "variance_only_probability"]


def causes_of(posterior: Posterior, target: str) -> dict[str, float]:
    """Return the variables from which any drawn pair has a path to the target, with its share."""
    probabilities = posterior.ancestor_probabilities("either")[target]
    return {str(name): float(p) for name, p in probabilities.items() if p > 0}


def variance_only_probability(posterior: Posterior, levers: Sequence[str], target: str) -> float:
    """Return the probability that every lever is a variance-only cause of the target.

    Such a cause has a path to the target in the union of both graphs, but neither is it a mean
    parent of the target nor does a path lead from it to one. Then setting it cannot change the
    distribution of m(X_paM), hence not the mean; it changes v(X_paV) alone.

    Examples
    --------
    >>> from momentdag.graph import MomentGraph
    >>> from momentdag.posterior import Posterior, Provenance
    >>> chain = MomentGraph.from_edges("abc", mean=[("a", "b")], variance=[("b", "c")])
    >>> posterior = Posterior("abc", [chain.mean_graph], [chain.variance_graph], Provenance("-"))
    >>> [variance_only_probability(posterior, lever, "c") for lever in "ab"]
    [1.0, 1.0]
    """
    pairs = distinct_pairs(posterior)
    own, end = [posterior.index(name) for name in levers], posterior.index(target)
    paths = reachability(posterior.graphs("either")[pairs.first])
    mean_parents = posterior.mean_graphs[pairs.first][:, :, end]
    holds: BoolArray = np.ones(len(pairs.first), dtype=bool)
    for i in own:
        on_mean = mean_parents[:, i] | np.any(paths[:, i] & mean_parents, axis=1)
        holds &= paths[:, i, end] & ~on_mean
    return float(pairs.counts[holds].sum() / pairs.counts.sum())
