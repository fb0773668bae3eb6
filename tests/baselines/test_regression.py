import numpy as np

from momentdag.baselines.regression import affine_residuals

SETTINGS = {"n_hidden": 10, "penalty": 1.0, "max_steps": 300}


def test_residuals_are_the_noise_of_a_location_scale_model():
    rng = np.random.default_rng(0)
    x, z, noise = rng.normal(size=(3, 600))
    y = np.tanh(2 * x) + np.exp(0.7 * z - 0.5) * noise
    found = affine_residuals(rng, (y - y.mean()) / y.std(), np.stack([x, z]), **SETTINGS)
    # Two functions learned from 600 rows leave a few per cent of error in location and scale.
    assert np.corrcoef(found.values, noise)[0, 1] > 0.98
    assert abs(np.corrcoef(np.abs(found.values), z)[0, 1]) < 0.1
    # The teeth: residuals of the mean alone do follow z.
    assert np.corrcoef(np.abs(y - np.tanh(2 * x)), z)[0, 1] > 0.3


def test_without_inputs_they_are_the_standardised_values():
    y = np.random.default_rng(0).normal(3.0, 2.0, size=50)
    found = affine_residuals(np.random.default_rng(0), y, np.empty((0, 50)), **SETTINGS)
    assert found.converged
    # Rounding alone.
    np.testing.assert_allclose(found.values, (y - y.mean()) / y.std(), rtol=1e-12)


def test_a_fit_cut_short_says_so():
    rng = np.random.default_rng(0)
    x, noise = rng.normal(size=(2, 200))
    hurried = {**SETTINGS, "max_steps": 2}
    assert not affine_residuals(rng, np.sin(x) + 0.1 * noise, x[None], **hurried).converged
