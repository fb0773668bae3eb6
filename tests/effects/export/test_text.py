import re

import pytest

from momentdag.effects.export import to_dagitty, to_dot
from momentdag.errors import GraphError
from momentdag.graph import MomentGraph

# Tokens of DAGitty's grammar: a quoted name, in which only \" is escaped, or an arrow.
TOKEN = re.compile(r'"((?:\\"|[^"])*)"|(->)|\[([^\]]*)\]')


def read_dagitty(text):
    assert text.startswith("dag {")
    edges = []
    for line in text.splitlines()[1:-1]:
        names = [name.replace('\\"', '"') for name, arrow, label in TOKEN.findall(line) if name]
        if "->" in line:
            edges.append(tuple(names[:2]))
    return edges


def test_dagitty_text_follows_its_grammar(graph):
    assert read_dagitty(to_dagitty(graph)) == graph.edges()
    assert read_dagitty(to_dagitty(graph, "variance")) == graph.edges("variance")
    assert to_dagitty(graph).count("\n") == 1 + graph.n_variables + len(graph.edges())


def test_dagitty_labels_say_moment_and_probability(posterior):
    text = to_dagitty(posterior, labels=True)
    assert '"dose (mg)" -> "y" [label="mean 1.00, variance 0.75"]' in text


# pgmpy and pydot call pyparsing by its former names.
@pytest.mark.filterwarnings("ignore:'.*deprecated.* use:DeprecationWarning")
def test_pgmpy_reads_dagitty():
    base = pytest.importorskip("pgmpy.base")
    graph = MomentGraph.from_edges(
        ["age", "dose", "pain", "alone"],
        mean=[("age", "dose"), ("dose", "pain")],
        variance=[("age", "pain")],
    )
    read = base.DAG.from_dagitty(to_dagitty(graph))
    assert {(a.strip('"'), b.strip('"')) for a, b in read.edges} == set(graph.edges())


@pytest.mark.parametrize("name", ["graph", "node", "ends\\", "two\nlines"])
def test_names_that_dagitty_cannot_hold(name):
    with pytest.raises(GraphError, match="DAGitty cannot represent the name"):
        to_dagitty(MomentGraph.from_edges([name, "b"]))


@pytest.mark.filterwarnings("ignore:'.*deprecated.* use:DeprecationWarning")
def test_pydot_reads_dot(posterior, graph):
    pydot = pytest.importorskip("pydot")
    (read,) = pydot.graph_from_dot_data(to_dot(posterior))

    def plain(name):
        return name.removeprefix('"').removesuffix('"').replace('\\"', '"')

    edges = {(plain(e.get_source()), plain(e.get_destination())): e for e in read.get_edges()}
    assert set(edges) == set(graph.edges())
    edge = edges["dose (mg)", "y"]
    assert plain(edge.get("moment")) == "both"
    assert plain(edge.get("color")) == "firebrick:royalblue"
    assert float(plain(edge.get("variance_probability"))) == 0.75
    assert plain(edge.get("label")) == "mean 1.00, variance 0.75"


def test_names_that_dot_cannot_hold():
    with pytest.raises(GraphError, match="DOT cannot represent the name"):
        to_dot(MomentGraph.from_edges(["ends\\", "b"]))
    assert '"graph"' in to_dot(MomentGraph.from_edges(["graph", "b"]))
