from typing import Any

import numpy as np
import pandas as pd
import pytest

from momentdag.errors import OptionError
from momentdag.graph import MomentGraph
from momentdag.simulate.gene_network import Kinetics
from momentdag.simulate.options import FloatArray
from momentdag.simulate.sergio import Integration, LangevinCells, sergio, sergio_from_graph
from momentdag.simulate.simulation import Simulation

DISJOINT = MomentGraph.from_edges(["m", "v", "y"], mean=[("m", "y")], variance=[("v", "y")])
# Twice the default step halves the time, where the default itself is not what is tested.
COARSE = Integration(time_step=0.02)
N = 20_000


def cells_of(simulation: Simulation) -> LangevinCells:
    assert isinstance(simulation.mechanisms, LangevinCells)
    return simulation.mechanisms


def sensitivities(data: pd.DataFrame) -> FloatArray:
    """Regress |residual| of y, relative to its mean, on m and v: slopes per sd."""
    m, v, y = (data[name].to_numpy() for name in ("m", "v", "y"))
    powers = np.vander((m - m.mean()) / m.std(), 6)
    residual = np.abs(y - powers @ np.linalg.lstsq(powers, y, rcond=None)[0])
    design = np.column_stack([np.ones(len(m)), (m - m.mean()) / m.std(), (v - v.mean()) / v.std()])
    slopes: FloatArray = np.linalg.lstsq(design, residual / residual.mean(), rcond=None)[0][1:]
    return slopes


@pytest.fixture(scope="module", params=[pytest.param(0, marks=pytest.mark.slow), 2])
def disjoint(request: pytest.FixtureRequest) -> Simulation:
    """As the presets but for |K| = 3; the seeds give an activator and a repressor of the mean."""
    kinetics = Kinetics(strength=(3.0, 3.0), cell_basal=True)
    rng = np.random.default_rng(request.param)
    return sergio_from_graph(rng, DISJOINT, N, kinetics=kinetics)


def test_noise_regulator_moves_the_spread_and_mean_regulator_hardly(disjoint: Simulation) -> None:
    mean_only, noise_only = np.abs(sensitivities(disjoint.data))
    # Over twelve seeds the noise regulator gave 0.10 to 0.14 and the mean regulator 0.005 to 0.046
    # (a repressor more than an activator); the bounds are three standard errors of 0.0054 away.
    # The leak is real: y follows the past of its regulator, and the Hill function bends. With
    # a straight line in its place the mean regulator's slope is zero within its error.
    assert noise_only > 0.08
    assert mean_only < 0.062
    assert noise_only > 2 * mean_only


@pytest.mark.slow
def test_clamping_shows_that_the_mean_regulator_leaves_the_spread_alone(
    disjoint: Simulation,
) -> None:
    low, middle, high = (disjoint.data.quantile(q)[["m", "v"]] for q in (0.25, 0.5, 0.75))
    spread, level = {}, {}
    for regulator in ("m", "v"):
        for end, setting in (("low", low), ("high", high)):
            do = {**middle.to_dict(), regulator: setting[regulator]}
            y = disjoint.intervene(np.random.default_rng(1), do, 5000)["y"]
            spread[regulator, end], level[regulator, end] = y.std(), y.mean()
    # Clamped regulators have no past unlike their present, so between the quartiles (below them,
    # y comes near zero and is clipped) nothing leaks. Standard error of a ratio of two sd, or of
    # two means, at 5000 cells: 1.4 %, less with shared noise.
    assert abs(spread["m", "high"] / spread["m", "low"] - 1) < 0.03
    assert abs(np.log(spread["v", "high"] / spread["v", "low"])) > 0.15
    assert abs(np.log(level["m", "high"] / level["m", "low"])) > 0.3
    assert abs(level["v", "high"] / level["v", "low"] - 1) < 0.03


