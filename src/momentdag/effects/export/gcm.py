"""A DoWhy graphical causal model with our mechanisms: mean and spread both depend on causes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np

from momentdag.effects.inputs import consensus_pair, read_inputs
from momentdag.errors import require
from momentdag.graph import MomentGraph

if TYPE_CHECKING:
    from dowhy.gcm import StructuralCausalModel

    from momentdag.effects.inputs import FittedEstimator

__all__ = ["to_dowhy"]


def to_dowhy(
    estimator: FittedEstimator, *, graph: MomentGraph | None = None, random_state: int = 0
) -> StructuralCausalModel:
    """Return a fitted DoWhy model: ``X_j = m_j(mean parents) + v_j(variance parents) E_j``.

    Use it with ``dowhy.gcm`` for samples, interventions and counterfactuals; do not call
    ``gcm.fit`` on it. Functions are at their posterior means given one pair of graphs; for the
    uncertainty of both use `momentdag.effects.intervene`.

    Discrete variables are drawn from the probabilities of their values. One value of theirs has
    many noises, so with any of them the result is a ``StructuralCausalModel``, for samples and
    interventions; without, it is an ``InvertibleStructuralCausalModel``, which has counterfactuals
    too. Columns of text are codes 0, 1, ... in the order of ``estimator.result_.observed.labels``.

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
        If the family of the fit has no mechanisms.
    MissingExtraError
        If DoWhy is not installed.
    NotFittedError
        If the estimator is not fitted.
    GraphError
        If the graph has other variables.

    Examples
    --------
    With a fitted ``estimator``, the sd of ``x2`` after setting ``x1`` to 2::

        model = md.effects.export.to_dowhy(estimator)
        dowhy.gcm.interventional_samples(
            model, {"x1": lambda x: 2.0}, num_samples_to_draw=1000
        )["x2"].std()
    """
    inputs = read_inputs(estimator)
    require("dowhy", extra="dowhy", purpose="Export to DoWhy")
    from dowhy import gcm

    # Imported here: its classes derive from classes of the optional package.
    from momentdag.effects.export import location_scale

    names = inputs.names
    pair = consensus_pair(estimator) if graph is None else graph.reorder(names)
    mechanisms = inputs.model.mean_functions(pair)
    union: nx.DiGraph[Any] = nx.DiGraph()
    union.add_nodes_from(names)
    union.add_edges_from(pair.edges())
    invertible = not any(mechanism.is_discrete for mechanism in mechanisms.values())
    kind = gcm.InvertibleStructuralCausalModel if invertible else gcm.StructuralCausalModel
    model = kind(union)
    rngs = np.random.default_rng(random_state).spawn(len(names))
    for name, rng in zip(names, rngs, strict=True):
        # DoWhy passes the values of a node's parents in the order of their names.
        parents = sorted(pair.parents(name))
        columns = [names.index(parent) for parent in parents]
        mechanism = location_scale.make_model(rng, mechanisms[name], columns, len(names))
        model.set_causal_mechanism(name, mechanism)
        model.graph.nodes[name][location_scale.PARENTS_DURING_FIT] = parents
    return model
