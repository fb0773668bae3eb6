"""Time and memory of whole fits, each the real program in a process of its own.

Against the number of rows, from Parquet files; against the number of variables; with one process
and with two. Memory is that of the program and its worker processes together, pages they share
counted once.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from benchmarks.accuracy import FIRST_SEED
from benchmarks.records import Records
from benchmarks.tables import Table, publish
from momentdag.graph import MomentGraph
from momentdag.metrics import f1
from momentdag.simulate import mean_variance_hnm

__all__ = ["run_scale"]

_SECONDS_BETWEEN = 1.0
_PROGRAM = "from momentdag.cli import main; main()"


def run_scale(
    console: Console,
    folder: Path,
    raw: Path,
    rows: tuple[int, ...] = (1_000, 10_000, 100_000, 1_000_000),
    n_variables: int = 10,
    sizes: tuple[int, ...] = (5, 10, 20),
    n_samples: int = 1_000,
    n_draws: int = 2000,
    engine_options: dict[str, Any] | None = None,
) -> int:
    """Run what is missing, print and write the tables; return the number of failed runs."""
    settings: dict[str, Any] = {
        "n_draws": n_draws,
        "engine_options": {} if engine_options is None else engine_options,
    }
    records = Records(raw, "scale", settings)
    long = [_case(n_variables, n, 2) for n in sorted(rows)]
    wide = [_case(d, n_samples, jobs) for d in sorted(sizes) for jobs in (1, 2)]
    cases = list(dict.fromkeys([*long, *wide]))
    # One after the other: they are timed.
    records.complete(partial(_run, **settings), [(case, 0) for case in cases], jobs=1)
    runs = {case: found[0] for case in cases if (found := records.finished(case))}
    failures = [run for run in records.failures() if run["case"] in cases]
    tables = [
        _rows_table([runs[case] for case in long if case in runs], n_variables),
        _sizes_table(runs, sizes, n_samples),
    ]
    content = {"settings": settings, "runs": runs, "failures": failures}
    publish(console, folder, "scale", tables, content)
    return len(failures)


def _case(d: int, n: int, jobs: int) -> str:
    return f"{d}x{n}x{jobs}"


def _run(case: str, number: int, n_draws: int, engine_options: dict[str, Any]) -> dict[str, Any]:
    d, n, jobs = map(int, case.split("x"))
    rng = np.random.default_rng(FIRST_SEED + number)
    # As in the presets: with two edges a node five variables always make a complete graph.
    edges_per_node = 1 if d <= 5 else 2
    simulation = mean_variance_hnm(rng, d, edges_per_node, n)
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch) / "table.parquet"
        simulation.data.to_parquet(file, index=False)
        options = [f"--option={name}={json.dumps(value)}" for name, value in engine_options.items()]
        command = ["fit", str(file), "--output", str(Path(scratch) / "run"), "--no-report"]
        command += ["--json", f"--jobs={jobs}", f"--draws={n_draws}", *options]
        found, used = _measured(command)
        file_megabytes = file.stat().st_size / 2**20
    names, truth = simulation.graph.names, simulation.graph
    consensus = MomentGraph.from_edges(
        names,
        *([tuple(edge) for edge in found["consensus"][moment]] for moment in ("mean", "variance")),
    )
    return {
        "n_variables": d,
        "n_samples": n,
        "jobs": jobs,
        "n_samples_for_structure": found["n_samples_for_structure"],
        "file_megabytes": file_megabytes,
        "mean_f1": f1(consensus.mean_graph, truth.mean_graph),
        "variance_f1": f1(consensus.variance_graph, truth.variance_graph),
        "draws_are_poor": found["draws_are_poor"],
        **used,
    }


def _measured(command: list[str]) -> tuple[dict[str, Any], dict[str, float]]:
    """Run the program; return what it says, and the time and memory it took."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-c", _PROGRAM, *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    peak = [0.0]

    def watch() -> None:
        while process.poll() is None:
            peak[0] = max(peak[0], sum(map(_megabytes, _family(process.pid))))
            time.sleep(_SECONDS_BETWEEN)

    watcher = threading.Thread(target=watch)
    watcher.start()
    out, errors = process.communicate()
    watcher.join()
    seconds, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if process.returncode:
        raise RuntimeError(f"momentdag fit ended with {process.returncode}: {errors[-2000:]}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return json.loads(out), {"seconds": seconds, "cpu_seconds": cpu, "peak_megabytes": peak[0]}


def _family(pid: int) -> list[int]:
    """Return a process and its descendants; only Linux tells."""
    found = [pid]
    for parent in found:
        for tasks in Path(f"/proc/{parent}/task").glob("*/children"):
            try:
                found += map(int, tasks.read_text().split())
            except OSError:  # it has just ended
                continue
    return found


def _megabytes(pid: int) -> float:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 2**10 for line in lines if line.startswith("Pss:")), 0.0)


def _rows_table(runs: list[dict[str, Any]], n_variables: int) -> Table:
    rows: list[tuple[str, ...]] = [
        (
            f"{run['n_samples']:,}",
            f"{run['n_samples_for_structure']:,}",
            f"{run['seconds']:.0f}",
            f"{run['cpu_seconds']:.0f}",
            f"{run['peak_megabytes']:.0f}",
            f"{run['file_megabytes']:.0f}",
            f"{run['mean_f1']:.2f}",
            f"{run['variance_f1']:.2f}",
        )
        for run in runs
    ]
    columns = ("rows", "for graphs", "seconds", "CPU s", "peak MB", "file MB", "F1 mean", "F1 var.")
    note = (
        f"`momentdag fit` of a Parquet file with {n_variables} columns, two processes, on a "
        f"machine of {os.cpu_count()} cores; reading the file and writing the run included. Peak "
        "memory of all processes together. F1 of the consensus graphs."
    )
    return Table("Growth with the number of rows", columns, rows, note)


def _sizes_table(runs: dict[str, dict[str, Any]], sizes: tuple[int, ...], n: int) -> Table:
    rows: list[tuple[str, ...]] = []
    for d in sorted(sizes):
        one, two = (runs.get(_case(d, n, jobs)) for jobs in (1, 2))
        if one is None or two is None:
            continue
        rows.append(
            (
                str(d),
                f"{one['seconds']:.0f}",
                f"{two['seconds']:.0f}",
                f"{one['seconds'] / two['seconds']:.2f}",
                f"{one['peak_megabytes']:.0f}",
                f"{two['peak_megabytes']:.0f}",
                f"{two['mean_f1']:.2f}",
                f"{two['variance_f1']:.2f}",
            )
        )
    columns = (
        *("variables", "s, 1 process", "s, 2 processes", "speed-up"),
        *("MB, 1", "MB, 2", "F1 mean", "F1 var."),
    )
    note = f"{n:,} rows, sparse graphs as in the presets; otherwise as above."
    return Table("Growth with the number of variables, and a second process", columns, rows, note)
