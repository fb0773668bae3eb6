"""Appendix figure: moment-agnostic graphs where both moments have the same causes."""

from __future__ import annotations

from momentdag.experiments.experiment import Experiment
from momentdag.experiments.methods import BASELINES, EMPTY, ENGINES
from momentdag.experiments.moments import union
from momentdag.experiments.simulated import simulated

__all__ = ["EXPERIMENT"]

EXPERIMENT = Experiment(
    name="fig-hnm",
    title="Heteroscedastic noise models with one graph",
    shows="appendix, second figure: the moment-agnostic graph, equal causes of mean and variance",
    views=union(tuple(simulated(f"hnm-{d}") for d in (5, 10, 20, 50))),
    methods=(*ENGINES, *BASELINES, EMPTY),
    left_open=(
        "As for sparse data, with one graph for both moments: what ICDH and HOST assume. "
        "Not stated: the scale of the networks."
    ),
    quick=("hnm-5",),
    is_figure=True,
)
