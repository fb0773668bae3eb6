import numpy as np
import pytest

from momentdag.engines.variational.knowledge_arrays import state
from momentdag.knowledge import Knowledge

NAMES = ["a", "b", "c"]


def logit(p):
    return np.log(p / (1 - p))


def test_nothing_stated_leaves_everything_open():
    stated = state(Knowledge().compile(NAMES), 0.2, None)
    assert not stated.ordered
    assert not stated.projected
    np.testing.assert_array_equal(stated.limits.allowed_mean, 1 - np.eye(3))
    np.testing.assert_allclose(stated.prior.mean_logits, logit(0.2), rtol=1e-6)  # float32


def test_hard_statements_become_limits():
    knowledge = Knowledge(
        required=[("a", "b", "either")], forbidden=[("a", "b", "mean"), ("c", "a", "variance")]
    )
    stated = state(knowledge.compile(NAMES), 0.2, None)
    assert stated.ordered
    limits = stated.limits
    # Required of either graph and forbidden in the mean graph: required of the variance graph.
    assert limits.required_variance[0, 1] == 1
    assert not np.asarray(limits.required_either).any()
    assert limits.allowed_mean[0, 1] == 0
    assert limits.allowed_variance[2, 0] == 0
    assert limits.precedes[0, 1] == 1


def test_edge_priors_and_soft_statements_become_prior_odds():
    priors = Knowledge(edge_priors={("a", "b", "mean"): 0.7}).compile(NAMES)
    stated = state(priors, 0.2, None)
    assert float(stated.prior.mean_logits[0, 1]) == pytest.approx(logit(0.7), rel=1e-5)
    assert float(stated.prior.variance_logits[0, 1]) == pytest.approx(logit(0.2), rel=1e-5)
    soft = Knowledge(
        required=[("a", "b", "mean")],
        forbidden=[("b", "c", "variance")],
        strength="soft",
        confidence=0.8,
    )
    stated = state(soft.compile(NAMES), 0.2, None)
    assert not stated.ordered
    expected = logit(0.2) + logit(0.8)
    assert float(stated.prior.mean_logits[0, 1]) == pytest.approx(expected, abs=1e-5)
    expected = logit(0.2) - logit(0.8)
    assert float(stated.prior.variance_logits[1, 2]) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize(("margin", "expected"), [(None, logit(0.9)), (1.5, 1.5)])
def test_soft_orders_become_margins(margin, expected):
    soft = Knowledge(order=[("a", "b")], strength="soft", confidence=0.9).compile(NAMES)
    stated = state(soft, 0.2, margin)
    assert stated.projected
    assert not stated.ordered
    assert float(stated.orders.active.sum()) == 1
    assert float(stated.orders.margins[0, 1]) == pytest.approx(expected, rel=1e-6)
