"""Worlds: draws of graph pair and functions, with noise that fills the space evenly.

A question about an intervention is asked in each of many worlds drawn from the posterior; the
spread of the answers is their uncertainty. Inside a world, expectations over noise are averages
over randomly shifted Sobol points, whose error is far below the spread between worlds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt
from scipy.stats import qmc

from momentdag.effects.fitted import Fitted
from momentdag.engines.protocol import Mechanism
from momentdag.errors import OptionError
from momentdag.graph import MomentGraph
from momentdag.posterior.queries import distinct_rows

__all__ = ["MonteCarlo", "Uncertainty", "World", "check_uncertainty", "draw_worlds"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
Uncertainty: TypeAlias = Literal["both", "graph", "function"]
"""Let graphs and functions vary, graphs alone (functions at their means), or functions alone."""

# Values of standardised noise at which its distribution function is inverted: dense in the
# middle, out to 60 standard deviations.
_NODES = np.sinh(np.linspace(-4.8, 4.8, 601))
_N_BITS = 30


@dataclass(frozen=True)
class MonteCarlo:
    """How finely answers are computed.

    Parameters
    ----------
    n_draws : int
        Worlds: draws of a graph pair with its functions.
    n_rows : int
        Noise rows in each world; a power of two.
    random_state : int
        The same number gives the same answer, and pairs the worlds of several questions.

    Raises
    ------
    OptionError
        If a number is out of range.
    """

    n_draws: int = 200
    n_rows: int = 512
    random_state: int = 0

    def __post_init__(self) -> None:
        for name, least in (("n_draws", 2), ("n_rows", 8), ("random_state", 0)):
            value = getattr(self, name)
            if not isinstance(value, int | np.integer) or value < least:
                raise OptionError(f"Expected {name} as an integer from {least}; got {value!r}.")
        if self.n_rows & (self.n_rows - 1):
            raise OptionError(f"Expected n_rows to be a power of two; got {self.n_rows}.")

    @property
    def rng(self) -> np.random.Generator:
        """A fresh generator."""
        return np.random.default_rng(self.random_state)


@dataclass(frozen=True, eq=False)
class World:
    """One draw of everything that is uncertain.

    Parameters
    ----------
    graph : MomentGraph
    mechanisms : mapping from name to Mechanism
    uniforms : float array, shape (n_rows, d)
        Evenly spread points of the unit cube, one column for each variable's noise.
    weight : float
        Share of the posterior that this world stands for.
    """

    graph: MomentGraph
    mechanisms: Mapping[str, Mechanism]
    uniforms: FloatArray
    weight: float
    _noise: dict[int, FloatArray] = field(default_factory=dict, repr=False)

    def noise(self, column: int) -> FloatArray:
        """Return the standardised noise of one variable, shape (n_rows,)."""
        if column not in self._noise:
            mechanism = self.mechanisms[self.graph.names[column]]
            noise = np.interp(self.uniforms[:, column], mechanism.noise_cdf(_NODES), _NODES)
            # A finite sample misses the far tails; this gives their variance back.
            noise -= noise.mean()
            self._noise[column] = noise / noise.std()
        return self._noise[column]


def check_uncertainty(uncertainty: Uncertainty) -> None:
    """Refuse anything else than the choices of `Uncertainty`."""
    if uncertainty not in get_args(Uncertainty):
        raise OptionError(
            f"Expected uncertainty among {get_args(Uncertainty)}; got {uncertainty!r}."
        )


def draw_worlds(
    rng: np.random.Generator, fitted: Fitted, n_draws: int, n_rows: int, uncertainty: Uncertainty
) -> list[World]:
    """Draw worlds from the posterior.

    With ``uncertainty="both"`` each of ``n_draws`` worlds has a drawn graph pair and functions
    drawn given it; with "graph" each *distinct* drawn pair is one world with functions at their
    posterior means, weighted by its frequency; with "function" all worlds share the most probable
    pair.
    """
    posterior, model = fitted.posterior, fitted.model
    function_rng, shift_rng = rng.spawn(2)
    if uncertainty == "function":
        graphs = [posterior.map_graph()] * n_draws
        weights = np.full(n_draws, 1 / n_draws)
    else:
        # Evenly spaced: neighbours in a chain resemble each other.
        chosen = np.floor((np.arange(n_draws) + 0.5) * posterior.n_draws / n_draws).astype(np.intp)
        weights = np.full(n_draws, 1 / n_draws)
        if uncertainty == "graph":
            chosen, weights = _distinct(fitted, chosen)
        graphs = [posterior.draw(int(k)) for k in chosen]
    net = qmc.Sobol(len(fitted.names), scramble=False, bits=_N_BITS).random(n_rows)
    points = (net * 2**_N_BITS).astype(np.int64)
    return [
        World(
            graph,
            model.mean_functions(graph)
            if uncertainty == "graph"
            else model.draw_functions(function_rng, graph),
            _shifted(shift_rng, points),
            float(weight),
        )
        for graph, weight in zip(graphs, weights, strict=True)
    ]


def _distinct(
    fitted: Fitted, chosen: npt.NDArray[np.intp]
) -> tuple[npt.NDArray[np.intp], FloatArray]:
    """Return the first of each distinct pair among the chosen draws, and their shares."""
    mean_graphs, variance_graphs = fitted.posterior.mean_graphs, fitted.posterior.variance_graphs
    flat = np.concatenate([mean_graphs[chosen], variance_graphs[chosen]], axis=1)
    distinct = distinct_rows(np.packbits(flat.reshape(len(chosen), -1), axis=1))
    return chosen[distinct.first], distinct.counts / len(chosen)


def _shifted(rng: np.random.Generator, points: npt.NDArray[np.int64]) -> FloatArray:
    """Give a digital net (n, d) a random digital shift, in columns shuffled at random.

    A shift of the binary digits keeps the net a net, and makes every point uniform; shuffled,
    because pairs of later columns are less even.
    """
    d = points.shape[1]
    digits = points[:, rng.permutation(d)] ^ rng.integers(2**_N_BITS, size=d)
    return np.asarray((digits + 0.5) / 2**_N_BITS)
