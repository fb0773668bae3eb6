import numpy as np
import pytest
from scipy.optimize import approx_fprime

from momentdag.baselines.lagrangian import Multipliers, Objective, Penalties, acyclicity
from momentdag.baselines.one_graph import GraphLimits
from momentdag.graph import is_acyclic
from momentdag.knowledge import Knowledge

MULTIPLIERS = Multipliers(3.0, 0.7)


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(30, 3))
    limits = GraphLimits.of(Knowledge(order=[("a", "c")]), ("a", "b", "c"))
    objective = Objective(values, limits, 2, Penalties(0.01, 0.02))
    vector = objective.start(rng)
    vector = np.clip(
        vector + 0.3 * rng.normal(size=len(vector)), objective.bounds.lb, objective.bounds.ub
    )
    return objective, vector


@pytest.mark.parametrize("graph", [[[0, 1], [0, 0]], [[0, 1], [1, 0]], [[0, 0], [0, 0]]])
def test_acyclicity_vanishes_for_acyclic_graphs_alone(graph):
    value, _ = acyclicity(np.array(graph, dtype=float))
    assert (abs(value) < 1e-12) == is_acyclic(np.array(graph, dtype=bool))


def test_acyclicity_has_the_gradient_of_finite_differences():
    squares = np.random.default_rng(0).random((4, 4))
    _, gradient = acyclicity(squares)

    def value(flat):
        return acyclicity(flat.reshape(4, 4))[0]

    # Forward differences of step 1.5e-8 are right to about 1e-7 of the curvature.
    np.testing.assert_allclose(approx_fprime(squares.ravel(), value), gradient.ravel(), rtol=1e-5)


@pytest.mark.parametrize("holding", [False, True])
def test_lagrangian_has_the_gradient_of_finite_differences(problem, holding):
    objective, vector = problem
    held = objective.log_scales(vector) + 0.1 if holding else None
    _, gradient = objective.lagrangian(vector, MULTIPLIERS, held)

    def value(moved):
        return objective.lagrangian(moved, MULTIPLIERS, held)[0]

    # Forward differences of step 1.5e-8 of a function of size 10: errors of about 1e-6.
    np.testing.assert_allclose(approx_fprime(vector, value), gradient, rtol=1e-4, atol=1e-5)


def test_lagrangian_is_the_sum_of_its_terms(problem):
    objective, vector = problem
    plain = objective.lagrangian(vector, Multipliers(0.0, 0.0))[0]
    h = objective.violation(vector)
    whole = objective.lagrangian(vector, MULTIPLIERS)[0]
    assert h > 0
    # Rounding alone.
    assert whole - plain == pytest.approx(1.5 * h**2 + 0.7 * h, rel=1e-9)


def test_scale_loss_is_the_part_that_depends_on_the_scale_head(problem):
    objective, vector = problem
    split = objective.split
    loss = objective.scale_loss(vector)
    other = vector.copy()
    other[split:] += 0.2
    for moved in (vector, other):
        _, gradient = loss(moved[split:])
        # Rounding alone.
        np.testing.assert_allclose(
            gradient, objective.lagrangian(moved, MULTIPLIERS)[1][split:], rtol=1e-9, atol=1e-12
        )
    by_part = loss(other[split:])[0] - loss(vector[split:])[0]
    whole = objective.lagrangian(other, MULTIPLIERS)[0]
    assert by_part == pytest.approx(whole - objective.lagrangian(vector, MULTIPLIERS)[0], rel=1e-9)


def test_closed_edges_have_no_weight(problem):
    objective, vector = problem
    weights = objective.weights(vector)
    assert not weights.diagonal().any()
    assert weights[2, 0] == 0.0  # c does not cause a
    assert weights[0, 2] > 0.0


def test_an_order_that_is_stated_counts_as_an_edge(problem):
    objective, _ = problem
    first = np.zeros((3, 2, 3))
    first[1, :, 2] = first[0, :, 1] = 0.5  # c -> b -> a, though a precedes c
    rest = np.zeros(len(objective.bounds.lb) - 2 * first.size)
    vector = np.concatenate([first.ravel(), np.zeros(first.size), rest])
    assert objective.violation(vector) > 0.01


def test_weights_far_out_are_infinitely_bad_and_no_error(problem):
    objective, vector = problem
    far = np.clip(vector, objective.bounds.lb, objective.bounds.ub)
    one_part = objective._ends[0]  # of the two whose difference the weights are
    far[:one_part] = np.where(objective.bounds.ub[:one_part] > 0, 11.5, 0.0)
    far[one_part : 2 * one_part] = 0.0
    assert 1e160 < objective.violation(far) < np.inf  # a float, but its square is none
    assert objective.lagrangian(far, MULTIPLIERS)[0] == np.inf
