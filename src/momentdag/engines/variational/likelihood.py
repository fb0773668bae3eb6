"""The likelihood: one small network for each mean and each log standard deviation.

X_j | parents ~ N(m_j(A^M_j ∘ X), v_j(A^V_j ∘ X)²), m_j and log v_j with one hidden layer of leaky
rectified units. Masking the inputs of every network would need n x d x d numbers; as
(A_j ∘ x) W_j = x (A_j ∘ W_j), the first-layer *weights* are masked instead, and all networks of one
kind are a single (n, d) by (d, d h) product.

A variable's spread depends on what its mean explains, so one set of weights serves several graphs
badly: whichever graph it is fitted to then looks better than its equals. Each network's constant
may therefore shift with the parents that are there,

    m_j(x) = MLP_j(A^M_j ∘ x) + Σ_i A^M_ij s_ij,
    log v_j(x) = MLP_j(A^V_j ∘ x) + Σ_i (A^M_ij s'_ij + A^V_ij s''_ij).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import jax.numpy as jnp
import numpy as np
import numpy.typing as npt
from jax import Array

__all__ = ["LOG_SCALE_RANGE", "SLOPE", "Networks", "evaluate", "initial_networks", "log_scale_of"]

Floats: TypeAlias = "Array | npt.NDArray[np.floating[Any]]"

SLOPE = 0.1
"""Slope of the leaky rectified units below zero."""
LOG_SCALE_RANGE = 6.0
"""Log standard deviations of standardised data stay within this distance of zero."""


class Networks(NamedTuple):
    """d networks of h hidden units, one for each effect.

    Parameters
    ----------
    first : array, shape (d, d, h)
        Weights from cause to hidden unit: [cause, effect, unit].
    hidden : array, shape (d, h)
    last : array, shape (d, h)
    output : array, shape (d,)
    shift : array, shape (g, d, d)
        What the output adds for each parent that is there, in each of the g graphs that the
        networks are told of: the mean graph, then the variance graph; none if g is 0.
    """

    first: Floats
    hidden: Floats
    last: Floats
    output: Floats
    shift: Floats


def initial_networks(
    rng: np.random.Generator,
    n_restarts: int,
    n_variables: int,
    n_hidden: int,
    spread: float,
    n_told: int = 0,
) -> Networks:
    """Draw initial networks whose outputs have about the standard deviation ``spread``.

    Every array is led by an axis of length ``n_restarts``; ``n_told`` is the number of graphs with
    which their constants shift.
    """
    r, d, h = n_restarts, n_variables, n_hidden
    return Networks(
        jnp.asarray(rng.normal(size=(r, d, d, h)) * (2.0 / d) ** 0.5, jnp.float32),
        jnp.asarray(rng.uniform(-1.0, 1.0, size=(r, d, h)), jnp.float32),
        jnp.asarray(rng.normal(size=(r, d, h)) * spread / h**0.5, jnp.float32),
        jnp.zeros((r, d), jnp.float32),
        jnp.zeros((r, n_told, d, d), jnp.float32),
    )


def evaluate(networks: Networks, graph: Array, values: Array, told: Sequence[Array] = ()) -> Array:
    """Return every network at every row, its inputs masked by ``graph``, (n, d).

    Parameters
    ----------
    networks : Networks
    graph : array, shape (d, d)
        Row is the cause, column the effect.
    values : array, shape (n, d)
    told : sequence of array, shape (d, d)
        The graphs with which constants shift, as far as ``networks.shift`` has a place for them.
    """
    d, _, h = networks.first.shape
    masked = (graph[:, :, None] * networks.first).reshape(d, d * h)
    output = networks.output + sum(
        (jnp.sum(graph * own, axis=0) for graph, own in zip(told, networks.shift, strict=False)),
        jnp.zeros(d),
    )
    # Rows of the table are the last axis: elementwise work then runs along memory.
    hidden = (masked.T @ values.T).reshape(d, h, -1) + networks.hidden[:, :, None]
    active = jnp.maximum(hidden, SLOPE * hidden)
    return (jnp.sum(active * networks.last[:, :, None], axis=1) + output[:, None]).T


def log_scale_of(
    networks: Networks, mean_graph: Array, variance_graph: Array, values: Array
) -> Array:
    """Return log v at every row, (n, d), kept within `LOG_SCALE_RANGE`."""
    raw = evaluate(networks, variance_graph, values, (mean_graph, variance_graph))
    return LOG_SCALE_RANGE * jnp.tanh(raw / LOG_SCALE_RANGE)
