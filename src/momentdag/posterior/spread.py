"""Who moves only the spread of whom: the one definition, used everywhere.

A variable moves only the spread of another if it has a path to it in the union of both graphs, but
is neither one of its mean parents nor an ancestor of one. Setting it changes v(X_paV) only: the
distribution of m(X_paM), and so the mean, stays as it is. An *edge* in the variance graph and not
in the mean graph is another matter: the same cause may reach the mean by another way.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from momentdag.graph import BoolArray, reachability
from momentdag.posterior.queries import Distinct, distinct_pairs

if TYPE_CHECKING:
    from momentdag.posterior.container import Posterior

__all__ = ["variance_only_causes", "variance_only_probability"]


def variance_only_causes(posterior: Posterior) -> pd.DataFrame:
    """Return P(row moves only the spread of column), index = cause, columns = effect.

    Examples
    --------
    >>> from momentdag.graph import MomentGraph
    >>> from momentdag.posterior import Posterior, Provenance
    >>> chain = MomentGraph.from_edges("abc", mean=[("a", "b")], variance=[("b", "c")])
    >>> posterior = Posterior("abc", [chain.mean_graph], [chain.variance_graph], Provenance("-"))
    >>> variance_only_causes(posterior)["c"].to_dict()
    {'a': 1.0, 'b': 1.0, 'c': 0.0}
    """
    pairs = distinct_pairs(posterior)
    shares = pairs.counts / pairs.counts.sum()
    table = np.tensordot(shares, _variance_only(posterior, pairs), axes=1)
    names = list(posterior.names)
    return pd.DataFrame(table, index=names, columns=names)


def variance_only_probability(posterior: Posterior, names: Sequence[str], target: str) -> float:
    """Return the probability that every named variable moves only the spread of the target."""
    pairs = distinct_pairs(posterior)
    causes = [posterior.index(name) for name in names]
    joint = _variance_only(posterior, pairs)[:, causes, posterior.index(target)].all(axis=1)
    return float(pairs.counts[joint].sum() / pairs.counts.sum())


def _variance_only(posterior: Posterior, pairs: Distinct) -> BoolArray:
    """Return who moves only the spread of whom in each distinct pair, (n_pairs, d, d)."""
    paths = reachability(posterior.graphs("either")[pairs.first])
    mean_parents = posterior.mean_graphs[pairs.first]
    through = (paths.astype(np.float32) @ mean_parents.astype(np.float32)) > 0
    return np.asarray(paths & ~mean_parents & ~through)
