"""The figures of the paper: how well the graphs of simulated data are recovered."""

from __future__ import annotations

from functools import partial

from studies.methods import BASELINES, EMPTY, ENGINES
from studies.simulated import simulated
from studies.study import Metric, Study, View
from studies.views import mean_and_variance, union

__all__ = ["FIGURES"]

_figure = partial(Study, methods=(*ENGINES, *BASELINES, EMPTY), kind="paper")
_SHD_AND_SID = (Metric("shd_union", "SHD", "lower"), Metric("sid_union", "SID", "lower"))

FIGURES = {
    figure.name: figure
    for figure in (
        _figure(
            name="fig-sparse",
            title="Sparse synthetic data",
            shows="figure 2, top row: recovery of both graphs, 500 rows, sparse random graphs",
            views=mean_and_variance(tuple(simulated(f"sparse-{d}") for d in (5, 10, 20, 50))),
            about=(
                "Mean-variance noise models with random networks; one expected edge per node in "
                "each graph at d = 5, two beyond. Not stated: how the random networks are scaled "
                "(see above)."
            ),
            quick=("sparse-5", "sparse-10"),
        ),
        _figure(
            name="fig-sergio",
            title="Gene expression (SERGIO)",
            shows="figure 2, bottom row: recovery of both graphs from a gene expression simulator",
            views=mean_and_variance(tuple(simulated(f"sergio-{d}") for d in (10, 20, 50))),
            about=(
                "500 cells at the steady state of a chemical Langevin equation in which drift and "
                "noise have separate scale-free sets of regulators. Not stated: every constant of "
                "the simulator, and numbers of genes but for 50. In ours each cell has its own "
                "basal rates, without which regulation is hardly visible (see the page on "
                "simulators). Snapshots do not factor along the regulatory graph: targets of one "
                "hub stay dependent given the hub, so that a method which follows the joint law "
                "closely adds edges that were not drawn (same page)."
            ),
            quick=("sergio-10",),
        ),
        _figure(
            name="fig-dense",
            title="Dense synthetic data",
            shows="figure 3: recovery of both graphs, 500 rows, four expected edges per node",
            views=mean_and_variance(tuple(simulated(f"dense-{d}") for d in (10, 20))),
            about="As for sparse data, with four expected edges per node in each graph.",
            quick=("dense-10",),
        ),
        _figure(
            name="fig-nongaussian",
            title="Noise that is not Gaussian",
            shows=(
                "figure 4: SHD and SID of the moment-agnostic graph, Laplace and Student t(3) noise"
            ),
            views=tuple(
                View(title, tuple(simulated(f"{kind}-{d}") for d in (5, 10)), _SHD_AND_SID)
                for title, kind in (("Laplace noise", "laplace"), ("Student t noise", "student"))
            ),
            about=(
                "One graph for both moments, 500 rows. Not stated: the numbers of variables. The "
                "paper compares with ICDH and HOST only. SID is averaged over draws, as SHD is."
            ),
            quick=("laplace-5", "student-5"),
        ),
        _figure(
            name="fig-anm",
            title="Additive noise models",
            shows="appendix, first figure: the moment-agnostic graph, constant variances",
            views=union(tuple(simulated(f"anm-{d}") for d in (5, 10, 20, 50))),
            about=(
                "Nonlinear means from random networks, Gaussian noise of variance U(0.5, 2), 500 "
                "rows. Not stated: the scale of the networks."
            ),
            quick=("anm-5",),
        ),
        _figure(
            name="fig-hnm",
            title="Heteroscedastic noise models with one graph",
            shows=(
                "appendix, second figure: the moment-agnostic graph, equal causes of mean and "
                "variance"
            ),
            views=union(tuple(simulated(f"hnm-{d}") for d in (5, 10, 20, 50))),
            about=(
                "As for sparse data, with one graph for both moments: what ICDH and HOST assume. "
                "Not stated: the scale of the networks."
            ),
            quick=("hnm-5",),
        ),
    )
}
