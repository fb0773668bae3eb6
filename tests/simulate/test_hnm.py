from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from momentdag.errors import DataError, OptionError
from momentdag.graph import MomentGraph
from momentdag.simulate.equations import StructuralEquations
from momentdag.simulate.hnm import (
    hnm,
    linear_anm,
    mean_variance_hnm,
    mean_variance_hnm_from_graph,
    nonlinear_anm,
)
from momentdag.simulate.mechanisms import Constant, Linear
from momentdag.simulate.options import FloatArray
from momentdag.simulate.simulation import Simulation

N = 20_000
# Some hundreds of tests are made below at fixed seeds: a right simulator would fail at one seed
# in some tens for 1e-4, and never in practice for 1e-5.
UNMOVED = 1e-5
MOVED = 1e-8


def shift_p_value(response: FloatArray, driver: FloatArray, n_bins: int = 20) -> float:
    """Test whether the mean of the response differs between quantile bins of the driver.

    Each bin has its own variance (Welch), so a driver of the variance alone does not trip it.
    """
    edges = np.quantile(driver, np.linspace(0, 1, n_bins + 1)[1:-1])
    bins = np.searchsorted(edges, driver)
    groups = [response[bins == b] for b in range(n_bins)]
    weight = np.array([len(g) / g.var(ddof=1) for g in groups])
    means = np.array([g.mean() for g in groups])
    grand = weight @ means / weight.sum()
    return float(stats.chi2.sf(weight @ (means - grand) ** 2, n_bins - 1))


@pytest.fixture(scope="module", params=[0, 1])
def large(request: pytest.FixtureRequest) -> Simulation:
    return mean_variance_hnm(np.random.default_rng(request.param), 6, 1, N)


def test_declared_graphs_explain_both_moments(large: Simulation) -> None:
    graph = large.graph
    assert large.conditional_mean is not None
    assert large.conditional_std is not None
    residual = large.data - large.conditional_mean
    standard = residual / large.conditional_std
    n_variance_only = 0
    for effect in graph.names:
        others = set(graph.names) - {effect} - set(graph.descendants(effect))
        for cause in others:
            driver = large.data[cause].to_numpy()
            e = standard[effect].to_numpy()
            # Given the declared moments nothing is left to move, be it a parent or not.
            assert shift_p_value(e, driver) > UNMOVED
            assert shift_p_value(np.abs(e), driver) > UNMOVED
            if cause in graph.parents(effect, "variance"):
                r = residual[effect].to_numpy()
                assert shift_p_value(np.abs(r), driver) < MOVED
                if cause not in graph.parents(effect, "mean"):
                    assert shift_p_value(r, driver) > UNMOVED
                    n_variance_only += 1
    assert n_variance_only >= 2


