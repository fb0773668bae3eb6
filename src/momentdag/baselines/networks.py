"""Networks with a location and a scale head, their Gaussian likelihood and its gradient.

X_j = μ_j(x) + σ_j(x) E_j with E_j ~ N(0, 1); one hidden layer of sigmoid units feeds both heads,

    u_j = sigmoid(W_j x + b_j),  μ_j = a_j · u_j + a_j0,  log σ_j = B tanh((c_j · u_j + c_j0) / B).

The layer is shared by the heads, so that an input reaches either of them through W_j alone and the
norm of its column of W_j says whether it is a parent. Gradients are written out: at the sizes of a
causal problem this is several times faster than a traced program, and needs no compilation.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = [
    "LOG_SCALE_BOUND",
    "Networks",
    "Outputs",
    "backward",
    "bounded",
    "bounded_slope",
    "forward",
    "initial_networks",
]

FloatArray: TypeAlias = npt.NDArray[np.float64]

LOG_SCALE_BOUND = 3.0
"""Log standard deviations of standardised data stay within this distance of zero."""


class Networks(NamedTuple):
    """m networks of h hidden units over d inputs, one for each effect.

    Parameters
    ----------
    first : float array, shape (m, h, d)
        Weights W, [effect, unit, cause].
    hidden : float array, shape (m, h, 1)
        Biases b of the hidden units.
    heads : float array, shape (m, 2, h)
        Weights a of the location and c of the scale.
    output : float array, shape (m, 2, 1)
        Biases a_0 and c_0.
    """

    first: FloatArray
    hidden: FloatArray
    heads: FloatArray
    output: FloatArray


class Outputs(NamedTuple):
    """Outputs of networks on a table: location and log scale, each (m, n), and hidden units."""

    location: FloatArray
    log_scale: FloatArray
    units: FloatArray  # (m, h, n): rows of the table last, so that work runs along memory


def initial_networks(
    rng: np.random.Generator, n_effects: int, n_inputs: int, n_hidden: int
) -> Networks:
    """Draw small weights; the scale head starts at σ = 1."""
    spread = 1.0 / np.sqrt(max(n_inputs, 1))
    heads = np.zeros((n_effects, 2, n_hidden))
    heads[:, 0] = rng.uniform(-1.0, 1.0, (n_effects, n_hidden)) / np.sqrt(n_hidden)
    return Networks(
        rng.uniform(-spread, spread, (n_effects, n_hidden, n_inputs)),
        rng.uniform(-spread, spread, (n_effects, n_hidden, 1)),
        heads,
        np.zeros((n_effects, 2, 1)),
    )


def bounded(raw: FloatArray) -> FloatArray:
    """Return log scales within `LOG_SCALE_BOUND` of zero."""
    return np.asarray(LOG_SCALE_BOUND * np.tanh(raw / LOG_SCALE_BOUND))


def bounded_slope(log_scale: FloatArray) -> FloatArray:
    """Return the derivative of `bounded` where its value is ``log_scale``."""
    return np.asarray(1.0 - (log_scale / LOG_SCALE_BOUND) ** 2)


def forward(networks: Networks, columns: FloatArray) -> Outputs:
    """Evaluate all networks at all rows of a table, given as ``columns`` (d, n)."""
    units = networks.first @ columns
    units += networks.hidden
    with np.errstate(over="ignore"):  # an exponential that overflows makes a unit of exactly 0
        np.negative(units, out=units)
        np.exp(units, out=units)
    units += 1.0
    np.reciprocal(units, out=units)
    raw = networks.heads @ units + networks.output
    return Outputs(raw[:, 0], bounded(raw[:, 1]), units)


def backward(
    networks: Networks,
    columns: FloatArray,
    outputs: Outputs,
    by_location: FloatArray,
    by_log_scale: FloatArray,
) -> Networks:
    """Return the gradient with respect to the weights, given those with respect to the outputs.

    Parameters
    ----------
    networks : Networks
    columns : float array, shape (d, n)
    outputs : Outputs
        Of `forward` at ``columns``.
    by_location, by_log_scale : float array, shape (m, n)
    """
    by_raw = np.stack([by_location, by_log_scale * bounded_slope(outputs.log_scale)], axis=1)
    by_hidden = networks.heads.transpose(0, 2, 1) @ by_raw
    by_hidden *= outputs.units
    by_hidden *= 1.0 - outputs.units
    return Networks(
        by_hidden @ columns.T,
        by_hidden.sum(axis=2, keepdims=True),
        by_raw @ outputs.units.transpose(0, 2, 1),
        by_raw.sum(axis=2, keepdims=True),
    )
