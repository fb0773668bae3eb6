"""Relaxed draws with straight-through gradients: Gumbel-softmax edges, SoftSort permutations.

A hard draw goes forwards, the gradient of a relaxed one backwards (section 4.1.1, appendix C).
"""

from __future__ import annotations

from typing import TypeAlias

import jax
import jax.numpy as jnp
from jax import Array
from jax.typing import ArrayLike

__all__ = ["permutation_of", "precedence", "soft_edges", "soft_permutation"]

Scalar: TypeAlias = "Array | float"


def soft_permutation(perturbed: Array, order: Array, temperature: Scalar) -> Array:
    """Return SoftSort (appendix C.2): row k is a softmax over variables around place k, (d, d)."""
    distance = jnp.abs(perturbed[order][:, None] - perturbed[None, :])
    return jax.nn.softmax(-distance / temperature, axis=1)


def permutation_of(
    perturbed: Array,
    order: Array,
    temperature: Scalar,
    *,
    straight: bool = True,
    anchor: Array | None = None,
) -> Array:
    """Return P (d, d): 1 where column stands at the place of row, with the gradient of SoftSort.

    ``anchor`` (d,) are the perturbed scores of which ``order`` is the order, if others than these.
    """
    permutation = soft_permutation(perturbed, order, temperature)
    if straight:
        hard = jax.nn.one_hot(order, len(perturbed), dtype=permutation.dtype)
        at = None if anchor is None else soft_permutation(anchor, order, temperature)
        permutation = straight_through(hard, permutation, at)
    return permutation


def precedence(permutation: Array) -> Array:
    """Return Pᵀ U P (d, d), U full above its diagonal: 1 where row stands before column."""
    upper = jnp.triu(jnp.ones_like(permutation), 1)
    return permutation.T @ upper @ permutation


def straight_through(hard: Array, soft: Array, at: Array | None = None) -> Array:
    """Return ``hard`` with the gradient of ``soft``, which was ``at`` where it was drawn."""
    return jax.lax.stop_gradient(hard - (soft if at is None else at)) + soft


def soft_edges(
    logits: Array,
    noise: ArrayLike,
    temperature: Scalar,
    *,
    straight: bool = True,
    anchor: Array | None = None,
) -> Array:
    """Return binary Gumbel-softmax draws (d, d), hard forwards and soft backwards."""
    soft = jax.nn.sigmoid((logits + noise) / temperature)
    if not straight:
        return soft
    at = None if anchor is None else jax.nn.sigmoid((anchor + noise) / temperature)
    drawn = soft if at is None else at
    return straight_through((drawn > 0.5).astype(soft.dtype), soft, at)
