"""What knowledge means for the variational family: limits, edge priors and order constraints.

Hard statements become `Limits`, which every draw obeys. Soft ones act as published: edges through
their prior, orderings through the projection of the order scores.
"""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from momentdag.engines.standardise import StandardisedTable
from momentdag.engines.variational.distribution import Limits, Parameters
from momentdag.engines.variational.options import VariationalOptions
from momentdag.engines.variational.problem import Problem
from momentdag.engines.variational.projection import OrderConstraints, order_constraints
from momentdag.knowledge import CompiledKnowledge

__all__ = ["Stated", "pose_problem", "state"]


class Stated(NamedTuple):
    """Knowledge in the terms of the variational family.

    ``ordered`` tells whether hard knowledge constrains the order, ``projected`` whether soft
    knowledge does.
    """

    limits: Limits
    prior: Parameters
    orders: OrderConstraints
    ordered: bool
    projected: bool


def state(known: CompiledKnowledge, edge_probability: float, order_margin: float | None) -> Stated:
    """Translate compiled knowledge.

    Parameters
    ----------
    known : CompiledKnowledge
    edge_probability : float
        Prior probability of edges of which nothing is stated.
    order_margin : float or None
        Margin of every soft ordering; None takes the log odds of its confidence.
    """
    possible = ~np.eye(known.n_variables, dtype=bool)
    # An edge required of either graph and forbidden in one is required of the other.
    required_mean = known.required_mean | (known.required_either & known.forbidden_variance)
    required_variance = known.required_variance | (known.required_either & known.forbidden_mean)
    required_either = known.required_either & ~required_mean & ~required_variance
    limits = Limits(
        *(
            jnp.asarray(part, jnp.float32)
            for part in (
                possible & ~known.forbidden_mean,
                possible & ~known.forbidden_variance,
                required_mean,
                required_variance,
                required_either,
                known.precedes,
            )
        )
    )
    base = np.log(edge_probability) - np.log1p(-edge_probability)
    # Soft "in either graph" has no place of its own in a product of edges; half goes to each.
    shared = known.absence_penalty_either / 2
    mean_logits = np.where(np.isnan(known.log_odds_mean), base, known.log_odds_mean)
    mean_logits = mean_logits + known.presence_penalty_mean - known.absence_penalty_mean - shared
    variance_logits = np.where(np.isnan(known.log_odds_variance), base, known.log_odds_variance)
    variance_logits = (
        variance_logits + known.presence_penalty_variance - known.absence_penalty_variance - shared
    )
    prior = Parameters(
        jnp.asarray(mean_logits, jnp.float32),
        jnp.asarray(variance_logits, jnp.float32),
        jnp.zeros(known.n_variables, jnp.float32),
    )
    before = known.order_penalty < 0
    margins = -known.order_penalty
    if order_margin is not None:
        margins = np.full(before.shape, float(order_margin))
    orders = order_constraints(before, margins)
    return Stated(limits, prior, orders, bool(known.precedes.any()), bool(before.any()))


def pose_problem(
    table: StandardisedTable, knowledge: CompiledKnowledge, options: VariationalOptions
) -> tuple[Problem, Stated]:
    """Return the arrays that training needs; ``knowledge`` is in the order of ``table``."""
    stated = state(knowledge, options.edge_probability, options.order_margin)
    # Rounded, so that other units, whose standardised values differ in the last bits, give the
    # same bits from here on.
    values = jnp.asarray(np.round(table.values, 6), jnp.float32)
    return Problem(values, stated.prior, stated.limits, stated.orders), stated
