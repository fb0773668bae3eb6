import pytest

from momentdag.effects.export import from_formulas, to_formulas
from momentdag.errors import GraphError
from momentdag.graph import MomentGraph


def test_formulas_come_back(graph):
    for smooth in (False, True):
        back = from_formulas(to_formulas(graph, smooth=smooth))
        assert back.reorder(graph.names) == graph


def test_the_lines_follow_the_causal_order(posterior):
    lines = to_formulas(posterior).splitlines()
    assert lines[-1] == "`it's` ~ y; sigma ~ `a\\\\b`"
    assert 'y ~ `dose (mg)` + `the "second"`; sigma ~ `dose (mg)`' in lines
    assert "`a\\\\b` ~ 1; sigma ~ 1" in lines


def test_smooth_terms():
    graph = MomentGraph.from_edges(["z", "y"], mean=[("z", "y")])
    assert to_formulas(graph, smooth=True).endswith("y ~ s(z); sigma ~ 1")


@pytest.mark.parametrize("name", ["sigma", "s", "1", "1st", ".5", "if", "back`tick", "a+b", "NA"])
def test_names_that_would_be_misread_are_quoted(name):
    graph = MomentGraph.from_edges([name, "y"], mean=[(name, "y")], variance=[(name, "y")])
    assert to_formulas(graph).startswith("`")
    assert from_formulas(to_formulas(graph)) == graph


def test_formulaic_reads_either_half():
    formulaic = pytest.importorskip("formulaic")
    graph = MomentGraph.from_edges(
        ["x1", "the dose", "y"], mean=[("x1", "y"), ("the dose", "y")], variance=[("x1", "y")]
    )
    mean, sigma = to_formulas(graph).splitlines()[-1].split("; ")
    read = formulaic.Formula(mean)
    assert {str(term) for term in read.rhs} == {"1", "x1", "the dose"}
    assert [str(term) for term in read.lhs] == ["y"]
    assert {str(term) for term in formulaic.Formula(sigma).rhs} == {"1", "x1"}


@pytest.mark.parametrize(
    "text", ["y", "y ~ x", "y ~ ; sigma ~ 1", "y ~ 1; sigma ~ 1; more", "y ~ 1; sigma ~ z"]
)
def test_what_is_no_formula(text):
    with pytest.raises(GraphError, match=r"[Ee]xpected"):
        from_formulas(text)
