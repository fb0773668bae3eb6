"""Correlated draws: split R-hat, effective sample size, standard errors.

The statistics take one series, shape (n_draws,), and return a number, or take many, shape (n_draws,
n_series), and return an array (n_series,). ``chains``, shape (n_draws,), says where draws came
from (None: one chain). Each chain is split into two halves, so that a chain that drifts is detected
like two chains that disagree. Chains of fewer than four draws are too short to split and are left
out of R-hat and of the autocorrelations.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.fft

__all__ = [
    "Mixing",
    "chain_rows",
    "effective_sample_size",
    "evenly_spaced",
    "mixing",
    "split_r_hat",
    "standard_error",
]

FloatArray: TypeAlias = npt.NDArray[np.float64]
Rows: TypeAlias = npt.NDArray[np.intp]

_SHORTEST_CHAIN = 4
_BLOCK = 2**21  # numbers transformed at a time: bounds the memory to some 100 MB


class Mixing(NamedTuple):
    """Mixing of each series; every array has shape (n_series,)."""

    r_hat: FloatArray
    ess: FloatArray
    within_time: FloatArray
    """Autocorrelation time within chains: draws that are worth one independent draw."""


def chain_rows(n_draws: int, chains: npt.NDArray[np.int32] | None) -> list[Rows]:
    """Return the rows of each chain of at least four draws, in the order drawn.

    Examples
    --------
    >>> import numpy as np
    >>> [rows.tolist() for rows in chain_rows(8, np.array([0, 1, 0, 1, 0, 1, 0, 1]))]
    [[0, 2, 4, 6], [1, 3, 5, 7]]
    """
    if chains is None:
        rows = [np.arange(n_draws)]
    else:
        rows = [np.flatnonzero(chains == chain) for chain in np.unique(chains)]
    return [row for row in rows if len(row) >= _SHORTEST_CHAIN]


def evenly_spaced(n_draws: int, n_kept: int) -> Rows:
    """Return ``n_kept`` rows spread evenly over the draws: neighbours in a chain are alike.

    Examples
    --------
    >>> evenly_spaced(10, 5).tolist()
    [1, 3, 5, 7, 9]
    """
    return np.floor((np.arange(n_kept) + 0.5) * n_draws / n_kept).astype(np.intp)


def split_r_hat(series: npt.ArrayLike, chains: npt.NDArray[np.int32] | None = None) -> Any:
    """Return the split R-hat of one or many series (Gelman et al., BDA3, section 11.4).

    ``sqrt(((n - 1) / n * W + B / n) / W)``, with W the variance within half chains and B / n that
    of their means, weighted by length. A constant series has R-hat 1; one that changes only between
    half chains has R-hat infinity. NaN if no chain has four draws.

    Examples
    --------
    >>> import numpy as np
    >>> split_r_hat([0, 1, 0, 1, 0, 1, 0, 1]) < 1
    True
    >>> split_r_hat([0, 0, 0, 0, 1, 1, 1, 1])
    inf
    """
    return _shaped(series, mixing(_columns(series), chains).r_hat)


def effective_sample_size(
    series: npt.ArrayLike, chains: npt.NDArray[np.int32] | None = None
) -> Any:
    """Return the number of independent draws that one or many series are worth.

    ``n_draws / max(1, 1 + 2 * sum_t rho_t)``. The autocorrelations ``rho_t`` include the variance
    between half chains and are summed over Geyer's initial monotone sequence (Geyer 1992, section
    3.3; Vehtari et al. 2021, section 3.2). At most ``n_draws``.

    Examples
    --------
    >>> import numpy as np
    >>> draws = np.random.default_rng(0).random(1000) < 0.5
    >>> ten_times_each = np.repeat(draws[:100], 10)
    >>> effective_sample_size(draws) > 800, effective_sample_size(ten_times_each) < 200
    (True, True)
    """
    return _shaped(series, mixing(_columns(series), chains).ess)


def standard_error(indicators: npt.ArrayLike, chains: npt.NDArray[np.int32] | None = None) -> Any:
    """Return the Monte Carlo standard error of the mean of one or many series of 0 and 1.

    ``sqrt(q (1 - q) / ESS)`` with ``q = (n_ones + 1/2) / (n_draws + 1)``: an event seen in no draw,
    or in every draw, is not certain.

    Examples
    --------
    >>> import numpy as np
    >>> round(standard_error(np.zeros(999, dtype=bool)), 5)
    0.00071
    """
    columns = _columns(indicators)
    q = (columns.sum(axis=0) + 0.5) / (len(columns) + 1)
    return _shaped(indicators, np.sqrt(q * (1 - q) / mixing(columns, chains).ess))


def mixing(series: npt.NDArray[Any], chains: npt.NDArray[np.int32] | None) -> Mixing:
    """Return R-hat, ESS and autocorrelation time of many series, shape (n_draws, n_series)."""
    n_draws, n_series = series.shape
    halves = [half for rows in chain_rows(n_draws, chains) for half in np.array_split(rows, 2)]
    if not halves:
        return Mixing(
            np.full(n_series, np.nan), np.full(n_series, float(n_draws)), np.ones(n_series)
        )
    result = Mixing(np.ones(n_series), np.full(n_series, float(n_draws)), np.ones(n_series))
    moving = np.flatnonzero((series != series[0]).any(axis=0))
    longest = max(len(half) for half in halves)
    for block in np.array_split(moving, max(1, -(-len(moving) * 2 * longest // _BLOCK))):
        # One row per series, so that transforms run along contiguous memory. Starting each at 0
        # keeps a constant series exactly constant.
        values = np.ascontiguousarray(series[:, block].T, dtype=np.float64)
        r_hat, time, within_time = _block_mixing(values - values[:, :1], halves, longest)
        result.r_hat[block] = r_hat
        result.ess[block] = n_draws / time
        result.within_time[block] = within_time
    return result


def _block_mixing(
    values: FloatArray, halves: list[Rows], longest: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    n_series = len(values)
    total = sum(len(half) for half in halves)
    means = np.empty((len(halves), n_series))
    covariance = np.zeros((n_series, longest))  # pooled autocovariance at each lag, divisor n
    for k, half in enumerate(halves):
        part = values[:, half]
        means[k] = part.mean(axis=1)
        part -= means[k][:, None]
        # Twice the length, so that the circular correlation does not wrap around.
        size = scipy.fft.next_fast_len(2 * len(half), real=True)
        spectrum = scipy.fft.rfft(part, n=size, axis=1)
        power = spectrum.real**2 + spectrum.imag**2
        covariance[:, : len(half)] += scipy.fft.irfft(power, n=size, axis=1)[:, : len(half)]
    covariance /= total
    lengths = np.array([len(half) for half in halves], dtype=np.float64)
    typical = total / len(halves)
    within = covariance[:, 0] * total / (total - len(halves))
    grand = lengths @ means / total
    between = lengths @ (means - grand) ** 2 / (len(halves) - 1) / typical
    overall = within * (typical - 1) / typical + between
    with np.errstate(divide="ignore", invalid="ignore"):
        r_hat = np.where(overall > 0, np.sqrt(overall / within), 1.0)
        rho = 1 - (within[:, None] - covariance) / overall[:, None]
        rho_within = covariance / covariance[:, :1]
    time = _correlation_time(rho, overall > 0)
    return r_hat, time, _correlation_time(rho_within, within > 0)


def _correlation_time(rho: FloatArray, known: npt.NDArray[np.bool_]) -> FloatArray:
    """Return ``max(1, 1 + 2 * sum_t rho_t)`` of each row, over Geyer's monotone sequence."""
    rho = np.where(known[:, None], rho, 0.0)
    rho[:, 0] = 1.0
    n_pairs = rho.shape[1] // 2
    pairs = rho[:, 0 : 2 * n_pairs : 2] + rho[:, 1 : 2 * n_pairs : 2]
    positive = np.logical_and.accumulate(pairs > 0, axis=1)
    monotone = np.minimum.accumulate(pairs, axis=1)
    time = 2 * np.where(positive, monotone, 0.0).sum(axis=1) - 1
    return np.asarray(np.maximum(time, 1.0))


def _columns(series: npt.ArrayLike) -> npt.NDArray[Any]:
    array = np.asarray(series)
    return array[:, None] if array.ndim == 1 else array


def _shaped(series: npt.ArrayLike, values: FloatArray) -> Any:
    return float(values[0]) if np.ndim(series) == 1 else values
