"""Run what is missing, then write the page: `momentdag reproduce`."""

from __future__ import annotations

import math
import traceback
from collections.abc import Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import joblib
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from momentdag.errors import OptionError
from momentdag.experiments.case import Case
from momentdag.experiments.experiment import Experiment, pairs
from momentdag.experiments.ledger import take_over
from momentdag.experiments.methods import METHODS, run
from momentdag.experiments.page import RUNS, write_page
from momentdag.experiments.registry import EXPERIMENTS
from momentdag.experiments.store import Record, Store, write_record
from momentdag.experiments.tables import view_table
from momentdag.parallel import run as run_each

__all__ = ["INTERRUPTED", "reproduce", "run_experiments"]

INTERRUPTED = 130  # as shells report it


class Job(NamedTuple):
    """A run that is to be made."""

    case: Case
    method: str
    number: int

    @property
    def key(self) -> tuple[str, str, int]:
        """What tells it from other runs."""
        return self.case.name, self.method, self.number


def reproduce(
    names: Sequence[str],
    *,
    quick: bool = False,
    n_sets: int | None = None,
    n_jobs: int = 1,
    folder: Path = Path("reproduction"),
    console: Console,
    methods: Sequence[str] | None = None,
    max_variables: int | None = None,
    page_folder: Path | None = None,
) -> int:
    """Reproduce tables and figures of the paper.

    Finished runs are kept, one file each, under a key of settings and code; started again, only
    what is missing or failed is run. Interrupted, nothing finished is lost.

    Parameters
    ----------
    names : sequence of str
        Names in `momentdag.experiments.EXPERIMENTS`; "all" stands for all of them.
    quick : bool
        Few data sets of at most 11 variables, fewer draws, cheaper settings: shows that everything
        runs, not how good it is.
    n_sets : int or None
        Data sets for each case; None takes the paper's 20, or one or two if quick.
    n_jobs : int
        Processes, one run each. -1 takes all cores.
    folder : Path
        Where results are kept, in ``results/``.
    console : rich.console.Console
        Shows progress and tables.
    methods : sequence of str or None
        Run these only; the page still shows what is kept of the others.
    max_variables : int or None
        Leave out larger cases.
    page_folder : Path or None
        Gets ``reproduction.md`` and its figures in ``_static/reproduction/``; None takes
        ``folder``. "docs" renews the page of the documentation. Finished runs of a page that is
        there already are taken over into ``folder``, if settings and code are the present ones.

    Returns
    -------
    int
        Exit status: 0, 1 if a run failed, 130 if interrupted.

    Raises
    ------
    OptionError
        If a name, a method or a number is not among what there is.
    StorageError
        If a folder cannot be written.
    """
    wanted = list(EXPERIMENTS) if "all" in names else list(dict.fromkeys(names))
    for name in wanted:
        if name not in EXPERIMENTS:
            known = ", ".join(EXPERIMENTS)
            raise OptionError(f"Expected 'all' or experiments among {known}; got {name!r}.")
    return run_experiments(
        [EXPERIMENTS[name] for name in wanted],
        store=Store(folder, quick),
        n_sets=n_sets,
        n_jobs=n_jobs,
        console=console,
        methods=methods,
        max_variables=max_variables,
        page_folder=folder if page_folder is None else page_folder,
    )


def run_experiments(
    experiments: Sequence[Experiment],
    *,
    store: Store,
    n_sets: int | None,
    n_jobs: int,
    console: Console,
    methods: Sequence[str] | None,
    max_variables: int | None,
    page_folder: Path,
) -> int:
    """Run experiments given as values; see `reproduce`."""
    if n_sets is not None and n_sets < 1:
        raise OptionError(f"Expected at least one data set; got {n_sets}.")
    if n_jobs < 1 and n_jobs != -1:
        raise OptionError(f"Expected a positive number of processes or -1; got {n_jobs}.")
    for name in () if methods is None else methods:
        if name not in METHODS:
            raise OptionError(f"Expected methods among {', '.join(METHODS)}; got {name!r}.")
    # Results of other experiments that are kept belong to the same page.
    known = {**EXPERIMENTS, **{experiment.name: experiment for experiment in experiments}}
    if page_folder.resolve() != store.folder.resolve():  # else it was made from these very results
        earlier = page_folder / RUNS
        n_taken = take_over(earlier, pairs(known.values(), quick=False), store)
        if n_taken:
            said = f"{n_taken} finished run(s) taken over from {earlier}"
            console.print(said, markup=False, highlight=False)
    jobs = [
        job
        for job in _jobs(experiments, store.quick, n_sets, max_variables)
        if methods is None or job.method in methods
    ]
    missing = [job for job in jobs if not store.is_finished(*job)]
    try:
        _complete(missing, store, n_jobs, console)
    except KeyboardInterrupt:
        left = sum(not store.is_finished(*job) for job in jobs)
        console.print(f"Interrupted; {len(jobs) - left} of {len(jobs)} runs are kept. The same")
        console.print("command goes on from there.")
        return INTERRUPTED
    for experiment in experiments:
        for view in experiment.views:
            console.print(view_table(experiment, view, store).to_rich())
    shown = tuple(e for e in known.values() if e in experiments or _has_results(e, store))
    page = write_page(shown, store, page_folder)
    console.print(f"Written to {page}", markup=False, highlight=False)
    failed = [job for job in jobs if not store.is_finished(*job)]
    if failed:
        console.print(f"{len(failed)} run(s) failed; the page says which and why.", style="red")
    return 1 if failed else 0


