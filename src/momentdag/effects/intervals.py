"""Posterior summaries of answers that were worked out in each world."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from momentdag.errors import OptionError

__all__ = ["Summary", "check_level", "summarise", "weighted_quantiles"]

FloatArray: TypeAlias = npt.NDArray[np.float64]


class Summary(NamedTuple):
    """Posterior mean and central interval; each of the shape of one answer."""

    mean: FloatArray
    low: FloatArray
    high: FloatArray


def check_level(level: float) -> None:
    """Refuse a level that is no probability."""
    if not 0 < level < 1:
        raise OptionError(f"Expected level between 0 and 1; got {level!r}.")


def summarise(answers: FloatArray, weights: FloatArray, level: float) -> Summary:
    """Average answers (n_worlds, ...) and take their central interval."""
    tail = (1 - level) / 2
    low, high = weighted_quantiles(answers, weights, (tail, 1 - tail))
    return Summary(np.average(answers, axis=0, weights=weights), low, high)


def weighted_quantiles(
    answers: FloatArray, weights: FloatArray, probabilities: tuple[float, ...]
) -> FloatArray:
    """Return quantiles over the first axis, shape (n_probabilities, ...).

    Of K answers of equal weight the k-th smallest counts as the quantile k / (K + 1), so that one
    more draw falls between two quantiles just as often as it should, however few the answers.

    Examples
    --------
    >>> import numpy as np
    >>> weighted_quantiles(np.array([1.0, 5.0, 3.0]), np.array([0.25, 0.25, 0.5]), (0.5,)).tolist()
    [3.0]
    """
    n_answers = len(answers)
    flat = answers.reshape(n_answers, -1)
    order = np.argsort(flat, axis=0)
    found = np.empty((len(probabilities), flat.shape[1]))
    for k, own in enumerate(order.T):
        share = weights[own]
        middles = (np.cumsum(share) - 0.5 * share) / share.sum()
        places = (n_answers * middles + 0.5) / (n_answers + 1)
        found[:, k] = np.interp(probabilities, places, flat[own, k])
    return found.reshape(len(probabilities), *answers.shape[1:])
