"""Both graphs in one layered picture: positions of variables and every edge worth drawing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from momentdag.display.layout import layered_layout
from momentdag.report.doubt import PlainEdges

if TYPE_CHECKING:
    from momentdag.estimator import MomentDAG

__all__ = ["MIN_PROBABILITY", "DrawnEdge", "Picture", "draw_picture"]

MIN_PROBABILITY = 0.05
"""Least probability of an edge in the picture and the tables."""


@dataclass(frozen=True)
class DrawnEdge:
    """One edge of one of the graphs.

    Parameters
    ----------
    cause, effect : int
    moment : str
        "mean" or "variance".
    probability, standard_error : float
    consensus : bool
        Whether it is in the consensus pair.
    plain : float or None
        Its probability under the model alone, where that differs.
    unsure : bool
        Whether it is sure under the model, not sure of the model.
    via : list of (x, y)
        Way points of the layout between its ends.
    """

    cause: int
    effect: int
    moment: str
    probability: float
    standard_error: float
    consensus: bool
    plain: float | None
    unsure: bool
    via: list[tuple[float, float]]


@dataclass(frozen=True)
class Picture:
    """Positions of the variables, in the order of the columns, and edges, least likely first."""

    places: list[tuple[float, float]]
    edges: list[DrawnEdge]


def draw_picture(estimator: MomentDAG) -> Picture:
    """Lay out the consensus pair and add every edge of at least `MIN_PROBABILITY`."""
    posterior = estimator.posterior_
    layout = layered_layout(estimator.union_graph_)
    consensus = {"mean": estimator.mean_graph_, "variance": estimator.variance_graph_}
    plain = PlainEdges(posterior)
    edges = [
        DrawnEdge(
            posterior.index(row.cause),
            posterior.index(row.effect),
            row.moment,
            row.probability,
            row.standard_error,
            consensus[row.moment].has_edge(row.cause, row.effect),
            via=layout.way_points.get((row.cause, row.effect), []),
            **plain.beside(row.cause, row.effect, row.moment, row.probability),
        )
        for row in posterior.edge_table(min_probability=MIN_PROBABILITY).itertuples()
    ]
    return Picture([layout.nodes[name] for name in posterior.names], edges[::-1])
