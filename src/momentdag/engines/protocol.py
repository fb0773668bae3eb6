"""What every engine takes and gives, so that a new one is one folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from momentdag.engines.standardise import StandardisedTable, standardise
from momentdag.graph import MomentGraph
from momentdag.knowledge import CompiledKnowledge
from momentdag.posterior import Posterior
from momentdag.storage.state import State
from momentdag.table import Dataset, Observed

__all__ = [
    "AnyMechanism",
    "Checkpoint",
    "DiscreteMechanism",
    "Engine",
    "FitRequest",
    "FitResult",
    "FittedModel",
    "Mechanism",
    "NullCheckpoint",
    "Options",
    "Progress",
    "as_continuous",
    "as_discrete",
    "silent",
]

FloatArray: TypeAlias = npt.NDArray[np.float64]


class Progress(Protocol):
    """Is told how far a long computation has come."""

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Report that ``done`` of ``total`` steps of ``stage`` are made."""


def silent(stage: str, done: int, total: int) -> None:
    """Report nothing."""


class Checkpoint(Protocol):
    """Stores the finished stages of a fit, so that one cut short can go on.

    A stage is stored as plain JSON values and arrays. A resumed fit is bit-for-bit identical to one
    that was never cut short.
    """

    def load(self, stage: str) -> tuple[Mapping[str, Any], Mapping[str, npt.NDArray[Any]]] | None:
        """Return what was stored of a stage, or None."""

    def save(
        self, stage: str, content: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]
    ) -> None:
        """Store a stage, replacing what was stored of it before."""


class NullCheckpoint:
    """A checkpoint that stores nothing."""

    def load(self, stage: str) -> None:
        """Return nothing."""

    def save(
        self, stage: str, content: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]
    ) -> None:
        """Store nothing."""


