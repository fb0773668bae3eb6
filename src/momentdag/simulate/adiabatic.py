"""SERGIO-style data in closed form: regulators that are slow compared with their targets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from momentdag.graph import MomentGraph
from momentdag.simulate.gene_network import GeneNetwork, Kinetics
from momentdag.simulate.graphs import random_moment_graph
from momentdag.simulate.options import FloatArray, check_count
from momentdag.simulate.simulation import Simulation

__all__ = [
    "ADIABATIC_KINETICS",
    "AdiabaticCells",
    "sergio_adiabatic",
    "sergio_adiabatic_from_graph",
]

# Nothing is clipped here, so the full noise amplitude does no harm; basal rates are fixed, so that
# the noise of every gene is Gaussian; the floor keeps every conditional sd above zero.
ADIABATIC_KINETICS = Kinetics(noise_amplitude=1.0, cell_basal=False, noise_floor=0.05)


@dataclass(frozen=True, eq=False)
class AdiabaticCells:
    """The mechanisms of `sergio_adiabatic`.

    Parameters
    ----------
    network : GeneNetwork
    """

    network: GeneNetwork

    def draw(
        self, rng: np.random.Generator, n_samples: int, fixed: Mapping[int, FloatArray]
    ) -> FloatArray:
        """Draw cells gene by gene in causal order, shape (n_samples, d)."""
        network, graph = self.network, self.network.graph
        basal = network.draw_basal(rng, n_samples)
        noise = rng.standard_normal(basal.shape)
        decay = network.kinetics.decay
        levels = np.zeros(basal.shape)
        for j in (graph.index(name) for name in graph.order):
            if j in fixed:
                levels[:, j] = fixed[j]
                continue
            regulation = network.regulation(levels)
            production = network.mean_production(regulation, basal)
            noise_production = network.noise_production(regulation)
            intensity = network.noise_intensity(noise_production, production)[:, j]
            std = np.sqrt(intensity / (2 * decay))
            levels[:, j] = production[:, j] / decay + std * noise[:, j]
        return levels

    def moments(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return conditional mean and sd of each entry given its regulators, shapes (n, d)."""
        return self.network.frozen_moments(values)


def sergio_adiabatic(
    rng: np.random.Generator,
    n_variables: int = 10,
    n_samples: int = 500,
    *,
    edges_per_node: int = 1,
    kinetics: Kinetics | None = None,
) -> Simulation:
    """Simulate gene expression with constant regulators: an exact mean-variance model.

    If regulators change slowly compared with their target, the target of the chemical Langevin
    equation is Gaussian given them, with the stationary moments

        x_j = P^m_j / decay + q sqrt(P^v_j / (2 decay)) E_j,    E_j ~ N(0, 1)

    (symbols as in `momentdag.simulate.gene_network`). Levels are not clipped at zero: clipping
    would let the noise regulators move the mean. A level below zero regulates like zero.

    Parameters
    ----------
    rng : numpy.random.Generator
    n_variables : int
        Number of genes, named ``x1 .. xd``.
    n_samples : int
        Number of cells.
    edges_per_node : int
        Regulators of each new gene in both graphs; 1 gives the expected degree 2 of the paper.
    kinetics : Kinetics, optional
        Default `ADIABATIC_KINETICS`: full noise amplitude, one basal rate for each gene, a floor
        of 5 % under the noise. With ``cell_basal=True`` the noise of genes without mean regulators
        is the sum of a uniform and a Gaussian part; their moments stay exact.

    Returns
    -------
    Simulation

    Raises
    ------
    OptionError
        If an option is outside its choices or range.

    Examples
    --------
    >>> import numpy as np
    >>> sergio_adiabatic(np.random.default_rng(0), n_variables=20).graph
    MomentGraph(20 variables, 19 mean edges, 19 variance edges)
    """
    graph, _ = random_moment_graph(rng, n_variables, edges_per_node, graph_kind="scale-free")
    return sergio_adiabatic_from_graph(rng, graph, n_samples, kinetics=kinetics)


def sergio_adiabatic_from_graph(
    rng: np.random.Generator,
    graph: MomentGraph,
    n_samples: int = 500,
    *,
    kinetics: Kinetics | None = None,
) -> Simulation:
    """Simulate gene expression with constant regulators on a given pair of graphs.

    The options, the result and the errors are those of `sergio_adiabatic`.

    Examples
    --------
    >>> import numpy as np
    >>> graph = MomentGraph.from_edges(["a", "b", "y"], mean=[("a", "y")], variance=[("b", "y")])
    >>> sergio_adiabatic_from_graph(np.random.default_rng(0), graph, n_samples=10).data.shape
    (10, 3)
    """
    check_count("n_samples", n_samples, 2)
    kinetics = ADIABATIC_KINETICS if kinetics is None else kinetics
    cells = AdiabaticCells(GeneNetwork.draw(rng, graph, kinetics))
    order = [graph.index(name) for name in graph.order]
    values = cells.draw(rng, n_samples, {})
    return Simulation.from_values(values, cells.network.effective_graph(), order, "gaussian", cells)
