import numpy as np
import pytest
from studies.case import fit_task
from studies.fits import Fitted
from studies.linear_gaussian import linear_gaussian
from studies.methods import METHODS

from momentdag.posterior import Posterior, Provenance

LINEAR = METHODS["evidence-linear"]


@pytest.mark.parametrize("d", [2, 3, 4])
def test_the_exact_posterior_has_no_distance_to_itself(d):
    case = linear_gaussian(d)
    task = case.draw(0)
    fitted, _ = fit_task(LINEAR, task, 0, n_draws=4000, options=LINEAR.options)
    measures = case.measure(task, fitted)
    # Up to four variables draws are systematic: each graph is off by at most one draw of 4000,
    # and few graphs have any.
    assert measures["tv"] < 0.02
    assert measures["kl"] < 0.02


def test_one_graph_has_the_distance_of_its_probability():
    case = linear_gaussian(2)
    task = case.draw(1)
    n_draws = 100_000
    fitted, _ = fit_task(LINEAR, task, 0, n_draws=n_draws, options=LINEAR.options)
    exact = fitted.posterior
    graph = np.array([[0, 1], [0, 0]], dtype=bool)
    p = float((exact.mean_graphs == graph).all(axis=(1, 2)).mean())
    point = Posterior(exact.names, graph[None], np.zeros((1, 2, 2)), Provenance("by hand"))
    measures = case.measure(task, Fitted(point))
    # p is known to one draw of 100 000.
    assert measures["tv"] == pytest.approx(1 - p, abs=1e-4)
    assert measures["kl"] == pytest.approx(-np.log(p), abs=1e-3)


def test_a_graph_that_fits_badly_has_a_finite_divergence():
    case = linear_gaussian(4)
    task = case.draw(0)
    empty = np.zeros((1, 4, 4), dtype=bool)
    posterior = Posterior(task.data.columns, empty, empty, Provenance("by hand"))
    # Rows 500, edges of strength 0.5 and more: hundreds of nats, out of reach of exp.
    assert 50 < case.measure(task, Fitted(posterior))["kl"] < 1e5


def test_independent_draws_are_as_close_as_their_number_allows():
    case = linear_gaussian(3)
    outcome = case.run(METHODS["exact-draws"], 0, 4000, {})
    # Some ten graphs with probabilities: each is off by at most 1 / (2 sqrt(4000)), about 0.008.
    assert 0 < outcome.measures["tv"] < 0.04
