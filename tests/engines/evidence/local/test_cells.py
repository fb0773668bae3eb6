"""Cells of a grid, and the location-scale score seen through them."""

import numpy as np
import pytest
from scipy.special import ndtr

from momentdag.engines.evidence.local.cells import find_cells
from momentdag.engines.evidence.local.features import FeatureMap, Kernel
from momentdag.engines.evidence.local.location_scale import LocalScorer
from momentdag.engines.evidence.local.noise.density import NoiseDensity
from momentdag.engines.evidence.local.noise.shapes import shape
from momentdag.engines.evidence.local.protocol import Parents
from momentdag.engines.evidence.local.tuning import TUNING

KERNEL = Kernel("network", 1.5, 0.3)


def scorer(values, with_cells, noise="gaussian"):
    rows = np.arange(0, len(values), len(values) // 40)
    mean = FeatureMap(values, KERNEL, rows, TUNING.mean_detail)
    scale = FeatureMap(values, KERNEL, rows, TUNING.scale_detail)
    cells = {1: find_cells(values[:, 1])} if with_cells else {}
    return LocalScorer(values, mean, scale, noise, cells=cells)


def test_a_regular_grid_has_cells_one_step_wide_whatever_is_missing_from_it():
    column = np.repeat([0.0, 1.0, 2.0, 7.0, 30.0], [1, 40, 40, 40, 1])
    cells = find_cells(column)
    assert set(cells.width) == {1.0}
    assert cells.lower[0] == -0.5
    assert cells.upper[-1] == 30.5


def test_values_that_pile_up_at_an_end_have_an_open_cell():
    cells = find_cells(np.repeat([0.0, 1.0, 2.0], [30, 10, 60]))
    assert cells.lower[0] == -np.inf
    assert cells.upper[-1] == np.inf
    assert np.isfinite(cells.width).all()


def test_masses_add_up_to_one_over_the_grid():
    levels = np.arange(-40.0, 41.0)
    cells = find_cells(levels)
    noise = NoiseDensity(shape(np.inf))
    zeros = np.zeros(len(levels))
    masses = np.exp(cells.log_masses(zeros + 0.3, zeros + np.log(2.5), levels, noise))
    assert masses.sum() == pytest.approx(1)
    assert masses[40] == pytest.approx(ndtr(0.2 / 2.5) - ndtr(-0.8 / 2.5))


def test_spread_values_fill_their_cells_whatever_the_order_of_the_rows():
    rng = np.random.default_rng(0)
    y, mean = rng.integers(0, 4, 400).astype(float), rng.normal(size=400)
    cells = find_cells(y)
    spread = cells.spread(y, mean)
    assert np.abs(spread - y).max() <= 0.5
    for level in range(4):
        inside = np.sort((spread - y)[y == level])
        assert np.abs(inside - np.linspace(-0.5, 0.5, len(inside))).max() < 0.03
    order = rng.permutation(400)
    shuffled = find_cells(y[order]).spread(y[order], mean[order])
    np.testing.assert_allclose(shuffled, spread[order])


def test_rounding_finely_changes_the_evidence_by_the_width_of_the_cells():
    rng = np.random.default_rng(1)
    x = rng.normal(size=400)
    y = np.sin(x) + 0.5 * np.exp(0.4 * x) * rng.normal(size=400)
    step = 0.02
    plain, rounded = (np.column_stack([x, column]) for column in (y, np.round(y / step) * step))
    for parents in (Parents(0, 0), Parents(1, 0), Parents(1, 1)):
        density = scorer(plain, False).fit(1, parents).log_evidence
        mass = scorer(rounded, True).fit(1, parents).log_evidence
        assert mass == pytest.approx(density + 400 * np.log(step), abs=0.5)


def test_repeated_values_do_not_make_a_density_arbitrarily_large():
    rng = np.random.default_rng(2)
    x = rng.integers(0, 3, 400).astype(float)
    values = np.column_stack([(x - x.mean()) / x.std(), (x - x.mean()) / x.std()])
    fit = scorer(values, True, "flexible").fit(1, Parents(1, 1))
    assert fit.log_evidence < 0  # a probability
    assert np.isfinite(fit.log_evidence)
