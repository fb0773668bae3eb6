"""How far the best pair that a search found lies above the best pair under the true order."""

from __future__ import annotations

from momentdag.engines.evidence.local.protocol import Parents
from momentdag.engines.evidence.model import EvidenceModel
from momentdag.engines.evidence.options import EvidenceOptions
from momentdag.engines.evidence.prior import GraphPrior
from momentdag.engines.evidence.search.orders import solve_order
from momentdag.engines.evidence.search.parents import ParentSearch
from momentdag.engines.evidence.support.bitmasks import column_mask
from momentdag.engines.standardise import canonical_order
from momentdag.estimator import MomentDAG
from momentdag.graph import MomentGraph
from momentdag.knowledge import Knowledge
from momentdag.simulate import Simulation
from momentdag.table import Dataset

__all__ = ["order_gap", "parents_of"]


def order_gap(estimator: MomentDAG, simulation: Simulation) -> float | None:
    """Return how far the best pair lies above the best pair under the true order, in nats.

    Both are scored with the hyper-parameters the fit ended with and with edge rates fixed at the
    numbers of edges it found, and parents under the true order are sought among all predecessors.
    None for engines and families without local scores.
    """
    model = estimator.scm_
    if not isinstance(model, EvidenceModel):
        return None
    given = estimator.engine_options
    has_variance_graph = EvidenceOptions.from_mapping({} if given is None else given).family == "gp"
    dataset = Dataset(simulation.data.to_numpy(), simulation.graph.names)
    best = estimator.best_graph_
    # The engine scores columns in its own order.
    order = canonical_order(dataset.standardised, dataset.names)
    names = tuple(dataset.names[c] for c in order)
    prior = GraphPrior(Knowledge().compile(names), has_variance_graph)
    rates = (float(best.mean_graph.sum()), float(best.variance_graph.sum()))
    search = ParentSearch(model.scorer, prior.modular(*rates))
    order = tuple(names.index(name) for name in simulation.order)
    # The search under an order is not exhaustive; the truth itself bounds it from below.
    at_true_order = solve_order(search, order).score
    if has_variance_graph:
        at_true_order = max(at_true_order, _score(search, simulation.graph, names))
    return _score(search, best, names) - at_true_order


def _score(search: ParentSearch, graph: MomentGraph, names: tuple[str, ...]) -> float:
    return sum(search.score(j, parents) for j, parents in enumerate(parents_of(graph, names)))


def parents_of(graph: MomentGraph, names: tuple[str, ...]) -> list[Parents]:
    """Return the parents of each variable as bit masks over ``names``."""
    graph = graph.reorder(names)
    return [
        Parents(column_mask(graph.mean_graph[:, j]), column_mask(graph.variance_graph[:, j]))
        for j in range(len(names))
    ]
