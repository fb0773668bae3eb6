"""Figure 3: mean and variance graphs of dense synthetic data."""

from __future__ import annotations

from momentdag.experiments.experiment import Experiment
from momentdag.experiments.methods import BASELINES, EMPTY, ENGINES
from momentdag.experiments.moments import mean_and_variance
from momentdag.experiments.simulated import simulated

__all__ = ["EXPERIMENT"]

EXPERIMENT = Experiment(
    name="fig-dense",
    title="Dense synthetic data",
    shows="figure 3: recovery of both graphs, 500 rows, four expected edges per node",
    views=mean_and_variance(tuple(simulated(f"dense-{d}") for d in (10, 20))),
    methods=(*ENGINES, *BASELINES, EMPTY),
    left_open="As for sparse data, with four expected edges per node in each graph.",
    quick=("dense-10",),
    is_figure=True,
)
