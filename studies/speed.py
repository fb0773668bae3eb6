"""Speed on one thread: one local score, whole fits, growth with rows; the variational engine."""

from __future__ import annotations

import itertools
from functools import partial

import networkx as nx
import numpy as np

from momentdag.datasets import load_sachs
from studies.case import FitCase, Measures, Task
from studies.fits import Fitted
from studies.local_scores import ScoreCase
from studies.simulated import draw_preset
from studies.store import Record, Store
from studies.study import Metric, Study, View
from studies.tables import Table, mean_sd

__all__ = ["SPEED", "VARIATIONAL_SPEED", "growth_table", "score_case", "score_table"]

_NOISES = {"evidence-gaussian": "gaussian", "evidence": "flexible"}
_N_STEADY = 1600  # rows from which on the number of inducing rows does not grow


def score_case(n_samples: int, *, default_kernels: bool) -> ScoreCase:
    """Return local scores of sparse-10 data as a case."""
    kernels = "default" if default_kernels else "chosen"
    return ScoreCase(
        name=f"score-{kernels}-{n_samples}",
        group=str(n_samples),
        n_variables=10,
        table="speed",
        max_sets=1 if default_kernels else None,
        preset="sparse-10",
        n_samples=n_samples,
        default_kernels=default_kernels,
    )


def _fit_case(name: str, n_samples: int = 500) -> FitCase:
    """Return whole fits of a preset as a case."""
    return FitCase(
        name=f"fit-{name}-{n_samples}",
        group=f"{name}, {n_samples} rows",
        n_variables=int(name.rpartition("-")[2]),
        table="speed",
        max_sets=3 if n_samples == 500 else 1,
        draw=partial(draw_preset, name, n_samples=n_samples),
        in_grams=True,
    )


def score_table(view: View, store: Store) -> Table | None:
    """Return the time of one local score for each family of noise."""
    lines = []
    for method, noise in _NOISES.items():
        runs = [run for case in view.cases for run in store.records(case, method)]
        rows = [part for run in runs for part in run.parts]
        if not rows:
            continue
        both = [row for row in rows if row["has_both"]]
        lines.append(
            (
                noise,
                mean_sd([row["score"] for row in rows], 1),
                mean_sd([row["score"] for row in both], 1),
                mean_sd([row["features"] for row in rows], 1),
                mean_sd([row["n_functions"] for row in rows], 0),
                f"{len(rows)} / {len(both)}",
                f"{1e6 * np.mean([run.measures['gram_seconds'] for run in runs]):.0f}",
            )
        )
    columns = ("noise", "one score", "both moments", "features", "functions", "n / n both", "µs")
    return Table(view.title, columns, tuple(lines), note=view.note) if lines else None


def growth_table(view: View, store: Store) -> Table | None:
    """Return the time of a local score against the number of rows."""
    lines = []
    steady: dict[int, float] = {}
    for case in view.cases:
        gaussian, flexible = (_first(store.records(case, method)) for method in _NOISES)
        if gaussian is None or flexible is None:
            continue
        n, score = int(case.group), flexible["score"]
        if n >= _N_STEADY:
            steady[n] = score
        lines.append(
            (
                case.group,
                f"{flexible['n_functions']:.0f}",
                f"{gaussian['score']:.1f}",
                f"{score:.1f}",
                f"{1000 * score / n:.1f}",
                f"{flexible['features']:.1f}",
                f"{flexible['peak_megabytes']:.0f}",
            )
        )
    note = view.note
    if len(steady) > 1:
        slope = np.polyfit(np.log(list(steady)), np.log(list(steady.values())), 1)[0]
        note += f" Fitted exponent of n for the flexible score from there on: {slope:.2f}."
    columns = (
        *("rows", "functions", "gaussian score", "flexible score", "flexible per 1000 rows"),
        *("features", "peak MB"),
    )
    return Table(view.title, columns, tuple(lines), note=note) if lines else None


def _first(runs: list[Record]) -> Measures | None:
    return next((run.measures for run in runs if not run.failed), None)