class AnyMechanism(Protocol):
    """One variable given its parents, functions fixed, in the data's units.

    ``values`` (n, d) holds a row for each case with all columns of the data in their order; only
    the columns of the variable's parents are read.
    """

    @property
    def is_discrete(self) -> bool:
        """Whether it is a `DiscreteMechanism`, or else a `Mechanism`."""

    def moments(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the conditional mean and sd at each row, ((n,), (n,))."""

    def extrapolates(self, values: FloatArray) -> npt.NDArray[np.bool_]:
        """Return at which rows the parents lie where no data were, (n,)."""


class DiscreteMechanism(AnyMechanism, Protocol):
    """The probabilities of the values of one variable."""

    @property
    def levels(self) -> FloatArray:
        """The values it had in the data, rising, (K,)."""

    def shares(self, values: FloatArray) -> FloatArray:
        """Return the probability of each level, (n, K); counts may have others, too."""

    def spread_by(self, factor: float) -> DiscreteMechanism:
        """Return the mechanism with ``factor`` times the spread that its mean leaves free."""

    def settle(self, values: FloatArray, uniforms: FloatArray) -> FloatArray:
        """Return the value that each row takes whose noise is ``uniforms`` (n,) in (0, 1)."""

    def probability(self, values: FloatArray, low: float, high: float) -> FloatArray:
        """Return P(low <= Y <= high) at each row, (n,)."""

    def distribution(self, values: FloatArray, y: FloatArray) -> FloatArray:
        """Return P(Y <= y) for each row with its own y (n,), (n,)."""

    def log_masses(self, values: FloatArray, y: FloatArray) -> FloatArray:
        """Return log P(Y = y) for each row with its own y (n,), (n,)."""


class Mechanism(AnyMechanism, Protocol):
    """X_j = mean + sd · noise."""

    def draw_noise(self, rng: np.random.Generator, size: int) -> FloatArray:
        """Draw standardised noise (mean 0, variance 1), (size,)."""

    def noise_cdf(self, noise: FloatArray) -> FloatArray:
        """Return P(E <= e) for each standardised residual e, the same shape."""

    def noise_log_density(self, noise: FloatArray) -> FloatArray:
        """Return log p(e) for each standardised residual e, the same shape."""

    def simulated_noise_cdf(self, noise: FloatArray) -> FloatArray:
        """Return the same for simulating rows: close to the residuals of the rows of the fit.

        `noise_cdf` is smooth and has tails, for probabilities of rare values.
        """

    def thresholds(self, levels: FloatArray) -> FloatArray:
        """Return where mean + sd · noise passes from one level of the variable to the next.

        ``levels`` (K,) are its distinct values in the data; see `engines.thresholds`.
        """


def as_discrete(mechanism: AnyMechanism) -> DiscreteMechanism | None:
    """Return the mechanism if it is one of a discrete variable."""
    return cast(DiscreteMechanism, mechanism) if mechanism.is_discrete else None


def as_continuous(mechanism: AnyMechanism) -> Mechanism:
    """Return a mechanism that is known not to be one of a discrete variable.

    Raises
    ------
    TypeError
        If it is.
    """
    if mechanism.is_discrete:
        raise TypeError("Expected a location-scale mechanism; got one of a discrete variable.")
    return cast(Mechanism, mechanism)


class FittedModel(Protocol):
    """The mechanisms of a fit: conditional densities, moments and draws, in original units."""

    @property
    def names(self) -> tuple[str, ...]:
        """The variables, in the order of the data's columns."""

    def log_density(self, values: FloatArray, posterior: Posterior) -> FloatArray:
        """Return the log density of each row of ``values`` (n, d) under the mixture, (n,)."""

    def moments(
        self, values: FloatArray, graph: MomentGraph, variable: str
    ) -> tuple[FloatArray, FloatArray]:
        """Return the conditional mean and sd of ``variable`` for each row, ((n,), (n,))."""

    def mean_functions(self, graph: MomentGraph) -> Mapping[str, AnyMechanism]:
        """Return every variable's mechanism at its posterior mean given a graph pair."""

    def draw_functions(
        self, rng: np.random.Generator, graph: MomentGraph
    ) -> Mapping[str, AnyMechanism]:
        """Draw every variable's mechanism from its posterior given a graph pair."""

    def to_state(self) -> State:
        """Return the model as plain values and arrays, enough to make it again."""

    @classmethod
    def from_state(cls, state: State) -> FittedModel:
        """Return the model that gave ``state``, with bit-for-bit identical results.

        A state may come from a damaged or forged file: whatever is malformed raises `StorageError`.
        """


@dataclass(frozen=True)
class FitRequest:
    """What an engine is asked to do; everything in it has been checked.

    Parameters
    ----------
    dataset : Dataset
    knowledge : CompiledKnowledge
        In the data's order of columns; the regimes that are compared with the reference, if there
        are any, stand after them.
    n_draws : int
        Graph pairs to draw.
    rng : numpy Generator
    seed : int or None
        What ``rng`` was made from, for the record.
    n_jobs : int
        Processes; the result does not depend on it.
    progress : Progress
    checkpoint : Checkpoint
    """

    dataset: Dataset
    knowledge: CompiledKnowledge
    n_draws: int
    rng: np.random.Generator
    seed: int | None = None
    n_jobs: int = 1
    progress: Progress = silent
    checkpoint: Checkpoint = field(default_factory=NullCheckpoint)

    @cached_property
    def table(self) -> StandardisedTable:
        """The data in canonical column order and standard units."""
        return standardise(self.dataset)

    @cached_property
    def canonical_knowledge(self) -> CompiledKnowledge:
        """The knowledge in the order of the columns of `table`."""
        columns = self.table.columns
        n_regimes = self.knowledge.n_variables - len(columns)
        return self.knowledge.reordered(np.append(columns, len(columns) + np.arange(n_regimes)))


@dataclass(frozen=True)
class FitResult:
    """What an engine returns, and all that effects, reports and run folders need of a fit.

    Parameters
    ----------
    posterior : Posterior
    model : FittedModel or None
        The fitted mechanisms; None for families that have none.
    best_graph : MomentGraph
        The most probable pair met.
    observed : Observed
        Ranges, moments, grids and correlations of the data's columns.
    status : str
        "complete", or a sentence saying what cut the fit short.
    details : mapping
        Diagnostics of the engine, as plain JSON values.
    observed_in : mapping from regime to Observed
        The same as ``observed``, which is of the reference, in each regime.
    """

    posterior: Posterior
    model: FittedModel | None
    best_graph: MomentGraph
    observed: Observed
    status: str = "complete"
    details: Mapping[str, Any] = field(default_factory=dict)
    observed_in: Mapping[str, Observed] = field(default_factory=dict)


class Options(Protocol):
    """Everything an engine lets its user choose."""

    def to_dict(self) -> dict[str, Any]:
        """Return the options as plain JSON values."""


class Engine(Protocol):
    """An inference engine."""

    @property
    def options(self) -> Options:
        """How the engine works."""

    def check(self, dataset: Dataset) -> None:
        """Refuse a table that the engine cannot take, before anything is computed or written.

        Raises
        ------
        DataError, OptionError
        """

    def fit(self, request: FitRequest) -> FitResult:
        """Return the posterior over graph pairs given the data."""

    def restore_model(self, state: State) -> FittedModel:
        """Return a fitted model of this engine from its state, see `FittedModel.from_state`."""
