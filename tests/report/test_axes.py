import numpy as np
import pytest

from momentdag.effects.inputs import read_world
from momentdag.report.axes import make_axis


@pytest.fixture(scope="module")
def inputs(mixed_fit):
    return read_world(mixed_fit)


def test_a_category_has_its_levels_by_name(inputs):
    axis = make_axis(inputs, "machine", 9)
    assert (axis.kind, axis.labels) == ("levels", ("M1", "M2", "M3"))
    assert axis.positions.tolist() == [0, 1, 2]
    assert axis.coarse(2) is axis
    assert axis.fitted(2.0) == axis.nodes[2]


def test_a_number_has_its_central_range(inputs):
    axis = make_axis(inputs, "temperature", 9)
    low, high = inputs.summary.loc["temperature", ["q05", "q95"]]
    assert axis.kind == "line"
    assert low <= axis.nodes[0] < axis.nodes[-1] <= high
    assert axis.nodes[[0, -1]] == pytest.approx([low, high], abs=0.01 * (high - low))
    coarse = axis.coarse(5)
    assert set(coarse.nodes) < set(axis.nodes)
    assert len(coarse.nodes) == 5
    assert len(axis.fine(41)) == 41


def test_a_whole_number_takes_values_it_had(inputs):
    axis = make_axis(inputs, "defects", 9)
    observed = set(inputs.levels("defects"))
    assert set(axis.shown) <= observed
    assert set(axis.steps) <= observed
    assert np.all(np.diff(axis.nodes) > 0)
