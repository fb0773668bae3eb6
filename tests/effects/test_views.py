"""Variables on a grid and logarithms, against drawing from the same noise."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import ndtr, ndtri

from momentdag.effects.views import Grid, LogView, make_views
from momentdag.table import Observed

MEAN, SD = np.array([0.1, 1.7, 2.6]), np.array([0.4, 1.1, 0.05])
NOISE = ndtri((np.arange(200_000) + 0.5) / 200_000)


@pytest.mark.parametrize(
    "view",
    [
        Grid(np.array([0.0, 1.0])),
        Grid(np.array([0.0, 1.0, 2.0, 5.0])),
        Grid(np.log([1.0, 2.0, 4.0]), is_log=True),
        LogView(-3.0, 6.0),
    ],
    ids=["binary", "uneven levels", "levels of a logarithm", "logarithm"],
)
def test_moments_and_risks_are_those_of_drawn_values(view):
    mean, sd = view.moments(MEAN, SD, ndtr)
    for k in range(3):
        drawn = view.show(view.settle(MEAN[k] + SD[k] * NOISE))
        # Cells of the noise for a logarithm, midpoints of probability for the drawn values.
        assert mean[k] == pytest.approx(drawn.mean(), rel=2e-3, abs=1e-4)
        assert sd[k] == pytest.approx(drawn.std(), rel=5e-3, abs=1e-3)
        low, high = view.threshold(1.5, below=True), view.threshold(1.5, below=False)
        latent = MEAN[k] + SD[k] * NOISE
        assert (latent < low).mean() == pytest.approx((drawn < 1.5).mean(), abs=1e-4)
        assert (latent > high).mean() == pytest.approx((drawn > 1.5).mean(), abs=1e-4)


def test_simulated_values_are_levels():
    grid = Grid(np.array([1.0, 2.0, 4.0]))
    settled = grid.settle(np.array([-7.0, 1.4, 1.6, 3.1, 99.0]))
    assert settled.tolist() == [1.0, 1.0, 2.0, 4.0, 4.0]
    assert grid.threshold(-1.0, below=True) == -np.inf
    assert grid.threshold(9.0, below=True) == np.inf


def test_an_exponential_does_not_run_away_with_the_tails():
    # A value of the noise 60 sds out would be e^60 of the file's units.
    shown = LogView(0.0, 2.0).show(np.array([60.0, 1.0]))
    assert shown.tolist() == [np.exp(2.2), np.exp(1.0)]


def test_columns_that_need_a_view_have_one():
    names = ["x", "k", "l"]
    columns = ["min", "q05", "median", "q95", "max", "mean", "sd"]
    summary = pd.DataFrame(1.0, index=names, columns=columns)
    summary["min"] = 0.0
    views = make_views(Observed(summary, {"k": np.array([0.0, 1.0])}, None, ("l",), summary))
    assert set(views) == {1, 2}
    assert isinstance(views[1], Grid)
    assert isinstance(views[2], LogView)
