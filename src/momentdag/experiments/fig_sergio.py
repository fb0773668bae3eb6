"""Figure 2, bottom: mean and variance graphs of simulated gene expression."""

from __future__ import annotations

from momentdag.experiments.experiment import Experiment
from momentdag.experiments.methods import BASELINES, EMPTY, ENGINES
from momentdag.experiments.moments import mean_and_variance
from momentdag.experiments.simulated import simulated

__all__ = ["EXPERIMENT"]

EXPERIMENT = Experiment(
    name="fig-sergio",
    title="Gene expression (SERGIO)",
    shows="figure 2, bottom row: recovery of both graphs from a gene expression simulator",
    views=mean_and_variance(tuple(simulated(f"sergio-{d}") for d in (10, 20, 50))),
    methods=(*ENGINES, *BASELINES, EMPTY),
    left_open=(
        "500 cells at the steady state of a chemical Langevin equation in which drift and noise "
        "have separate scale-free sets of regulators. Not stated: every constant of the simulator, "
        "and numbers of genes but for 50. In ours each cell has its own basal rates, without "
        "which regulation is hardly visible (see the page on simulators). "
        "Snapshots do not factor along the regulatory graph: targets of one hub stay dependent "
        "given the hub, so that a method which follows the joint law closely adds edges that were "
        "not drawn (same page)."
    ),
    quick=("sergio-10",),
    is_figure=True,
)
