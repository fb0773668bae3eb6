"""Both probabilities of an edge and the misfit of a variable, on the page."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone

import momentdag as md
from momentdag.posterior import ModelDoubt, Posterior
from momentdag.report.doubt import PlainEdges, gather_doubt, misfit_of


@pytest.fixture(scope="module")
def doubted(linear):
    """Return a quick fit that says: under the model alone every edge would be as good as none."""
    before = linear.posterior_
    doubt = ModelDoubt(np.full((3, 3, 3), 0.01), np.array([1.0, 2.5, 6.0]))
    posterior = Posterior(
        before.names, before.mean_graphs, before.variance_graphs, before.provenance, doubt=doubt
    )
    return clone(linear).adopt(replace(linear.result_, posterior=posterior))


def test_what_the_page_says(doubted):
    found = gather_doubt(doubted.posterior_)
    assert found.is_doubtful
    assert found.n_unsure == len(found.edges) > 0
    assert {"cause", "effect", "moment", "probability", "plain"} == set(found.edges[0])
    assert [each.index for each in found.misfit] == [6.0, 2.5, 1.0]
    assert [bool(each.advice) for each in found.misfit] == [True, True, False]
    assert "state an order" in found.misfit[0].advice


def test_a_number_beside_another_only_where_they_differ(doubted):
    plain = PlainEdges(doubted.posterior_)
    first, second = doubted.posterior_.names[:2]
    assert plain.beside(first, second, "mean", 0.6) == {"plain": 0.01, "unsure": True}
    assert plain.beside(first, second, "mean", 0.08) == {"plain": 0.01, "unsure": False}
    assert plain.beside(first, second, "variance", 0.02) == {"plain": None, "unsure": False}


def test_without_worlds_the_page_has_one_number(linear):
    assert gather_doubt(linear.posterior_) is None
    assert misfit_of(linear.posterior_, linear.posterior_.names[0]) is None
    beside = PlainEdges(linear.posterior_).beside(*linear.posterior_.names[:2], "mean", 0.6)
    assert beside == {"plain": None, "unsure": False}


def test_the_page_of_a_doubted_fit(doubted, data, tmp_path):
    page = md.report.write_report(doubted, data, tmp_path / "report.html").read_text("utf-8")
    assert "sure under the model, not sure of the model" in page
    assert 'id="unsure-edges"' in page
    assert "model 0.01" in page
    assert "against the model" in page
