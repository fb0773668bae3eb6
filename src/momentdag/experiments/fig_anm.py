"""Appendix figure: moment-agnostic graphs where only means have causes."""

from __future__ import annotations

from momentdag.experiments.experiment import Experiment
from momentdag.experiments.methods import BASELINES, EMPTY, ENGINES
from momentdag.experiments.moments import union
from momentdag.experiments.simulated import simulated

__all__ = ["EXPERIMENT"]

EXPERIMENT = Experiment(
    name="fig-anm",
    title="Additive noise models",
    shows="appendix, first figure: the moment-agnostic graph, constant variances",
    views=union(tuple(simulated(f"anm-{d}") for d in (5, 10, 20, 50))),
    methods=(*ENGINES, *BASELINES, EMPTY),
    left_open=(
        "Nonlinear means from random networks, Gaussian noise of variance U(0.5, 2), 500 rows. "
        "Not stated: the scale of the networks."
    ),
    quick=("anm-5",),
    is_figure=True,
)
