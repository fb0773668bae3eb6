"""The evidence of one variable given its parents, from trained networks with a refitted last layer.

Networks are trained on many graphs at once and serve best the graphs they met most; and a
likelihood at its maximum charges nothing for parents that explain nothing. So graphs are compared
by an evidence in which the trained hidden units h are features, and what follows them is
integrated out:

    x_j = w_0 + w_S' x_S + u' h_M(x_S) + σ exp(η) e,   η = b_T' x_T + c' h_V(x_T),   e ~ N(0, 1).

*Mean.* Given η this is a conjugate regression. w, u | σ² are normal with variance σ² times 1, 1/t
and s²/h; σ² is inverse gamma with shape (|S| + 3) / 2 and rate t / 2. Without hidden units and
variance parents these are the terms of the BGe score (Geiger and Heckerman 2002; t = 1/2 for
standardised columns), the one prior under which linear graphs that no data can tell apart have the
same evidence.

*Spread.* b and c have normal priors, and a Laplace approximation at their mode: with centred
features P the information about a log scale is 2 P'P, and scoring steps follow the exact gradient
of the mean's evidence. The rows' terms of that gradient are E[(x_j - mean)² / (σ e^η)²] - 1 under
the posterior of w, u and σ² (Fisher's identity).

*Hidden units* were fitted to these data. They are one alternative to a linear function, of equal
prior probability, and pay for each weight of their first layer that a parent brings in, a share of
the log(n) / 2 of Schwarz (1978); s is averaged over `_SCALES`.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt
from jax import Array

from momentdag.engines.variational.likelihood import SLOPE, Networks
from momentdag.engines.variational.problem import Weights
from momentdag.graph import BoolArray

__all__ = ["SCATTER", "Refit", "log_evidences", "refit"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.intp]

SCATTER = 0.5
"""t, the prior scatter of a standardised column."""
_BLOCK = 64
_LARGEST = 5.0  # |η|: no row is weighted by more than e^±5
_STEPS = 5
# s: how far hidden units move the mean, in standard deviations of noise. Steps use the first.
_SCALES = (3.0, 1.0, 10.0)
_SLOPE_SD = 1.0  # prior sd of b, and of c'h
# Share of Schwarz's price that a first-layer weight pays: units of one network are far from free of
# each other. The full price makes functions linear that are not, and new rows less probable.
_PRICE = 0.25
_HALF_LOG_TAU = 0.9189385332046727  # log(2π) / 2


class Refit(NamedTuple):
    """One variable given its parents, its last layers refitted.

    The mean is ``constant + slopes'x + last'h_M(x)``, the log standard deviation
    ``log_sd + log_constant + log_slopes'x + log_last'h_V(x)``, which beyond the rows that it was
    fitted to stays between ``lowest`` and ``highest``, its extremes there.
    """

    log_evidence: Array
    constant: Array
    slopes: Array
    last: Array
    log_sd: Array
    log_constant: Array
    log_slopes: Array
    log_last: Array
    lowest: Array
    highest: Array


class _Units(NamedTuple):
    """Standardised hidden units (n, h): (active - centre) · gain, and the trained last layer."""

    columns: Array
    centre: Array
    gain: Array
    last: Array


class _Spread(NamedTuple):
    """Columns of η (n, p), the prior precision of their weights (p,), and where scoring starts."""

    columns: Array
    precision: Array
    start: Array


class _Regression(NamedTuple):
    """Evidence of the mean given η, its gradient in η (n,), and posterior means."""

    value: Array
    gradient: Array
    weights: Array
    log_sd: Array


def _hidden(networks: Networks, variable: Array, parents: Array, values: Array) -> _Units:
    inner = values @ (parents[:, None] * networks.first[:, variable]) + networks.hidden[variable]
    active = jnp.maximum(inner, SLOPE * inner)
    centre = active.mean(axis=0)
    spread = jnp.sqrt(((active - centre) ** 2).mean(axis=0))
    moves = spread > 1e-4  # units that no row changes are no features
    gain = jnp.where(moves, 1.0 / jnp.where(moves, spread, 1.0), 0.0)
    last = jnp.where(moves, spread * networks.last[variable], 0.0)
    return _Units((active - centre) * gain, centre, gain, last)


def _regress(
    columns: Array, scales: Array, target: Array, eta: Array, n_parents: Array
) -> _Regression:
    n = target.shape[0]
    weights = jnp.exp(-eta)
    scaled, aim = columns * scales * weights[:, None], target * weights
    factor = jnp.linalg.cholesky(scaled.T @ scaled + jnp.eye(scaled.shape[1]))
    rotated = jax.scipy.linalg.solve_triangular(factor, scaled.T, lower=True)
    explained = rotated @ aim
    residual = aim - rotated.T @ explained
    shape, rate = 0.5 * (n_parents + 3.0), 0.5 * SCATTER
    shape_after, rate_after = shape + 0.5 * n, rate + 0.5 * jnp.sum(residual * aim)
    value = (
        jax.lax.lgamma(shape_after)
        - jax.lax.lgamma(shape)
        + shape * jnp.log(rate)
        - shape_after * jnp.log(rate_after)
        - n * _HALF_LOG_TAU
        - jnp.sum(jnp.log(jnp.diagonal(factor)))
        - jnp.sum(eta)
    )
    leverage = jnp.sum(rotated**2, axis=0)
    return _Regression(
        value,
        shape_after / rate_after * residual**2 + leverage - 1.0,
        scales * jax.scipy.linalg.solve_triangular(factor, explained, lower=True, trans=1),
        0.5 * jnp.log(rate_after / shape_after),
    )


def _with_spread(
    spread: _Spread, columns: Array, scales: Array, target: Array, n_parents: Array
) -> tuple[Array, Array, Array, Array]:
    """Return the evidence, the weights of mean and η, and log σ.

    The weights of η are at their mode under the first of ``scales``, over which the evidence is
    averaged; the others are those of its best.
    """
    information = 2.0 * spread.columns.T @ spread.columns + jnp.diag(spread.precision)
    factor = jnp.linalg.cholesky(information)
    occam = jnp.sum(0.5 * jnp.log(spread.precision) - jnp.log(jnp.diagonal(factor)))

    def regress(weights: Array, own: Array) -> _Regression:
        eta = jnp.clip(spread.columns @ weights, -_LARGEST, _LARGEST)
        return _regress(columns, own, target, eta, n_parents)

    def log_prior(weights: Array) -> Array:
        return occam - 0.5 * jnp.sum(spread.precision * weights**2)

    def step(weights: Array, _: None) -> tuple[Array, tuple[Array, Array]]:
        found = regress(weights, scales[0])
        gradient = spread.columns.T @ found.gradient - spread.precision * weights
        move = jax.scipy.linalg.cho_solve((factor, True), gradient)
        # No row's log scale moves by more than one at a time.
        length = 1.0 / jnp.maximum(1.0, jnp.max(jnp.abs(spread.columns @ move)))
        return weights + length * move, (weights, found.value + log_prior(weights))

    _, (seen, values) = jax.lax.scan(step, spread.start, None, length=_STEPS)
    mode = seen[jnp.argmax(values)]
    found = jax.lax.map(lambda own: regress(mode, own), scales)
    best = jnp.argmax(found.value)
    return _mean_of(found.value) + log_prior(mode), found.weights[best], mode, found.log_sd[best]


def _mean_of(log_values: Array) -> Array:
    return jnp.asarray(jax.nn.logsumexp(log_values, axis=0) - np.log(len(log_values)))


def _refit(
    mean: Networks, variance: Networks, values: Array, key: tuple[Array, Array, Array]
) -> Refit:
    """Return the evidence under one restart's networks, and the best of the alternatives."""
    variable, mean_parents, variance_parents = key
    n, d = values.shape
    units = _hidden(mean, variable, mean_parents, values)
    units_of_spread = _hidden(variance, variable, variance_parents, values)
    h, h_spread = units.columns.shape[1], units_of_spread.columns.shape[1]
    columns = jnp.concatenate([jnp.ones((n, 1)), values * mean_parents, units.columns], axis=1)
    linear = jnp.concatenate([jnp.ones(1), jnp.full(d, SCATTER**-0.5), jnp.zeros(h)])
    hidden = jnp.concatenate([jnp.zeros(1 + d), jnp.full(h, h**-0.5)])
    columns_of_spread = jnp.concatenate(
        [values * variance_parents, units_of_spread.columns], axis=1
    )
    start = jnp.concatenate([jnp.zeros(d), units_of_spread.last])
    precision = jnp.concatenate([jnp.ones(d), jnp.full(h_spread, h_spread)]) / _SLOPE_SD**2
    n_parents = mean_parents.sum()
    price = _PRICE * 0.5 * np.log(n) * jnp.stack([h * n_parents, h_spread * variance_parents.sum()])

    def alternative(bent: Array) -> tuple[Array, list[Array]]:
        """Return the evidence and its weights with hidden units in the mean, in η, or neither."""
        there = jnp.where(jnp.arange(d + h_spread) < d, 1.0, bent[1])
        scales = linear + bent[0] * jnp.asarray(_SCALES)[:, None] * hidden
        spread = _Spread(columns_of_spread * there, precision, start * there)
        value, *rest = _with_spread(spread, columns, scales, values[:, variable], n_parents)
        return jnp.nan_to_num(value - bent @ price, nan=-jnp.inf), rest

    found = jax.lax.map(alternative, jnp.asarray([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]))
    alternatives, (weights, mode, log_sd) = found
    best = jnp.argmax(alternatives)
    eta = jnp.clip(columns_of_spread @ mode[best], -_LARGEST, _LARGEST)
    last = weights[best, 1 + d :] * units.gain
    log_last = mode[best, d:] * units_of_spread.gain
    return Refit(
        _mean_of(alternatives),
        weights[best, 0] - last @ units.centre,
        weights[best, 1 : 1 + d] * mean_parents,
        last,
        log_sd[best],
        -log_last @ units_of_spread.centre,
        mode[best, :d] * variance_parents,
        log_last,
        log_sd[best] + jnp.min(eta),
        log_sd[best] + jnp.max(eta),
    )