def test_setting_one_cause_moves_what_is_declared(large: Simulation) -> None:
    graph = large.graph
    levels = np.array([-2.0, -1.0, 0.0, 1.0, 2.0])
    n = 10_000
    setting = np.repeat(levels, n // len(levels))
    for effect in graph.names:
        held = dict.fromkeys(set(graph.names) - {effect}, 0.0)
        baseline = large.intervene(np.random.default_rng(9), held, n)[effect].to_numpy()
        for cause in held:
            drawn = large.intervene(np.random.default_rng(9), {**held, cause: setting}, n)
            values = drawn[effect].to_numpy()
            groups = values.reshape(len(levels), -1)
            mean_moves = shift_p_value(values, setting, n_bins=len(levels))
            spread_moves = stats.levene(*groups, center="median").pvalue
            in_mean = graph.has_edge(cause, effect, "mean")
            in_variance = graph.has_edge(cause, effect, "variance")
            assert mean_moves < MOVED if in_mean else mean_moves > UNMOVED
            assert spread_moves < MOVED if in_variance else spread_moves > UNMOVED
            # Equal seeds share the noise, so a non-parent changes not a single bit.
            assert np.array_equal(values, baseline) == (not in_mean and not in_variance)


def test_a_variance_only_cause_moves_only_the_spread() -> None:
    graph = MomentGraph.from_edges(["y", "m", "v"], mean=[("m", "y")], variance=[("v", "y")])
    data = mean_variance_hnm_from_graph(np.random.default_rng(3), graph, N).data
    y, m, v = (data[name].to_numpy() for name in ("y", "m", "v"))
    # m and v are independent roots, so no true moment is needed: v leaves the mean of y alone.
    assert shift_p_value(y, v) > UNMOVED
    assert shift_p_value(y, m) < MOVED
    edges = np.quantile(m, np.linspace(0, 1, 201)[1:-1])
    bins = np.searchsorted(edges, m)
    residual = y - (np.bincount(bins, y) / np.bincount(bins))[bins]
    assert shift_p_value(np.abs(residual), v) < MOVED


def test_standardised_scales_hold_over_the_sample() -> None:
    simulation = mean_variance_hnm(
        np.random.default_rng(4), 8, 2, 300, noise="laplace", mean_scale=3.0, log_std_spread=0.5
    )
    assert simulation.conditional_mean is not None
    assert simulation.conditional_std is not None
    for name in simulation.graph.names:
        mean = simulation.conditional_mean[name].to_numpy()
        log_std = np.log(simulation.conditional_std[name].to_numpy() / np.sqrt(2))
        has_mean = bool(simulation.graph.parents(name, "mean"))
        has_variance = bool(simulation.graph.parents(name, "variance"))
        # Exact up to rounding in sums of 300 numbers; roots have mean 0 and unit scale.
        assert mean.mean() == pytest.approx(0.0, abs=1e-10)
        assert mean.std() == pytest.approx(3.0 * has_mean, abs=1e-10)
        assert log_std.mean() == pytest.approx(0.0, abs=1e-10)
        assert log_std.std() == pytest.approx(0.5 * has_variance, abs=1e-10)


def test_literal_scaling_uses_networks_as_drawn() -> None:
    simulation = mean_variance_hnm(np.random.default_rng(5), 5, 1, 500, scaling="literal")
    assert np.isfinite(simulation.data.to_numpy()).all()
    assert isinstance(simulation.mechanisms, StructuralEquations)
    mechanisms = [part for eq in simulation.mechanisms.equations for part in (eq.mean, eq.log_std)]
    networks = [part for part in mechanisms if not isinstance(part, Constant)]
    assert networks
    assert all((n.offset, n.factor) == (0.0, 1.0) for n in networks)  # type: ignore[attr-defined]
    assert simulation.conditional_std is not None
    # The raw log-sd is a sum of 100 terms of sd about one: far wider than the default 0.8.
    assert np.log(simulation.conditional_std).to_numpy().std() > 2


@pytest.mark.parametrize("noise", ["gaussian", "laplace", "student_t3"])
def test_noise_has_the_named_law(noise: Any) -> None:
    simulation = hnm(np.random.default_rng(6), 5, 1, 4000, noise=noise)
    assert simulation.noise == noise
    assert simulation.conditional_mean is not None
    assert simulation.conditional_std is not None
    standard = (simulation.data - simulation.conditional_mean) / simulation.conditional_std
    law = {
        "gaussian": stats.norm(),
        "laplace": stats.laplace(scale=np.sqrt(0.5)),
        "student_t3": stats.t(3, scale=np.sqrt(1 / 3)),
    }[noise]
    # 20 000 draws at a fixed seed; the wrong one of the three laws gives p < 1e-30.
    assert stats.kstest(standard.to_numpy().ravel(), law.cdf).pvalue > 1e-3


def test_nonlinear_anm_has_constant_noise_in_range() -> None:
    simulation = nonlinear_anm(np.random.default_rng(7), 10, 2, 100)
    assert simulation.graph.mean_graph.sum() == 20
    assert not simulation.graph.variance_graph.any()
    assert simulation.conditional_std is not None
    variances = simulation.conditional_std.to_numpy() ** 2
    assert (np.ptp(variances, axis=0) == 0).all()
    assert ((variances[0] >= 0.5) & (variances[0] <= 2.0)).all()
    assert len(set(variances[0].tolist())) == 10


def test_linear_anm_is_linear_with_unit_noise() -> None:
    simulation = linear_anm(np.random.default_rng(8), 4, edges_per_node=1, n_samples=N)
    assert simulation.graph.mean_graph.sum() == 4
    assert not simulation.graph.variance_graph.any()
    assert isinstance(simulation.mechanisms, StructuralEquations)
    for j, name in enumerate(simulation.graph.names):
        parents = list(simulation.graph.parents(name))
        mean = simulation.mechanisms.equations[j].mean
        assert isinstance(mean, Linear)
        assert ((np.abs(mean.weights) >= 0.5) & (np.abs(mean.weights) <= 1.3)).all()
        x, y = simulation.data[parents].to_numpy(), simulation.data[name].to_numpy()
        fitted, *_ = np.linalg.lstsq(x, y, rcond=None)
        error = np.sqrt(np.diag(np.linalg.pinv(x.T @ x)))
        # Ordinary least squares with unit noise: five standard errors over eight figures.
        assert (np.abs(fitted - mean.weights) < 5 * error).all()
        assert abs((y - x @ fitted).std() - 1) < 5 / np.sqrt(2 * N)


def test_linear_anm_draws_every_graph_by_default() -> None:
    rng = np.random.default_rng(9)
    counts = {int(linear_anm(rng, 3, n_samples=2).graph.mean_graph.sum()) for _ in range(60)}
    assert counts == {0, 1, 2, 3}


def test_scale_free_and_shared_options_reach_the_graph() -> None:
    simulation = mean_variance_hnm(
        np.random.default_rng(0), 12, 1, 50, graph_kind="scale-free", shared_graph=True
    )
    assert simulation.graph.mean_graph.sum() == 11
    assert np.array_equal(simulation.graph.mean_graph, simulation.graph.variance_graph)


def test_one_seed_gives_one_table() -> None:
    first, second = (mean_variance_hnm(np.random.default_rng(10), 5, 1, 50) for _ in range(2))
    pd.testing.assert_frame_equal(first.data, second.data)
    other = mean_variance_hnm(np.random.default_rng(11), 5, 1, 50)
    assert not first.data.equals(other.data)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_samples": 1}, "n_samples"),
        ({"noise": "uniform"}, "noise"),
        ({"scaling": "raw"}, "scaling"),
        ({"mean_scale": 0.0}, "mean_scale"),
        ({"log_std_spread": -1.0}, "log_std_spread"),
        ({"log_std_spread": np.nan}, "log_std_spread"),
        ({"graph_kind": "tree"}, "graph_kind"),
    ],
)
def test_refuses(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        mean_variance_hnm(np.random.default_rng(0), **options)


def test_overflow_is_an_error_with_a_remedy() -> None:
    with pytest.raises(DataError, match="Choose scaling='standardised' or smaller scales"):
        mean_variance_hnm(np.random.default_rng(0), 5, 2, 100, log_std_spread=1e4)
