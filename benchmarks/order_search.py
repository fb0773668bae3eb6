"""Does the search find an order as good as the true one."""

from __future__ import annotations

import momentdag as md
from momentdag.data import Dataset
from momentdag.engines.evidence.engine import canonical_columns
from momentdag.engines.evidence.family import Parents
from momentdag.engines.evidence.model import EvidenceModel
from momentdag.engines.evidence.options import EvidenceOptions
from momentdag.engines.evidence.orders import solve_order
from momentdag.engines.evidence.parents import ParentSearch
from momentdag.engines.evidence.prior import GraphPrior, column_mask
from momentdag.graph import MomentGraph
from momentdag.knowledge import Knowledge
from momentdag.simulate import Simulation

__all__ = ["order_gap", "parents_of"]


def order_gap(
    estimator: md.MomentDAG, simulation: Simulation, options: EvidenceOptions
) -> float | None:
    """Return how far the best pair found lies above the best pair under the true order, in nats.

    Both are scored with the hyper-parameters the fit ended with and with edge rates fixed at the
    numbers of edges it found, and parents under the true order are sought among all predecessors.
    None for families without mechanisms.
    """
    model = estimator.scm_
    if not isinstance(model, EvidenceModel):
        return None
    dataset = Dataset(simulation.data.to_numpy(), simulation.graph.names)
    best = estimator.best_graph_
    # The engine's own scores, whose columns are in an order of their own.
    names = tuple(dataset.names[c] for c in canonical_columns(dataset))
    prior = GraphPrior(Knowledge().compile(names), options.family == "gp")
    rates = (float(best.mean_graph.sum()), float(best.variance_graph.sum()))
    search = ParentSearch(model.scorer, prior.modular(*rates))
    order = tuple(names.index(name) for name in simulation.order)
    # The search under an order is not exhaustive; the truth itself bounds it from below.
    at_true_order = solve_order(search, order).score
    if options.family == "gp":
        at_true_order = max(at_true_order, _score(search, simulation.graph, names))
    return _score(search, best, names) - at_true_order


def _score(search: ParentSearch, graph: MomentGraph, names: tuple[str, ...]) -> float:
    return sum(search.score(j, own) for j, own in enumerate(parents_of(graph, names)))


def parents_of(graph: MomentGraph, names: tuple[str, ...]) -> list[Parents]:
    """Return the parents of each variable as bit masks over ``names``."""
    graph = graph.reorder(names)
    return [
        Parents(column_mask(graph.mean_graph[:, j]), column_mask(graph.variance_graph[:, j]))
        for j in range(len(names))
    ]