_ROWS = (500, 2_000, 10_000, 50_000, 100_000)
_FITS = (
    *(_fit_case(f"sparse-{d}") for d in (5, 10, 20, 50)),
    *(_fit_case("sparse-5", n) for n in (2_000, 10_000)),
)

SPEED = Study(
    name="speed",
    title="Speed of the evidence engine",
    shows="one local score, whole fits and growth with the rows, on one thread",
    views=(
        View(
            "One local score, in Gram products",
            (score_case(500, default_kernels=False),),
            methods=tuple(_NOISES),
            make=score_table,
            note=(
                "Converged scores at the true parents of sparse-10 data, 500 rows, features at "
                "hand. Features are built once for each set of parents. The last column is the "
                "time of one Gram product."
            ),
        ),
        View(
            "A whole fit",
            _FITS,
            (
                Metric("gram_units", "Gram products", "lower", digits=0),
                Metric("seconds", "seconds", "lower", digits=1),
                Metric("peak_megabytes", "peak MB", digits=0, summary="largest"),
            ),
            rows="cases",
            note="Peak memory is that of the process and only ever rises: small fits come first.",
        ),
        View(
            "Growth of a score with the rows, in Gram products",
            tuple(score_case(n, default_kernels=True) for n in _ROWS),
            methods=tuple(_NOISES),
            make=growth_table,
            note=(
                "Scores at the true parents of sparse-10 data with the default kernels. From 40 "
                "inducing rows at n <= 800 to 80 at n >= 1600; from there on only the rows grow."
            ),
        ),
    ),
    methods=("evidence",),
    about=(
        "The unit is one weighted Gram product F'DF with n = 500 rows and p = 45 columns on one "
        "thread, the median of 1 500 repeats, taken before and after each item. Leave the machine "
        "alone meanwhile, and take one process."
    ),
    quick=("score-chosen-500", "fit-sparse-5-500", "score-default-500", "score-default-2000"),
    on_request=("fit-sparse-50-500",),
    n_sets=5,
)


def _sachs_case(share: float) -> FitCase:
    told = "half of the orderings" if share else "no orderings"
    return FitCase(
        name=f"twice-sachs-told-{100 * share:.0f}",
        group=told,
        n_variables=11,
        table="variational-speed",
        max_sets=1,
        draw=partial(_draw_sachs, share),
        measure=_cpu_per_step,
    )


def _draw_sachs(share: float, number: int) -> Task:
    source = load_sachs()
    truth = nx.from_pandas_adjacency(source.union_graph, create_using=nx.DiGraph)
    pairs = list(itertools.combinations(nx.lexicographical_topological_sort(truth), 2))
    chosen = np.random.default_rng(number).permutation(len(pairs))[: int(share * len(pairs))]
    return Task(source.data, {}, tuple(pairs[k] for k in chosen))


def _cpu_per_step(task: Task, fitted: Fitted) -> Measures:
    measured = fitted.measures
    return {"cpu_ms_per_step": 1000 * measured["second_cpu_seconds"] / measured["n_steps"]}


VARIATIONAL_SPEED = Study(
    name="variational-speed",
    title="Speed of the variational engine",
    shows="fits of the Sachs data, with and without compilation, with half of the orderings given",
    views=(
        View(
            "The variational engine on the Sachs data",
            (_sachs_case(0.0), _sachs_case(0.5)),
            (
                Metric("first_seconds", "seconds, first fit", "lower", digits=1),
                Metric("second_seconds", "seconds, second fit", "lower", digits=1),
                Metric("first_cpu_seconds", "CPU s, first fit", "lower", digits=1),
                Metric("second_cpu_seconds", "CPU s, second fit", "lower", digits=1),
                Metric("n_steps", "steps", digits=0),
                Metric("cpu_ms_per_step", "CPU ms a step", "lower"),
                Metric("converged", "converged", "higher", summary="share"),
            ),
            rows="cases",
        ),
    ),
    methods=("variational-twice",),
    about=(
        "853 rows, one restart; the first fit compiles. The paper prints 733 s. Wall time counts "
        "other work on the machine, CPU time does not."
    ),
    quick=("twice-sachs-told-0",),
    n_sets=1,
)
