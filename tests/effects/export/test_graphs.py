import json

import networkx as nx
import numpy as np
import pytest

from momentdag.effects.export import (
    from_graphml,
    to_cytoscape,
    to_graphml,
    to_networkx,
    to_pgmpy,
)
from momentdag.errors import GraphError, OptionError
from momentdag.graph import MomentGraph


def test_networkx_edges_carry_moment_and_probability(posterior, graph):
    exported = to_networkx(posterior)
    assert exported.edges["dose (mg)", "y"] == {
        "mean": True,
        "variance": True,
        "moment": "both",
        "mean_probability": 1.0,
        "variance_probability": 0.75,
    }
    assert exported.edges["a\\b", "it's"]["moment"] == "variance"
    assert MomentGraph.from_networkx(exported) == graph


def test_a_pair_alone_has_no_probabilities(graph):
    assert "mean_probability" not in to_networkx(graph).edges["dose (mg)", "y"]
    assert set(to_networkx(graph)) == set(graph.names)


def test_graphml_comes_back(posterior, graph, tmp_path):
    assert from_graphml(to_graphml(posterior)) == graph
    path = tmp_path / "pair.graphml"
    path.write_text(to_graphml(posterior), encoding="utf-8")
    read = nx.read_graphml(path)
    assert read.edges["dose (mg)", "y"]["variance_probability"] == 0.75


def test_foreign_graphml_must_say_its_moment():
    foreign = "\n".join(nx.generate_graphml(nx.DiGraph([("a", "b")])))
    with pytest.raises(GraphError, match="to have mean= or variance="):
        from_graphml(foreign)


def test_cytoscape_json_comes_back_through_networkx(posterior, graph):
    text = json.dumps(to_cytoscape(posterior))
    back = nx.cytoscape_graph(json.loads(text))
    assert MomentGraph.from_networkx(back) == graph
    edge = json.loads(text)["elements"]["edges"][0]["data"]
    assert {edge["source"], edge["target"]} <= set(graph.names)
    assert edge["moment"] in ("mean", "variance", "both")


def test_pgmpy_reads_independences_from_the_chosen_graph(posterior):
    pytest.importorskip("pgmpy")
    either, mean = to_pgmpy(posterior), to_pgmpy(posterior, "mean")
    assert either.has_edge("a\\b", "it's")
    assert not mean.has_edge("a\\b", "it's")
    assert set(mean.nodes) == set(posterior.names)
    assert either.edges["dose (mg)", "y"]["variance_probability"] == 0.75
    # A collider: the two causes of y are connected only once it is known.
    assert not either.is_dconnected("dose (mg)", 'the "second"')
    assert either.is_dconnected("dose (mg)", 'the "second"', observed=["y"])


def test_an_estimator_stands_for_its_consensus(posterior, graph):
    from momentdag import MomentDAG
    from momentdag.engines.protocol import FitResult
    from momentdag.table import Dataset

    estimator = MomentDAG()
    with pytest.raises(Exception, match="not fitted"):
        to_networkx(estimator)
    values = np.random.default_rng(0).normal(size=(30, graph.n_variables))
    observed = Dataset(values, graph.names).observe()
    estimator.adopt(FitResult(posterior, None, graph, observed))
    estimator.mean_graph_ = graph.to_networkx("mean")
    estimator.variance_graph_ = graph.to_networkx("variance")
    assert MomentGraph.from_networkx(to_networkx(estimator)) == graph


def test_nothing_else_can_be_exported():
    with pytest.raises(OptionError, match="a Posterior or a fitted MomentDAG; got 3"):
        to_networkx(3)


@pytest.mark.parametrize("text", ["", "<", "<a/>", "<graphml>", "\0", "<graphml><graph/></a>"])
def test_what_is_no_graphml_is_a_clear_error(text):
    with pytest.raises(GraphError):
        from_graphml(text)


def test_graphml_with_entities_is_refused_unread():
    with pytest.raises(GraphError, match="without a document type"):
        from_graphml('<!DOCTYPE a [<!ENTITY b "b">]><graphml/>')
