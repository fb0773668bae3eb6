"""Heteroscedastic and additive noise models with random graphs and mechanisms (appendix D.3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np

from momentdag.graph import MomentGraph
from momentdag.simulate.equations import StructuralEquation, grow_equations
from momentdag.simulate.graphs import GraphKind, random_moment_graph
from momentdag.simulate.mechanisms import Constant, Linear, Mechanism, SigmoidNetwork
from momentdag.simulate.noise import NoiseKind
from momentdag.simulate.options import FloatArray, check_choice, check_count, check_positive
from momentdag.simulate.simulation import Simulation

__all__ = [
    "Scaling",
    "hnm",
    "linear_anm",
    "mean_variance_hnm",
    "mean_variance_hnm_from_graph",
    "nonlinear_anm",
]

Scaling = Literal["standardised", "literal"]
"""Network outputs rescaled over the sample, or used as drawn."""


def mean_variance_hnm(
    rng: np.random.Generator,
    n_variables: int = 10,
    edges_per_node: int = 2,
    n_samples: int = 500,
    *,
    graph_kind: GraphKind = "erdos-renyi",
    shared_graph: bool = False,
    noise: NoiseKind = "gaussian",
    mean_scale: float = 2.0,
    log_std_spread: float = 0.8,
    scaling: Scaling = "standardised",
) -> Simulation:
    """Simulate a mean-variance heteroscedastic noise model with a random pair of graphs.

    ``X_j = m_j(X_paM(j)) + exp(v_j(X_paV(j))) E_j`` (appendix D.3.1), where m and v are networks
    with one hidden layer of 100 sigmoid units and all weights ±U(0.5, 2). A variable without
    mean parents has mean 0; one without variance parents has ``exp(v) = 1``.

    The paper leaves the scale of v open, and as drawn ``exp(v)`` spans many orders of magnitude.
    So by default each network's output is shifted and scaled over the sample (parameters
    ``mean_scale``, ``log_std_spread``); the constants belong to the mechanism from then on.

    Parameters
    ----------
    rng : numpy.random.Generator
    n_variables : int
        Number of variables d, named ``x1 .. xd``; their index does not follow the causal order.
    edges_per_node : int
        Each of the two graphs has exactly ``edges_per_node * d`` edges, or all that fit.
    n_samples : int
        Rows of the table; at least 2.
    graph_kind : {"erdos-renyi", "scale-free"}
        See `random_moment_graph`.
    shared_graph : bool
        Give both moments the same parents.
    noise : {"gaussian", "laplace", "student_t3"}
        Distribution of E; Laplace(0, 1) and t(3) have sd sqrt 2 and sqrt 3.
    mean_scale, log_std_spread : float
        Sd over the sample of m and of v; used by the standardised scaling.
    scaling : {"standardised", "literal"}
        "literal" takes the networks' outputs as drawn.

    Returns
    -------
    Simulation

    Raises
    ------
    OptionError
        If an option is outside its choices or range.
    DataError
        If the table is not finite.

    Examples
    --------
    >>> import numpy as np
    >>> simulation = mean_variance_hnm(np.random.default_rng(0), n_variables=5, edges_per_node=1)
    >>> simulation.data.shape
    (500, 5)
    >>> simulation.graph
    MomentGraph(5 variables, 5 mean edges, 5 variance edges)
    """
    graph, order = random_moment_graph(
        rng, n_variables, edges_per_node, graph_kind=graph_kind, shared_graph=shared_graph
    )
    return _simulate(
        rng, graph, order.tolist(), n_samples, noise, mean_scale, log_std_spread, scaling
    )


def mean_variance_hnm_from_graph(
    rng: np.random.Generator,
    graph: MomentGraph,
    n_samples: int = 500,
    *,
    noise: NoiseKind = "gaussian",
    mean_scale: float = 2.0,
    log_std_spread: float = 0.8,
    scaling: Scaling = "standardised",
) -> Simulation:
    """Simulate a mean-variance heteroscedastic noise model on a given pair of graphs.

    The options, the result and the errors are those of `mean_variance_hnm`.

    Examples
    --------
    >>> import numpy as np
    >>> graph = MomentGraph.from_edges(["a", "b", "y"], mean=[("a", "y")], variance=[("b", "y")])
    >>> mean_variance_hnm_from_graph(np.random.default_rng(0), graph, n_samples=20).data.shape
    (20, 3)
    """
    order = [graph.index(name) for name in graph.order]
    return _simulate(rng, graph, order, n_samples, noise, mean_scale, log_std_spread, scaling)


def hnm(
    rng: np.random.Generator,
    n_variables: int = 10,
    edges_per_node: int = 2,
    n_samples: int = 500,
    *,
    graph_kind: GraphKind = "erdos-renyi",
    noise: NoiseKind = "gaussian",
    mean_scale: float = 2.0,
    log_std_spread: float = 0.8,
    scaling: Scaling = "standardised",
) -> Simulation:
    """Simulate a heteroscedastic noise model: one graph for both moments (appendix D.3.3).

    `mean_variance_hnm` with ``shared_graph=True``; the other options, the result and the errors
    are the same. Laplace and t(3) noise give the non-Gaussian data of appendix D.3.4.

    Examples
    --------
    >>> import numpy as np
    >>> simulation = hnm(np.random.default_rng(0), n_variables=5, edges_per_node=1)
    >>> bool((simulation.graph.mean_graph == simulation.graph.variance_graph).all())
    True
    """
    return mean_variance_hnm(
        rng,
        n_variables,
        edges_per_node,
        n_samples,
        graph_kind=graph_kind,
        shared_graph=True,
        noise=noise,
        mean_scale=mean_scale,
        log_std_spread=log_std_spread,
        scaling=scaling,
    )


def nonlinear_anm(
    rng: np.random.Generator,
    n_variables: int = 10,
    edges_per_node: int = 2,
    n_samples: int = 500,
    *,
    graph_kind: GraphKind = "erdos-renyi",
    mean_scale: float = 2.0,
    scaling: Scaling = "standardised",
) -> Simulation:
    """Simulate a nonlinear Gaussian additive noise model (appendix D.3.3).

    ``X_j = m_j(X_pa(j)) + E_j``, ``E_j ~ N(0, s_j²)``, ``s_j² ~ U(0.5, 2)`` for every variable,
    with m as in `mean_variance_hnm`. The variance graph is empty. Options, result and errors are
    those of `mean_variance_hnm`.

    Examples
    --------
    >>> import numpy as np
    >>> nonlinear_anm(np.random.default_rng(0), n_variables=5, edges_per_node=1).graph
    MomentGraph(5 variables, 5 mean edges, 0 variance edges)
    """
    _check_scaling(scaling, mean_scale)
    check_count("n_samples", n_samples, 2)
    shared, order = random_moment_graph(
        rng, n_variables, edges_per_node, graph_kind=graph_kind, shared_graph=True
    )
    graph = _without_variance_edges(shared)

    def equation(j: int, values: FloatArray) -> StructuralEquation:
        parents = np.flatnonzero(graph.mean_graph[:, j])
        log_std = Constant(0.5 * float(np.log(rng.uniform(0.5, 2.0))))
        mean = _network(rng, values[:, parents], mean_scale, scaling)
        return StructuralEquation(parents, parents[:0], mean, log_std)

    model, table = grow_equations(rng, graph.names, order.tolist(), n_samples, "gaussian", equation)
    return Simulation.from_values(table, graph, order.tolist(), "gaussian", model)


def linear_anm(
    rng: np.random.Generator,
    n_variables: int = 3,
    edges_per_node: int | None = None,
    n_samples: int = 500,
    *,
    graph_kind: GraphKind = "erdos-renyi",
) -> Simulation:
    """Simulate a linear Gaussian additive noise model (appendix D.3.2).

    ``X_j = w_j . X_pa(j) + E_j`` with ``w = ±(0.5 + 0.8 U)``, ``U ~ U(0, 1)``, and unit Gaussian
    noise. The variance graph is empty. With ``edges_per_node=None`` each pair of the order is an
    edge with probability 1/2: a fixed number per node would always make two or three variables
    a complete graph. The other options, the result and the errors are those of
    `mean_variance_hnm`.

    Examples
    --------
    >>> import numpy as np
    >>> linear_anm(np.random.default_rng(0), n_variables=4).data.shape
    (500, 4)
    """
    check_count("n_samples", n_samples, 2)
    shared, order = random_moment_graph(
        rng, n_variables, edges_per_node, graph_kind=graph_kind, shared_graph=True
    )
    graph = _without_variance_edges(shared)

    def equation(j: int, values: FloatArray) -> StructuralEquation:
        parents = np.flatnonzero(graph.mean_graph[:, j])
        return StructuralEquation(
            parents, parents[:0], Linear.draw(rng, len(parents)), Constant(0.0)
        )

    model, table = grow_equations(rng, graph.names, order.tolist(), n_samples, "gaussian", equation)
    return Simulation.from_values(table, graph, order.tolist(), "gaussian", model)


def _simulate(
    rng: np.random.Generator,
    graph: MomentGraph,
    order: Sequence[int],
    n_samples: int,
    noise: NoiseKind,
    mean_scale: float,
    log_std_spread: float,
    scaling: Scaling,
) -> Simulation:
    check_count("n_samples", n_samples, 2)
    check_choice("noise", noise, get_args(NoiseKind))
    _check_scaling(scaling, mean_scale)
    check_positive("log_std_spread", log_std_spread)

    def equation(j: int, values: FloatArray) -> StructuralEquation:
        mean_parents = np.flatnonzero(graph.mean_graph[:, j])
        variance_parents = np.flatnonzero(graph.variance_graph[:, j])
        mean = _network(rng, values[:, mean_parents], mean_scale, scaling)
        log_std = _network(rng, values[:, variance_parents], log_std_spread, scaling)
        return StructuralEquation(mean_parents, variance_parents, mean, log_std)

    model, table = grow_equations(rng, graph.names, order, n_samples, noise, equation)
    return Simulation.from_values(table, graph, order, noise, model)


def _network(
    rng: np.random.Generator, parents: FloatArray, spread: float, scaling: Scaling
) -> Mechanism:
    if parents.shape[1] == 0:
        return Constant(0.0)
    network = SigmoidNetwork.draw(rng, parents.shape[1])
    return network if scaling == "literal" else network.standardised_over(parents, spread)


def _check_scaling(scaling: Scaling, mean_scale: float) -> None:
    check_choice("scaling", scaling, get_args(Scaling))
    check_positive("mean_scale", mean_scale)


def _without_variance_edges(graph: MomentGraph) -> MomentGraph:
    return MomentGraph(graph.names, graph.mean_graph, np.zeros_like(graph.variance_graph))
