"""Gene regulation with separate regulators of production and of noise.

The chemical Langevin equation of SERGIO [1]_, with separate regulators for its noise:

    dx_j  = (P^m_j - decay x_j) dt + q sqrt(P^v_j) dW_j
    P^m_j = b_j, or the sum over mean parents i of |K^m_ij| H_ij(x_i)
    P^v_j = decay m_j, or s_j times the sum over variance parents i of |K^v_ij| H_ij(x_i)

H is the Hill function ``x^g / (h^g + x^g)`` of an activator (K > 0), or one minus it for a
repressor (K < 0). The half response h_i is the mean level of regulator i; there H = 1/2 for either
sign, so the fixed point is ``m_j = sum_i |K^m_ij| / (2 decay)`` in closed form. With ``s_j`` such
that P^v = P^m at the fixed point the noise has the same size as in the unmodified equation.

References
----------
.. [1] P. Dibaeinia and S. Sinha, "SERGIO: a single-cell expression simulator guided by gene
   regulatory networks", Cell Systems 11, 2020.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, get_args

import numpy as np

from momentdag.errors import OptionError
from momentdag.graph import MomentGraph
from momentdag.simulate.mechanisms import signed_uniform
from momentdag.simulate.options import FloatArray, check_choice, check_positive

__all__ = ["GeneNetwork", "Kinetics", "NoiseModel"]

NoiseModel = Literal["sp", "dpd", "dpd-literal"]
"""Production noise; production and decay noise, both from P^v; decay noise from its own level."""


@dataclass(frozen=True)
class Kinetics:
    """Constants of the reactions, and the ranges the random ones are drawn from.

    Parameters
    ----------
    noise_amplitude : float
        q. At 1 (the value of SERGIO's examples) weak genes are often clipped at zero, which lets
        mean regulators leak into the variance; at 0.5 they are not.
    decay : float
        Decay rate of every gene.
    hill : float
        Hill coefficient g.
    strength : (float, float)
        Range of the absolute K; the sign is + or - with probability 1/2.
    basal : (float, float)
        Range of b, the production of a gene without mean regulators.
    cell_basal : bool
        Draw b anew for each cell instead of once for each gene. The levels of root genes then
        differ between cells, as between cell types, which makes their effects visible. The price
        is a leak in `sergio`: a target follows the past levels of its mean regulator, and the
        present level predicts them worst where the Hill function is steep. So it also moves
        the size of the residual, by 0.5 to 5 % per sd, where the noise regulator moves it
        by 10 to 14 % (strength 3); with one rate for each gene, by below 1.5 % against 5 to 9 %.
        The presets switch it on.
    noise_model : {"sp", "dpd", "dpd-literal"}
        "sp": ``q sqrt(P^v) dW``. "dpd": decay noise too, also driven by P^v (equal to "sp" with
        ``q sqrt 2``). "dpd-literal": decay noise ``q sqrt(decay x_j) dW'`` driven by the gene's own
        level. Its mean regulators then move its variance too, and the variance graph of the
        simulation is the union of both drawn graphs.
    match_noise : bool
        Choose ``s_j`` so that P^v = P^m at the fixed point; otherwise ``s_j = 1``.
    noise_floor : float
        Share of P^v that no regulator can switch off, in [0, 1).

    Raises
    ------
    OptionError
        If a value is outside its range or choices.

    Examples
    --------
    >>> Kinetics(noise_amplitude=1.0).decay
    0.8
    """

    noise_amplitude: float = 0.5
    decay: float = 0.8
    hill: float = 2.0
    strength: tuple[float, float] = (1.0, 5.0)
    basal: tuple[float, float] = (1.0, 3.0)
    cell_basal: bool = False
    noise_model: NoiseModel = "sp"
    match_noise: bool = True
    noise_floor: float = 0.0

    def __post_init__(self) -> None:
        for option in ("noise_amplitude", "decay", "hill"):
            check_positive(option, getattr(self, option))
        for option in ("strength", "basal"):
            low, high = getattr(self, option)
            check_positive(f"the lower end of {option}", low)
            if not low <= high < np.inf:
                raise OptionError(
                    f"Expected {option} as (low, high), low <= high; got {low, high}."
                )
        check_choice("noise_model", self.noise_model, get_args(NoiseModel))
        if not 0 <= self.noise_floor < 1:
            raise OptionError(f"Expected noise_floor in [0, 1); got {self.noise_floor!r}.")


@dataclass(frozen=True, eq=False)
class GeneNetwork:
    """A drawn gene regulatory network.

    Parameters
    ----------
    graph : MomentGraph
        Who regulates whose production (mean graph) and whose noise (variance graph).
    mean_strength, variance_strength : float array, shape (d, d)
        Signed K; row regulates column, zero where there is no edge.
    basal : float array, shape (d,)
        b of each gene; used where a gene has no mean regulators and ``cell_basal`` is off.
    kinetics : Kinetics
    half_response : float array, shape (d,)
        h of each gene as a regulator.
    """

    graph: MomentGraph
    mean_strength: FloatArray
    variance_strength: FloatArray
    basal: FloatArray
    kinetics: Kinetics
    half_response: FloatArray

    @classmethod
    def draw(cls, rng: np.random.Generator, graph: MomentGraph, kinetics: Kinetics) -> GeneNetwork:
        """Draw strengths, signs and basal rates; half responses are the closed-form means."""
        shape = (graph.n_variables, graph.n_variables)
        mean_strength = signed_uniform(rng, *kinetics.strength, shape) * graph.mean_graph
        variance_strength = signed_uniform(rng, *kinetics.strength, shape) * graph.variance_graph
        basal = rng.uniform(*kinetics.basal, graph.n_variables)
        network = cls(graph, mean_strength, variance_strength, basal, kinetics, half_response=basal)
        return replace(network, half_response=network.fixed_point)

    @cached_property
    def roots(self) -> FloatArray:
        """1 for genes without mean regulators, else 0, shape (d,)."""
        return np.where(self.graph.mean_graph.any(axis=0), 0.0, 1.0)

    @cached_property
    def fixed_point(self) -> FloatArray:
        """Mean level m_j of each gene when every regulator is at its half response, shape (d,)."""
        regulated = _half_total(self.mean_strength)
        return (regulated + self.roots * self._root_rate) / self.kinetics.decay

    @cached_property
    def _root_rate(self) -> FloatArray:
        """Mean b of each gene over cells, shape (d,)."""
        if self.kinetics.cell_basal:
            return np.full(len(self.basal), sum(self.kinetics.basal) / 2)
        return self.basal

    @cached_property
    def _noise_gain(self) -> FloatArray:
        """s_j, shape (d,)."""
        at_half = _half_total(self.variance_strength)
        if not self.kinetics.match_noise:
            return np.ones_like(at_half)
        matched = self.kinetics.decay * self.fixed_point
        return np.where(at_half > 0, matched / np.where(at_half > 0, at_half, 1.0), 1.0)

    def draw_basal(self, rng: np.random.Generator, n_cells: int) -> FloatArray:
        """Return b of each cell and gene, zero where a gene has mean regulators, shape (n, d)."""
        shape = (n_cells, self.graph.n_variables)
        if not self.kinetics.cell_basal:
            return np.broadcast_to(self.basal * self.roots, shape)
        return rng.uniform(*self.kinetics.basal, shape) * self.roots

    def regulation(self, levels: FloatArray) -> FloatArray:
        """Return the Hill function of an activator at each level, shape (..., d)."""
        # A level below zero can only arise where none is clipped; it regulates like zero.
        relative = np.maximum(levels, 0.0) / self.half_response
        # In this form a level so high that its power overflows gives 1.
        with np.errstate(over="ignore"):
            power = relative * relative if self.kinetics.hill == 2 else relative**self.kinetics.hill
        return 1.0 - 1.0 / (1.0 + power)

    def mean_production(self, regulation: FloatArray, basal: FloatArray) -> FloatArray:
        """Return P^m from the regulation and basal rates, shapes (..., d)."""
        # A repressor gives |K| (1 - H) = |K| + K H, so both signs are one linear map; at full
        # strength the two cancel only up to rounding.
        return np.maximum(basal + self._mean_offset + regulation @ self.mean_strength, 0.0)

    def noise_production(self, regulation: FloatArray) -> FloatArray:
        """Return P^v from the regulation, shapes (..., d)."""
        return np.maximum(self._noise_offset + regulation @ self._noise_weights, 0.0)

    @cached_property
    def _mean_offset(self) -> FloatArray:
        return _repressor_total(self.mean_strength)

    @cached_property
    def _noise_weights(self) -> FloatArray:
        return (1 - self.kinetics.noise_floor) * self._noise_gain * self.variance_strength

    @cached_property
    def _noise_offset(self) -> FloatArray:
        """Repressors' |K|, the floor, and the constant of genes without noise regulators."""
        gain, floor = self._noise_gain, self.kinetics.noise_floor
        repressed = gain * _repressor_total(self.variance_strength)
        at_half = gain * _half_total(self.variance_strength)
        unregulated = ~self.graph.variance_graph.any(axis=0)
        constant = self.kinetics.decay * self.fixed_point * unregulated
        return (1 - floor) * repressed + floor * at_half + constant

    def noise_intensity(self, noise_production: FloatArray, decay_flow: FloatArray) -> FloatArray:
        """Return the squared noise amplitude from P^v and ``decay x_j``, shapes (..., d)."""
        match self.kinetics.noise_model:
            case "sp":
                total = noise_production
            case "dpd":
                total = 2 * noise_production
            case "dpd-literal":
                total = noise_production + decay_flow
        return self.kinetics.noise_amplitude**2 * total

    def frozen_moments(self, levels: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the stationary mean and sd of each gene for constant regulators.

        ``P^m / decay`` and ``sqrt(q² P^v / (2 decay))``; a basal rate that varies between cells
        adds its own variance. Exact for the adiabatic simulator, an approximation for the
        differential equation.

        Parameters
        ----------
        levels : float array, shape (n, d)

        Returns
        -------
        mean, std : float array, shape (n, d)
        """
        low, high = self.kinetics.basal
        spread = (high - low) ** 2 / 12 if self.kinetics.cell_basal else 0.0
        regulation = self.regulation(levels)
        production = self.mean_production(regulation, self.roots * self._root_rate)
        intensity = self.noise_intensity(self.noise_production(regulation), production)
        decay = self.kinetics.decay
        variance = intensity / (2 * decay) + self.roots * spread / decay**2
        return production / decay, np.sqrt(variance)

    def effective_graph(self) -> MomentGraph:
        """Return the true graph of the moments: see ``noise_model``."""
        if self.kinetics.noise_model != "dpd-literal":
            return self.graph
        return MomentGraph(self.graph.names, self.graph.mean_graph, self.graph.union_graph)


def _half_total(strength: FloatArray) -> FloatArray:
    """Return each gene's production with every regulator at its half response, shape (d,)."""
    return np.asarray(np.abs(strength).sum(axis=0)) / 2


def _repressor_total(strength: FloatArray) -> FloatArray:
    """Return the summed |K| of each gene's repressors, shape (d,)."""
    return np.asarray(np.maximum(-strength, 0.0).sum(axis=0))
