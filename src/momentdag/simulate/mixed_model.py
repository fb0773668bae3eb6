"""Models of tables with columns of several kinds: options, mechanisms, and how they are drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from scipy import special
from scipy.optimize import brentq

from momentdag.errors import OptionError
from momentdag.graph import MomentGraph
from momentdag.simulate.causes import Causes, ParentFunction
from momentdag.simulate.kinds import CATEGORY_LEVELS, N_ORDERED_LEVELS, Kind
from momentdag.simulate.noise import NoiseKind
from momentdag.simulate.options import FloatArray, check_choice, check_positive
from momentdag.simulate.responses import (
    Binary,
    Category,
    Count,
    LocationScale,
    Ordered,
    Response,
)
from momentdag.simulate.smooth import Marginal, Noise, Shape

__all__ = ["CountFamily", "MixedMechanisms", "MixedOptions", "draw_mechanisms"]

CountFamily = Literal["poisson", "negative-binomial", "either"]
"""Counts without variance parents; those with variance parents are negative binomial."""

_N_CALIBRATION = 4000  # rows over which functions are standardised and thresholds placed
_DISPERSION = 0.35  # of negative binomial counts: an sd of 0.6 times a large mean
_LIMIT = 2.0  # sd at which log-sds and the logarithms of counts' means and dispersions are bounded
_LOGISTIC_STD = np.pi / np.sqrt(3.0)


@dataclass(frozen=True)
class MixedOptions:
    """Strength and shape of the mechanisms of `mixed`, `mixed_from_graph` and `mixed_pair`.

    Parameters
    ----------
    signal_share : float
        Share of the variance of a continuous column, of the latent variable of an ordered one, of
        the logit of a binary one with its logistic error, or of the difference of two levels'
        scores with theirs, that the mean parents explain; of the logarithm of a count, about. In
        (0, 1). All mean parents of a column together; they have nearly equal parts.
    log_std_spread : float
        Sd of the log-sd of a column with variance parents; half the sd of a count's log-dispersion.
    interaction_share : float
        Share of each function that products of two parents' effects have, about; in [0, 1).
    shape : {"monotone", "non-monotone", "either"}
        Of the functions of continuous, ordered and count causes.
    noise : {"gaussian", "laplace", "student_t3"}
        Of continuous columns and latent variables with parents, scaled to variance 1.
    count_family : {"poisson", "negative-binomial", "either"}
        Of counts without variance parents; "either" is a fair coin for each column.
    boolean : bool
        Write binary columns as False and True instead of 0 and 1.

    Raises
    ------
    OptionError
        If a value is outside its range or choices.

    Examples
    --------
    >>> MixedOptions(noise="laplace").signal_share
    0.6
    """

    signal_share: float = 0.6
    log_std_spread: float = 0.7
    interaction_share: float = 0.2
    shape: Shape = "either"
    noise: NoiseKind = "gaussian"
    count_family: CountFamily = "either"
    boolean: bool = False

    def __post_init__(self) -> None:
        check_positive("signal_share", self.signal_share)
        check_positive("log_std_spread", self.log_std_spread)
        if self.signal_share >= 1:
            raise OptionError(f"Expected signal_share in (0, 1); got {self.signal_share!r}.")
        if not 0 <= self.interaction_share < 1:
            raise OptionError(
                f"Expected interaction_share in [0, 1); got {self.interaction_share!r}."
            )
        check_choice("shape", self.shape, get_args(Shape))
        check_choice("noise", self.noise, get_args(NoiseKind))
        check_choice("count_family", self.count_family, get_args(CountFamily))

    @property
    def signal_to_noise(self) -> float:
        """Return the ratio of the signal's sd to the noise's."""
        return float(np.sqrt(self.signal_share / (1 - self.signal_share)))


@dataclass(frozen=True, eq=False)
class MixedMechanisms:
    """One response for each column, and an order.

    Parameters
    ----------
    responses : tuple of Response
        In column order.
    order : tuple of int
        Columns, causes first.
    """

    responses: tuple[Response, ...]
    order: tuple[int, ...]

    def draw(
        self, rng: np.random.Generator, n_samples: int, fixed: Mapping[int, FloatArray]
    ) -> FloatArray:
        """Draw rows in which the columns of ``fixed`` are set, shape (n_samples, d)."""
        uniforms = _uniforms(rng, n_samples, len(self.responses))
        values = np.zeros_like(uniforms)
        for j in self.order:
            if j in fixed:
                values[:, j] = fixed[j]
            else:
                values[:, j] = self.responses[j].evaluate(values, uniforms[:, j])
        return values

    def moments(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return conditional mean and sd of each entry, shapes (n, d); NaN for categories."""
        pairs = [response.moments(values) for response in self.responses]
        return np.column_stack([m for m, _ in pairs]), np.column_stack([s for _, s in pairs])


