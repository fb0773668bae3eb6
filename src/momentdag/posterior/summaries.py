"""Tables that summarise a posterior: edges, parents of a variable, most probable pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

import numpy as np
import numpy.typing as npt
import pandas as pd

from momentdag.errors import OptionError
from momentdag.graph import MomentGraph
from momentdag.posterior.monte_carlo import standard_error
from momentdag.posterior.queries import (
    Distinct,
    EdgeChoice,
    Moment,
    distinct_pairs,
    distinct_rows,
    drawn_edges,
)

if TYPE_CHECKING:
    from momentdag.posterior.container import Posterior

__all__ = ["edge_table", "map_graph", "most_probable_pairs", "parent_sets"]


def edge_table(
    posterior: Posterior, moment: EdgeChoice | None = None, min_probability: float = 0.0
) -> pd.DataFrame:
    """Return one row for each possible edge, the most probable first.

    Parameters
    ----------
    posterior : Posterior
    moment : EdgeChoice, optional
        None: the edges of the mean graph and those of the variance graph.
    min_probability : float
        Less probable edges are left out.

    Returns
    -------
    DataFrame
        Columns cause, effect, moment, probability, standard_error.

    Raises
    ------
    GraphError
        If ``moment`` is none of the choices.

    Examples
    --------
    >>> from momentdag.posterior import Posterior, Provenance
    >>> edge, none = [[0, 1], [0, 0]], [[0, 0], [0, 0]]
    >>> graphs = [edge, edge, edge, none], [edge, edge, none, none]
    >>> posterior = Posterior("ab", *graphs, Provenance("by hand"))
    >>> edge_table(posterior, min_probability=0.4).round(2)
      cause effect    moment  probability  standard_error
    0     a      b      mean         0.75            0.23
    1     a      b  variance         0.50            0.43
    """
    parts = []
    for choice in ("mean", "variance") if moment is None else (moment,):
        drawn = drawn_edges(posterior, choice)
        probability = drawn.mean(axis=0)
        wanted = (probability >= min_probability) & ~np.eye(posterior.n_variables, dtype=bool)
        causes, effects = np.nonzero(wanted)
        parts.append(
            pd.DataFrame(
                {
                    "cause": [posterior.names[i] for i in causes],
                    "effect": [posterior.names[j] for j in effects],
                    "moment": choice,
                    "probability": probability[wanted],
                    "standard_error": standard_error(drawn[:, causes, effects], posterior.chains),
                }
            )
        )
    table = pd.concat(parts, ignore_index=True)
    return table.sort_values("probability", ascending=False, kind="stable", ignore_index=True)


def parent_sets(posterior: Posterior, name: str) -> pd.DataFrame:
    """Return the drawn sets of mean parents and variance parents of one variable.

    Returns
    -------
    DataFrame
        Columns mean_parents and variance_parents (tuples of names), probability, standard_error;
        the most probable first.

    Raises
    ------
    GraphError
        If there is no such variable.

    Examples
    --------
    >>> from momentdag.posterior import Posterior, Provenance
    >>> edge, none = [[0, 1], [0, 0]], [[0, 0], [0, 0]]
    >>> graphs = [edge, edge, edge, none], [edge, edge, none, none]
    >>> posterior = Posterior("ab", *graphs, Provenance("by hand"))
    >>> parent_sets(posterior, "b")[["mean_parents", "variance_parents", "probability"]]
      mean_parents variance_parents  probability
    0         (a,)             (a,)         0.50
    1           ()               ()         0.25
    2         (a,)               ()         0.25
    """
    at = posterior.index(name)
    parents = [posterior.graphs(moment)[:, :, at] for moment in get_args(Moment)]
    sets = distinct_rows(np.packbits(np.hstack(parents), axis=1))
    named = [
        [tuple(posterior.names[i] for i in np.flatnonzero(row)) for row in drawn[sets.first]]
        for drawn in parents
    ]
    table = pd.DataFrame({"mean_parents": named[0], "variance_parents": named[1]})
    table["probability"] = sets.counts / posterior.n_draws
    table["standard_error"] = _standard_errors(posterior, sets, np.arange(len(table)))
    return table.sort_values("probability", ascending=False, kind="stable", ignore_index=True)


def most_probable_pairs(posterior: Posterior, k: int = 10) -> pd.DataFrame:
    """Return the ``k`` pairs drawn most often; among equals, larger log posterior first.

    Returns
    -------
    DataFrame
        Columns graph (a `MomentGraph`), probability, standard_error, and log_posterior if the
        posterior has one.

    Raises
    ------
    OptionError
        If ``k`` is not a positive integer.

    Examples
    --------
    >>> from momentdag.posterior import Posterior, Provenance
    >>> edge, none = [[0, 1], [0, 0]], [[0, 0], [0, 0]]
    >>> graphs = [edge, edge, edge, none], [edge, edge, none, none]
    >>> posterior = Posterior("ab", *graphs, Provenance("by hand"))
    >>> most_probable_pairs(posterior, k=2)["probability"].tolist()
    [0.5, 0.25]
    """
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise OptionError(f"Expected k to be a positive integer; got {k!r}.")
    pairs = distinct_pairs(posterior)
    log_posterior = posterior.log_posterior
    ties = np.zeros(len(pairs.first)) if log_posterior is None else -log_posterior[pairs.first]
    best = np.lexsort((pairs.first, ties, -pairs.counts))[:k]
    columns: dict[str, Any] = {
        "graph": [posterior.draw(int(row)) for row in pairs.first[best]],
        "probability": pairs.counts[best] / posterior.n_draws,
        "standard_error": _standard_errors(posterior, pairs, best),
    }
    if log_posterior is not None:
        columns["log_posterior"] = log_posterior[pairs.first[best]]
    return pd.DataFrame(columns)


def map_graph(posterior: Posterior) -> MomentGraph:
    """Return the most probable pair among the draws.

    The draw of largest ``log_posterior``, which ranks pairs even if each was drawn once; without
    it, the pair drawn most often (the first of equals).

    Examples
    --------
    >>> from momentdag.posterior import Posterior, Provenance
    >>> edge, none = [[0, 1], [0, 0]], [[0, 0], [0, 0]]
    >>> graphs = [edge, edge, edge, none], [edge, edge, none, none]
    >>> posterior = Posterior("ab", *graphs, Provenance("by hand"))
    >>> map_graph(posterior)
    MomentGraph(2 variables, 1 mean edges, 1 variance edges)
    """
    if posterior.log_posterior is not None:
        return posterior.draw(int(np.argmax(posterior.log_posterior)))
    pairs = distinct_pairs(posterior)
    return posterior.draw(int(pairs.first[np.lexsort((pairs.first, -pairs.counts))[0]]))


def _standard_errors(
    posterior: Posterior, distinct: Distinct, wanted: npt.NDArray[np.intp]
) -> npt.NDArray[np.float64]:
    indicators = distinct.which[:, None] == wanted
    return np.asarray(standard_error(indicators, posterior.chains))
