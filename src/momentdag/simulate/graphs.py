"""Random pairs of mean and variance graphs over one random order."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from momentdag.graph import BoolArray, MomentGraph
from momentdag.simulate.options import check_choice, check_count

__all__ = ["GraphKind", "erdos_renyi", "random_moment_graph", "scale_free", "uniform"]

GraphKind = Literal["erdos-renyi", "scale-free"]
"""Edges placed uniformly on one order, or by preferential attachment."""


def erdos_renyi(rng: np.random.Generator, n_variables: int, n_edges: int) -> BoolArray:
    """Draw a strictly upper-triangular graph with exactly ``n_edges`` edges, uniformly.

    Parameters
    ----------
    rng : numpy.random.Generator
    n_variables : int
        Number of variables d.
    n_edges : int
        Capped at d(d - 1)/2, the complete graph.

    Returns
    -------
    bool array, shape (d, d)
        Row causes column; position in the order is the index.

    Examples
    --------
    >>> int(erdos_renyi(np.random.default_rng(0), n_variables=5, n_edges=7).sum())
    7
    """
    causes, effects = np.triu_indices(n_variables, k=1)
    chosen = rng.choice(len(causes), size=min(n_edges, len(causes)), replace=False)
    adjacency = np.zeros((n_variables, n_variables), dtype=bool)
    adjacency[causes[chosen], effects[chosen]] = True
    return adjacency


def scale_free(rng: np.random.Generator, n_variables: int, n_attachments: int = 1) -> BoolArray:
    """Draw a strictly upper-triangular graph by preferential attachment.

    Each new variable receives edges from ``n_attachments`` earlier ones (from all, if there are
    fewer), chosen without replacement with probability proportional to their degree
    [1]_. With one attachment the d - 1 edges give an expected degree of nearly 2. Edges point
    from the older variable to the newer, so the hubs are regulators, as in gene networks, where
    the out-degree is scale-free and the in-degree is not.

    Returns
    -------
    bool array, shape (d, d)
        Row causes column; position in the order is the index.

    References
    ----------
    .. [1] A.-L. Barabási and R. Albert, "Emergence of scaling in random networks", Science 286,
       1999.

    Examples
    --------
    >>> scale_free(np.random.default_rng(0), n_variables=6).sum(axis=0).tolist()
    [0, 1, 1, 1, 1, 1]
    """
    adjacency = np.zeros((n_variables, n_variables), dtype=bool)
    for new in range(1, n_variables):
        degree = adjacency[:new].sum(axis=1) + adjacency[:, :new].sum(axis=0)
        if new <= n_attachments:
            adjacency[:new, new] = True
        elif n_attachments > 0:
            regulators = rng.choice(new, n_attachments, replace=False, p=degree / degree.sum())
            adjacency[regulators, new] = True
    return adjacency


def uniform(rng: np.random.Generator, n_variables: int) -> BoolArray:
    """Draw each of the d(d - 1)/2 forward edges with probability 1/2, shape (d, d).

    Examples
    --------
    >>> uniform(np.random.default_rng(0), n_variables=3).shape
    (3, 3)
    """
    return np.triu(rng.random((n_variables, n_variables)) < 0.5, k=1)


def random_moment_graph(
    rng: np.random.Generator,
    n_variables: int,
    edges_per_node: int | None,
    *,
    graph_kind: GraphKind = "erdos-renyi",
    shared_graph: bool = False,
) -> tuple[MomentGraph, npt.NDArray[np.intp]]:
    """Draw a mean and a variance graph on one random order of the variables ``x1 .. xd``.

    Parameters
    ----------
    rng : numpy.random.Generator
    n_variables : int
    edges_per_node : int or None
        Erdős-Rényi: each graph has exactly ``edges_per_node * n_variables`` edges, or all that
        fit; with None each pair of the order is an edge with probability 1/2. Scale-free: the
        number of regulators of each new variable.
    graph_kind : {"erdos-renyi", "scale-free"}
    shared_graph : bool
        Use one graph for both moments instead of two separate draws.

    Returns
    -------
    graph : MomentGraph
    order : int array, shape (d,)
        The drawn order, causes first. It is a random permutation, unrelated to the index.

    Raises
    ------
    OptionError
        If an option is outside its range.

    Examples
    --------
    >>> graph, order = random_moment_graph(np.random.default_rng(1), 5, edges_per_node=1)
    >>> graph
    MomentGraph(5 variables, 5 mean edges, 5 variance edges)
    """
    check_count("n_variables", n_variables, 1)
    check_choice("graph_kind", graph_kind, get_args(GraphKind))
    if edges_per_node is not None or graph_kind == "scale-free":
        check_count("edges_per_node", edges_per_node, 0)

    def draw() -> BoolArray:
        if edges_per_node is None:
            return uniform(rng, n_variables)
        if graph_kind == "scale-free":
            return scale_free(rng, n_variables, edges_per_node)
        return erdos_renyi(rng, n_variables, edges_per_node * n_variables)

    order = rng.permutation(n_variables).astype(np.intp)
    upper = draw()
    triangles = (upper, upper if shared_graph else draw())
    graphs = [np.zeros((n_variables, n_variables), dtype=bool) for _ in triangles]
    for adjacency, triangle in zip(graphs, triangles, strict=True):
        adjacency[np.ix_(order, order)] = triangle
    names = tuple(f"x{i + 1}" for i in range(n_variables))
    return MomentGraph(names, *graphs), order
