"""Functions from the values of the parents to a conditional mean or log-sd."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from scipy.special import expit

from momentdag.errors import OptionError
from momentdag.simulate.options import FloatArray

__all__ = ["Constant", "Linear", "Mechanism", "SigmoidNetwork", "signed_uniform"]

N_HIDDEN = 100


class Mechanism(Protocol):
    """A deterministic function of the parents."""

    def __call__(self, parents: FloatArray) -> FloatArray:
        """Map parents, shape (n, k), to one value for each row, shape (n,)."""
        ...


def signed_uniform(
    rng: np.random.Generator, low: float, high: float, shape: tuple[int, ...]
) -> FloatArray:
    """Draw ±U(low, high), both signs equally likely.

    Examples
    --------
    >>> weights = signed_uniform(np.random.default_rng(0), 0.5, 2.0, (3,))
    >>> bool(np.all((0.5 <= abs(weights)) & (abs(weights) <= 2.0)))
    True
    """
    return rng.choice(np.array([-1.0, 1.0]), shape) * rng.uniform(low, high, shape)


@dataclass(frozen=True)
class Constant:
    """Give the same value in every row.

    Examples
    --------
    >>> Constant(0.5)(np.zeros((2, 0))).tolist()
    [0.5, 0.5]
    """

    value: float

    def __call__(self, parents: FloatArray) -> FloatArray:
        """Return the constant, shape (n,)."""
        return np.full(len(parents), self.value)


@dataclass(frozen=True, eq=False)
class Linear:
    """Weigh and sum the parents: ``w . x`` (appendix D.3.2).

    Parameters
    ----------
    weights : float array, shape (k,)

    Examples
    --------
    >>> Linear(np.array([2.0, -1.0]))(np.array([[1.0, 1.0]])).tolist()
    [1.0]
    """

    weights: FloatArray

    @classmethod
    def draw(cls, rng: np.random.Generator, n_parents: int) -> Linear:
        """Draw weights ±(0.5 + 0.8 U), U ~ U(0, 1)."""
        return cls(signed_uniform(rng, 0.5, 1.3, (n_parents,)))

    def __call__(self, parents: FloatArray) -> FloatArray:
        """Return the weighted sum, shape (n,)."""
        return parents @ self.weights


@dataclass(frozen=True, eq=False)
class SigmoidNetwork:
    """Evaluate ``factor * (sigmoid(x W) u - offset)``, one hidden layer (appendix D.3.1).

    Parameters
    ----------
    hidden_weights : float array, shape (k, h)
        W; the network has no biases.
    output_weights : float array, shape (h,)
        u.
    offset, factor : float
        A fixed affine rescaling of the output; 0 and 1 leave the network as drawn.

    Examples
    --------
    >>> network = SigmoidNetwork.draw(np.random.default_rng(0), n_parents=2)
    >>> x = np.random.default_rng(1).standard_normal((50, 2))
    >>> scaled = network.standardised_over(x, spread=0.8)
    >>> round(float(scaled(x).std()), 6)
    0.8
    """

    hidden_weights: FloatArray
    output_weights: FloatArray
    offset: float = 0.0
    factor: float = 1.0

    @classmethod
    def draw(cls, rng: np.random.Generator, n_parents: int) -> SigmoidNetwork:
        """Draw 100 hidden units with all weights ±U(0.5, 2)."""
        return cls(
            signed_uniform(rng, 0.5, 2.0, (n_parents, N_HIDDEN)),
            signed_uniform(rng, 0.5, 2.0, (N_HIDDEN,)),
        )

    def __call__(self, parents: FloatArray) -> FloatArray:
        """Return the network's output, shape (n,)."""
        raw: FloatArray = expit(parents @ self.hidden_weights) @ self.output_weights
        return self.factor * (raw - self.offset)

    def standardised_over(self, parents: FloatArray, spread: float) -> SigmoidNetwork:
        """Return the network rescaled to mean 0 and sd ``spread`` over the given rows.

        The constants are stored, so later rows are mapped by the same function.

        Raises
        ------
        OptionError
            If the output does not vary over the rows.
        """
        output = replace(self, offset=0.0, factor=1.0)(parents)
        std = float(output.std())
        # Below the rounding error of a sum of 100 terms the spread is not a property of the data.
        if std < 1e-10 * (1.0 + abs(float(output.mean()))):
            raise OptionError(
                f"Expected a network output that varies over the {len(parents)} rows; it is "
                "constant. Use more samples or scaling='literal'."
            )
        return replace(self, offset=float(output.mean()), factor=spread / std)
