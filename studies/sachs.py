"""Cases from the protein data: cells drawn at random, orderings of the accepted networks given."""

from __future__ import annotations

from functools import partial
from typing import Literal

import numpy as np
import pandas as pd

from momentdag.datasets import load_sachs
from momentdag.graph import MomentGraph, reachability
from momentdag.metrics import expected_f1, expected_shd
from studies.case import FIRST_SEED, FitCase, Measures, Task
from studies.fits import Fitted

__all__ = ["N_CELLS", "Scale", "accepted_network", "sachs"]

Scale = Literal["log", "raw"]
N_CELLS = (100, 200, 853)


def sachs(n_cells: int, share: float = 0.0, scale: Scale = "log") -> FitCase:
    """Return cells drawn without replacement, anew for each set, as a case.

    A share of the orderings that both accepted networks imply is given to the method.

    Examples
    --------
    >>> case = sachs(200, share=0.25)
    >>> case.name, case.group, case.variant
    ('sachs-log-200-told-25', 'n = 200', '+ 25 %')
    """
    told, variant = (f"-told-{share:.0%}"[:-1], f"+ {100 * share:.0f} %") if share else ("", "")
    return FitCase(
        name=f"sachs-{scale}-{n_cells}{told}",
        group=f"n = {n_cells}",
        n_variables=11,
        draw=partial(_draw, n_cells, share, scale),
        measure=_measure,
        variant=variant,
    )


def _draw(n_cells: int, share: float, scale: Scale, number: int) -> Task:
    rows_rng, order_rng = np.random.default_rng([FIRST_SEED + number, n_cells]).spawn(2)
    data = load_sachs().data
    rows = np.sort(rows_rng.choice(len(data), size=n_cells, replace=False))
    data = data.iloc[rows].reset_index(drop=True)
    truths = {edges: accepted_network(edges) for edges in ("17", "20")}
    known = _common_orderings(tuple(truths.values()))
    # One shuffle for every share: more knowledge contains less.
    told = order_rng.permutation(len(known))[: round(share * len(known))]
    table = pd.DataFrame(np.log(data)) if scale == "log" else data
    return Task(table, truths, tuple(known[k] for k in np.sort(told)))


def accepted_network(edges: Literal["17", "20"]) -> MomentGraph:
    """Return an accepted network as a pair; the moments of its edges are unknown."""
    union = load_sachs(edges).union_graph
    assert union is not None
    return MomentGraph.from_frames(union, union)


def _common_orderings(networks: tuple[MomentGraph, ...]) -> list[tuple[str, str]]:
    """Return the (ancestor, descendant) pairs that all networks have in common."""
    names = networks[0].names
    common = np.logical_and.reduce([reachability(graph.union_graph) for graph in networks])
    return [(names[i], names[j]) for i, j in np.argwhere(common) if i != j]


def _measure(task: Task, fitted: Fitted) -> Measures:
    """Return SHD and F1 of the union against both networks, and P(mek -> erk) per moment."""
    measures: Measures = {}
    posterior = fitted.posterior
    for edges, truth in task.truths.items():
        measures[f"shd_{edges}"] = expected_shd(posterior, truth, moment="either")
        measures[f"f1_{edges}"] = expected_f1(posterior, truth, moment="either")
    for moment in ("mean", "variance"):
        measures[f"mek_erk_{moment}"] = posterior.edge_probability("mek", "erk", moment)
    return measures
