"""Models that break one assumption of the location-scale model, and how they are drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from momentdag.graph import MomentGraph
from momentdag.simulate.causes import Causes
from momentdag.simulate.conditionals import (
    Conditional,
    FreeNoise,
    LocationScale,
    Mixture,
    Moments,
    Multiplicative,
    PostNonlinear,
    Root,
    SkewNoise,
    Standardised,
    WarpedRoot,
)
from momentdag.simulate.kinds import Kind
from momentdag.simulate.options import FloatArray
from momentdag.simulate.random_functions import FourierFunction, MonotoneFunction
from momentdag.simulate.smooth import Marginal

__all__ = [
    "RECORDINGS",
    "ConditionalFamily",
    "ConditionalModel",
    "Recording",
    "draw_conditionals",
]

ConditionalFamily = Literal[
    "location_scale",
    "free_noise",
    "free_noise_weak",
    "post_nonlinear",
    "skewness",
    "multiplicative",
    "mixture",
]
"""How a variable arises from its causes."""

_N_PILOT = 2000  # rows over which functions and variables are standardised
_N_NOISES = 3  # two for the mechanism, one for the recording
_SKEW_LIMIT = 0.8  # a skewness of 3.7; with more, a table is a few outliers and little else
_MEAN_OF_FACTOR = 1.0  # of m in a product, in its sds: most rows have one sign, not all
_LOWEST_SCALE = 0.15  # of a function of a variable with sd 1: shorter waves look like noise


@dataclass(frozen=True, eq=False)
class Recording:
    """What a table shows of the true values: an error is added, or they are rounded to a grid.

    Parameters
    ----------
    error_std : float array, shape (d,)
        0 for none.
    step : float array, shape (d,)
        Distance of two points of the grid; 0 for no rounding.
    """

    error_std: FloatArray
    step: FloatArray

    @classmethod
    def exact(cls, rng: np.random.Generator, n_variables: int) -> Recording:
        """Show the values as they are."""
        return cls(np.zeros(n_variables), np.zeros(n_variables))

    @classmethod
    def with_small_errors(cls, rng: np.random.Generator, n_variables: int) -> Recording:
        """Draw errors with an sd of 0.2 or so."""
        return cls(np.minimum(rng.gamma(2.0, 0.1, n_variables), 0.5), np.zeros(n_variables))

    @classmethod
    def with_errors(cls, rng: np.random.Generator, n_variables: int) -> Recording:
        """Draw errors that are 8 to 33 % of the recorded variance."""
        return cls(rng.uniform(0.3, 0.7, n_variables), np.zeros(n_variables))

    @classmethod
    def rounded(cls, rng: np.random.Generator, n_variables: int) -> Recording:
        """Draw grids on which a variable of sd 1 takes some 5 to 15 values."""
        return cls(np.zeros(n_variables), rng.uniform(0.4, 1.2, n_variables))

    @property
    def is_exact(self) -> bool:
        """Whether the table shows the values as they are."""
        return not (self.error_std.any() or self.step.any())

    def __call__(self, values: FloatArray, noise: FloatArray) -> FloatArray:
        """Return what is recorded of true values, both tables of shape (n, d)."""
        seen = values + self.error_std * noise
        step = np.where(self.step > 0, self.step, 1.0)
        return np.where(self.step > 0, np.round(seen / step) * step, seen)


RECORDINGS: Mapping[str, Callable[[np.random.Generator, int], Recording]] = {
    "free_noise": Recording.with_small_errors,
    "free_noise_weak": Recording.with_small_errors,
    "measurement_error": Recording.with_errors,
    "rounding": Recording.rounded,
}
"""How the families that do not show the true values draw their recording."""


@dataclass(frozen=True, eq=False)
class ConditionalModel:
    """One conditional for each variable, hidden ones last, an order, and a recording.

    Parameters
    ----------
    conditionals : tuple of Conditional
        d recorded variables in column order, then the hidden ones.
    order : tuple of int
        All variables, causes first.
    recording : Recording
        Of the d recorded variables.
    """

    conditionals: tuple[Conditional, ...]
    order: tuple[int, ...]
    recording: Recording

    def draw(
        self, rng: np.random.Generator, n_samples: int, fixed: Mapping[int, FloatArray]
    ) -> FloatArray:
        """Draw rows in which the columns of ``fixed`` are set, and recorded as set."""
        # As in `StructuralEquations`: interventions with one seed share their noise.
        noise = rng.standard_normal((n_samples, len(self.conditionals), _N_NOISES))
        values = np.zeros(noise.shape[:2])
        for j in self.order:
            conditional = self.conditionals[j]
            values[:, j] = fixed[j] if j in fixed else conditional.evaluate(values, noise[:, j])
        d = len(self.recording.step)
        recorded = self.recording(values[:, :d], noise[:, :d, -1])
        for j, setting in fixed.items():
            recorded[:, j] = setting
        return recorded

    def moments(self, values: FloatArray) -> Moments | None:
        """Return conditional mean and sd of each entry, or None where they have no closed form.

        They have none given recorded values that are not the true ones, or given a part of the
        causes.
        """
        if not self.recording.is_exact or len(self.conditionals) > values.shape[1]:
            return None
        pairs = [conditional.moments(values) for conditional in self.conditionals]
        known = [pair for pair in pairs if pair is not None]
        if len(known) < len(pairs):
            return None
        return np.column_stack([m for m, _ in known]), np.column_stack([s for _, s in known])


def draw_conditionals(
    rng: np.random.Generator,
    graph: MomentGraph,
    order: Sequence[int],
    family: ConditionalFamily,
) -> tuple[Conditional, ...]:
    """Draw a conditional for each variable, causes first, each with mean 0 and sd 1 over a pilot.

    The pilot's size is fixed: a model does not depend on how many rows are drawn from it.
    """
    d = graph.n_variables
    noise = rng.standard_normal((_N_PILOT, d, _N_NOISES))
    values = np.zeros((_N_PILOT, d))
    drawn: dict[int, Conditional] = {}
    kinds: list[Kind] = ["continuous"] * d
    for j in order:
        mean_parents, variance_parents = (
            np.flatnonzero(adjacency[:, j])
            for adjacency in (graph.mean_graph, graph.variance_graph)
        )
        if len(mean_parents) + len(variance_parents) == 0:
            drawn[j] = _draw_root(rng, family)
            values[:, j] = drawn[j].evaluate(values, noise[:, j])
        else:
            draw = _DRAWN[family]
            conditional = draw(rng, Causes(values, kinds), mean_parents, variance_parents)
            raw = conditional.evaluate(values, noise[:, j])
            drawn[j] = Standardised(conditional, float(raw.mean()), float(raw.std()))
            values[:, j] = (raw - raw.mean()) / raw.std()
    return tuple(drawn[j] for j in range(d))


IntArray = npt.NDArray[np.intp]


def _draw_root(rng: np.random.Generator, family: ConditionalFamily) -> Conditional:
    if family == "free_noise":
        return WarpedRoot(_draw_warp(rng))
    return WarpedRoot(None) if family == "free_noise_weak" else Root(Marginal.draw(rng))


def _draw_warp(rng: np.random.Generator) -> MonotoneFunction:
    return MonotoneFunction.draw(rng, max(float(rng.gamma(5.0, 0.1)), _LOWEST_SCALE))


def _location_scale(
    rng: np.random.Generator, causes: Causes, mean: IntArray, variance: IntArray
) -> LocationScale:
    return LocationScale(
        causes.draw(rng, mean.tolist(), spread=1.0),
        causes.draw(rng, variance.tolist(), spread=0.6, limit=2.0),
        float(rng.uniform(0.4, 1.0)),
    )


def _skew_noise(
    rng: np.random.Generator, causes: Causes, mean: IntArray, variance: IntArray
) -> SkewNoise:
    skew = causes.draw(rng, np.union1d(mean, variance).tolist(), spread=1.5)
    return SkewNoise(_location_scale(rng, causes, mean, variance), skew, _SKEW_LIMIT)


def _post_nonlinear(
    rng: np.random.Generator, causes: Causes, mean: IntArray, variance: IntArray
) -> PostNonlinear:
    # Inner values have sd 1, for which the outer function is made.
    signal = float(np.sqrt(rng.uniform(0.5, 0.9)))
    inner = causes.draw(rng, mean.tolist(), spread=signal)
    outer = MonotoneFunction.draw(rng, float(rng.uniform(0.4, 1.0)))
    return PostNonlinear(inner, float(np.sqrt(1 - signal**2)), outer)


def _multiplicative(
    rng: np.random.Generator, causes: Causes, mean: IntArray, variance: IntArray
) -> Multiplicative:
    factor = causes.draw(rng, mean.tolist(), spread=1.0).plus(_MEAN_OF_FACTOR)
    return Multiplicative(factor, float(rng.uniform(0.3, 0.7)), float(rng.uniform(0.2, 0.5)))


def _mixture(
    rng: np.random.Generator, causes: Causes, mean: IntArray, variance: IntArray
) -> Mixture:
    return Mixture(
        causes.draw(rng, mean.tolist(), spread=0.7),
        causes.draw(rng, mean.tolist(), spread=1.0, limit=2.0),
        float(rng.uniform(0.3, 0.6)),
        moves_weights=bool(rng.random() < 0.5),
    )


def _free_noise(
    rng: np.random.Generator, causes: Causes, mean: IntArray, variance: IntArray
) -> FreeNoise:
    return _draw_free_noise(rng, mean, noise_scale=3.0, warp=_draw_warp(rng))


def _free_noise_weak(
    rng: np.random.Generator, causes: Causes, mean: IntArray, variance: IntArray
) -> FreeNoise:
    # Over long waves f is nearly linear in e, and moves so little with it that most of the noise
    # is the additive error of the recording.
    return _draw_free_noise(rng, mean, noise_scale=15.0, warp=None)


def _draw_free_noise(
    rng: np.random.Generator, columns: IntArray, noise_scale: float, warp: MonotoneFunction | None
) -> FreeNoise:
    # Causes share a scale, or one of them would hide the others; rows are further apart where
    # there are more of them, so waves grow with their number.
    shared = float(rng.gamma(2.0, 1.5)) * np.sqrt(len(columns))
    of_causes = shared * rng.uniform(0.7, 1.4, len(columns))
    scales = np.append(of_causes, rng.gamma(2.0, noise_scale))
    function = FourierFunction.draw(rng, np.maximum(scales, _LOWEST_SCALE))
    return FreeNoise(columns, function, warp)


_DRAWN: Mapping[
    ConditionalFamily,
    Callable[[np.random.Generator, Causes, IntArray, IntArray], Conditional],
] = {
    "location_scale": _location_scale,
    "free_noise": _free_noise,
    "free_noise_weak": _free_noise_weak,
    "post_nonlinear": _post_nonlinear,
    "skewness": _skew_noise,
    "multiplicative": _multiplicative,
    "mixture": _mixture,
}
