import numpy as np
import pytest
from scipy.special import ndtr

from momentdag.engines.evidence.calibration import calibrate


@pytest.fixture
def rows():
    rng = np.random.default_rng(1)
    x, e = rng.normal(size=(2, 2000))
    mean, sd = np.sin(x), np.exp(0.5 * x)
    return mean, sd, e


def test_moments_that_fit_are_left_nearly_alone(rows):
    mean, sd, e = rows
    calibrated = calibrate(mean + sd * e, mean, sd, ndtr)(mean, sd)
    # Of eight groups one may be beyond two standard errors by chance, and is moved a little.
    np.testing.assert_allclose(calibrated[0], mean, atol=0.15)
    np.testing.assert_allclose(calibrated[1], sd, rtol=0.1)
    assert np.median(np.abs(calibrated[1] / sd - 1)) < 0.02


def test_a_scale_that_is_wrong_is_put_right(rows):
    mean, sd, e = rows
    y = mean + sd * e
    for wrong in (3 * sd, 0.3 * sd, np.minimum(sd * sd, 4.0)):
        _, found = calibrate(y, mean, wrong, ndtr)(mean, wrong)
        assert np.mean(found**2) == pytest.approx(np.mean(sd**2), rel=0.15)


def test_a_mean_that_is_wrong_on_one_side_is_put_right_there(rows):
    mean, sd, e = rows
    wrong = np.where(mean > 0, mean + 1.0, mean)
    found, _ = calibrate(mean + sd * e, wrong, sd, ndtr)(wrong, sd)
    assert np.mean(found) == pytest.approx(np.mean(mean), abs=0.1)


def test_one_scale_for_all_rows(rows):
    mean, _, e = rows
    ones = np.ones(len(mean))
    _, found = calibrate(mean + 2 * e, mean, ones, ndtr)(mean, ones)
    np.testing.assert_allclose(found, 2, rtol=0.1)
