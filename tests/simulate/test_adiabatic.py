import numpy as np
import pandas as pd
import pytest
from scipy import stats

from momentdag.graph import MomentGraph
from momentdag.simulate.adiabatic import (
    ADIABATIC_KINETICS,
    AdiabaticCells,
    sergio_adiabatic,
    sergio_adiabatic_from_graph,
)
from momentdag.simulate.gene_network import Kinetics

DISJOINT = MomentGraph.from_edges(["m", "v", "y"], mean=[("m", "y")], variance=[("v", "y")])
N = 20_000


def test_standardised_residuals_are_independent_standard_normals() -> None:
    simulation = sergio_adiabatic(np.random.default_rng(0), 10, N)
    assert simulation.conditional_mean is not None
    assert simulation.conditional_std is not None
    standard = (simulation.data - simulation.conditional_mean) / simulation.conditional_std
    for name in simulation.graph.names:
        # Ten tests at a fixed seed.
        assert stats.kstest(standard[name], stats.norm.cdf).pvalue > 1e-4
        for cause in simulation.graph.ancestors(name):
            level = simulation.data[cause]
            # Four and a half standard errors over some 40 correlations.
            assert abs(np.corrcoef(standard[name], level)[0, 1]) < 4.5 / np.sqrt(N)
            assert abs(np.corrcoef(standard[name].abs(), level)[0, 1]) < 4.5 / np.sqrt(N)
    assert (simulation.conditional_std > 0).all(axis=None)


def test_mean_and_noise_regulators_move_only_their_moment() -> None:
    simulation = sergio_adiabatic_from_graph(np.random.default_rng(1), DISJOINT, N)
    m, v, y = (simulation.data[name].to_numpy() for name in ("m", "v", "y"))
    bins = np.searchsorted(np.quantile(m, np.linspace(0, 1, 201)[1:-1]), m)
    residual = y - (np.bincount(bins, y) / np.bincount(bins))[bins]
    # m and v are independent, so these are plain independence and dependence.
    assert abs(stats.spearmanr(v, residual).statistic) < 4 / np.sqrt(N)
    assert abs(stats.spearmanr(m, np.abs(residual)).statistic) < 4 / np.sqrt(N)
    assert abs(stats.spearmanr(v, np.abs(residual)).statistic) > 0.15
    assert abs(stats.spearmanr(m, y).statistic) > 0.15


def test_setting_both_regulators_gives_the_closed_form() -> None:
    simulation = sergio_adiabatic_from_graph(np.random.default_rng(2), DISJOINT, 2)
    assert isinstance(simulation.mechanisms, AdiabaticCells)
    genes = simulation.mechanisms.network
    k_mean, k_noise = genes.mean_strength[0, 2], genes.variance_strength[1, 2]
    h_m, h_v = genes.half_response[:2]
    activated = {"m": 2.0**2 / (h_m**2 + 2.0**2), "v": 3.0**2 / (h_v**2 + 3.0**2)}
    of_mean = activated["m"] if k_mean > 0 else 1 - activated["m"]
    of_noise = activated["v"] if k_noise > 0 else 1 - activated["v"]
    # Noise is scaled to equal the production at the fixed point, |K| / 2; 5 % of it is a floor.
    p_noise = abs(k_mean) / 2 * (0.05 + 0.95 * 2 * of_noise)
    mean, std = abs(k_mean) * of_mean / 0.8, np.sqrt(p_noise / (2 * 0.8))
    drawn = simulation.intervene(np.random.default_rng(3), {"m": 2.0, "v": 3.0}, N)["y"]
    # Four Monte Carlo standard errors of a Gaussian mean and sd.
    assert abs(drawn.mean() - mean) < 4 * std / np.sqrt(N)
    assert abs(drawn.std() - std) < 4 * std / np.sqrt(2 * N)


def test_cell_basal_moments_are_exact_too() -> None:
    kinetics = Kinetics(noise_amplitude=1.0, cell_basal=True, noise_model="dpd-literal")
    graph = MomentGraph.from_edges(["a", "b"], variance=[("a", "b")])
    simulation = sergio_adiabatic_from_graph(
        np.random.default_rng(4), graph, 50_000, kinetics=kinetics
    )
    assert simulation.conditional_mean is not None
    assert simulation.conditional_std is not None
    standard = (simulation.data - simulation.conditional_mean) / simulation.conditional_std
    # Mean 0 and variance 1; the law is lighter-tailed than a Gaussian or close to it, so the
    # Gaussian standard errors are about right. Five of them.
    assert (standard.mean().abs() < 5 / np.sqrt(50_000)).all()
    assert ((standard.var() - 1).abs() < 5 * np.sqrt(2 / 50_000)).all()


def test_interventions_and_seeds() -> None:
    simulation = sergio_adiabatic_from_graph(np.random.default_rng(5), DISJOINT, 10)
    again = sergio_adiabatic_from_graph(np.random.default_rng(5), DISJOINT, 10)
    pd.testing.assert_frame_equal(simulation.data, again.data)
    before = simulation.sample(np.random.default_rng(1), 50)
    after = simulation.intervene(np.random.default_rng(1), {"m": -1.0}, 50)
    pd.testing.assert_series_equal(before["v"], after["v"])
    assert not before["y"].equals(after["y"])
    # Below zero regulates like zero.
    zero = simulation.intervene(np.random.default_rng(1), {"m": 0.0}, 50)
    pd.testing.assert_series_equal(zero["y"], after["y"])


def test_default_kinetics_are_those_documented() -> None:
    assert ADIABATIC_KINETICS.noise_amplitude == 1.0
    assert not ADIABATIC_KINETICS.cell_basal
    assert pytest.approx(0.05) == ADIABATIC_KINETICS.noise_floor