@pytest.mark.slow
@pytest.mark.parametrize("seed", [4, pytest.param(5, marks=pytest.mark.slow)])
def test_by_default_mean_regulators_do_not_leak_into_the_spread(seed: int) -> None:
    kinetics = Kinetics(strength=(3.0, 3.0))
    simulation = sergio_from_graph(np.random.default_rng(seed), DISJOINT, N, kinetics=kinetics)
    mean_only, noise_only = np.abs(sensitivities(simulation.data))
    # Three standard errors of 0.005.
    assert mean_only < 0.016
    assert noise_only > 0.04


@pytest.mark.slow
def test_literal_decay_noise_leaks_more_than_the_noise_regulator_gives() -> None:
    kinetics = Kinetics(strength=(3.0, 3.0), noise_model="dpd-literal", cell_basal=True)
    simulation = sergio_from_graph(
        np.random.default_rng(2), DISJOINT, N, kinetics=kinetics, integration=COARSE
    )
    mean_only, noise_only = np.abs(sensitivities(simulation.data))
    assert mean_only > 0.05
    assert mean_only > noise_only
    assert simulation.graph.has_edge("m", "y", "variance")


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_means_are_near_the_fixed_point_and_clipping_is_rare(seed: int) -> None:
    simulation = sergio(np.random.default_rng(seed), 10, 2, integration=COARSE)
    cells = cells_of(simulation)
    run = cells.run(np.random.default_rng(1), 2000, {})
    ratio = run.values.mean(axis=0) / cells.network.fixed_point
    # The Hill function bends, so a mean level does not give the mean production exactly.
    assert (np.abs(ratio - 1) < 0.15).all()
    assert run.clipped_fraction < 0.01
    assert (run.values >= 0).all()


def test_unregulated_gene_has_the_stationary_law_of_its_equation() -> None:
    graph = MomentGraph.from_edges(["a", "b"])
    kinetics = Kinetics(cell_basal=False)
    simulation = sergio_from_graph(np.random.default_rng(0), graph, 5000, kinetics=kinetics)
    basal = cells_of(simulation).network.basal
    mean, variance = basal / 0.8, 0.25 * basal / (2 * 0.8)
    # Ornstein-Uhlenbeck: mean b / decay, variance q² b / (2 decay); Euler's step of 0.01 inflates
    # the variance by 1 / (1 - decay step / 2) = 1.004. Four standard errors on top.
    error = np.sqrt(variance / 5000)
    assert (np.abs(simulation.data.mean().to_numpy() - mean) < 4 * error).all()
    ratio = simulation.data.var().to_numpy() / variance
    assert (np.abs(ratio - 1) < 0.004 + 4 * np.sqrt(2 / 5000)).all()


def test_clamped_regulators_give_the_frozen_moments() -> None:
    kinetics = Kinetics(strength=(4.0, 5.0))
    simulation = sergio_from_graph(np.random.default_rng(1), DISJOINT, 2, kinetics=kinetics)
    do = {"m": 2.0, "v": 3.0}
    drawn = simulation.intervene(np.random.default_rng(2), do, 5000)
    assert (drawn["m"] == 2.0).all()
    assert (drawn["v"] == 3.0).all()
    frozen = cells_of(simulation).network.frozen_moments(np.array([[2.0, 3.0, 0.0]]))
    mean, std = frozen[0][0, 2], frozen[1][0, 2]
    # Exact but for Euler's step (0.4 % of the variance) and rare clipping; four standard errors.
    assert abs(drawn["y"].mean() - mean) < 4 * std / np.sqrt(5000)
    assert abs(drawn["y"].std() / std - 1) < 0.005 + 4 / np.sqrt(2 * 5000)


def test_two_step_sizes_agree() -> None:
    fine = sergio_from_graph(np.random.default_rng(3), DISJOINT, 4000).data
    coarse = sergio_from_graph(np.random.default_rng(3), DISJOINT, 4000, integration=COARSE).data
    # Same network, other noise: four standard errors of a difference of means and of sd.
    error = fine.std() * np.sqrt(2 / 4000)
    assert (np.abs(fine.mean() - coarse.mean()) < 4 * error).all()
    assert (np.abs(fine.std() - coarse.std()) < 4 * error / np.sqrt(2)).all()


