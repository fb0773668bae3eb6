"""SERGIO-style expression data: cells at the steady state of the chemical Langevin equation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from momentdag.errors import OptionError
from momentdag.graph import MomentGraph
from momentdag.simulate.gene_network import GeneNetwork, Kinetics
from momentdag.simulate.graphs import random_moment_graph
from momentdag.simulate.options import FloatArray, check_choice, check_count, check_positive
from momentdag.simulate.simulation import Simulation

__all__ = ["Integration", "LangevinCells", "LangevinRun", "sergio", "sergio_from_graph"]


@dataclass(frozen=True)
class Integration:
    """How the differential equation is solved and cells are read off.

    Parameters
    ----------
    time_step : float
        Step of the Euler-Maruyama scheme.
    relaxation_times : float
        Length of each trajectory, in units of 1/decay.
    sampling : {"independent", "serial"}
        "independent": each cell is the end of its own trajectory. "serial": cells are times of
        one trajectory, drawn with replacement, as SERGIO does; they are dependent, and some
        hundreds of them are worth some tens of independent ones. Only for comparison, and only
        with ``Kinetics(cell_basal=False)``.
    stored_per_cell : int
        Serial sampling: number of steps of the trajectory for each cell.
    half_response : {"closed-form", "pilot"}
        Take the half responses from the fixed point, or from the means of a first run.

    Raises
    ------
    OptionError
        If a value is outside its range or choices.

    Examples
    --------
    >>> Integration(time_step=0.02).relaxation_times
    12.0
    """

    time_step: float = 0.01
    relaxation_times: float = 12.0
    sampling: Literal["independent", "serial"] = "independent"
    stored_per_cell: int = 10
    half_response: Literal["closed-form", "pilot"] = "closed-form"

    def __post_init__(self) -> None:
        check_positive("time_step", self.time_step)
        check_positive("relaxation_times", self.relaxation_times)
        check_choice("sampling", self.sampling, ("independent", "serial"))
        check_count("stored_per_cell", self.stored_per_cell, 1)
        check_choice("half_response", self.half_response, ("closed-form", "pilot"))


class LangevinRun(NamedTuple):
    """Cells, and how often the scheme ran into the boundary.

    Attributes
    ----------
    values : float array, shape (n_cells, d)
    clipped_fraction : float
        Share of all updates that came out negative and were set to zero.
    """

    values: FloatArray
    clipped_fraction: float


@dataclass(frozen=True, eq=False)
class LangevinCells:
    """The mechanisms of `sergio`: a gene network and an integration scheme.

    Parameters
    ----------
    network : GeneNetwork
    integration : Integration
    """

    network: GeneNetwork
    integration: Integration

    def draw(
        self, rng: np.random.Generator, n_samples: int, fixed: Mapping[int, FloatArray]
    ) -> FloatArray:
        """Draw cells in which the trajectories of the genes of ``fixed`` are clamped."""
        return self.run(rng, n_samples, fixed).values

    def moments(self, values: FloatArray) -> None:
        """Return None: a cell's regulators act through their past, which it does not show.

        `GeneNetwork.frozen_moments` gives the approximation with constant regulators.
        """
        return

    def run(
        self, rng: np.random.Generator, n_cells: int, fixed: Mapping[int, FloatArray]
    ) -> LangevinRun:
        """Integrate the equation and return cells and the share of clipped updates.

        Raises
        ------
        OptionError
            If a gene is clamped below zero, or differently in the cells of one serial trajectory.
        """
        for j, setting in fixed.items():
            if np.min(setting) < 0:
                raise OptionError(
                    f"Expected levels >= 0 in do, as these are concentrations; got "
                    f"{np.min(setting)} for {self.network.graph.names[j]!r}."
                )
        decay, step = self.network.kinetics.decay, self.integration.time_step
        n_relaxation = int(np.ceil(self.integration.relaxation_times / decay / step))
        if self.integration.sampling == "independent":
            levels = self._start(self.network.draw_basal(rng, n_cells), fixed)
            return self._integrate(rng, *levels, fixed, n_relaxation)
        for j, setting in fixed.items():
            if np.ptp(setting) > 0:
                raise OptionError(
                    "Expected one level for all cells of a serial trajectory; got several for "
                    f"{self.network.graph.names[j]!r}. Use sampling='independent'."
                )
        clamps = {j: setting[:1] for j, setting in fixed.items()}
        levels = self._start(self.network.draw_basal(rng, 1), clamps)
        n_stored = self.integration.stored_per_cell * n_cells
        stored = np.empty((n_stored, self.network.graph.n_variables))
        run = self._integrate(rng, *levels, clamps, n_stored, stored)
        return run._replace(values=stored[rng.integers(n_stored, size=n_cells)])

    def _start(
        self, basal: FloatArray, fixed: Mapping[int, FloatArray]
    ) -> tuple[FloatArray, FloatArray]:
        """Return basal rates and each cell's own deterministic fixed point, shapes (n, d)."""
        graph = self.network.graph
        levels = np.zeros(basal.shape)
        for j in (graph.index(name) for name in graph.order):
            regulation = self.network.regulation(levels)
            production = self.network.mean_production(regulation, basal)[:, j]
            levels[:, j] = fixed[j] if j in fixed else production / self.network.kinetics.decay
        return basal, levels

    def _integrate(
        self,
        rng: np.random.Generator,
        basal: FloatArray,
        levels: FloatArray,
        fixed: Mapping[int, FloatArray],
        n_steps: int,
        stored: npt.NDArray[np.float64] | None = None,
    ) -> LangevinRun:
        network, step = self.network, self.integration.time_step
        decay = network.kinetics.decay
        n_clipped = 0
        noise = np.empty(levels.shape)
        for t in range(n_steps):
            rng.standard_normal(out=noise)
            regulation = network.regulation(levels)
            flow = decay * levels
            intensity = network.noise_intensity(network.noise_production(regulation), flow)
            drift = network.mean_production(regulation, basal) - flow
            levels = levels + step * drift + np.sqrt(step * intensity) * noise
            for j, setting in fixed.items():
                levels[:, j] = setting
            n_clipped += int(np.count_nonzero(levels < 0))
            np.maximum(levels, 0.0, out=levels)
            if stored is not None:
                stored[t] = levels[0]
        return LangevinRun(levels, n_clipped / (n_steps * levels.size))


