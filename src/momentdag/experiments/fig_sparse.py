"""Figure 2, top: mean and variance graphs of sparse synthetic data."""

from __future__ import annotations

from momentdag.experiments.experiment import Experiment
from momentdag.experiments.methods import BASELINES, EMPTY, ENGINES
from momentdag.experiments.moments import mean_and_variance
from momentdag.experiments.simulated import simulated

__all__ = ["EXPERIMENT"]

EXPERIMENT = Experiment(
    name="fig-sparse",
    title="Sparse synthetic data",
    shows="figure 2, top row: recovery of both graphs, 500 rows, sparse random graphs",
    views=mean_and_variance(tuple(simulated(f"sparse-{d}") for d in (5, 10, 20, 50))),
    methods=(*ENGINES, *BASELINES, EMPTY),
    left_open=(
        "Mean-variance noise models with random networks; one expected edge per node in each graph "
        "at d = 5, two beyond. Not stated: how the random "
        "networks are scaled (see above)."
    ),
    quick=("sparse-5", "sparse-10"),
    is_figure=True,
)
