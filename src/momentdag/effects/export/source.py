"""What can be exported as a graph: a pair of graphs, a posterior, a fitted estimator."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from momentdag.effects.inputs import consensus_pair
from momentdag.errors import OptionError
from momentdag.graph import MomentGraph
from momentdag.posterior import Posterior
from momentdag.table.kinds import Kind

if TYPE_CHECKING:
    from momentdag.effects.inputs import FittedEstimator

__all__ = ["Edge", "LabelledGraph", "Source", "read_source"]

Source: TypeAlias = "MomentGraph | Posterior | FittedEstimator"
"""A posterior stands for its consensus, an estimator for the consensus it shows."""


class Edge(NamedTuple):
    """An edge of the union, with the probability of each moment; None if there are no draws."""

    cause: str
    effect: str
    moment: Literal["mean", "variance", "both"]
    mean_probability: float | None
    variance_probability: float | None

    @property
    def label(self) -> str:
        """The moment, with the probability that it has the edge, as a short text."""
        chances = {"mean": self.mean_probability, "variance": self.variance_probability}
        shown = ("mean", "variance") if self.moment == "both" else (self.moment,)
        return ", ".join(
            name if chances[name] is None else f"{name} {chances[name]:.2f}" for name in shown
        )


@dataclass(frozen=True, eq=False)
class LabelledGraph:
    """A pair of graphs and, where it comes from draws, the probability of every edge.

    Parameters
    ----------
    graph : MomentGraph
    probabilities : float array, shape (2, d, d), or None
        Of the mean edges and the variance edges.
    kinds : mapping from name to Kind
        Of the columns, where they are known.
    discrete : frozenset of str
        Variables that were fitted by the probabilities of their values.
    """

    graph: MomentGraph
    probabilities: npt.NDArray[np.float64] | None
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    discrete: frozenset[str] = frozenset()

    def edges(self) -> Iterator[Edge]:
        """Yield the edges of the union."""
        graph = self.graph
        for i, j in zip(*np.nonzero(graph.union_graph), strict=True):
            mean, variance = bool(graph.mean_graph[i, j]), bool(graph.variance_graph[i, j])
            moment: Literal["mean", "variance", "both"] = "mean" if mean else "variance"
            chances: tuple[float | None, float | None] = (None, None)
            if self.probabilities is not None:
                chances = (float(self.probabilities[0, i, j]), float(self.probabilities[1, i, j]))
            yield Edge(
                graph.names[i], graph.names[j], "both" if mean and variance else moment, *chances
            )


def read_source(source: Source) -> LabelledGraph:
    """Return the pair, and the edge probabilities if there are draws.

    Raises
    ------
    OptionError
        If the source cannot be exported.
    NotFittedError
        If the source is an estimator that is not fitted.
    """
    if isinstance(source, MomentGraph):
        return LabelledGraph(source, None)
    if isinstance(source, Posterior):
        return _with_probabilities(source.consensus(), source)
    if hasattr(source, "fit"):
        check_is_fitted(source, "posterior_")
        pair = consensus_pair(source)
        labelled = _with_probabilities(pair, source.posterior_)
        fitted = {} if source.scm_ is None else source.scm_.mean_functions(pair)
        discrete = frozenset(name for name, mechanism in fitted.items() if mechanism.is_discrete)
        return replace(labelled, kinds=source.result_.observed.kinds, discrete=discrete)
    raise OptionError(f"Expected a MomentGraph, a Posterior or a fitted MomentDAG; got {source!r}.")


def _with_probabilities(graph: MomentGraph, posterior: Posterior) -> LabelledGraph:
    stacked = [posterior.mean_graphs.mean(axis=0), posterior.variance_graphs.mean(axis=0)]
    return LabelledGraph(graph, np.stack(stacked))
