"""Calibration: whether edges of probability 0.7 exist in seven cases out of ten."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from momentdag.errors import DataError, OptionError
from momentdag.graph import BoolArray, GraphLike
from momentdag.metrics.alignment import FloatArray, pooled_pairs

__all__ = ["brier_score", "expected_calibration_error", "reliability_table"]


def brier_score(probabilities: npt.ArrayLike | pd.DataFrame, truth: GraphLike) -> float:
    """Return the mean squared difference between edge probabilities and the truth.

    ``1 / n_pairs * sum (p - t)^2`` (Brier, 1950) over ordered pairs of different variables.

    Parameters
    ----------
    probabilities : array or labelled DataFrame, shape (d, d), or array, shape (n_pairs,)
        The diagonal of a matrix is not looked at.
    truth : array, labelled DataFrame or networkx.DiGraph, or 0/1 array, shape (n_pairs,)
        A vector iff ``probabilities`` is one; vectors pool pairs from several graphs.

    Returns
    -------
    float
        Between 0 (certain and right) and 1; always saying 0.5 scores 0.25.

    Raises
    ------
    DataError
        If the probabilities are malformed, missing or outside [0, 1].
    GraphError
        If sizes or names differ.

    Examples
    --------
    >>> brier_score([[0, 0.5], [0.5, 0]], [[0, 1], [0, 0]])
    0.25
    """
    values, flags = _probable_pairs(probabilities, truth)
    return float(np.mean((values - flags) ** 2))


def expected_calibration_error(
    probabilities: npt.ArrayLike | pd.DataFrame, truth: GraphLike, n_bins: int = 10
) -> float:
    """Return the mean distance between probability and frequency over bins of equal width.

    ``sum_b n_b / n_pairs * |frequency_b - mean_probability_b|`` over the bins of
    `reliability_table`.

    Parameters
    ----------
    probabilities : array or labelled DataFrame, shape (d, d), or array, shape (n_pairs,)
        The diagonal of a matrix is not looked at.
    truth : array, labelled DataFrame or networkx.DiGraph, or 0/1 array, shape (n_pairs,)
        A vector iff ``probabilities`` is one; vectors pool pairs from several graphs.
    n_bins : int, default 10

    Returns
    -------
    float
        Between 0 and 1. In sparse graphs most pairs sit in the lowest bin and decide it: look at
        the table as well.

    Raises
    ------
    DataError
        If the probabilities are malformed, missing or outside [0, 1].
    GraphError
        If sizes or names differ.
    OptionError
        If ``n_bins`` is not a positive whole number.

    Examples
    --------
    >>> round(expected_calibration_error([0.75, 0.75, 0.75, 0.75], [1, 1, 1, 0]), 3)
    0.0
    """
    table = reliability_table(probabilities, truth, n_bins)
    used = table[table["n"] > 0]
    gaps = (used["frequency"] - used["mean_probability"]).abs()
    return float((gaps * used["n"]).sum() / used["n"].sum())


def reliability_table(
    probabilities: npt.ArrayLike | pd.DataFrame, truth: GraphLike, n_bins: int = 10
) -> pd.DataFrame:
    """Return, for each bin of probabilities, how often the edges in it exist.

    Parameters
    ----------
    probabilities : array or labelled DataFrame, shape (d, d), or array, shape (n_pairs,)
        The diagonal of a matrix is not looked at.
    truth : array, labelled DataFrame or networkx.DiGraph, or 0/1 array, shape (n_pairs,)
        A vector iff ``probabilities`` is one; vectors pool pairs from several graphs.
    n_bins : int, default 10

    Returns
    -------
    DataFrame
        One row for each bin: bin_low, bin_high, n, mean_probability, frequency. A bin holds its
        lower border, the last one its upper border too. Empty bins have n = 0 and NaN.

    Raises
    ------
    DataError
        If the probabilities are malformed, missing or outside [0, 1].
    GraphError
        If sizes or names differ.
    OptionError
        If ``n_bins`` is not a positive whole number.

    Examples
    --------
    >>> reliability_table([0.1, 0.2, 0.9, 0.7], [0, 1, 1, 1], n_bins=2)
       bin_low  bin_high  n  mean_probability  frequency
    0      0.0       0.5  2              0.15        0.5
    1      0.5       1.0  2              0.80        1.0
    """
    if isinstance(n_bins, bool) or not isinstance(n_bins, int | np.integer) or n_bins < 1:
        raise OptionError(f"Expected n_bins, a whole number of at least 1; got {n_bins!r}.")
    values, flags = _probable_pairs(probabilities, truth)
    # Not linspace: its 0.30000000000000004 would put 600 of 2000 draws into the bin below.
    borders = np.arange(n_bins + 1) / n_bins
    bins = np.clip(np.searchsorted(borders, values, side="right") - 1, 0, n_bins - 1)
    n = np.bincount(bins, minlength=n_bins)
    per_bin = np.where(n > 0, n, np.nan)
    return pd.DataFrame(
        {
            "bin_low": borders[:-1],
            "bin_high": borders[1:],
            "n": n,
            "mean_probability": np.bincount(bins, weights=values, minlength=n_bins) / per_bin,
            "frequency": np.bincount(bins, weights=flags, minlength=n_bins) / per_bin,
        }
    )


def _probable_pairs(
    probabilities: npt.ArrayLike | pd.DataFrame, truth: GraphLike
) -> tuple[FloatArray, BoolArray]:
    values, flags = pooled_pairs(probabilities, truth)
    if values.min() < 0 or values.max() > 1:
        raise DataError(
            f"Expected probabilities between 0 and 1; they span {values.min():.6g} to "
            f"{values.max():.6g}."
        )
    return values, flags
