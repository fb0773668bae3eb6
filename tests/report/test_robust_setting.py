import numpy as np

from momentdag.effects.responses import Response
from momentdag.report.axes import Axis
from momentdag.report.robust_setting import find_robust_setting

NODES = np.linspace(-1, 1, 9)
AXIS = Axis("x", "line", NODES, NODES, (), (), False)
TODAY = Response(np.zeros((40, 1)), np.ones((40, 1)), np.empty((40, 1, 0)))


def respond(mean, sd):
    return Response(np.tile(mean, (40, 1)), np.tile(sd, (40, 1)), np.empty((40, 9, 0)))


def test_the_least_spread_within_the_tolerance_is_found():
    found = find_robust_setting([AXIS], respond(0.5 * NODES, np.exp(NODES)), TODAY, 0.2)
    # The sd falls with x, and the mean allows x down to -0.4.
    assert np.isclose(found.positions[0], -0.4, atol=0.01)
    assert np.isclose(found.variance_ratio, np.exp(-0.8), atol=0.03)
    assert found.p_held == 1


def test_nothing_is_found_where_nothing_steadies_or_the_mean_moves():
    assert find_robust_setting([AXIS], respond(0 * NODES, 1 + 0 * NODES), TODAY, 0.2) is None
    assert find_robust_setting([AXIS], respond(1 + NODES**2, np.exp(NODES)), TODAY, 0.2) is None
