"""What can be exported as a graph: a pair as it stands, a posterior, a fitted estimator."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from momentdag.errors import OptionError
from momentdag.graph import MomentGraph
from momentdag.posterior import Posterior

if TYPE_CHECKING:
    from momentdag.estimator import MomentDAG

__all__ = ["Edge", "LabelledGraph", "Source", "optional_package", "read_source"]

Source: TypeAlias = "MomentGraph | Posterior | MomentDAG"
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
    """

    graph: MomentGraph
    probabilities: npt.NDArray[np.float64] | None

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
    """Take the pair and the probabilities from what is given.

    Raises
    ------
    OptionError
        If it is none of the kinds that can be exported.
    NotFittedError
        If it is an estimator that is not fitted.
    """
    if isinstance(source, MomentGraph):
        return LabelledGraph(source, None)
    if isinstance(source, Posterior):
        return _with_probabilities(source.consensus(), source)
    if hasattr(source, "fit"):
        check_is_fitted(source, "posterior_")
        names = source.posterior_.names
        pair = MomentGraph.from_edges(
            names, mean=source.mean_graph_.edges, variance=source.variance_graph_.edges
        )
        return _with_probabilities(pair, source.posterior_)
    raise OptionError(f"Expected a MomentGraph, a Posterior or a fitted MomentDAG; got {source!r}.")


def optional_package(name: str, extra: str) -> ModuleType:
    """Import a package that is an optional extra.

    Raises
    ------
    OptionError
        If it is not installed; the message says how to get it.
    """
    try:
        return importlib.import_module(name)
    except ImportError:
        raise OptionError(
            f"Expected the package {name.split('.')[0]!r}, which is not installed. Use pip install "
            f"'momentdag[{extra}]'."
        ) from None


def _with_probabilities(graph: MomentGraph, posterior: Posterior) -> LabelledGraph:
    stacked = [posterior.mean_graphs.mean(axis=0), posterior.variance_graphs.mean(axis=0)]
    return LabelledGraph(graph, np.stack(stacked))
