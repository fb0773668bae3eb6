"""Orders of the variables that obey a partial order.

An order is a sequence of variable indices, causes first; ``precedes[i, j]`` (transitively closed)
says that i stands before j in every feasible one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from momentdag.graph import BoolArray

IndexArray = npt.NDArray[np.intp]


def is_feasible_order(precedes: BoolArray, order: Sequence[int] | IndexArray) -> bool:
    """Tell whether ``order`` is a permutation that obeys ``precedes``, shape (d, d)."""
    n_variables = len(precedes)
    if np.shape(order) != (n_variables,) or sorted(order) != list(range(n_variables)):
        return False
    indices = np.asarray(order, dtype=np.intp)
    # Row i of the reordered matrix is the variable in place i: nothing may point backwards.
    return not np.tril(precedes[np.ix_(indices, indices)]).any()


def random_order(
    rng: np.random.Generator, precedes: BoolArray, n_sweeps: int | None = None
) -> IndexArray:
    """Draw a nearly uniform feasible order (linear extension of the partial order).

    First, variables are taken one by one from those with nothing left before them, with
    probability proportional to one plus the number of variables that must follow. By the
    hook-length formula this is exactly uniform where every variable has at most one direct
    predecessor, and also for tiers alone. Then sweeps of swaps between neighbours, each allowed
    swap made with probability one half, remove the remaining bias: that chain leaves the uniform
    distribution unchanged and converges to it (Karzanov and Khachiyan, 1991).

    Parameters
    ----------
    rng : numpy.random.Generator
    precedes : bool array, shape (d, d)
    n_sweeps : int, optional
        Number of sweeps; 4 d by default.

    Returns
    -------
    int array, shape (d,)
    """
    n_variables = len(precedes)
    weight = 1.0 + precedes.sum(axis=1)
    n_before = precedes.sum(axis=0)
    waiting = np.ones(n_variables, dtype=bool)
    order = np.empty(n_variables, dtype=np.intp)
    for place in range(n_variables):
        ready = np.flatnonzero(waiting & (n_before == 0))
        cumulative = np.cumsum(weight[ready])
        chosen = ready[np.searchsorted(cumulative, rng.uniform(0.0, cumulative[-1]), side="right")]
        order[place] = chosen
        waiting[chosen] = False
        n_before = n_before - precedes[chosen]
    if precedes.any():
        for _ in range(4 * n_variables if n_sweeps is None else n_sweeps):
            for start in (0, 1):
                _swap_neighbours(rng, precedes, order, start)
    return order


def _swap_neighbours(
    rng: np.random.Generator, precedes: BoolArray, order: IndexArray, start: int
) -> None:
    """Swap, in place and independently, the pairs of places (start, start + 1), and so on."""
    left = np.arange(start, len(order) - 1, 2)
    allowed = ~precedes[order[left], order[left + 1]]
    left = left[allowed & (rng.random(len(left)) < 0.5)]
    order[left], order[left + 1] = order[left + 1], order[left]


def feasible_positions(
    precedes: BoolArray, order: Sequence[int] | IndexArray, variable: int
) -> tuple[int, int]:
    """Return the first and last place to which one variable of a feasible order may be moved.

    The others keep their relative order. A place is the variable's index in the new order, and
    both ends are included.
    """
    others = np.asarray(order)
    others = others[others != variable]
    before = np.flatnonzero(precedes[others, variable])
    after = np.flatnonzero(precedes[variable, others])
    low = int(before[-1]) + 1 if before.size else 0
    high = int(after[0]) if after.size else len(others)
    return low, high
