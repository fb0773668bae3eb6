"""Regression of location and scale: one affine flow from a variable to standard normal noise."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from momentdag.baselines.networks import Networks, backward, forward, initial_networks

__all__ = ["Residuals", "affine_residuals"]

FloatArray: TypeAlias = npt.NDArray[np.float64]


class Residuals(NamedTuple):
    """Residuals (x - μ) / σ of one variable, shape (n,), and whether the fit converged."""

    values: FloatArray
    converged: bool


def affine_residuals(
    rng: np.random.Generator,
    target: FloatArray,
    inputs: FloatArray,
    n_hidden: int,
    penalty: float,
    max_steps: int,
) -> Residuals:
    """Fit x = μ(inputs) + σ(inputs) e by penalised likelihood and return e.

    Minimises -(1/n) Σ log N(x; μ, σ²) + (penalty / 2n) ‖weights‖² over the networks of
    `momentdag.baselines.networks`, biases unpenalised.

    Parameters
    ----------
    rng : numpy Generator
        Draws the initial weights.
    target : float array, shape (n,)
        Standardised.
    inputs : float array, shape (k, n)
        Standardised; k may be 0.
    n_hidden : int
    penalty : float
    max_steps : int

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x, e = rng.normal(size=(2, 500))
    >>> y = np.sin(2 * x) + np.exp(0.5 * x) * e
    >>> found = affine_residuals(rng, y, x[None], n_hidden=10, penalty=1.0, max_steps=300)
    >>> bool(np.corrcoef(found.values, e)[0, 1] > 0.97)
    True
    """
    if len(inputs) == 0:
        return Residuals((target - target.mean()) / target.std(), True)
    n = len(target)
    start = initial_networks(rng, 1, len(inputs), n_hidden)
    shapes = [part.shape for part in start]
    ends = np.cumsum([part.size for part in start])[:-1]

    def read(vector: FloatArray) -> Networks:
        parts = np.split(vector, ends)
        return Networks(*(part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)))

    def loss(vector: FloatArray) -> tuple[float, FloatArray]:
        networks = read(vector)
        outputs = forward(networks, inputs)
        precision = np.exp(-outputs.log_scale)
        noise = (target - outputs.location) * precision
        value = float((0.5 * noise**2 + outputs.log_scale).mean())
        slopes = backward(networks, inputs, outputs, -noise * precision / n, (1 - noise**2) / n)
        weight = penalty / n
        value += 0.5 * weight * float(np.sum(networks.first**2) + np.sum(networks.heads**2))
        slopes = slopes._replace(
            first=slopes.first + weight * networks.first,
            heads=slopes.heads + weight * networks.heads,
        )
        return value, np.concatenate([part.ravel() for part in slopes])

    first = np.concatenate([part.ravel() for part in start])
    found = minimize(
        loss, first, jac=True, method="L-BFGS-B", options={"maxiter": max_steps, "ftol": 1e-5}
    )
    outputs = forward(read(found.x), inputs)
    residuals = (target - outputs.location[0]) * np.exp(-outputs.log_scale[0])
    return Residuals(residuals, bool(found.status == 0))
