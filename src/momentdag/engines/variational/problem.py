"""What is given to training, what it learns, and what its compiled program depends on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from jax import Array

from momentdag.engines.variational.distribution import Limits, Parameters, Temperatures
from momentdag.engines.variational.likelihood import Networks
from momentdag.engines.variational.options import Gradient, Optimizer, Updates
from momentdag.engines.variational.projection import OrderConstraints

__all__ = [
    "MeanPart",
    "Penalties",
    "Problem",
    "Program",
    "Rates",
    "Scalar",
    "Settings",
    "VariancePart",
    "Weights",
]

Scalar: TypeAlias = "Array | float"


class Problem(NamedTuple):
    """What is given: standardised values (n, d), the edge prior as logits, and knowledge."""

    values: Array
    prior: Parameters
    limits: Limits
    orders: OrderConstraints


class MeanPart(NamedTuple):
    """What the mean phase moves: θ^M, φ^M and ψ."""

    networks: Networks
    logits: Array
    scores: Array


class VariancePart(NamedTuple):
    """What the variance phase moves: θ^V and φ^V."""

    networks: Networks
    logits: Array


class Weights(NamedTuple):
    """Everything that is learned."""

    mean: MeanPart
    variance: VariancePart

    @property
    def parameters(self) -> Parameters:
        """Φ, the parameters of the distribution over graph pairs."""
        return Parameters(self.mean.logits, self.variance.logits, self.mean.scores)


class Rates(NamedTuple):
    """Learning rates of networks, edge logits and order scores; zero holds them fixed."""

    networks: Scalar
    edges: Scalar
    order: Scalar


class Penalties(NamedTuple):
    """Weights of what is subtracted from the likelihood.

    ``edges`` and ``order`` multiply divergences in nats, 1 being the evidence lower bound; ``mean``
    and ``variance`` are λ_{Θ^M} and λ_{Θ^V}.
    """

    edges: Scalar
    order: Scalar
    mean: Scalar
    variance: Scalar


class Settings(NamedTuple):
    """Numbers that may change without a new compilation."""

    rates: Rates
    temperatures: Temperatures
    penalties: Penalties


@dataclass(frozen=True)
class Program:
    """What a compiled program depends on besides shapes.

    Parameters
    ----------
    updates, optimizer, gradient
        See `momentdag.engines.variational.options.VariationalOptions`.
    batch_size : int or None
        Rows of a step; None takes all.
    n_graphs : int
        Graph pairs drawn for a step.
    n_rounds : int
        Rounds of a chunk.
    steps : tuple of int
        Steps of each phase of a round: one number for joint updates, else two.
    ordered : bool
        Whether hard knowledge constrains the order.
    projected : bool
        Whether soft knowledge projects the order scores.
    """

    updates: Updates
    optimizer: Optimizer
    gradient: Gradient
    batch_size: int | None
    n_graphs: int
    n_rounds: int
    steps: tuple[int, ...]
    ordered: bool
    projected: bool
