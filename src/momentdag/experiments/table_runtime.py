"""Table 3: run times on the protein data."""

from __future__ import annotations

from momentdag.experiments.experiment import Experiment, Metric, View
from momentdag.experiments.methods import BASELINES, ENGINES
from momentdag.experiments.sachs import sachs

__all__ = ["EXPERIMENT"]

EXPERIMENT = Experiment(
    name="table-runtime",
    title="Run times",
    shows="table 3: seconds for a fit of the Sachs data, 853 cells",
    views=(
        View(
            "Seconds for one fit",
            tuple(sachs(853, share) for share in (0.0, 0.25, 0.5)),
            (Metric("seconds", "seconds", "neither", digits=1),),
            printed={
                "DDS": ("367 ± 11",),
                "Proposed": ("733 ± 19",),
                "Proposed + 25 %": ("852 ± 38",),
                "Proposed + 50 %": ("1260 ± 51",),
            },
        ),
    ),
    methods=(*ENGINES, *BASELINES),
    left_open=(
        "Wall time of the runs of table 2 with all cells. The first run of the variational engine "
        "in a process compiles its program, the others find it compiled, whence the large "
        "standard deviations. The paper's machine has GPUs, ours does not; runs that share a "
        "machine slow each other down. Use `--jobs 1` on an idle machine for times worth quoting."
    ),
    quick=("sachs-log-853", "sachs-log-853-told-25", "sachs-log-853-told-50"),
    informed=ENGINES,
)
