"""Make the missing runs and store each as soon as it is finished: `python -m studies run`."""

from __future__ import annotations

import math
import traceback
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import joblib
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from momentdag.errors import OptionError
from momentdag.parallel import run as run_each
from studies.case import Case
from studies.methods import METHODS, find_method
from studies.store import Record, Store
from studies.study import Study
from studies.tables import view_table

__all__ = ["INTERRUPTED", "Job", "Selection", "jobs_of", "make_run", "run_studies"]

INTERRUPTED = 130  # as shells report it


class Job(NamedTuple):
    """A run that is wanted, and what it has to measure."""

    case: Case
    method: str
    number: int
    keys: tuple[str, ...]

    @property
    def key(self) -> tuple[str, str, int]:
        """What identifies it among the runs."""
        return self.case.name, self.method, self.number


@dataclass(frozen=True)
class Selection:
    """Which runs of a study are wanted; a case goes by its name or its group."""

    n_sets: int | None = None  # for each case, if not the study's number
    methods: Collection[str] = ()  # empty for all that are not on request
    cases: Collection[str] = ()
    max_variables: int | None = None

    def __post_init__(self) -> None:
        if self.n_sets is not None and self.n_sets < 1:
            raise OptionError(f"Expected at least one data set; got {self.n_sets}.")
        for name in self.methods:
            find_method(name)

    def cases_of(self, study: Study, *, quick: bool) -> list[Case]:
        """Return the wanted cases of a study."""
        most = math.inf if self.max_variables is None else self.max_variables
        if self.cases:
            chosen = [c for c in study.cases if c.name in self.cases or c.group in self.cases]
        elif quick:
            chosen = [c for c in study.cases if c.name in study.quick]
        else:
            chosen = [c for c in study.cases if c.name not in study.on_request]
        return [case for case in chosen if case.n_variables <= most]

    def methods_of(self, study: Study, case: Case) -> list[str]:
        """Return the wanted methods of a study for a case."""
        methods = study.methods_for(case)
        if self.methods:
            return [name for name in methods if name in self.methods]
        return [name for name in methods if name not in study.on_request]


def jobs_of(studies: Sequence[Study], selection: Selection, *, quick: bool) -> list[Job]:
    """Return every wanted run, once, small data sets first."""
    jobs: dict[tuple[str, str, int], Job] = {}
    known = {name for study in studies for case in study.cases for name in (case.name, case.group)}
    for name in selection.cases:
        if name not in known:
            raise OptionError(f"Expected cases among {', '.join(sorted(known))}; got {name!r}.")
    for study in studies:
        usual = study.n_quick_sets if quick else study.n_sets
        n_sets = usual if selection.n_sets is None else selection.n_sets
        for case in selection.cases_of(study, quick=quick):
            for number in range(n_sets if case.max_sets is None else min(n_sets, case.max_sets)):
                for method in selection.methods_of(study, case):
                    job = Job(case, method, number, study.keys_for(case, method))
                    if job.key in jobs:
                        job = job._replace(keys=job.keys + jobs[job.key].keys)
                    jobs[job.key] = job
    return sorted(jobs.values(), key=lambda job: (job.case.n_variables, job.number))


def run_studies(
    studies: Sequence[Study],
    store: Store,
    selection: Selection,
    *,
    n_jobs: int = 1,
    console: Console,
    again: bool = False,
) -> int:
    """Make the runs that are missing, or all of them ``again``, and print the tables.

    Each run is stored as soon as it is finished, so an interruption loses no finished run. Returns
    the exit status: 0, 1 if a run failed, 130 if interrupted.
    """
    if n_jobs < 1 and n_jobs != -1:
        raise OptionError(f"Expected a positive number of processes or -1; got {n_jobs}.")
    jobs = jobs_of(studies, selection, quick=store.quick)
    for method in {job.method for job in jobs}:
        METHODS[method].check(store.options_for(method))
    missing = [job for job in jobs if again or not store.is_finished(*job)]
    try:
        _complete(missing, store, n_jobs, console)
    except KeyboardInterrupt:
        n_finished = sum(store.is_finished(*job) for job in jobs)
        console.print(f"Interrupted; {n_finished} of {len(jobs)} runs are kept. The same command")
        console.print("continues from there.")
        return INTERRUPTED
    for study in studies:
        console.print(f"\n{study.title}", style="bold")
        for view in study.views:
            table = view_table(study, view, store)
            if table is not None:
                console.print(table.to_rich())
    failed = [job for job in jobs if not store.is_finished(*job)]
    if failed:
        console.print(f"{len(failed)} run(s) failed; the tables of runs say why.", style="red")
    console.print(
        f"{len(missing)} run(s) made, {len(jobs) - len(missing)} already finished; stored in "
        f"{store.folder}",
        markup=False,
        highlight=False,
    )
    return 1 if failed else 0


def _complete(missing: list[Job], store: Store, n_jobs: int, console: Console) -> None:
    """Make runs and store each as soon as it is finished."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    waiting = {job.key: job for job in missing}
    with Progress(*columns, TimeElapsedColumn(), console=console) as progress:
        bar = progress.add_task("runs", total=len(missing))

        def keep(record: Record) -> None:
            # Stored here: workers on other machines need not see the same folders.
            job = waiting.pop((record.case, record.method, record.number))
            store.add(job.case, record)
            progress.update(bar, advance=1, description=f"{record.case}, {record.method}")
            if record.failed:
                what = f"{record.method} on {record.case}, set {record.number}"
                console.print(f"failed: {what}: {record.reason}", markup=False)

        while waiting:
            try:
                for record in _make_all(list(waiting.values()), store, n_jobs):
                    keep(record)
            except BrokenProcessPool:
                # The error does not tell which run it was: repeat those under way one at a time.
                for job in list(waiting.values())[: joblib.effective_n_jobs(n_jobs)]:
                    keep(_make_alone(job, store))


def _make_all(jobs: list[Job], store: Store, n_jobs: int) -> Iterator[Record]:
    settings = Store(store.folder, store.quick, store.n_draws, store.options)  # no tables with it
    tasks = [(job, settings) for job in jobs]
    with closing(run_each(make_run, tasks, n_jobs, ordered=False)) as results:
        yield from results


def _make_alone(job: Job, store: Store) -> Record:
    """Make a run in a separate process, which may be killed."""
    try:
        (record,) = _make_all([job], store, n_jobs=2)  # with 1 it would be made in this process
    except BrokenProcessPool as error:
        reason = f"The process was killed, perhaps because memory ran out ({error})."
        return store.failure(job.case, job.method, job.number, reason)
    return record


def make_run(job: Job, store: Store) -> Record:
    """Make a run and return its record, also if it failed."""
    case, name, number, _ = job
    try:
        draws, options = store.draws_for(case), store.options_for(name)
        return store.record(case, name, number, case.run(METHODS[name], number, draws, options))
    except Exception as error:
        # Recorded as a failure: one broken run must neither vanish nor end the others.
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(place.filename).name}, line {place.lineno}"
        return store.failure(case, name, number, f"{type(error).__name__}: {error} ({where})")
