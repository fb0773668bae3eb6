import numpy as np
import pytest

from momentdag.effects.inputs import read_world
from momentdag.effects.interventions import intervene_in
from momentdag.effects.posterior_samples import draw_samples
from momentdag.effects.responses import respond
from momentdag.effects.settings import parse_do


@pytest.mark.parametrize(
    ("target", "limits"), [("thickness", (9.0, 11.0)), ("rating", (2.0, 3.0)), ("defects", (1, 4))]
)
def test_a_response_is_what_an_intervention_says(mixed_fit, target, limits):
    """Moments are the same numbers, and so is the risk of leaving limits."""
    inputs = read_world(mixed_fit)
    samples = draw_samples(np.random.default_rng(0), inputs, 6, 16, "both")
    settings = parse_do(inputs, {"machine": ["M1", "M2"]})
    column = inputs.names.index(target)
    low, high = map(float, limits)
    exact = intervene_in(samples, inputs, settings, (target,), limits=np.array([[low, high]]))
    below_low = low if target == "thickness" else low - 1
    found = respond(samples, settings, {column: np.array([below_low, high])})[column]
    assert found.means == pytest.approx(exact.means[:, :, 0])
    assert found.sds == pytest.approx(exact.sds[:, :, 0])
    risk = found.below[..., 0] + 1 - found.below[..., 1]
    # The distribution of noise is tabulated.
    assert risk == pytest.approx(exact.outside[:, :, 0], abs=1e-4)
