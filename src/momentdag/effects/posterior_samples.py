"""Samples of the posterior: a drawn graph pair, its functions, and evenly spread noise.

A question about an intervention is answered in each of many samples; the spread of the answers is
their uncertainty. Within a sample, expectations over noise are averages over randomly shifted Sobol
points, whose error is far below the spread between samples.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt
from scipy.stats import qmc

from momentdag.effects.alignment import Alignment
from momentdag.effects.inputs import EffectInputs
from momentdag.effects.views import Grid, View, make_views
from momentdag.engines.protocol import (
    AnyMechanism,
    DiscreteMechanism,
    Mechanism,
    as_continuous,
    as_discrete,
)
from momentdag.errors import OptionError
from momentdag.graph import MomentGraph
from momentdag.posterior.monte_carlo import evenly_spaced
from momentdag.posterior.queries import distinct_rows

__all__ = ["MonteCarlo", "PosteriorSample", "Uncertainty", "check_uncertainty", "draw_samples"]

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
        Posterior samples: draws of a graph pair with its functions.
    n_rows : int
        Noise rows in each sample; a power of two.
    random_state : int
        Seed. Questions with the same seed are answered in the same samples.

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
                raise OptionError(
                    f"Expected {name} to be an integer of at least {least}; got {value!r}."
                )
        if self.n_rows & (self.n_rows - 1):
            raise OptionError(f"Expected n_rows to be a power of two; got {self.n_rows}.")

    @property
    def rng(self) -> np.random.Generator:
        """A fresh generator."""
        return np.random.default_rng(self.random_state)


@dataclass(frozen=True, eq=False)
class PosteriorSample:
    """A graph pair with its mechanisms and noise points.

    Parameters
    ----------
    graph : MomentGraph
    mechanisms : mapping from name to AnyMechanism
    uniforms : float array, shape (n_rows, d)
        Evenly spread points of the unit cube, one column for each variable's noise.
    weight : float
        Share of the posterior that this sample stands for.
    views : mapping from column to View
        Of variables on a grid and of logarithms.
    alignment : mapping from column to Alignment
        Of the columns that are moved to reproduce the data.
    """

    graph: MomentGraph
    mechanisms: Mapping[str, AnyMechanism]
    uniforms: FloatArray
    weight: float
    views: Mapping[int, View] = field(default_factory=dict)
    alignment: Mapping[int, Alignment] = field(default_factory=dict)
    _noise: dict[int, FloatArray] = field(default_factory=dict, repr=False)
    _distributions: dict[int, FloatArray] = field(default_factory=dict, repr=False)
    _views: dict[int, View] = field(default_factory=dict, repr=False)

    def discrete(self, column: int) -> DiscreteMechanism | None:
        """Return the mechanism of a variable if it is one of a discrete variable."""
        mechanism = as_discrete(self.mechanisms[self.graph.names[column]])
        aligned = self.alignment.get(column)
        if mechanism is None or aligned is None:
            return mechanism
        return mechanism.spread_by(aligned.factor)

    def _continuous(self, column: int) -> Mechanism:
        return as_continuous(self.mechanisms[self.graph.names[column]])

    def view(self, column: int) -> View | None:
        """Return how a variable is seen that comes from its mechanism in this sample."""
        if column not in self.views:
            return None
        if column not in self._views:
            discrete = self.discrete(column)
            view = self.views[column]
            self._views[column] = view.at(self._continuous(column)) if discrete is None else view
        return self._views[column]

    def shows_exponential(self, column: int) -> bool:
        """Tell whether a variable on a grid was fitted as a logarithm."""
        view = self.views.get(column)
        return isinstance(view, Grid) and view.is_log

    def latent_moments(self, column: int, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and sd of a variable's mechanism at rows of ``values`` (n, d), aligned."""
        discrete = self.discrete(column)
        if discrete is not None:
            return discrete.moments(values)
        mean, sd = self.mechanisms[self.graph.names[column]].moments(values)
        aligned = self.alignment.get(column)
        return (mean, sd) if aligned is None else aligned(mean, sd)

    def moments(
        self, column: int, mean: FloatArray, sd: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return mean and sd of a variable as it is seen, given those of its mechanism."""
        view = self.view(column)
        if view is None or self.discrete(column) is not None:
            return mean, sd
        values = self._noise_cdf(column)
        return view.moments(mean, sd, lambda e: np.asarray(np.interp(e, _NODES, values)))

    def _noise_cdf(self, column: int) -> FloatArray:
        """Return the distribution function of a variable's noise at the nodes."""
        if column not in self._distributions:
            self._distributions[column] = self._continuous(column).simulated_noise_cdf(_NODES)
        return self._distributions[column]

    def noise_probability(self, column: int, noise: FloatArray) -> FloatArray:
        """Return P(E <= e) for the noise of a continuous variable as it is simulated."""
        return np.asarray(np.interp(noise, _NODES, self._noise_cdf(column), 0.0, 1.0))

    def noise_quantile(self, column: int, uniforms: FloatArray) -> FloatArray:
        """Return the noise of a continuous variable with these probabilities below it."""
        return np.asarray(np.interp(uniforms, self._noise_cdf(column), _NODES))

    def noise(self, column: int) -> FloatArray:
        """Return the standardised noise of one variable, shape (n_rows,).

        That of a discrete one is even between 0 and 1.
        """
        if self.discrete(column) is not None:
            return self.uniforms[:, column]
        if column not in self._noise:
            noise = np.interp(self.uniforms[:, column], self._noise_cdf(column), _NODES)
            # Finitely many points miss the far tails; rescaling restores the unit variance.
            noise -= noise.mean()
            self._noise[column] = noise / noise.std()
        return self._noise[column]


def check_uncertainty(uncertainty: Uncertainty) -> None:
    """Raise `OptionError` if ``uncertainty`` is none of the choices."""
    if uncertainty not in get_args(Uncertainty):
        raise OptionError(
            f"Expected uncertainty among {get_args(Uncertainty)}; got {uncertainty!r}."
        )


def draw_samples(
    rng: np.random.Generator,
    inputs: EffectInputs,
    n_draws: int,
    n_rows: int,
    uncertainty: Uncertainty,
) -> list[PosteriorSample]:
    """Draw samples from the posterior over graph pairs and functions.

    With ``uncertainty="both"`` each of ``n_draws`` samples has a drawn graph pair and functions
    drawn given it; with "graph" there is one sample for each *distinct* drawn pair, weighted by its
    frequency, with functions at their posterior means; with "function" all samples share the most
    probable pair.
    """
    posterior, model = inputs.posterior, inputs.model
    function_rng, shift_rng = rng.spawn(2)
    weights = np.full(n_draws, 1 / n_draws)
    if uncertainty == "function":
        graphs = [posterior.map_graph()] * n_draws
    else:
        rows = evenly_spaced(posterior.n_draws, n_draws)
        if uncertainty == "graph":
            rows, weights = _distinct(inputs, rows)
        graphs = [posterior.draw(int(k)) for k in rows]
    views = make_views(inputs.observed)
    net = qmc.Sobol(len(inputs.names), scramble=False, bits=_N_BITS).random(n_rows)
    points = (net * 2**_N_BITS).astype(np.int64)
    return [
        PosteriorSample(
            graph,
            model.mean_functions(graph)
            if uncertainty == "graph"
            else model.draw_functions(function_rng, graph),
            _shifted(shift_rng, points),
            float(weight),
            views,
            inputs.alignment,
        )
        for graph, weight in zip(graphs, weights, strict=True)
    ]


def _distinct(
    inputs: EffectInputs, rows: npt.NDArray[np.intp]
) -> tuple[npt.NDArray[np.intp], FloatArray]:
    """Return the first row of each distinct pair among ``rows``, and the pairs' shares."""
    posterior = inputs.posterior
    flat = np.concatenate([posterior.mean_graphs[rows], posterior.variance_graphs[rows]], axis=1)
    packed = np.packbits(flat.reshape(len(rows), -1), axis=1)
    if posterior.target_draws is not None:
        packed = np.hstack([packed, posterior.target_draws.bits[rows]])
    distinct = distinct_rows(packed)
    return rows[distinct.first], distinct.counts / len(rows)


def _shifted(rng: np.random.Generator, points: npt.NDArray[np.int64]) -> FloatArray:
    """Return a digital net (n, d) with a random digital shift and shuffled columns.

    A shift of the binary digits keeps the net a net and makes every point uniform. The columns are
    shuffled because later Sobol columns are less even in pairs.
    """
    d = points.shape[1]
    digits = points[:, rng.permutation(d)] ^ rng.integers(2**_N_BITS, size=d)
    return np.asarray((digits + 0.5) / 2**_N_BITS)
