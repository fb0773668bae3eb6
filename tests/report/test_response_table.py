import base64

import numpy as np
import pytest

from momentdag.effects.responses import Response
from momentdag.report.axes import Axis
from momentdag.report.response_table import ResponseTable, interpolate


def line(name, nodes):
    return Axis(name, "line", nodes, nodes, (), (), False)


def a_response(x, y):
    """Two draws of a smooth mean and sd, and of a distribution between 0 and 1."""
    mean, sd = np.sin(x) + y, np.exp(0.3 * x * y)
    below = 1 / (1 + np.exp(-np.stack([x, y, x + y], axis=-1)))
    return Response(np.stack([mean, mean + 0.1]), np.stack([sd, 1.2 * sd]), np.stack([below] * 2))


def test_a_table_is_exact_at_its_nodes_and_close_between():
    nodes = np.linspace(-1, 1, 7)
    x, y = (part.ravel() for part in np.meshgrid(nodes, nodes, indexing="ij"))
    table = ResponseTable.of([line("x", nodes), line("y", nodes)], a_response(x, y))
    for at in ((nodes[2], nodes[5]), (0.123, -0.456)):
        moments, below = table.at(at)
        exact = a_response(*(np.array([p]) for p in at))
        assert moments[0] == pytest.approx(exact.means.mean(), abs=2e-3)
        assert moments[3] == pytest.approx(exact.sds.mean(), rel=2e-3)
        assert below[0] == pytest.approx(exact.below[0, 0], abs=5e-3)
        assert moments[4] <= moments[3] <= moments[5]


def test_monotone_values_stay_monotone():
    grid = np.array([0.0, 1, 2, 3])
    found = interpolate(np.array([0.0, 0, 1, 1]), [grid], [np.linspace(0, 3, 50)])
    assert np.all(np.diff(found) >= 0)
    assert found.min() == 0
    assert found.max() == 1


def test_a_page_gets_numbers_in_units_of_the_outcome():
    nodes = np.linspace(0, 1, 3)
    table = ResponseTable.of([line("x", nodes)], a_response(nodes, nodes))
    packed = table.to_page(2.0, 4.0)
    moments = np.frombuffer(base64.b64decode(packed["moments"]), "<f4").reshape(3, 6)
    assert 2 + 4 * moments[:, 0] == pytest.approx(table.moments[:, 0], abs=1e-6)
    assert 4 * np.exp(moments[:, 3]) == pytest.approx(np.exp(table.moments[:, 3]), rel=1e-6)
    below = np.frombuffer(base64.b64decode(packed["below"]), "<u2").reshape(3, 3, 3)
    assert below / 65535 == pytest.approx(table.below, abs=1e-5)