def sergio(
    rng: np.random.Generator,
    n_variables: int = 10,
    n_samples: int = 500,
    *,
    edges_per_node: int = 1,
    kinetics: Kinetics | None = None,
    integration: Integration | None = None,
) -> Simulation:
    """Simulate gene expression with separate mean and noise regulators (appendix D.3.5).

    Cells are ends of independent trajectories of the chemical Langevin equation in
    `momentdag.simulate.gene_network`, on scale-free graphs that share one order.

    A target follows its regulators with a delay of 1/decay, so given their values in the same
    cell its moments have no closed form: ``conditional_mean`` and ``conditional_std`` of the
    result are None, and the mean-variance model holds only approximately. `sergio_adiabatic` is
    the variant for which it is exact. An intervention clamps the gene's whole trajectory.

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
    integration : Integration, optional

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
    >>> simulation = sergio(np.random.default_rng(0), n_variables=5, n_samples=20)
    >>> simulation.graph
    MomentGraph(5 variables, 4 mean edges, 4 variance edges)
    >>> bool((simulation.data >= 0).all(axis=None))
    True
    """
    graph, _ = random_moment_graph(rng, n_variables, edges_per_node, graph_kind="scale-free")
    return sergio_from_graph(rng, graph, n_samples, kinetics=kinetics, integration=integration)


def sergio_from_graph(
    rng: np.random.Generator,
    graph: MomentGraph,
    n_samples: int = 500,
    *,
    kinetics: Kinetics | None = None,
    integration: Integration | None = None,
) -> Simulation:
    """Simulate gene expression on a given pair of graphs.

    The options, the result and the errors are those of `sergio`.

    Examples
    --------
    >>> import numpy as np
    >>> graph = MomentGraph.from_edges(["a", "b", "y"], mean=[("a", "y")], variance=[("b", "y")])
    >>> sergio_from_graph(np.random.default_rng(0), graph, n_samples=10).data.shape
    (10, 3)
    """
    check_count("n_samples", n_samples, 2)
    kinetics = Kinetics() if kinetics is None else kinetics
    integration = Integration() if integration is None else integration
    if kinetics.cell_basal and integration.sampling == "serial":
        raise OptionError(
            "Expected one basal rate for all cells of a serial trajectory; got cell_basal=True. "
            "Use Kinetics(cell_basal=False) or sampling='independent'."
        )
    cells = LangevinCells(GeneNetwork.draw(rng, graph, kinetics), integration)
    if integration.half_response == "pilot":
        pilot = cells.draw(rng, n_samples, {}).mean(axis=0)
        cells = replace(cells, network=replace(cells.network, half_response=pilot))
    values = cells.draw(rng, n_samples, {})
    effective = cells.network.effective_graph()
    order = [graph.index(name) for name in graph.order]
    return Simulation.from_values(values, effective, order, "Langevin", cells)
