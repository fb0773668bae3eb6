"""Time and memory of whole fits, each with the real program in a separate process."""

from __future__ import annotations

from functools import partial

import numpy as np

from momentdag.metrics import f1
from momentdag.simulate import mean_variance_hnm
from studies.case import FIRST_SEED, FitCase, Measures, Task
from studies.fits import Fitted
from studies.store import Store
from studies.study import Metric, Study, View
from studies.tables import Table

__all__ = ["SCALE", "sized", "two_processes_table"]


def sized(n_variables: int, n_samples: int) -> FitCase:
    """Return simulated tables of a given size as a case.

    Examples
    --------
    >>> sized(10, 100_000).group
    '100,000 rows, d = 10'
    """
    return FitCase(
        name=f"scale-{n_variables}x{n_samples}",
        group=f"{n_samples:,} rows, d = {n_variables}",
        n_variables=n_variables,
        table="scale",
        max_sets=1,
        draw=partial(_draw, n_variables, n_samples),
        measure=_measure,
    )


def _draw(n_variables: int, n_samples: int, number: int) -> Task:
    rng = np.random.default_rng(FIRST_SEED + number)
    # As in the presets: with two edges a node five variables always make a complete graph.
    edges_per_node = 1 if n_variables <= 5 else 2
    simulation = mean_variance_hnm(rng, n_variables, edges_per_node, n_samples)
    return Task(simulation.data, {"simulated": simulation.graph})


def _measure(task: Task, fitted: Fitted) -> Measures:
    truth, consensus = task.truths["simulated"], fitted.posterior.consensus()
    return {
        "f1_mean": f1(consensus.mean_frame, truth.mean_frame),
        "f1_variance": f1(consensus.variance_frame, truth.variance_frame),
    }


def two_processes_table(view: View, store: Store) -> Table | None:
    """Compare the program with one process and with two."""
    lines = []
    for case in view.cases:
        runs = [store.records(case, method) for method in ("program", "program-2")]
        if not all(runs) or any(run[0].failed for run in runs):
            continue
        (one,), (two,) = runs
        memory = [f"{run.measures['peak_megabytes']:.0f}" for run in (one, two)]
        scores = [f"{two.measures[f'f1_{moment}']:.2f}" for moment in ("mean", "variance")]
        times = [f"{one.seconds:.0f}", f"{two.seconds:.0f}", f"{one.seconds / two.seconds:.2f}"]
        lines.append((case.group, *times, *memory, *scores))
    columns = (
        *("", "s, 1 process", "s, 2 processes", "speed-up"),
        *("MB, 1", "MB, 2", "F1 mean", "F1 variance"),
    )
    return Table(view.title, columns, tuple(lines), note=view.note) if lines else None


_LONG = tuple(sized(10, n) for n in (1_000, 10_000, 100_000, 1_000_000))
_WIDE = tuple(sized(d, 1_000) for d in (5, 10, 20, 50, 100))
_METRICS = (
    Metric("n_samples_for_structure", "rows for graphs", digits=0),
    Metric("seconds", "seconds", digits=0),
    Metric("cpu_seconds", "CPU s", digits=0),
    Metric("peak_megabytes", "peak MB", digits=0),
    Metric("file_megabytes", "file MB", digits=0),
    Metric("f1_mean", "F1 mean", "higher"),
    Metric("f1_variance", "F1 variance", "higher"),
)

SCALE = Study(
    name="scale",
    title="Long and wide tables",
    shows="time, memory and F1 of the whole program, and what a second process brings",
    views=(
        View("Growth with the rows", _LONG, _METRICS, rows="cases", methods=("program-2",)),
        View("Growth with the variables", _WIDE, make=two_processes_table),
    ),
    methods=("program", "program-2"),
    about=(
        "`momentdag fit` of a Parquet file, reading it and writing the run included; sparse graphs "
        "as in the presets. Peak memory is that of all processes together, pages they share "
        "counted once. F1 of the consensus pair. Leave the machine alone meanwhile."
    ),
    quick=("scale-5x1000",),
    on_request=("scale-50x1000", "scale-100x1000"),
    n_sets=1,
)