def test_interventions_leave_non_descendants_alone() -> None:
    simulation = sergio_from_graph(np.random.default_rng(0), DISJOINT, 2, integration=COARSE)
    before = simulation.sample(np.random.default_rng(1), 50)
    after = simulation.intervene(np.random.default_rng(1), {"m": np.linspace(0, 4, 50)}, 50)
    pd.testing.assert_series_equal(before["v"], after["v"])
    assert not before["y"].equals(after["y"])


def test_moments_are_declared_to_have_no_closed_form() -> None:
    simulation = sergio(np.random.default_rng(0), 4, 5, integration=COARSE)
    assert simulation.conditional_mean is None
    assert simulation.conditional_std is None


def test_pilot_sets_half_responses_to_simulated_means() -> None:
    integration = Integration(time_step=0.02, half_response="pilot")
    simulation = sergio_from_graph(
        np.random.default_rng(5), DISJOINT, 1000, integration=integration
    )
    network = cells_of(simulation).network
    # Two independent runs of 1000 cells; the pilot's own half responses shift y a little more.
    error = simulation.data.std().to_numpy() * np.sqrt(2 / 1000)
    difference = np.abs(network.half_response - simulation.data.mean().to_numpy())
    assert (difference < 4 * error + 0.01).all()
    assert (network.half_response != network.fixed_point).all()


def test_serial_cells_depend_on_each_other() -> None:
    kinetics = Kinetics(cell_basal=False)
    graph = MomentGraph.from_edges(["a", "b"])

    def means(sampling: Any) -> FloatArray:
        integration = Integration(sampling=sampling)
        simulation = sergio_from_graph(
            np.random.default_rng(0), graph, 100, kinetics=kinetics, integration=integration
        )
        draws = [simulation.sample(np.random.default_rng(s), 100).mean() for s in range(12)]
        return np.asarray(np.std(np.array(draws), axis=0))

    # 100 serial cells cover 10 time units, eight relaxation times: the mean's sd is about five
    # times that of independent cells. With 12 runs an sd is known to within 20 %.
    assert (means("serial") > 2 * means("independent")).all()


def test_serial_sampling_refuses_what_one_trajectory_cannot_do() -> None:
    serial = Integration(sampling="serial")
    varying = Kinetics(cell_basal=True)
    with pytest.raises(OptionError, match=r"Kinetics\(cell_basal=False\)"):
        sergio(np.random.default_rng(0), 3, 5, kinetics=varying, integration=serial)
    simulation = sergio_from_graph(
        np.random.default_rng(0),
        DISJOINT,
        5,
        integration=serial,
    )
    drawn = simulation.intervene(np.random.default_rng(1), {"m": 2.0}, 3)
    assert drawn["m"].tolist() == [2.0] * 3
    with pytest.raises(OptionError, match="sampling='independent'"):
        simulation.intervene(np.random.default_rng(1), {"m": [1.0, 2.0, 3.0]}, 3)


def test_negative_concentrations_are_refused() -> None:
    simulation = sergio_from_graph(np.random.default_rng(0), DISJOINT, 2, integration=COARSE)
    with pytest.raises(OptionError, match=r"levels >= 0.*-1\.0 for 'm'"):
        simulation.intervene(np.random.default_rng(1), {"m": -1.0}, 3)


@pytest.mark.parametrize(
    "options",
    [
        {"time_step": 0.0},
        {"relaxation_times": -1.0},
        {"sampling": "both"},
        {"stored_per_cell": 0},
        {"half_response": "guess"},
    ],
)
def test_integration_refuses(options: dict[str, Any]) -> None:
    with pytest.raises(OptionError, match=next(iter(options))):
        Integration(**options)
