import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from momentdag.errors import GraphError, MomentdagError, OptionError
from momentdag.graph import MomentGraph
from momentdag.posterior import Posterior, Provenance
from momentdag.posterior.language import Claim, Combined, ask, parse

NAMES = ["a", "b", "c d", "and", "x->y", "[e]", 'say "hi"']
CHAIN = MomentGraph.from_edges(NAMES, mean=[("a", "b")], variance=[("b", "c d"), ("a", "b")])
FORK = MomentGraph.from_edges(NAMES, mean=[("a", "c d"), ("and", "x->y")], variance=[("[e]", "a")])


@pytest.fixture(scope="module")
def posterior():
    rng = np.random.default_rng(0)
    graphs = [(CHAIN, FORK)[k] for k in rng.permutation(np.repeat([0, 1], [30, 10]))]
    return Posterior(
        NAMES,
        [graph.mean_graph for graph in graphs],
        [graph.variance_graph for graph in graphs],
        Provenance("by hand"),
    )


@pytest.mark.parametrize(
    ("text", "probability"),
    [
        ("a -> b", 0.75),
        ("a->b[both]", 0.75),
        ("a -> b [mean only]", 0),
        ("b -> 'c d' [variance_only]", 0.75),
        ('b -> "c d" [ VARIANCE  only ]', 0.75),
        ("a ~> 'c d'", 1),
        ("a ~> 'c d' [mean]", 0.25),
        ("a ~> 'c d' [variance]", 0.75),
        ("a -> b -> 'c d'", 0.75),
        ("a -> b -> 'c d' [mean]", 0),
        ("a -> b, a -> 'c d'", 0),
        ("a -> b or a -> 'c d'", 1),
        ("not a -> b", 0.25),
        ("not (a -> b and a -> 'c d')", 1),
        ("a -> b or a -> 'c d' and b -> a", 0.75),
        ("(a -> b or a -> 'c d') AND b -> a", 0),
        ("'and' -> 'x->y' [mean]", 0.25),
        ("'[e]' ~> \"c d\"", 0.25),
        (r'"say \"hi\"" -> a', 0),
    ],
)
def test_answers(posterior, text, probability):
    assert ask(posterior, text).probability == probability


def test_answers_agree_with_the_posterior(posterior):
    for moment in ("mean", "variance", "either", "both", "mean_only", "variance_only"):
        edge = ask(posterior, f"a -> b [{moment}]").probability
        assert edge == posterior.edge_probability("a", "b", moment)
        path = ask(posterior, f"a ~> 'c d' [{moment}]").probability
        assert path == posterior.path_probability("a", "c d", moment)


def test_the_standard_error_is_that_of_the_draws(posterior):
    answer = ask(posterior, "a -> b")
    expected = posterior.standard_error(lambda graph: graph.has_edge("a", "b"))
    assert answer.standard_error == expected > 0


def test_what_is_read():
    assert parse("a ~> b") == Claim("a", "~>", "b", "either")
    both = parse("a -> b, not b -> a")
    assert isinstance(both, Combined)
    assert both.word == "and"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "name of a variable at character 1.*got its end"),
        ("a", "'->' or '~>' at character 2"),
        ("a b", "at character 3.*quotes"),
        ("a -> ", "name of a variable"),
        ("-> b", "name of a variable at character 1"),
        ("a -> b [median]", "Expected a moment among"),
        ("a -> b [mean", "character 8"),
        ("a -> b c -> d", "'and', 'or' or the end"),
        ("(a -> b", r"'\)'"),
        ("a -> b)", "end"),
        ("'a -> b", "character 1"),
        ("a -> b and", "name of a variable"),
        ("a -> and", "name of a variable"),
        ("(" * 60 + "a -> b", "nested"),
        ("a" * 20_000, "at most"),
    ],
)
def test_what_cannot_be_read_says_where(text, message):
    with pytest.raises(OptionError, match=message):
        parse(text)


def test_unknown_names_are_refused(posterior):
    with pytest.raises(GraphError, match="'nobody'"):
        ask(posterior, "a -> nobody")


@given(st.text(alphabet="ab ->~[]()'\"\\,andortmev\n\x00é", max_size=60))
def test_any_text_is_answered_or_refused(text):
    chain = MomentGraph.from_edges("ab", mean=[("a", "b")])
    one = Posterior("ab", [chain.mean_graph], [chain.variance_graph], Provenance("by hand"))
    try:
        answer = ask(one, text)
    except MomentdagError:
        return
    assert answer.probability in (0, 1)
