import numpy as np
import pytest
from studies.fits import Fitted
from studies.simulated import simulated

from momentdag.metrics import f1, shd, sid
from momentdag.posterior import Posterior, Provenance


def test_a_point_estimate_is_measured_like_a_single_graph():
    case = simulated("sparse-5")
    task = case.draw(3)
    truth = task.truths["simulated"]
    other = case.draw(4).truths["simulated"]
    posterior = Posterior(
        truth.names, other.mean_graph[None], other.variance_graph[None], Provenance("by hand")
    )
    measures = case.measure(task, Fitted(posterior))
    for label, moment in (("mean", "mean"), ("variance", "variance"), ("union", "either")):
        estimate, true = other.to_frame(moment), truth.to_frame(moment)
        assert measures[f"shd_{label}"] == shd(estimate, true) > 0
        assert measures[f"shd_rate_{label}"] == pytest.approx(shd(estimate, true) / 10)
        assert measures[f"f1_{label}"] == pytest.approx(f1(estimate, true))
    assert measures["sid_union"] == sid(other.union_frame, truth.union_frame)


def test_sid_is_averaged_over_draws():
    case = simulated("laplace-5")
    task = case.draw(0)
    truth = task.truths["simulated"]
    empty = np.zeros_like(truth.mean_graph)
    graphs = np.stack([truth.mean_graph, truth.mean_graph, truth.mean_graph, empty])
    posterior = Posterior(truth.names, graphs, graphs, Provenance("by hand"))
    expected = sid(empty, truth.union_graph) / 4
    assert case.measure(task, Fitted(posterior))["sid_union"] == pytest.approx(expected)


def test_sets_differ_and_repeat():
    case = simulated("sparse-5")
    assert case.draw(0).data.equals(case.draw(0).data)
    assert not case.draw(0).data.equals(case.draw(1).data)


def test_orderings_told_are_true_and_broken_ones_are_counted():
    case = simulated("sparse-5", share=0.5)
    task = case.draw(2)
    assert task.data.equals(simulated("sparse-5").draw(2).data)
    assert len(task.orderings) == 5
    truth = task.truths["simulated"]
    assert not any(truth.has_path(second, first) for first, second in task.orderings)
    graphs = np.zeros((4, 5, 5), dtype=bool)
    first, second = (truth.names.index(name) for name in task.orderings[0])
    graphs[0, second, first] = True
    posterior = Posterior(truth.names, graphs, graphs, Provenance("by hand"))
    assert case.measure(task, Fitted(posterior))["n_broken"] == 1
