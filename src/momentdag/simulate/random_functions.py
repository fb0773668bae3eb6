"""Random smooth functions of several inputs, and random monotone functions of one.

Both come from Gaussian processes with a squared exponential kernel, drawn by random Fourier
features (Rahimi and Recht, 2007): a draw is a function that any number of rows can be put into.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from momentdag.simulate.options import FloatArray

__all__ = ["FourierFunction", "MonotoneFunction"]

_N_FEATURES = 200
_ROWS_AT_ONCE = 20_000  # so that a million rows need no table of a million times the features
_REACH, _N_KNOTS = 6.0, 601  # standard normal inputs beyond 6 are continued on a straight line


@dataclass(frozen=True, eq=False)
class FourierFunction:
    """A draw of a Gaussian process of mean 0 and variance 1.

    ``f(x) = sqrt(2 / m) sum_r a_r cos(w_r . x + b_r)``, ``w_r ~ N(0, diag(1 / scale²))``.

    Parameters
    ----------
    frequencies : float array, shape (k, m)
        w.
    phases, weights : float array, shape (m,)
        b, uniform on a circle, and a, standard normal.

    Examples
    --------
    >>> function = FourierFunction.draw(np.random.default_rng(0), [0.5, 1.0])
    >>> function(np.zeros((3, 2))).shape
    (3,)
    """

    frequencies: FloatArray
    phases: FloatArray
    weights: FloatArray

    @classmethod
    def draw(cls, rng: np.random.Generator, scales: npt.ArrayLike) -> FourierFunction:
        """Draw a function; ``scales`` are the length scales of its k inputs."""
        inverse = 1.0 / np.atleast_1d(np.asarray(scales, dtype=np.float64))
        return cls(
            inverse[:, None] * rng.standard_normal((len(inverse), _N_FEATURES)),
            rng.uniform(0.0, 2 * np.pi, _N_FEATURES),
            rng.standard_normal(_N_FEATURES),
        )

    def __call__(self, inputs: FloatArray) -> FloatArray:
        """Return the function at each row of a table of shape (n, k)."""
        output = np.empty(len(inputs))
        for start in range(0, len(inputs), _ROWS_AT_ONCE):
            rows = slice(start, start + _ROWS_AT_ONCE)
            output[rows] = np.cos(inputs[rows] @ self.frequencies + self.phases) @ self.weights
        output *= np.sqrt(2.0 / len(self.weights))
        return output


@dataclass(frozen=True, eq=False)
class MonotoneFunction:
    """A strictly increasing function whose log-slope is a draw of a Gaussian process.

    Parameters
    ----------
    knots, heights : float array, shape (m,)
        The function is linear between its knots and goes on with its last slopes beyond them.

    Examples
    --------
    >>> function = MonotoneFunction.draw(np.random.default_rng(0), scale=0.5)
    >>> bool(np.all(np.diff(function(np.linspace(-9.0, 9.0, 50))) > 0))
    True
    """

    knots: FloatArray
    heights: FloatArray

    @classmethod
    def draw(cls, rng: np.random.Generator, scale: float) -> MonotoneFunction:
        """Draw a function with mean 0 and sd 1 for standard normal inputs."""
        knots = np.linspace(-_REACH, _REACH, _N_KNOTS)
        slopes = np.exp(FourierFunction.draw(rng, scale)(knots[:, None]))
        steps = 0.5 * (slopes[1:] + slopes[:-1]) * np.diff(knots)
        heights = np.concatenate([[0.0], np.cumsum(steps)])
        density = np.exp(-0.5 * knots**2)
        density /= density.sum()
        centred = heights - density @ heights
        return cls(knots, centred / np.sqrt(density @ centred**2))

    def __call__(self, inputs: FloatArray) -> FloatArray:
        """Return the function at each input, in the input's shape."""
        knots, heights = self.knots, self.heights
        first = (heights[1] - heights[0]) / (knots[1] - knots[0])
        last = (heights[-1] - heights[-2]) / (knots[-1] - knots[-2])
        inside: FloatArray = np.interp(inputs, knots, heights)
        below: FloatArray = first * np.minimum(inputs - knots[0], 0.0)
        above: FloatArray = last * np.maximum(inputs - knots[-1], 0.0)
        return inside + below + above
