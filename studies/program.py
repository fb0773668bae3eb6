"""The installed program as a method, run in a separate process to measure time and memory."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from momentdag.graph import MomentGraph
from momentdag.posterior import Posterior, Provenance
from studies.fits import Fitted, Request

__all__ = ["Program"]

_SECONDS_BETWEEN_LOOKS = 1.0
_PROGRAM = "from momentdag.cli import main; main()"


@dataclass(frozen=True)
class Program:
    """``momentdag fit`` of a Parquet file with ``n_jobs`` processes, without a report."""

    n_jobs: int

    def __call__(self, request: Request) -> Fitted:
        """Run the program; its consensus is the one draw that is returned."""
        with tempfile.TemporaryDirectory() as scratch:
            file = Path(scratch) / "table.parquet"
            request.data.to_parquet(file, index=False)
            command = ["fit", str(file), "--output", str(Path(scratch) / "run"), "--no-report"]
            command += ["--json", f"--jobs={self.n_jobs}", f"--draws={request.n_draws}"]
            command += [f"--seed={request.seed}"]
            command += [f"--option={key}={json.dumps(v)}" for key, v in request.options.items()]
            answer, measures = _run_and_watch(command)
            measures["file_megabytes"] = file.stat().st_size / 2**20
        measures["n_samples_for_structure"] = float(answer["n_samples_for_structure"])
        names = tuple(str(name) for name in request.data.columns)
        mean, variance = (
            [(cause, effect) for cause, effect in answer["consensus"][moment]]
            for moment in ("mean", "variance")
        )
        graph = MomentGraph.from_edges(names, mean, variance)
        posterior = Posterior(
            names, graph.mean_graph[None], graph.variance_graph[None], Provenance("consensus")
        )
        return Fitted(posterior, measures=measures)


def _run_and_watch(command: list[str]) -> tuple[dict[str, Any], dict[str, float]]:
    """Run the program; return its answer, and the CPU time and memory it took.

    Memory is that of the program and its workers together, pages they share counted once.
    """
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = subprocess.Popen(
        [sys.executable, "-c", _PROGRAM, *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    peak = 0.0

    def watch() -> None:
        nonlocal peak
        while process.poll() is None:
            peak = max(peak, sum(map(_megabytes, _with_descendants(process.pid))))
            time.sleep(_SECONDS_BETWEEN_LOOKS)

    watcher = threading.Thread(target=watch)
    watcher.start()
    out, errors = process.communicate()
    watcher.join()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if process.returncode:
        raise RuntimeError(f"momentdag fit ended with {process.returncode}: {errors[-2000:]}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return json.loads(out), {"cpu_seconds": cpu, "peak_megabytes": peak}


def _with_descendants(pid: int) -> list[int]:
    """Return a process and its descendants; only Linux tells."""
    pids = [pid]
    for parent in pids:
        for tasks in Path(f"/proc/{parent}/task").glob("*/children"):
            try:
                pids += map(int, tasks.read_text().split())
            except OSError:  # it has just ended
                continue
    return pids


def _megabytes(pid: int) -> float:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 2**10 for line in lines if line.startswith("Pss:")), 0.0)
