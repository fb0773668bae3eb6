"""Whether sorting the variables by a simple statistic reveals the causal order of a benchmark.

If it does, the benchmark is easy: a method can do well on it by using scales instead of causes.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from momentdag.errors import DataError, GraphError
from momentdag.graph import BoolArray, GraphLike, find_cycle, is_acyclic
from momentdag.metrics.alignment import FloatArray, in_order_of

__all__ = ["r2_sortability", "varsortability"]

_TIE = 1e-9  # relative; standardised columns differ in variance by rounding alone


def varsortability(values: npt.ArrayLike | pd.DataFrame, graph: GraphLike) -> float:
    """Return how consistently marginal variance grows along the directed paths of a graph.

    ``sum_k sum_{(i, j): path of length k} incr(Var X_i, Var X_j) / sum_k sum_{(i, j)} 1`` with
    incr(a, b) = 1 if a < b, 1/2 if a = b, else 0 (Reisach, Seiler and Weichwald, 2021). A pair
    joined by paths of several lengths counts once for each length.

    Parameters
    ----------
    values : array or DataFrame, shape (n_samples, d)
        Columns of a DataFrame are matched by name to a labelled graph.
    graph : array, labelled DataFrame or networkx.DiGraph, d variables
        The true graph; of a `MomentGraph` pass one frame, usually ``union_frame``.

    Returns
    -------
    float
        1 if sorting by variance gives a causal order, 0 if the reverse order, 0.5 if it says
        nothing; NaN for a graph without edges.

    Raises
    ------
    DataError
        If the values are not a table of finite numbers that vary.
    GraphError
        If the graph is cyclic, or sizes or names differ.

    Examples
    --------
    >>> varsortability([[0, 0], [1, 5], [2, 1]], [[0, 1], [0, 0]])
    1.0
    """
    table, adjacency = _checked(values, graph)
    return _sortability(table.var(axis=0), adjacency)


def r2_sortability(values: npt.ArrayLike | pd.DataFrame, graph: GraphLike) -> float:
    """Return how consistently R² given all other variables grows along directed paths.

    As `varsortability`, with the coefficient of determination of the linear regression of each
    variable on all the others in place of the variance (Reisach et al., 2023). Unlike the
    variance it does not change when columns are rescaled.

    Parameters
    ----------
    values : array or DataFrame, shape (n_samples, d)
        Columns of a DataFrame are matched by name to a labelled graph.
    graph : array, labelled DataFrame or networkx.DiGraph, d variables
        The true graph; of a `MomentGraph` pass one frame, usually ``union_frame``.

    Returns
    -------
    float
        1 if sorting by R^2 gives a causal order, 0 if the reverse order, 0.5 if it says nothing;
        NaN for a graph without edges.

    Raises
    ------
    DataError
        If the values are not a table of finite numbers that vary, with more rows than columns.
    GraphError
        If the graph is cyclic, or sizes or names differ.

    Examples
    --------
    >>> import numpy as np
    >>> causes = np.random.default_rng(0).normal(size=(100, 2))
    >>> values = np.column_stack([causes, causes.sum(axis=1) + 0.5 * causes[::-1, 0]])
    >>> r2_sortability(values, [[0, 0, 1], [0, 0, 1], [0, 0, 0]])
    1.0
    """
    table, adjacency = _checked(values, graph)
    n_samples, d = table.shape
    if n_samples <= d:
        raise DataError(
            f"Expected more rows than the {d} columns, or every R^2 is 1; got {n_samples} rows."
        )
    scaled = (table - table.mean(axis=0)) / table.std(axis=0)
    r2 = np.empty(d)
    for j in range(d):
        others = np.delete(scaled, j, axis=1)
        coefficients = np.linalg.lstsq(others, scaled[:, j], rcond=None)[0]
        r2[j] = 1 - np.mean((scaled[:, j] - others @ coefficients) ** 2)
    return _sortability(r2, adjacency)


def _sortability(score: FloatArray, adjacency: BoolArray) -> float:
    tied = np.isclose(score[:, None], score[None, :], rtol=_TIE, atol=0.0)
    increase = np.where(tied, 0.5, score[:, None] < score[None, :])
    n_paths, n_increasing = 0, 0.0
    paths = adjacency
    while paths.any():  # the graph is acyclic, so no path has d or more edges
        n_paths += int(paths.sum())
        n_increasing += float(increase[paths].sum())
        paths = paths.astype(np.float32) @ adjacency.astype(np.float32) > 0
    return n_increasing / n_paths if n_paths else float("nan")


def _checked(
    values: npt.ArrayLike | pd.DataFrame, graph: GraphLike
) -> tuple[FloatArray, BoolArray]:
    names: list[str] | None = None
    if isinstance(values, pd.DataFrame):
        names = [str(column) for column in values.columns]
        if len(set(names)) < len(names):
            raise DataError(f"Expected unique column names; got {names}.")
    raw = np.asarray(values)
    if raw.ndim != 2 or len(raw) < 2 or raw.dtype.kind not in "biuf":
        raise DataError(
            "Expected a table of numbers, shape (n_samples, d), with at least two rows; got shape "
            f"{raw.shape} and dtype {raw.dtype}."
        )
    table = raw.astype(np.float64)
    if not np.isfinite(table).all():
        raise DataError("Expected finite values; drop or impute missing and infinite ones.")
    constant = np.flatnonzero(np.ptp(table, axis=0) == 0)
    if constant.size:
        column = int(constant[0]) if names is None else names[constant[0]]
        raise DataError(f"Expected columns that vary; column {column!r} is constant. Drop it.")
    adjacency = in_order_of(names, table.shape[1], graph)
    if not is_acyclic(adjacency):
        raise GraphError(
            f"Expected an acyclic graph; it has the cycle {find_cycle(adjacency, names)}."
        )
    return table, adjacency