@jax.jit
def _block(
    mean: Networks, variance: Networks, values: Array, keys: tuple[Array, Array, Array]
) -> Array:
    return jnp.asarray(
        jax.lax.map(lambda key: _refit(mean, variance, values, key).log_evidence, keys)
    )


@jax.jit
def refit(
    mean: Networks,
    variance: Networks,
    values: Array,
    variable: Array,
    mean_parents: Array,
    variance_parents: Array,
) -> Refit:
    """Return one variable given its parents under the networks of every restart.

    Parameters
    ----------
    mean, variance : Networks
        Of all restarts, by which every array of the result is led, too.
    values : array, shape (n, d)
    variable : array, shape ()
    mean_parents, variance_parents : array, shape (d,)
    """
    key = (variable, mean_parents, variance_parents)
    found: Refit = jax.lax.map(lambda own: _refit(own[0], own[1], values, key), (mean, variance))
    return found


def log_evidences(
    weights: Weights,
    used: BoolArray,
    values: Array,
    variables: IntArray,
    mean_parents: BoolArray,
    variance_parents: BoolArray,
) -> FloatArray:
    """Return the log evidence of each variable given its parents, (k,), averaged over restarts.

    Parameters
    ----------
    weights : Weights
        Of all restarts.
    used : bool array, shape (n_restarts,)
        The restarts that count, all alike.
    values : array, shape (n, d)
        Standardised.
    variables : int array, shape (k,)
    mean_parents, variance_parents : bool array, shape (k, d)
    """
    k, d = mean_parents.shape
    # Blocks of one size, of which the last is filled up: one compiled program.
    filled = -(-k // _BLOCK) * _BLOCK
    keys = (
        np.resize(variables, filled).astype(np.int32),
        np.resize(mean_parents, (filled, d)).astype(np.float32),
        np.resize(variance_parents, (filled, d)).astype(np.float32),
    )
    found = []
    for restart in np.flatnonzero(used):
        own = jax.tree.map(lambda part, r=restart: np.asarray(part)[r], weights)
        networks = own.mean.networks, own.variance.networks
        blocks = [
            _block(*networks, values, tuple(part[at : at + _BLOCK] for part in keys))
            for at in range(0, filled, _BLOCK)
        ]
        found.append(np.concatenate(blocks)[:k].astype(np.float64))
    return np.asarray(np.logaddexp.reduce(found) - np.log(len(found)))
