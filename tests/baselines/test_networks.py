import numpy as np
import pytest

from momentdag.baselines.networks import (
    LOG_SCALE_BOUND,
    Networks,
    backward,
    forward,
    initial_networks,
)


@pytest.fixture
def networks():
    rng = np.random.default_rng(0)
    start = initial_networks(rng, 3, 4, 5)
    return Networks(*(part + 0.3 * rng.normal(size=part.shape) for part in start))


def test_outputs_are_those_of_the_formula(networks):
    columns = np.random.default_rng(1).normal(size=(4, 6))
    outputs = forward(networks, columns)
    for j in range(3):
        for row in range(6):
            units = 1 / (
                1 + np.exp(-(networks.first[j] @ columns[:, row] + networks.hidden[j, :, 0]))
            )
            location, raw = networks.heads[j] @ units + networks.output[j, :, 0]
            bounded = LOG_SCALE_BOUND * np.tanh(raw / LOG_SCALE_BOUND)
            # The same sums in another order: rounding alone.
            assert outputs.location[j, row] == pytest.approx(location, rel=1e-12)
            assert outputs.log_scale[j, row] == pytest.approx(bounded, rel=1e-12)


@pytest.mark.parametrize("part", range(4))
def test_gradient_is_that_of_finite_differences(networks, part):
    rng = np.random.default_rng(2)
    columns = rng.normal(size=(4, 6))
    by_location, by_log_scale = rng.normal(size=(2, 3, 6))

    def value(changed):
        outputs = forward(changed, columns)
        return np.sum(by_location * outputs.location + by_log_scale * outputs.log_scale)

    outputs = forward(networks, columns)
    gradient = backward(networks, columns, outputs, by_location, by_log_scale)[part]
    step = 1e-6
    for index in np.ndindex(gradient.shape):
        both = []
        for sign in (1, -1):
            moved = networks[part].copy()
            moved[index] += sign * step
            both.append(value(networks._replace(**{networks._fields[part]: moved})))
        # Central differences of step 1e-6 are right to about 1e-10 / 1e-6 in relative terms.
        assert gradient[index] == pytest.approx(
            (both[0] - both[1]) / (2 * step), rel=1e-4, abs=1e-7
        )


def test_huge_inputs_saturate_without_warning(networks):
    outputs = forward(networks, np.full((4, 2), 1e6))
    assert np.isin(outputs.units, [0.0, 1.0]).all()
    assert np.abs(outputs.log_scale).max() < LOG_SCALE_BOUND


def test_scales_start_at_one():
    start = initial_networks(np.random.default_rng(0), 2, 3, 4)
    assert not forward(start, np.ones((3, 5))).log_scale.any()
