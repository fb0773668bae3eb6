"""What every engine takes and gives, so that a new one is one folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from momentdag.data import Dataset
from momentdag.graph import MomentGraph
from momentdag.knowledge import Knowledge
from momentdag.posterior import Posterior

__all__ = [
    "Checkpoint",
    "Engine",
    "Fit",
    "FittedModel",
    "Forgetful",
    "Mechanism",
    "Options",
    "Progress",
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
    """Keeps what a fit has finished, so that one cut short can go on where it was.

    A stage is kept as plain JSON values and arrays. A fit that is given back what it kept must end
    with the same bits as one that was never cut short.
    """

    def load(self, stage: str) -> tuple[Mapping[str, Any], Mapping[str, npt.NDArray[Any]]] | None:
        """Return what was kept of a stage, or None."""

    def save(
        self, stage: str, content: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]
    ) -> None:
        """Keep a stage, in place of what was kept of it before."""


class Forgetful:
    """A checkpoint that keeps nothing."""

    def load(self, stage: str) -> None:
        """Return nothing."""

    def save(
        self, stage: str, content: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]
    ) -> None:
        """Keep nothing."""


class Mechanism(Protocol):
    """X_j = mean + sd · noise for one variable, functions fixed, in the data's units.

    ``values`` (n, d) holds a row for each case with all columns of the data in their order; only
    the columns of the variable's parents are read.
    """

    def moments(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the conditional mean and sd at each row, ((n,), (n,))."""

    def draw_noise(self, rng: np.random.Generator, size: int) -> FloatArray:
        """Draw standardised noise (mean 0, variance 1), (size,)."""

    def noise_cdf(self, noise: FloatArray) -> FloatArray:
        """Return P(E <= e) for each standardised residual e, the same shape."""


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

    def mean_functions(self, graph: MomentGraph) -> Mapping[str, Mechanism]:
        """Return every variable's mechanism at its posterior mean given a graph pair."""

    def draw_functions(
        self, rng: np.random.Generator, graph: MomentGraph
    ) -> Mapping[str, Mechanism]:
        """Draw every variable's mechanism from its posterior given a graph pair."""


@dataclass(frozen=True)
class Fit:
    """What an engine returns.

    Parameters
    ----------
    posterior : Posterior
    model : FittedModel or None
        The fitted mechanisms; None for families that have none.
    best : MomentGraph
        The most probable pair met.
    status : str
        "complete", or a sentence saying what cut the fit short.
    details : mapping
        Diagnostics of the engine, as plain JSON values.
    """

    posterior: Posterior
    model: FittedModel | None
    best: MomentGraph
    status: str = "complete"
    details: Mapping[str, Any] = field(default_factory=dict)


class Options(Protocol):
    """Everything an engine lets its user choose."""

    def to_dict(self) -> dict[str, Any]:
        """Return the options as plain JSON values."""


class Engine(Protocol):
    """An inference engine."""

    @property
    def options(self) -> Options:
        """How the engine works."""

    def fit(
        self,
        dataset: Dataset,
        knowledge: Knowledge,
        n_draws: int,
        n_jobs: int,
        rng: np.random.Generator,
        progress: Progress,
        checkpoint: Checkpoint | None = None,
    ) -> Fit:
        """Return the posterior over graph pairs given the data."""
