"""One pair for a whole posterior: the jointly acyclic pair that is best for an objective.

Each objective is a sum of weights of the chosen edges (F1 becomes a sequence of such sums by
Dinkelbach's method). Given an order of the variables, the best pair contains every edge of positive
weight that follows the order; it remains to find the order that loses the least weight. Edges on no
cycle are never lost, so only strongly connected components are ordered: exactly up to 16 variables
(Held-Karp recursion over subsets), by a local search beyond.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt
import scipy.sparse.csgraph

from momentdag.errors import OptionError
from momentdag.graph import BoolArray, MomentGraph
from momentdag.knowledge import CompiledKnowledge, Knowledge

if TYPE_CHECKING:
    from momentdag.posterior.container import Posterior

__all__ = ["Objective", "consensus", "heaviest_acyclic"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
Order: TypeAlias = npt.NDArray[np.intp]

Objective: TypeAlias = Literal["shd", "f1", "log_odds"]
"""What a consensus minimises or maximises."""

MAX_EXACT = 16
_WINDOW = 7
_SHIFTS = 6
_LEAST = 1e-9  # weight of an edge that exceeds a threshold by less than half a draw
_ROUNDS = 200  # of Dinkelbach's method, which needs about five


def consensus(
    posterior: Posterior,
    objective: Objective = "shd",
    threshold: float | None = None,
    knowledge: Knowledge | CompiledKnowledge | None = None,
) -> MomentGraph:
    """Return the jointly acyclic pair of graphs that represents all draws best.

    Parameters
    ----------
    posterior : Posterior
    objective : {"shd", "f1", "log_odds"}
        "shd" minimises the expected structural Hamming distance, mean graph plus variance graph, to
        a draw. As a reversed edge costs one and not two, ``i -> j`` has the weight
        ``2 p_ij + p_ji - 1``: if two variables are certainly joined, the likelier direction is
        taken even if its probability is below one half. This is the usual loss for estimates,
        hence the default.

        "log_odds" maximises the sum of the log odds of the chosen edges: unless they close a cycle,
        the edges of probability above one half (the median probability graph, which minimises the
        expected number of wrong entries).

        "f1" maximises the ratio of expectations ``2 sum_chosen p / (n_chosen + sum_all p)``, the
        usual approximation of the expected F1 score, over the edges of both graphs pooled.
        It chooses more edges than the others where little is certain.
    threshold : float, optional
        For "log_odds": the probability that an edge must exceed, instead of one half.
    knowledge : Knowledge or CompiledKnowledge, optional
        Hard statements that the pair must obey. That all draws obey them is not enough: edges of
        different draws need not fit one order that the knowledge allows.

    Returns
    -------
    MomentGraph

    Raises
    ------
    OptionError
        If the objective is unknown, or the threshold is outside (0, 1) or given with an objective
        other than "log_odds".

    Notes
    -----
    The result does not depend on the order of the variables: ties are broken by name.

    Examples
    --------
    >>> import numpy as np
    >>> from momentdag.posterior import Posterior, Provenance
    >>> forwards = np.array([[0, 1], [0, 0]], dtype=bool)
    >>> mean = np.stack([forwards] * 2 + [forwards.T] * 2 + [forwards])
    >>> posterior = Posterior(["a", "b"], mean, np.zeros_like(mean), Provenance("by hand"))
    >>> consensus(posterior).edges("mean")
    [('a', 'b')]
    >>> consensus(posterior, "log_odds", threshold=0.7).edges("mean")
    []
    """
    if objective not in get_args(Objective):
        raise OptionError(f"Expected an objective among {get_args(Objective)}; got {objective!r}.")
    if threshold is not None and objective != "log_odds":
        raise OptionError(
            f"threshold={threshold!r} has no meaning for objective={objective!r}. Use "
            "objective='log_odds'."
        )
    if threshold is not None and not 0 < threshold < 1:
        raise OptionError(f"Expected a threshold between 0 and 1; got {threshold!r}.")
    by_name = np.argsort(np.array(posterior.names), kind="stable")
    back = np.argsort(by_name)
    counts = np.stack(
        [
            np.count_nonzero(graphs, axis=0)[np.ix_(by_name, by_name)]
            for graphs in (posterior.mean_graphs, posterior.variance_graphs)
        ]
    )
    n_draws = posterior.n_draws
    known = Knowledge() if knowledge is None else knowledge
    if isinstance(known, Knowledge):
        known = known.compile(posterior.names)
    precedes = known.precedes[np.ix_(by_name, by_name)]
    match objective:
        case "shd":
            worth = (2 * counts + counts.swapaxes(1, 2) - n_draws) / n_draws
            chosen = heaviest_acyclic(worth, precedes)
        case "log_odds":
            # Half a draw for and half a draw against each edge keep the odds finite.
            log_odds = np.log(counts + 0.5) - np.log(n_draws - counts + 0.5)
            least = 0.5 if threshold is None else threshold
            worth = np.maximum(log_odds - np.log(least) + np.log1p(-least), _LEAST)
            log_odds = np.where(counts / n_draws > least, worth, -np.inf)
            chosen = heaviest_acyclic(log_odds, precedes)
        case "f1":
            chosen = _best_f1(counts / n_draws, precedes)
    mean_graph, variance_graph = chosen[:, back][:, :, back]
    for cause, effect in zip(*np.nonzero(known.required_either), strict=True):
        # Required in one graph or the other: if chosen in neither, take the likelier one.
        if not (mean_graph | variance_graph)[cause, effect]:
            i, j = back[cause], back[effect]
            likelier = mean_graph if counts[0, i, j] >= counts[1, i, j] else variance_graph
            likelier[cause, effect] = True
    return MomentGraph(posterior.names, mean_graph, variance_graph)


def heaviest_acyclic(weights: FloatArray, precedes: BoolArray | None = None) -> BoolArray:
    """Return the edges of largest total weight whose union over all graphs is acyclic.

    Parameters
    ----------
    weights : float array, shape (n_graphs, d, d)
        Row is the cause, column the effect.
    precedes : bool array, shape (d, d), optional
        An acyclic relation that the union must not contradict.

    Returns
    -------
    bool array, shape (n_graphs, d, d)
        Every edge has a positive weight.

    Examples
    --------
    >>> import numpy as np
    >>> circle = np.array([[[0.0, 3.0, 0.0], [0.0, 0.0, 2.0], [1.0, 0.0, 0.0]]])
    >>> heaviest_acyclic(circle).astype(int).tolist()
    [[[0, 1, 0], [0, 0, 1], [0, 0, 0]]]
    """
    positive = (weights > 0) & ~np.eye(weights.shape[1], dtype=bool)
    joint = np.where(positive, weights, 0.0).sum(axis=0)
    if precedes is not None:
        # Heavier than all edges together, so that no order violates one of them.
        joint = joint + (1 + joint.sum()) * precedes
    _, component = scipy.sparse.csgraph.connected_components(joint > 0, connection="strong")
    for label in np.flatnonzero(np.bincount(component) > 1):
        inside = np.flatnonzero(component == label)
        order = inside[best_order(joint[np.ix_(inside, inside)])]
        for k, variable in enumerate(order):
            positive[:, variable, order[:k]] = False
    return positive


def best_order(weights: FloatArray) -> Order:
    """Return an order that maximises the weight of the edges that follow it, shape (d,).

    Exact for at most `MAX_EXACT` variables.
    """
    if len(weights) <= MAX_EXACT:
        return _exact_order(weights)
    return _local_search(weights)


def _best_f1(probabilities: FloatArray, precedes: BoolArray) -> BoolArray:
    """Maximise the ratio ``2 sum_chosen p / (n_chosen + sum_all p)`` by Dinkelbach's method.

    At the largest ratio ``value``, the best edges maximise the sum of ``2 p - value``; any smaller
    value leads to edges of a larger ratio.
    """
    everything = probabilities.sum()
    if everything == 0:
        return np.zeros(probabilities.shape, dtype=bool)

    def ratio(edges: BoolArray) -> float:
        return float(2 * probabilities[edges].sum() / (np.count_nonzero(edges) + everything))

    # Ignoring cycles, the best edges are the most probable ones. Their ratio, an upper bound, is a
    # better start than 0.
    sorted_p = np.sort(probabilities, axis=None)[::-1]
    bound = np.max(2 * np.cumsum(sorted_p) / (np.arange(1, sorted_p.size + 1) + everything))
    chosen = heaviest_acyclic(2 * probabilities - bound, precedes)
    for _ in range(_ROUNDS):
        better = heaviest_acyclic(2 * probabilities - ratio(chosen), precedes)
        if ratio(better) <= ratio(chosen):
            break
        chosen = better
    return chosen


def _exact_order(weights: FloatArray) -> Order:
    d = len(weights)
    # into[v, s]: weight of the edges from the set s (a bit mask) to v.
    into = np.zeros((d, 1 << d))
    for u in range(d):
        into[:, 1 << u : 2 << u] = into[:, : 1 << u] + weights[u][:, None]
    best = np.full(1 << d, -np.inf)
    best[0] = 0.0
    last = np.zeros(1 << d, dtype=np.intp)
    sets = np.arange(1 << d)
    size = sum((sets >> v) & 1 for v in range(d))
    for n_members in range(1, d + 1):
        layer = sets[size == n_members]
        for v in range(d):
            here = layer[(layer >> v) & 1 == 1]
            before = here ^ (1 << v)
            value = best[before] + into[v, before]
            better = value > best[here]
            best[here[better]] = value[better]
            last[here[better]] = v
    order = []
    remaining = (1 << d) - 1
    while remaining:
        order.append(last[remaining])
        remaining ^= 1 << int(last[remaining])
    return np.array(order[::-1], dtype=np.intp)


def _local_search(weights: FloatArray) -> Order:
    """Return the best of the local optima reached from several orders."""
    gain = weights - weights.T
    share = weights.sum(axis=1) / np.maximum(weights.sum(axis=0) + weights.sum(axis=1), 1e-300)
    starts = [
        _sources_first(gain),
        _sources_first(-gain)[::-1],
        np.argsort(-gain.sum(axis=1), kind="stable"),
        np.argsort(-share, kind="stable"),
    ]
    # A cyclic shift keeps most of a good order, and insertions alone cannot reach it.
    first = _improve(weights, gain, starts[0])
    starts += [np.roll(first, k * len(first) // _SHIFTS) for k in range(1, _SHIFTS)]
    optima = [first, *(_improve(weights, gain, start) for start in starts[1:])]
    return max(optima, key=lambda order: _followed(weights, order))


def _sources_first(gain: FloatArray) -> Order:
    """Order the variables greedily: each next one gains most as a source of the rest."""
    order: list[int] = []
    rest = np.ones(len(gain), dtype=bool)
    while rest.any():
        order.append(int(np.argmax(np.where(rest, gain @ rest, -np.inf))))
        rest[order[-1]] = False
    return np.array(order, dtype=np.intp)


def _improve(weights: FloatArray, gain: FloatArray, order: Order) -> Order:
    """Move single variables, then solve windows of the order exactly, until neither helps."""
    # Rounding errors must not count as progress, or the search could cycle.
    least = 1e-9 * max(float(weights.sum()), 1e-300)
    while True:
        before = _followed(weights, order)
        order = _move_variables(gain, order, least)
        for start in range(len(order) - _WINDOW + 1):
            window = order[start : start + _WINDOW]
            solved = window[_exact_order(weights[np.ix_(window, window)])]
            if _followed(weights, solved) > _followed(weights, window) + least:
                order[start : start + _WINDOW] = solved
        if _followed(weights, order) <= before + least:
            return order


def _move_variables(gain: FloatArray, order: Order, least: float) -> Order:
    while True:
        ordered = gain[np.ix_(order, order)]
        d = len(order)
        # value[i, j]: the gain of moving the variable at place i to place j.
        value = np.zeros((d, d))
        for i in range(d):
            value[i, :i] = np.cumsum(ordered[i, :i][::-1])[::-1]
            value[i, i + 1 :] = -np.cumsum(ordered[i, i + 1 :])
        place, target = divmod(int(np.argmax(value)), d)
        if value[place, target] <= least:
            return order
        order = np.insert(np.delete(order, place), target, order[place])


def _followed(weights: FloatArray, order: Order) -> float:
    return float(np.triu(weights[np.ix_(order, order)], 1).sum())