def _jobs(
    experiments: Sequence[Experiment], quick: bool, n_sets: int | None, max_variables: int | None
) -> list[Job]:
    """Return every run, once, small data sets first."""
    most = math.inf if max_variables is None else max_variables
    jobs: dict[tuple[str, str, int], Job] = {}
    for experiment in experiments:
        usual = experiment.n_quick_sets if quick else experiment.n_sets
        for case in experiment.cases:
            if (quick and case.name not in experiment.quick) or case.n_variables > most:
                continue
            for number in range(usual if n_sets is None else n_sets):
                for method in experiment.methods_for(case):
                    job = Job(case, method, number)
                    jobs[job.key] = job
    return sorted(jobs.values(), key=lambda job: (job.case.n_variables, job.number))


def _complete(missing: list[Job], store: Store, n_jobs: int, console: Console) -> None:
    """Make runs and keep each when it is there."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    waiting = {job.key: job for job in missing}
    with Progress(*columns, TimeElapsedColumn(), console=console) as progress:
        bar = progress.add_task("runs", total=len(missing))

        def keep(record: Record) -> None:
            # Kept here: workers on other machines need not see the same folders.
            job = waiting.pop((record.case, record.method, record.number))
            write_record(store.path(*job), record, store.settings(job.case, job.method))
            progress.update(bar, advance=1, description=f"{record.case}, {record.method}")
            if record.reason:
                what = f"{record.method} on {record.case}, set {record.number}"
                console.print(f"failed: {what}: {record.reason}", markup=False)

        while waiting:
            try:
                for record in _made(list(waiting.values()), store, n_jobs):
                    keep(record)
            except BrokenProcessPool:
                # Nobody says which run it was: those that were under way are made one at a time.
                for job in list(waiting.values())[: joblib.effective_n_jobs(n_jobs)]:
                    keep(_made_alone(job, store))


def _made(jobs: list[Job], store: Store, n_jobs: int) -> Iterator[Record]:
    tasks = [(job, store.n_draws, store.quick) for job in jobs]
    with closing(run_each(_make, tasks, n_jobs, ordered=False)) as results:
        yield from results


def _made_alone(job: Job, store: Store) -> Record:
    """Make a run in a process of its own, which may be killed."""
    try:
        (record,) = _made([job], store, n_jobs=2)  # with 1 it would be made in this process
    except BrokenProcessPool as error:
        reason = f"The process was killed, by the system for want of memory perhaps ({error})."
        return Record(*job.key, status="failed", reason=reason)
    return record


def _make(job: Job, n_draws: int, quick: bool) -> Record:
    """Make a run and return what came of it, be it a failure."""
    case, method, number = job
    try:
        task = case.draw(number)
        outcome = run(method, task.data, task.orderings, seed=number, n_draws=n_draws, quick=quick)
        return Record(
            *job.key,
            measures=case.measure(task, outcome.posterior),
            seconds=outcome.seconds,
            status=outcome.status,
            warnings=list(outcome.warnings),
        )
    except Exception as error:
        # Kept as what it is: one broken run must neither vanish nor take the others with it.
        where = traceback.format_exc(limit=-2)
        reason = f"{type(error).__name__}: {error}"
        return Record(*job.key, status="failed", reason=reason, warnings=[where])


def _has_results(experiment: Experiment, store: Store) -> bool:
    return any(store.records(*pair) for pair in pairs([experiment], quick=False))
