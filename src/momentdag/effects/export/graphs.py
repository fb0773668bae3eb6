"""Graphs for other graph programs: networkx, GraphML, Cytoscape, pgmpy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import networkx as nx

from momentdag.effects.export.source import Source, read_source
from momentdag.errors import GraphError, quote, require
from momentdag.graph import MomentGraph, Selection

if TYPE_CHECKING:
    from pgmpy.base import DAG

__all__ = ["from_graphml", "to_cytoscape", "to_graphml", "to_networkx", "to_pgmpy"]


def to_networkx(source: Source) -> nx.DiGraph[Any]:
    """Return the union as a networkx graph whose edges say which moment they act on.

    Edges carry ``mean`` and ``variance`` (bool), ``moment`` ("mean", "variance", "both") and,
    from draws, ``mean_probability`` and ``variance_probability``. Nodes of a fit carry the ``kind``
    of their column.
    `MomentGraph.from_networkx` reads it back.

    Parameters
    ----------
    source : MomentGraph, Posterior or MomentDAG

    Raises
    ------
    OptionError
        If the source is something else.

    Examples
    --------
    >>> graph = MomentGraph.from_edges("ab", mean=[("a", "b")])
    >>> to_networkx(graph).edges["a", "b"]["moment"]
    'mean'
    """
    labelled = read_source(source)
    graph: nx.DiGraph[Any] = nx.DiGraph()
    for name in labelled.graph.names:
        kind = labelled.kinds.get(name)
        graph.add_node(name, **({} if kind is None else {"kind": kind}))
    for edge in labelled.edges():
        graph.add_edge(
            edge.cause,
            edge.effect,
            mean=edge.moment != "variance",
            variance=edge.moment != "mean",
            moment=edge.moment,
        )
        if edge.mean_probability is not None:
            graph.edges[edge.cause, edge.effect].update(
                mean_probability=edge.mean_probability,
                variance_probability=edge.variance_probability,
            )
    return graph


def to_graphml(source: Source) -> str:
    """Return GraphML text with the edge attributes of `to_networkx`; `from_graphml` reads it.

    Examples
    --------
    >>> text = to_graphml(MomentGraph.from_edges(["dose", "pain"], mean=[("dose", "pain")]))
    >>> from_graphml(text).edges("mean")
    [('dose', 'pain')]
    """
    return "\n".join(nx.generate_graphml(to_networkx(source)))


def from_graphml(text: str) -> MomentGraph:
    """Read the pair from the text of `to_graphml`, or any GraphML with mean= and variance=.

    Raises
    ------
    GraphError
        If it is no GraphML, an edge does not say its moment or the union has a cycle.
    """
    if "<!DOCTYPE" in text.upper():  # entities could unpack to very much
        raise GraphError("Expected GraphML without a document type; leave <!DOCTYPE ...> out.")
    try:
        graph = nx.parse_graphml(text)
    except Exception as error:  # of the XML parser and of networkx, many types
        raise GraphError(f"Expected GraphML; the parser says: {quote(str(error))}.") from error
    return MomentGraph.from_networkx(graph)


def to_cytoscape(source: Source) -> dict[str, Any]:
    """Return Cytoscape JSON (``elements`` with nodes and edges) as plain values.

    Examples
    --------
    >>> graph = MomentGraph.from_edges("ab", variance=[("a", "b")])
    >>> to_cytoscape(graph)["elements"]["edges"][0]["data"]["moment"]
    'variance'
    """
    graph: Any = nx.cytoscape_data(to_networkx(source))
    for node in graph["elements"]["nodes"]:
        node["data"]["label"] = node["data"]["name"]
    return dict(graph)


def to_pgmpy(source: Source, moment: Selection = "either") -> DAG:
    """Return a pgmpy ``DAG`` of the selected edges, which carry the attributes of `to_networkx`.

    pgmpy has no model whose variance depends on causes, so only the structure is exported.

    Raises
    ------
    OptionError
        If the source cannot be exported.
    MissingExtraError
        If pgmpy is not installed.
    GraphError
        If ``moment`` is none of the choices.

    Examples
    --------
    >>> graph = MomentGraph.from_edges("abc", mean=[("a", "b")], variance=[("c", "b")])
    >>> sorted(to_pgmpy(graph, "mean").edges)  # doctest: +SKIP
    [('a', 'b')]
    """
    require("pgmpy", extra="pgmpy", purpose="Export to pgmpy")
    from pgmpy.base import DAG

    union = to_networkx(source)
    chosen = read_source(source).graph.edges(moment)
    dag = DAG()
    dag.add_nodes_from(union.nodes)
    dag.add_edges_from(chosen)
    for cause, effect in chosen:
        dag.edges[cause, effect].update(union.edges[cause, effect])
    return dag
