"""A DoWhy graphical causal model with our mechanisms: mean and spread both depend on causes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np

from momentdag.effects.export.source import optional_package, read_source
from momentdag.effects.fitted import read_fit
from momentdag.graph import MomentGraph

if TYPE_CHECKING:
    from dowhy.gcm import InvertibleStructuralCausalModel

    from momentdag.estimator import MomentDAG

__all__ = ["to_dowhy"]


def to_dowhy(
    estimator: MomentDAG, *, graph: MomentGraph | None = None, random_state: int = 0
) -> InvertibleStructuralCausalModel:
    """Return a fitted DoWhy model: ``X_j = m_j(mean parents) + v_j(variance parents) E_j``.

    It can be sampled, intervened on and asked for counterfactuals with ``dowhy.gcm``. Functions
    are at their posterior means given one pair of graphs; for the uncertainty of both use
    `momentdag.effects.intervene`. It is fitted: do not call ``gcm.fit`` on it.

    Parameters
    ----------
    estimator : MomentDAG
        Fitted, by either engine.
    graph : MomentGraph, optional
        The pair of graphs; the estimator's consensus by default.
    random_state : int
        Seed of the noise that DoWhy draws from the mechanisms.

    Raises
    ------
    OptionError
        If DoWhy is not installed or the family of the fit has no mechanisms.
    NotFittedError
        If the estimator is not fitted.
    GraphError
        If the graph has other variables.

    Examples
    --------
    >>> import momentdag as md
    >>> simulation = md.simulate.preset("sparse-5", np.random.default_rng(3))
    >>> fit = md.MomentDAG(n_draws=400, random_state=0).fit(simulation.data)
    >>> model = to_dowhy(fit)  # doctest: +SKIP
    >>> from dowhy import gcm  # doctest: +SKIP
    >>> gcm.interventional_samples(
    ...     model, {"x1": lambda x: 2.0}, num_samples_to_draw=1000
    ... )["x2"].std()  # doctest: +SKIP
    """
    fitted = read_fit(estimator)
    gcm = optional_package("dowhy.gcm", "dowhy")
    # Imported here, as its classes have bases in the optional package.
    from momentdag.effects.export import location_scale

    names = fitted.names
    pair = read_source(estimator).graph if graph is None else graph.reorder(names)
    mechanisms = fitted.model.mean_functions(pair)
    union: nx.DiGraph[Any] = nx.DiGraph()
    union.add_nodes_from(names)
    union.add_edges_from(pair.edges())
    model = gcm.InvertibleStructuralCausalModel(union)
    rngs = np.random.default_rng(random_state).spawn(len(names))
    for name, rng in zip(names, rngs, strict=True):
        # DoWhy hands over the values of a node's parents in the order of their names.
        parents = sorted(pair.parents(name))
        columns = [names.index(parent) for parent in parents]
        kind = location_scale.LocationScaleModel if parents else location_scale.RootModel
        model.set_causal_mechanism(name, kind(rng, mechanisms[name], columns, len(names)))
        model.graph.nodes[name][location_scale.PARENTS_DURING_FIT] = parents
    return model
