from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from momentdag.errors import DataError, OptionError
from momentdag.graph import MomentGraph
from momentdag.simulate.equations import StructuralEquations
from momentdag.simulate.hnm import linear_anm, mean_variance_hnm, mean_variance_hnm_from_graph
from momentdag.simulate.mechanisms import SigmoidNetwork
from momentdag.simulate.options import FloatArray
from momentdag.simulate.simulation import Simulation

CHAIN = MomentGraph.from_edges(
    ["c", "b", "a"], mean=[("a", "b"), ("b", "c")], variance=[("a", "b"), ("b", "c")]
)


@pytest.fixture(scope="module")
def simulation() -> Simulation:
    return mean_variance_hnm(np.random.default_rng(0), 6, 1, 400)


def network_output(mechanism: Any, parents: FloatArray) -> FloatArray:
    """Recompute a mechanism from its weights, apart from the library's own evaluation."""
    assert isinstance(mechanism, SigmoidNetwork)
    hidden = 1 / (1 + np.exp(-(parents @ mechanism.hidden_weights)))
    return mechanism.factor * (hidden @ mechanism.output_weights - mechanism.offset)


def test_intervening_on_all_parents_gives_the_mechanism(simulation: Simulation) -> None:
    graph = simulation.graph
    assert isinstance(simulation.mechanisms, StructuralEquations)
    n, checked = 20_000, 0
    for name in graph.names:
        parents = graph.parents(name)
        if not parents:
            continue
        do = {parent: 0.7 * (-1) ** i for i, parent in enumerate(parents)}
        drawn = simulation.intervene(np.random.default_rng(1), do, n)[name].to_numpy()
        equation = simulation.mechanisms.equations[graph.index(name)]
        mean, log_std = 0.0, 0.0
        if graph.parents(name, "mean"):
            at = np.array([[do[p] for p in graph.parents(name, "mean")]])
            mean = network_output(equation.mean, at)[0]
        if graph.parents(name, "variance"):
            at = np.array([[do[p] for p in graph.parents(name, "variance")]])
            log_std = network_output(equation.log_std, at)[0]
        std = np.exp(log_std)
        # Gaussian Monte Carlo errors: sd / sqrt(n) of the mean, sd / sqrt(2 n) of the sd. Four.
        assert abs(drawn.mean() - mean) < 4 * std / np.sqrt(n)
        assert abs(drawn.std() - std) < 4 * std / np.sqrt(2 * n)
        checked += 1
    assert checked >= 3


def test_intervening_on_a_chain_matches_quadrature() -> None:
    simulation = mean_variance_hnm_from_graph(np.random.default_rng(2), CHAIN, 500)
    assert isinstance(simulation.mechanisms, StructuralEquations)
    c, b, _ = simulation.mechanisms.equations
    at = np.array([[1.3]])
    b_mean, b_std = network_output(b.mean, at)[0], np.exp(network_output(b.log_std, at)[0])
    # b is Gaussian given do(a), so the moments of c are one-dimensional Gaussian integrals; 200
    # nodes are exact for this smooth integrand far below the Monte Carlo error.
    nodes, weights = np.polynomial.hermite_e.hermegauss(200)
    weights = weights / weights.sum()
    grid = (b_mean + b_std * nodes)[:, None]
    c_mean, c_std = network_output(c.mean, grid), np.exp(network_output(c.log_std, grid))
    mean = weights @ c_mean
    variance = weights @ (c_std**2 + c_mean**2) - mean**2
    n = 100_000
    drawn = simulation.intervene(np.random.default_rng(3), {"a": 1.3}, n)
    assert (drawn["a"] == 1.3).all()
    values = drawn["c"].to_numpy()
    squares = (values - mean) ** 2
    # Four standard errors, those of the variance estimated from the sample itself.
    assert abs(values.mean() - mean) < 4 * np.sqrt(variance / n)
    assert abs(squares.mean() - variance) < 4 * squares.std() / np.sqrt(n)


def test_interventions_leave_non_descendants_alone(simulation: Simulation) -> None:
    graph = simulation.graph
    n_moved = 0
    for name in graph.names:
        before = simulation.sample(np.random.default_rng(4), 2000)
        after = simulation.intervene(np.random.default_rng(4), {name: 3.0}, 2000)
        fresh = simulation.intervene(np.random.default_rng(5), {name: 3.0}, 2000)
        for other in set(graph.names) - {name}:
            if other in graph.descendants(name):
                n_moved += not np.array_equal(before[other], after[other])
            else:
                pd.testing.assert_series_equal(before[other], after[other])
                # Up to 30 tests at a fixed seed, family error 0.3 %.
                assert stats.ks_2samp(before[other], fresh[other]).pvalue > 1e-4
    assert n_moved == sum(len(graph.descendants(name)) for name in graph.names)


def test_sample_follows_the_distribution_of_the_data() -> None:
    simulation = mean_variance_hnm(np.random.default_rng(6), 4, 1, 4000)
    fresh = simulation.sample(np.random.default_rng(7), 4000)
    for name in simulation.graph.names:
        # Four tests at a fixed seed, family error 0.4 %.
        assert stats.ks_2samp(simulation.data[name], fresh[name]).pvalue > 1e-3


def test_do_accepts_one_value_for_each_row(simulation: Simulation) -> None:
    setting = np.arange(10.0)
    drawn = simulation.intervene(np.random.default_rng(0), {"x1": setting, "x2": 4}, 10)
    assert np.array_equal(drawn["x1"], setting)
    assert (drawn["x2"] == 4.0).all()
    assert drawn.dtypes.eq(np.float64).all()


@pytest.mark.parametrize(
    ("do", "message"),
    [
        ({"x99": 1.0}, "among .*'x1'.*got 'x99'"),
        ({"x1": np.nan}, r"do\['x1'\] to be finite"),
        ({"x1": [1.0, np.inf, 0.0]}, r"do\['x1'\] to be finite"),
        ({"x1": [1.0, 2.0]}, r"one number or 3 numbers.*shape \(2,\)"),
        ({"x1": "high"}, "to be a number; got 'high'"),
        ({"x1": None}, "to be a number; got None"),
        ({"x1": True}, "to be a number; got True"),
    ],
)
def test_do_refuses(simulation: Simulation, do: Any, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        simulation.intervene(np.random.default_rng(0), do, 3)


@pytest.mark.parametrize("n", [0, -1, 2.5])
def test_n_must_be_a_count(simulation: Simulation, n: Any) -> None:
    with pytest.raises(OptionError, match="Expected n as a whole number >= 1"):
        simulation.sample(np.random.default_rng(0), n)


def test_an_intervention_that_overflows_is_refused() -> None:
    simulation = linear_anm(np.random.default_rng(0), 10, edges_per_node=4)
    root = simulation.order[0]
    with pytest.raises(DataError, match="finite simulated table"):
        simulation.intervene(np.random.default_rng(1), {root: 1.7e308}, 5)


def test_sortability_is_that_of_the_union_graph() -> None:
    graph = MomentGraph.from_edges(["y", "x"], variance=[("x", "y")])
    simulation = mean_variance_hnm_from_graph(
        np.random.default_rng(0), graph, 2000, log_std_spread=1.0
    )
    # Var y = E exp(2 v) > 1 = Var x by Jensen's inequality, with a margin far above error.
    assert simulation.varsortability() == 1.0
    # One edge between two variables: both have the same R² by symmetry.
    assert simulation.r2_sortability() == pytest.approx(0.5)
