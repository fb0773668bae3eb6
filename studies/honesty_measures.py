"""How sure a posterior is of directions and edges, and how often it is right."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from momentdag.graph import MomentGraph, Selection
from momentdag.metrics import auroc, reliability_table
from momentdag.metrics.alignment import pooled_pairs
from momentdag.posterior import Posterior
from studies.case import Measures, Task
from studies.fits import Fitted

__all__ = [
    "CLIP",
    "CURVES",
    "TRUTH",
    "Curve",
    "Directions",
    "directions",
    "edge_measures",
    "edge_parts",
    "log_loss",
    "measure",
    "measure_by_moment",
    "parts",
    "parts_by_moment",
]

FloatArray: TypeAlias = npt.NDArray[np.float64]

TRUTH = "truth"
"""Name of the truth that a task of the study has."""
CLIP = 1e-3
"""Probabilities are clipped to [CLIP, 1 - CLIP] in the log loss: at most 6.9 for a single one."""
_SURE = 0.95

Curve = Literal["union", "mean", "variance", "direction"]
CURVES: tuple[Curve, ...] = ("union", "mean", "variance", "direction")
"""Reliability curves; a part of a run holds the position of its curve."""
_SELECTIONS: dict[str, Selection] = {"union": "either", "mean": "mean", "variance": "variance"}


class Directions(NamedTuple):
    """What a posterior says of the directions of links that exist, each of shape (n_links,).

    ``p_true`` is the probability of the true direction among the two, ``P(cause -> effect) /
    (P(cause -> effect) + P(effect -> cause))`` in the union; that there may be no edge is ignored,
    and 1/2 stands where neither direction has been drawn. ``turned`` is ``P(effect -> cause)``.
    """

    p_true: FloatArray
    turned: FloatArray

    @property
    def stated(self) -> FloatArray:
        """The probability of the likelier direction."""
        return np.maximum(self.p_true, 1 - self.p_true)

    @property
    def right(self) -> FloatArray:
        """1 where the likelier direction is the true one, 0 where not, 1/2 for a tie."""
        return np.where(self.p_true == 0.5, 0.5, (self.p_true > 0.5).astype(np.float64))


def directions(posterior: Posterior, truth: MomentGraph) -> Directions:
    """Return what a posterior says of the directions of the true links.

    Examples
    --------
    >>> from momentdag.posterior import Provenance
    >>> truth = MomentGraph.from_edges("ab", mean=[("a", "b")])
    >>> turned = MomentGraph.from_edges("ab", mean=[("b", "a")])
    >>> draws = [g.mean_graph for g in (truth, truth, truth, turned)]
    >>> none = [truth.variance_graph] * 4
    >>> said = directions(Posterior("ab", draws, none, Provenance("by hand")), truth)
    >>> said.p_true.tolist(), said.stated.tolist(), said.right.tolist()
    ([0.75], [0.75], [1.0])
    """
    p = posterior.edge_probabilities("either").loc[list(truth.names), list(truth.names)]
    forward = p.to_numpy(dtype=np.float64)
    causes, effects = np.nonzero(truth.union_graph)
    ahead, back = forward[causes, effects], forward[effects, causes]
    either = ahead + back
    p_true = np.where(either > 0, ahead / np.where(either > 0, either, 1.0), 0.5)
    return Directions(p_true, back)


def log_loss(probabilities: FloatArray, happened: FloatArray) -> float:
    """Return the mean negative log probability of what happened, clipped.

    Examples
    --------
    >>> round(log_loss(np.array([0.5, 1.0]), np.array([1.0, 0.0])), 2)
    3.8
    """
    p = np.clip(probabilities, CLIP, 1 - CLIP)
    return float(-np.mean(np.log(np.where(happened > 0, p, 1 - p))))


def measure(task: Task, fitted: Fitted) -> Measures:
    """Return the measures of the union's edges and, if there are links, of their directions."""
    truth = task.truths[TRUTH]
    measures = edge_measures(fitted.posterior, truth, "union")
    said = directions(fitted.posterior, truth)
    measures |= {
        "n_links": float(len(said.p_true)),
        "n_pairs": float(truth.n_variables * (truth.n_variables - 1)),
    }
    if len(said.p_true):
        measures |= {
            "stated": float(said.stated.mean()),
            "right": float(said.right.mean()),
            "log_loss_direction": log_loss(said.p_true, np.ones_like(said.p_true)),
            "brier_direction": float(np.mean((1 - said.p_true) ** 2)),
            "n_turned": float(np.sum(said.turned > _SURE)),
        }
    return measures


def measure_by_moment(task: Task, fitted: Fitted) -> Measures:
    """Return the same and the measures of the edges of each graph."""
    measures = measure(task, fitted)
    for curve in ("mean", "variance"):
        measures |= edge_measures(fitted.posterior, task.truths[TRUTH], curve)
    return measures


def edge_measures(
    posterior: Posterior, truth: MomentGraph, curve: Literal["union", "mean", "variance"]
) -> Measures:
    """Return log loss and Brier score of all possible edges of one graph, and the share that exist.

    The area under the ROC curve is added where there are both edges and pairs without.
    """
    selection = _SELECTIONS[curve]
    probabilities, true = posterior.edge_probabilities(selection), truth.to_frame(selection)
    p, exists = pooled_pairs(probabilities, true)
    measures: Measures = {
        f"log_loss_{curve}": log_loss(p, exists.astype(np.float64)),
        f"brier_{curve}": float(np.mean((p - exists) ** 2)),
        f"share_{curve}": float(exists.mean()),
    }
    if 0 < exists.mean() < 1:
        measures[f"auroc_{curve}"] = auroc(probabilities, true)
    return measures


def parts(task: Task, fitted: Fitted) -> list[Measures]:
    """Return the bins of the reliability curves of the union's edges and of the directions."""
    truth = task.truths[TRUTH]
    said = directions(fitted.posterior, truth)
    rows = edge_parts(fitted.posterior, truth, "union")
    if len(said.p_true):
        # A tie is half right: both of its directions are counted with half a weight, so that
        # every bin holds whole outcomes.
        stated = np.repeat(said.stated, 2)
        outcomes = np.column_stack([said.right > 0, said.right == 1]).ravel()
        table = reliability_table(stated, outcomes)
        rows += _used(table.assign(n=table["n"] / 2), "direction")
    return rows


def parts_by_moment(task: Task, fitted: Fitted) -> list[Measures]:
    """Return the same and the bins of the edges of each graph."""
    rows = parts(task, fitted)
    for curve in ("mean", "variance"):
        rows += edge_parts(fitted.posterior, task.truths[TRUTH], curve)
    return rows


def edge_parts(
    posterior: Posterior, truth: MomentGraph, curve: Literal["union", "mean", "variance"]
) -> list[Measures]:
    """Return the bins of probabilities that have pairs of variables."""
    selection = _SELECTIONS[curve]
    probabilities = posterior.edge_probabilities(selection)
    return _used(reliability_table(probabilities, truth.to_frame(selection)), curve)


def _used(table: pd.DataFrame, curve: Curve) -> list[Measures]:
    used = table[table["n"] > 0].astype(float)
    rows: list[Measures] = used.assign(curve=float(CURVES.index(curve))).to_dict("records")
    return rows