def draw_mechanisms(
    rng: np.random.Generator,
    graph: MomentGraph,
    order: Sequence[int],
    kinds: Sequence[Kind],
    options: MixedOptions,
) -> MixedMechanisms:
    """Draw a response for every column.

    Functions are standardised, and thresholds and intercepts chosen, over 4000 rows that are drawn
    on the way and thrown away: the model does not depend on the number of rows asked for.

    Parameters
    ----------
    order : sequence of int
        Columns, causes first.
    kinds : sequence of Kind
        In column order.
    """
    uniforms = _uniforms(rng, _N_CALIBRATION, len(kinds))
    values = np.zeros_like(uniforms)
    responses: dict[int, Response] = {}
    for j in order:
        mean_parents = np.flatnonzero(graph.mean_graph[:, j]).tolist()
        variance_parents = np.flatnonzero(graph.variance_graph[:, j]).tolist()
        causes = Causes(values, kinds, options.shape, options.interaction_share)
        drawing = _Drawing(rng, causes, mean_parents, variance_parents, uniforms[:, j], options)
        responses[j] = drawing.response(kinds[j])
        values[:, j] = responses[j].evaluate(values, uniforms[:, j])
    return MixedMechanisms(tuple(responses[j] for j in range(len(kinds))), tuple(order))


@dataclass(frozen=True, eq=False)
class _Drawing:
    """What the response of one column is drawn from."""

    rng: np.random.Generator
    causes: Causes
    mean_parents: list[int]
    variance_parents: list[int]
    uniforms: FloatArray
    options: MixedOptions

    def response(self, kind: Kind) -> Response:
        match kind:
            case "continuous":
                return self.continuous()
            case "ordered":
                return self.ordered()
            case "count":
                return self.count()
            case "binary":
                return self.binary()
            case "category":
                return self.category()

    def mean_function(self, noise_std: float, limit: float | None = None) -> ParentFunction:
        spread = self.options.signal_to_noise * noise_std
        return self.causes.draw(self.rng, self.mean_parents, spread, limit)

    def log_std(self) -> ParentFunction:
        """Draw a log-sd such that the mean variance is 1."""
        spread = self.options.log_std_spread
        drawn = self.causes.draw(self.rng, self.variance_parents, spread, _LIMIT)
        return drawn.plus(-0.5 * float(np.log(np.mean(np.exp(2 * drawn(self.causes.values))))))

    def continuous(self) -> LocationScale:
        if not self.mean_parents and not self.variance_parents:
            nothing = ParentFunction.fixed(0.0)
            return LocationScale(nothing, nothing, Marginal.draw(self.rng))
        return LocationScale(self.mean_function(1.0), self.log_std(), Noise(self.options.noise))

    def ordered(self) -> Ordered:
        mean, log_std, noise = self.mean_function(1.0), self.log_std(), Noise(self.options.noise)
        latent = LocationScale(mean, log_std, noise).evaluate(self.causes.values, self.uniforms)
        shares = _draw_shares(self.rng, N_ORDERED_LEVELS)
        thresholds = np.quantile(latent, np.cumsum(shares)[:-1])
        return Ordered(mean, log_std, noise, thresholds)

    def count(self) -> Count:
        mean = float(self.rng.uniform(4.0, 12.0))
        poisson = self.options.count_family == "poisson" or (
            self.options.count_family == "either" and self.rng.random() < 0.5
        )
        if self.variance_parents:
            # A Poisson part that is small beside the dispersion lets its parents be seen.
            poisson, mean = False, 2 * mean
        dispersion = 0.0 if poisson else _DISPERSION
        # The variance of log y is about 1 / mu + alpha.
        signal = self.mean_function(np.sqrt(1 / mean + dispersion), _LIMIT)
        log_mean = signal.plus(float(np.log(mean)))
        if poisson:
            return Count(log_mean, None)
        spread = 2 * self.options.log_std_spread
        log_dispersion = self.causes.draw(self.rng, self.variance_parents, spread, _LIMIT)
        return Count(log_mean, log_dispersion.plus(float(np.log(_DISPERSION))))

    def binary(self) -> Binary:
        logit = self.mean_function(_LOGISTIC_STD)
        share, signal = float(self.rng.uniform(0.35, 0.65)), logit(self.causes.values)
        intercept = brentq(lambda a: float(np.mean(special.expit(a + signal))) - share, -50, 50)
        return Binary(logit.plus(float(intercept)))

    def category(self) -> Category:
        n_levels = len(CATEGORY_LEVELS)
        # Two orthonormal directions in the plane of scores that sum to zero, turned at random.
        contrasts = _random_contrasts(self.rng, n_levels)
        # Two levels' scores differ by sqrt 2 times a direction; their errors by a logistic.
        functions = tuple(
            self.mean_function(_LOGISTIC_STD / np.sqrt(2.0)) for _ in range(n_levels - 1)
        )
        shares = _draw_shares(self.rng, n_levels)
        drawn = Category(functions, contrasts, np.log(shares))
        for _ in range(50):
            reached = drawn.probabilities(self.causes.values).mean(axis=0)
            drawn = Category(functions, contrasts, drawn.intercepts + np.log(shares / reached))
        return drawn


def _draw_shares(rng: np.random.Generator, n_levels: int) -> FloatArray:
    raw = rng.uniform(0.6, 1.4, n_levels)
    shares: FloatArray = raw / raw.sum()
    return shares


def _random_contrasts(rng: np.random.Generator, n_levels: int) -> FloatArray:
    raw = rng.standard_normal((n_levels, n_levels - 1))
    basis, _ = np.linalg.qr(raw - raw.mean(axis=0))
    return basis


def _uniforms(rng: np.random.Generator, n_samples: int, n_variables: int) -> FloatArray:
    """Draw uniforms above zero; noise for all columns at once, so interventions share it."""
    return np.maximum(rng.random((n_samples, n_variables)), 2.0**-54)
