import numpy as np
import pytest
from studies.fits import Fitted
from studies.sachs import sachs

from momentdag.datasets import load_sachs
from momentdag.knowledge import Knowledge
from momentdag.metrics import f1, shd
from momentdag.posterior import Posterior, Provenance


def test_rows_are_drawn_without_replacement_and_anew_for_each_set():
    first, second = sachs(100).draw(0).data, sachs(100).draw(1).data
    assert len(first) == 100
    assert not first.equals(second)
    everything = sachs(853, scale="raw").draw(5).data
    assert everything.equals(load_sachs().data)


def test_the_log_scale_is_that_of_the_same_cells():
    raw, log = sachs(200, scale="raw").draw(2).data, sachs(200).draw(2).data
    assert np.allclose(np.exp(log), raw)


def test_more_knowledge_contains_less_and_both_networks_agree_with_it():
    quarter, half = (sachs(100, share).draw(0).orderings for share in (0.25, 0.5))
    assert set(quarter) < set(half)
    assert sachs(100).draw(0).orderings == ()
    for edges in ("17", "20"):
        network = load_sachs(edges).union_graph
        told = Knowledge(order=list(half))
        told.check(network.columns)
        pairs = [(a, b) for a in network.index for b in network.columns if network.loc[a, b]]
        Knowledge(order=[*half, *pairs]).check(network.columns)  # no contradiction


def test_the_union_is_held_against_both_networks():
    case = sachs(100)
    task = case.draw(0)
    truth = load_sachs("17").union_graph
    graph = truth.to_numpy(dtype=bool)[None]
    posterior = Posterior(truth.columns, graph, np.zeros_like(graph), Provenance("by hand"))
    measures = case.measure(task, Fitted(posterior))
    other = load_sachs("20").union_graph
    assert (measures["shd_17"], measures["f1_17"]) == (0, 1)
    assert measures["shd_20"] == shd(truth, other) == 4
    assert measures["f1_20"] == pytest.approx(f1(truth, other))
    assert (measures["mek_erk_mean"], measures["mek_erk_variance"]) == (1, 0)
