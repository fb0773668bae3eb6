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

__all__ = ["Engine", "Fit", "FittedModel", "Progress", "silent"]

FloatArray: TypeAlias = npt.NDArray[np.float64]


class Progress(Protocol):
    """Is told how far a long computation has come."""

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Report that ``done`` of ``total`` steps of ``stage`` are made."""


def silent(stage: str, done: int, total: int) -> None:
    """Report nothing."""


class FittedModel(Protocol):
    """The mechanisms of a fit: conditional densities, moments and draws, in original units."""

    def log_density(self, values: FloatArray, posterior: Posterior) -> FloatArray:
        """Return the log density of each row of ``values`` (n, d) under the mixture, (n,)."""

    def moments(
        self, values: FloatArray, graph: MomentGraph, variable: str
    ) -> tuple[FloatArray, FloatArray]:
        """Return the conditional mean and sd of ``variable`` for each row, ((n,), (n,))."""

    def draw_functions(self, rng: np.random.Generator, graph: MomentGraph) -> Any:
        """Draw the mechanisms' weights given a graph pair; see the engine."""


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


class Engine(Protocol):
    """An inference engine."""

    def fit(
        self,
        dataset: Dataset,
        knowledge: Knowledge,
        n_draws: int,
        n_jobs: int,
        rng: np.random.Generator,
        progress: Progress,
    ) -> Fit:
        """Return the posterior over graph pairs given the data."""
