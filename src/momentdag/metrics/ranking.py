"""Whether true edges get higher scores than absent ones: areas under the ROC and PR curves."""

from __future__ import annotations

import numpy.typing as npt
import pandas as pd

from momentdag.errors import GraphError
from momentdag.graph import BoolArray, GraphLike
from momentdag.metrics.alignment import FloatArray, pooled_pairs

__all__ = ["auprc", "auroc"]


def auroc(scores: npt.ArrayLike | pd.DataFrame, truth: GraphLike) -> float:
    """Return the chance that a true edge scores above an absent one (ties count half).

    The area under the receiver operating characteristic over ordered pairs of different variables.

    Parameters
    ----------
    scores : array or labelled DataFrame, shape (d, d), or array, shape (n_pairs,)
        Edge probabilities, or any number that is larger for likelier edges. The diagonal is not
        looked at.
    truth : array, labelled DataFrame or networkx.DiGraph, or 0/1 array, shape (n_pairs,)
        A vector iff ``scores`` is one.

    Returns
    -------
    float
        0.5 for random scores, 1.0 for a perfect ranking.

    Raises
    ------
    DataError
        If the scores are malformed or missing.
    GraphError
        If sizes or names differ, or the truth has no edge, or no absent edge: undefined then.

    Examples
    --------
    >>> auroc([[0, 0.9], [0.2, 0]], [[0, 1], [0, 0]])
    1.0
    """
    from sklearn.metrics import roc_auc_score  # slow to import, needed only here

    values, flags = _rankable(scores, truth)
    return float(roc_auc_score(flags, values))


def auprc(scores: npt.ArrayLike | pd.DataFrame, truth: GraphLike) -> float:
    """Return the average precision over the ranking of possible edges.

    The area under the precision-recall curve without interpolation: the sum over thresholds of
    (gain in recall) x precision, over ordered pairs of different variables.

    Parameters
    ----------
    scores : array or labelled DataFrame, shape (d, d), or array, shape (n_pairs,)
        Edge probabilities, or any number that is larger for likelier edges. The diagonal is not
        looked at.
    truth : array, labelled DataFrame or networkx.DiGraph, or 0/1 array, shape (n_pairs,)
        A vector iff ``scores`` is one.

    Returns
    -------
    float
        The share of true edges for random scores, 1.0 for a perfect ranking.

    Raises
    ------
    DataError
        If the scores are malformed or missing.
    GraphError
        If sizes or names differ, or the truth has no edge, or no absent edge: undefined then.

    Examples
    --------
    >>> auprc([[0, 0.2], [0.9, 0]], [[0, 1], [0, 0]])
    0.5
    """
    from sklearn.metrics import average_precision_score  # slow to import, needed only here

    values, flags = _rankable(scores, truth)
    return float(average_precision_score(flags, values))


def _rankable(
    scores: npt.ArrayLike | pd.DataFrame, truth: GraphLike
) -> tuple[FloatArray, BoolArray]:
    values, flags = pooled_pairs(scores, truth)
    if flags.all() or not flags.any():
        raise GraphError(
            "Expected a truth with at least one edge and one absent edge; it has "
            f"{int(flags.sum())} edges among {len(flags)} pairs, so no ranking can be scored."
        )
    return values, flags
