"""Posterior summaries of a quantity computed in each draw."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from momentdag.errors import OptionError

__all__ = ["Summary", "check_level", "summarise", "weighted_quantiles"]

FloatArray: TypeAlias = npt.NDArray[np.float64]


class Summary(NamedTuple):
    """Posterior mean and central interval, each of the shape of one value."""

    mean: FloatArray
    low: FloatArray
    high: FloatArray

    def columns(self, name: str) -> dict[str, FloatArray]:
        """Return the parts as the table columns ``name``, ``name_low`` and ``name_high``."""
        return {name: self.mean, f"{name}_low": self.low, f"{name}_high": self.high}


def check_level(level: float) -> None:
    """Raise `OptionError` if ``level`` is not a probability strictly between 0 and 1."""
    if not 0 < level < 1:
        raise OptionError(f"Expected level between 0 and 1; got {level!r}.")


def summarise(values: FloatArray, weights: FloatArray, level: float) -> Summary:
    """Return mean and central interval over the draws of ``values``, shape (n_draws, ...)."""
    tail = (1 - level) / 2
    low, high = weighted_quantiles(values, weights, (tail, 1 - tail))
    return Summary(np.average(values, axis=0, weights=weights), low, high)


def weighted_quantiles(
    values: FloatArray, weights: FloatArray, probabilities: tuple[float, ...]
) -> FloatArray:
    """Return quantiles over the first axis, shape (n_probabilities, ...).

    The k-th smallest of K equally weighted values is the quantile k / (K + 1), so that intervals
    cover a further draw as often as they claim to, however small K is.

    Examples
    --------
    >>> import numpy as np
    >>> weighted_quantiles(np.array([1.0, 5.0, 3.0]), np.array([0.25, 0.25, 0.5]), (0.5,)).tolist()
    [3.0]
    """
    n_values = len(values)
    flat = values.reshape(n_values, -1)
    quantiles = np.empty((len(probabilities), flat.shape[1]))
    for k, order in enumerate(np.argsort(flat, axis=0).T):
        share = weights[order]
        middles = (np.cumsum(share) - 0.5 * share) / share.sum()
        places = (n_values * middles + 0.5) / (n_values + 1)
        quantiles[:, k] = np.interp(probabilities, places, flat[order, k])
    return quantiles.reshape(len(probabilities), *values.shape[1:])
