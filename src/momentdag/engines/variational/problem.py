"""What is given to training, what it learns, and what its compiled program depends on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from jax import Array

from momentdag.engines.variational.distribution import Limits, Parameters, Temperatures
from momentdag.engines.variational.likelihood import Networks
from momentdag.engines.variational.options import Gradient, Optimizer, Updates
from momentdag.engines.variational.projection import OrderConstraints, project

__all__ = [
    "MeanPart",
    "Part",
    "Penalties",
    "Problem",
    "Program",
    "Rates",
    "Scalar",
    "Settings",
    "State",
    "VariancePart",
    "Weights",
    "parts_of",
    "projected",
    "with_part",
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
    tolerance: Scalar = 0.0  # what counts as progress within a phase of L-BFGS over everything,
    patience: Scalar = 1  # and the steps without it that end the phase


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
    ranks : bool
        Whether edge logits belong to pairs of ranks.
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
    ranks: bool = False


Part: TypeAlias = MeanPart | VariancePart | Weights


class State(NamedTuple):
    """One restart in progress: weights, what the optimiser remembers, multipliers of projections.

    ``memory`` is what Adam remembers of each phase, or the steps (n_phases,) that L-BFGS over
    everything has made.
    """

    weights: Weights
    memory: Any
    multipliers: Array


def parts_of(program: Program, weights: Weights) -> tuple[Part, ...]:
    """Return what each phase moves."""
    return (weights,) if program.updates == "joint" else (weights.mean, weights.variance)


def with_part(weights: Weights, part: Part) -> Weights:
    """Return weights of which one part is replaced."""
    if isinstance(part, MeanPart):
        return weights._replace(mean=part)
    if isinstance(part, VariancePart):
        return weights._replace(variance=part)
    return part


def projected(problem: Problem, state: State) -> State:
    """Return a state whose order scores obey the soft orderings (line 8 of algorithm 1)."""
    mean = state.weights.mean
    scores, multipliers = project(mean.scores, problem.orders, state.multipliers)
    weights = state.weights._replace(mean=mean._replace(scores=scores))
    return state._replace(weights=weights, multipliers=multipliers)
