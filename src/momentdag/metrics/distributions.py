"""Distributions over graphs, and how far apart two of them are."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from momentdag.errors import DataError, GraphError, OptionError
from momentdag.graph import BoolArray, Selection, as_stack
from momentdag.metrics.draws import DrawsLike, are_pairs, graph_stack, pair_stack

__all__ = ["GraphKey", "graph_distribution", "kl_divergence", "total_variation"]

Key = TypeVar("Key", bound=Hashable)


class GraphKey(NamedTuple):
    """One graph, or one (mean graph, variance graph) pair, as a hashable value.

    Named variables stand in alphabetical order, so that equal graphs have equal keys whatever the
    order of the columns they were learnt from.

    Parameters
    ----------
    names : tuple of str, or None
        Sorted names; None if the graphs carried none.
    n_graphs : int
        1, or 2 for a pair.
    n_variables : int
    bits : bytes
        The matrices, packed row by row; the mean graph first.
    """

    names: tuple[str, ...] | None
    n_graphs: int
    n_variables: int
    bits: bytes

    def matrices(self) -> BoolArray:
        """Return the graphs, shape (n_graphs, d, d)."""
        d = self.n_variables
        flags = np.unpackbits(np.frombuffer(self.bits, np.uint8), count=self.n_graphs * d * d)
        return flags.reshape(self.n_graphs, d, d).astype(bool)


def graph_distribution(
    draws: DrawsLike,
    *,
    moment: Selection | None = None,
    names: Sequence[str] | None = None,
    weights: npt.ArrayLike | None = None,
) -> dict[GraphKey, float]:
    """Return the probability of each distinct graph (or pair) among draws.

    Parameters
    ----------
    draws : bool array, shape (n_draws, d, d) or (n_draws, 2, d, d), or a posterior of graph pairs
        The second shape holds pairs, mean graph first. A posterior has ``names``,
        ``mean_graphs`` and ``variance_graphs``.
    moment : {"mean", "variance", "either", "both"}, optional
        Reduce each pair of a posterior to one graph; by default pairs are kept.
    names : sequence of str, optional
        The variables of an array. A posterior already has names.
    weights : array, shape (n_draws,), optional
        Not negative; equal by default. An exact posterior is its enumerated graphs with their
        probabilities as weights.

    Returns
    -------
    dict of GraphKey to float
        Sums to 1.

    Raises
    ------
    GraphError
        If the draws are malformed or do not fit the names.
    OptionError
        If ``moment``, ``names`` or ``weights`` do not fit the draws.

    Examples
    --------
    >>> import numpy as np
    >>> draws = np.array([[[0, 1], [0, 0]], [[0, 0], [0, 0]], [[0, 1], [0, 0]]], dtype=bool)
    >>> {int(key.matrices().sum()): round(p, 3) for key, p in graph_distribution(draws).items()}
    {0: 0.333, 1: 0.667}
    """
    stack, labels = _stack(draws, moment)
    if names is not None:
        if labels is not None:
            raise OptionError("Expected no names for a posterior: it already has names.")
        labels = tuple(str(name) for name in names)
        if len(labels) != stack.shape[-1] or len(set(labels)) < len(labels):
            raise GraphError(
                f"Expected {stack.shape[-1]} unique names; got {len(labels)}: {list(labels)}."
            )
    if labels is not None:
        order = np.argsort(labels, kind="stable")
        stack = stack[:, :, order][:, :, :, order]
        labels = tuple(labels[i] for i in order)
    packed = np.packbits(stack.reshape(len(stack), -1), axis=1)
    distinct, position = np.unique(packed, axis=0, return_inverse=True)
    shares = np.bincount(
        position.ravel(), weights=_shares(weights, len(stack)), minlength=len(distinct)
    )
    n_graphs, d = stack.shape[1], stack.shape[-1]
    return {
        GraphKey(labels, n_graphs, d, bits.tobytes()): float(share)
        for bits, share in zip(distinct, shares, strict=True)
        if share > 0
    }


def total_variation(p: Mapping[Key, float], q: Mapping[Key, float]) -> float:
    """Return half the sum of the absolute differences of two distributions.

    ``TV(p, q) = 1/2 sum_g |p(g) - q(g)|``: the largest difference in the probability that the two
    give to one set of graphs.

    Parameters
    ----------
    p, q : mapping of graph to probability
        From `graph_distribution`, or keyed by anything hashable. An absent key has probability 0.

    Returns
    -------
    float
        Between 0 and 1.

    Raises
    ------
    DataError
        If a mapping is not a probability distribution.
    GraphError
        If the two are over graphs of different variables or kinds.

    Examples
    --------
    >>> total_variation({"chain": 0.5, "fork": 0.5}, {"chain": 1.0})
    0.5
    """
    first, second = _on_common_support(p, q)
    return float(np.abs(first - second).sum() / 2)


def kl_divergence(
    p: Mapping[Key, float], q: Mapping[Key, float], *, smoothing: float = 0.0
) -> float:
    """Return the Kullback-Leibler divergence of ``p`` relative to ``q``, in nats.

    ``KL(p || q) = sum_g p(g) log(p(g) / q(g))``. It is infinite if ``q`` gives probability 0 to a
    graph that has positive probability under ``p``, which is common if ``q`` comes from draws.
    With ``smoothing`` = s, ``q`` is replaced by ``(1 - s) q + s u`` with u uniform on the graphs
    that occur in either mapping; report the s you used.

    Parameters
    ----------
    p, q : mapping of graph to probability
        From `graph_distribution`, or keyed by anything hashable. An absent key has probability 0.
    smoothing : float, default 0
        At least 0 and less than 1.

    Returns
    -------
    float
        At least 0; possibly ``inf`` without smoothing.

    Raises
    ------
    DataError
        If a mapping is not a probability distribution.
    GraphError
        If the two are over graphs of different variables or kinds.
    OptionError
        If ``smoothing`` is out of range.

    Examples
    --------
    >>> round(kl_divergence({"chain": 1.0}, {"chain": 0.5, "fork": 0.5}), 4)
    0.6931
    >>> kl_divergence({"chain": 0.5, "fork": 0.5}, {"chain": 1.0})
    inf
    """
    if not 0 <= smoothing < 1:
        raise OptionError(f"Expected smoothing in [0, 1); got {smoothing!r}.")
    first, second = _on_common_support(p, q)
    second = (1 - smoothing) * second + smoothing / len(second)
    occurs = first > 0
    if (second[occurs] == 0).any():
        return float("inf")
    # Rounding can leave a tiny negative sum where the two agree.
    return max(float((first[occurs] * np.log(first[occurs] / second[occurs])).sum()), 0.0)


def _stack(draws: DrawsLike, moment: Selection | None) -> tuple[BoolArray, tuple[str, ...] | None]:
    """Return draws of shape (n_draws, n_graphs, d, d) and their names if they carry any."""
    if moment is None and are_pairs(draws):
        return pair_stack(draws)
    if moment is None and np.ndim(np.asarray(draws)) == 4:
        pairs = as_stack(draws, ndim=4)
        if pairs.shape[1] != 2:
            raise GraphError(
                f"Expected draws of pairs of shape (n_draws, 2, d, d); got {pairs.shape}."
            )
        return pairs, None
    graphs, names = graph_stack(draws, moment)
    return graphs[:, None], names


def _shares(weights: npt.ArrayLike | None, n_draws: int) -> npt.NDArray[np.float64]:
    if weights is None:
        return np.full(n_draws, 1 / n_draws)
    values = np.asarray(weights, dtype=np.float64)
    if values.shape != (n_draws,):
        raise OptionError(f"Expected weights of shape ({n_draws},); got {values.shape}.")
    if not np.isfinite(values).all() or (values < 0).any() or values.sum() <= 0:
        raise OptionError("Expected weights that are finite, not negative and not all zero.")
    return np.asarray(values / values.sum(), dtype=np.float64)


def _on_common_support(
    p: Mapping[Key, float], q: Mapping[Key, float]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    kinds = {key[:3] for key in (*p, *q) if isinstance(key, GraphKey)}
    if len(kinds) > 1:
        described = sorted(f"{n} graph(s) over {names or d}" for names, n, d in kinds)
        raise GraphError(
            f"Expected two distributions over the same kind of graphs; got {described}. "
            "Give both the same names and the same moment in graph_distribution."
        )
    support = list(dict.fromkeys((*p, *q)))
    values = np.array([[m.get(key, 0.0) for key in support] for m in (p, q)], dtype=np.float64)
    for what, row in zip("pq", values, strict=True):
        # Sums of many rounded probabilities miss 1 by far less than this; a forgotten
        # normalisation misses by more.
        if not (np.isfinite(row).all() and (row >= 0).all() and abs(row.sum() - 1) < 1e-6):
            raise DataError(
                f"Expected {what} to hold probabilities that sum to 1; they sum to {row.sum():.6g}"
                f" with smallest {row.min(initial=0.0):.6g}."
            )
    return values[0], values[1]
