"""The variance that is left when levers are held still at typical values, against closed forms."""

import numpy as np
import pytest

from momentdag.effects.fitted import read_fit
from momentdag.effects.holding import variance_held_still
from momentdag.effects.propagation import propagate
from momentdag.effects.settings import Settings
from momentdag.effects.worlds import draw_worlds
from momentdag.graph import MomentGraph

NAMES = ("c", "x", "y")
ROOT = (lambda row: 0 * row[0], lambda row: 1 + 0 * row[0])


def held_still(fit, columns, n_worlds=50):
    """Return the average over worlds, which differ in their noise points only."""
    rng = np.random.default_rng(0)
    worlds = draw_worlds(rng, read_fit(fit), n_worlds, 512, "both")
    return np.mean([variance_held_still(rng, world, columns, 2) for world in worlds])


@pytest.fixture
def confounded(make_fit):
    """Return a fit of x = c, y = c x + e: set, x meets c's that it never came with."""
    graph = MomentGraph.from_edges(NAMES, mean=[("c", "x"), ("c", "y"), ("x", "y")])
    functions = {
        "c": ROOT,
        "x": (lambda row: row[0], lambda row: 1e-9 + 0 * row[0]),
        "y": (lambda row: row[0] * row[1], lambda row: 1 + 0 * row[0]),
    }
    return make_fit(NAMES, [(graph, functions, 2)])


def test_a_lever_meets_what_it_would_meet_if_set(confounded):
    # Var(Y | do x) = x² + 1 and E x² = 1; as it is, Var(Y) = Var(c²) + 1 = 3. Fifty worlds of 512
    # pairs with products of fourth order: an error of about 0.02.
    assert held_still(confounded, [1]) == pytest.approx(2, abs=0.08)


def test_levers_are_held_where_they_are_together(make_fit):
    graph = MomentGraph.from_edges(NAMES, mean=[("c", "x")], variance=[("c", "y"), ("x", "y")])
    functions = {
        "c": ROOT,
        "x": (lambda row: row[0], lambda row: 0.1 + 0 * row[0]),
        "y": (lambda row: 0 * row[0], lambda row: np.exp(row[0] - row[1])),
    }
    fit = make_fit(NAMES, [(graph, functions, 2)])
    # c - x has an sd of 0.1: E exp(2 (c - x)) = e^0.02. Were they held apart, it would be e^4.
    assert held_still(fit, [0, 1]) == pytest.approx(np.exp(0.02), rel=0.01)  # smooth quadrature


def test_what_has_no_way_to_the_target_changes_nothing(confounded):
    fitted = read_fit(confounded)
    (world, _) = draw_worlds(np.random.default_rng(0), fitted, 2, 64, "both")
    now = propagate(world, Settings.nothing(), [0]).moments()[1][0, 0]
    assert variance_held_still(np.random.default_rng(0), world, [1], 0) == now
