"""The arguments and the results of every baseline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from momentdag.baselines.one_graph import GraphLimits
from momentdag.baselines.options import Options
from momentdag.graph import BoolArray, MomentGraph
from momentdag.posterior import Posterior
from momentdag.table import Dataset

__all__ = ["BaselineResult", "Estimate", "Learner", "Method"]

FloatArray: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Estimate:
    """What a method has learned: one graph for both moments, or draws of it.

    Parameters
    ----------
    graphs : bool array, shape (n_draws, d, d)
        A single draw for a point estimate.
    status : str
        "complete", or a sentence saying what went wrong and what to change.
    details : mapping
        Diagnostics, as plain JSON values.
    log_posterior : float array, shape (n_draws,), optional
        Unnormalised log posterior of each draw.
    chains : int array, shape (n_draws,), optional
        The chain each draw came from.
    """

    graphs: BoolArray
    status: str = "complete"
    details: Mapping[str, Any] = field(default_factory=dict)
    log_posterior: FloatArray | None = None
    chains: npt.NDArray[np.int32] | None = None


class Learner(Protocol):
    """The algorithm of one method."""

    def __call__(
        self,
        rng: np.random.Generator,
        dataset: Dataset,
        limits: GraphLimits,
        n_draws: int,
        options: Any,
    ) -> Estimate:
        """Learn from the data within the limits; ``options`` have the type of the method."""


class Method(NamedTuple):
    """A method in the registry: what it is called in print, its options and its algorithm."""

    title: str
    options: type[Options]
    learn: Learner


@dataclass(frozen=True)
class BaselineResult:
    """The result of a baseline in the common container, so that every metric applies to it.

    Parameters
    ----------
    method : str
        Name in the registry.
    posterior : Posterior
        Draws of graph pairs; a point estimate is a single draw.
    graph : MomentGraph
        The point estimate, or the consensus of the draws.
    status : str
        "complete", or a sentence saying what went wrong and what to change.
    details : mapping
        Diagnostics of the method, as plain JSON values.
    """

    method: str
    posterior: Posterior
    graph: MomentGraph
    status: str
    details: Mapping[str, Any]
