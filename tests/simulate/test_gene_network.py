from typing import Any

import numpy as np
import pytest

from momentdag.errors import OptionError
from momentdag.graph import MomentGraph
from momentdag.simulate.gene_network import GeneNetwork, Kinetics
from momentdag.simulate.graphs import random_moment_graph

GRAPH = MomentGraph.from_edges(
    ["a", "b", "c"],
    mean=[("a", "c"), ("b", "c")],
    variance=[("a", "b"), ("b", "c")],
)


def network(kinetics: Kinetics) -> GeneNetwork:
    """a and b produce c (activator 2, repressor 4); a quiets b, b drives the noise of c."""
    mean, variance = np.zeros((3, 3)), np.zeros((3, 3))
    mean[0, 2], mean[1, 2] = 2.0, -4.0
    variance[0, 1], variance[1, 2] = -5.0, 1.0
    basal = np.array([1.0, 2.5, 3.0])
    return GeneNetwork(GRAPH, mean, variance, basal, kinetics, np.array([2.0, 3.0, 1.0]))


def hill(x: float, h: float, g: float) -> float:
    return float(x**g / (h**g + x**g))


@pytest.mark.parametrize("g", [2.0, 1.5])
def test_moments_are_the_published_equations(g: float) -> None:
    kinetics = Kinetics(hill=g, decay=0.5, cell_basal=False, match_noise=False)
    levels = np.array([[1.0, 4.0, 9.0]])
    mean, std = network(kinetics).frozen_moments(levels)
    p_mean = [1.0, 2.5, 2.0 * hill(1, 2, g) + 4.0 * (1 - hill(4, 3, g))]
    # a has no noise regulators: its noise is set by its fixed point, where P^v = P^m = b.
    p_noise = [1.0, 5.0 * (1 - hill(1, 2, g)), hill(4, 3, g)]
    np.testing.assert_allclose(mean[0], np.array(p_mean) / 0.5)
    np.testing.assert_allclose(std[0], 0.5 * np.sqrt(np.array(p_noise) / (2 * 0.5)))


def test_matched_noise_equals_production_at_the_fixed_point() -> None:
    graph, _ = random_moment_graph(np.random.default_rng(0), 12, 2)
    for floor in (0.0, 0.1):
        kinetics = Kinetics(cell_basal=False, noise_floor=floor)
        genes = GeneNetwork.draw(np.random.default_rng(1), graph, kinetics)
        at_half = genes.regulation(genes.half_response)
        np.testing.assert_allclose(at_half, 0.5)
        np.testing.assert_allclose(
            genes.mean_production(at_half, genes.basal * genes.roots),
            kinetics.decay * genes.fixed_point,
        )
        np.testing.assert_allclose(
            genes.noise_production(at_half), kinetics.decay * genes.fixed_point
        )


def test_noise_floor_keeps_the_sd_positive() -> None:
    off = np.array([[1e9, 0.0, 0.0]])  # a silences the noise of b, b gives none to c
    _, bare = network(Kinetics()).frozen_moments(off)
    _, floored = network(Kinetics(noise_floor=0.04)).frozen_moments(off)
    fixed_point = network(Kinetics()).fixed_point
    # What is left is the variance of b's basal rate for b, and nothing for c.
    assert bare[0, 2] == 0.0
    at_fixed_point = 0.5 * np.sqrt(fixed_point[2] / 2)
    assert floored[0, 2] == pytest.approx(np.sqrt(0.04) * at_fixed_point)


def test_noise_models_differ_as_documented() -> None:
    levels = np.array([[1.0, 4.0, 9.0]])
    plain, double, literal = (
        network(Kinetics(noise_model=model, cell_basal=False)).frozen_moments(levels)
        for model in ("sp", "dpd", "dpd-literal")
    )
    np.testing.assert_allclose(double[1], np.sqrt(2) * plain[1])
    # Decay noise from the own level adds q² P^m / (2 decay) = q² mean / 2.
    np.testing.assert_allclose(literal[1] ** 2, plain[1] ** 2 + 0.25 * plain[0] / 2)
    np.testing.assert_allclose(double[0], plain[0])


def test_literal_decay_noise_makes_mean_parents_variance_parents() -> None:
    assert network(Kinetics()).effective_graph() == GRAPH
    effective = network(Kinetics(noise_model="dpd-literal")).effective_graph()
    assert np.array_equal(effective.variance_graph, GRAPH.union_graph)
    assert np.array_equal(effective.mean_graph, GRAPH.mean_graph)


def test_drawn_parameters_are_in_range() -> None:
    graph, _ = random_moment_graph(np.random.default_rng(2), 20, 3)
    genes = GeneNetwork.draw(np.random.default_rng(3), graph, Kinetics(cell_basal=True))
    for strength, adjacency in (
        (genes.mean_strength, graph.mean_graph),
        (genes.variance_strength, graph.variance_graph),
    ):
        assert np.array_equal(strength != 0, adjacency)
        size = np.abs(strength[adjacency])
        assert ((size >= 1) & (size <= 5)).all()
        # 60 fair coins: outside this range with probability below 1e-4.
        assert 15 <= (strength > 0).sum() <= 45
    basal = genes.draw_basal(np.random.default_rng(4), 500)
    roots = ~graph.mean_graph.any(axis=0)
    assert (basal[:, ~roots] == 0).all()
    assert ((basal[:, roots] >= 1) & (basal[:, roots] <= 3)).all()
    assert (np.ptp(basal[:, roots], axis=0) > 1.8).all()


def test_extreme_levels_saturate() -> None:
    genes = network(Kinetics())
    fraction = genes.regulation(np.array([[-3.0, 1e300, 0.0]]))
    assert fraction.tolist() == [[0.0, 1.0, 0.0]]
    assert (genes.noise_production(np.ones((1, 3))) >= 0).all()


@pytest.mark.parametrize(
    "options",
    [
        {"noise_amplitude": 0.0},
        {"decay": -1.0},
        {"hill": np.nan},
        {"strength": (5.0, 1.0)},
        {"basal": (0.0, 1.0)},
        {"basal": (1.0, np.inf)},
        {"noise_model": "spd"},
        {"noise_floor": 1.0},
    ],
)
def test_kinetics_refuses(options: dict[str, Any]) -> None:
    with pytest.raises(OptionError, match=next(iter(options))):
        Kinetics(**options)
