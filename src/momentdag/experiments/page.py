"""The page of the documentation: every table and figure, what differs, what is not stated."""

from __future__ import annotations

from pathlib import Path

from momentdag._version import __version__
from momentdag.atomic import write_atomically
from momentdag.errors import StorageError
from momentdag.experiments.case import Case
from momentdag.experiments.comparison import (
    Compared,
    compare,
    comparison_table,
    verdict_tables,
)
from momentdag.experiments.experiment import Experiment, pairs
from momentdag.experiments.figures import draw_figure
from momentdag.experiments.ledger import ledger
from momentdag.experiments.methods import METHODS
from momentdag.experiments.prose import CAPTION, HEAD, LEFT_OPEN, NOT_COMPARED, QUICK
from momentdag.experiments.store import Store, one_line
from momentdag.experiments.tables import view_table

__all__ = ["RUNS", "write_page"]

_STATIC = Path("_static", "reproduction")
RUNS = _STATIC / "runs.csv"
"""Where the table of all runs lies, seen from the page."""


def write_page(experiments: tuple[Experiment, ...], store: Store, folder: Path) -> Path:
    """Write ``reproduction.md``, its figures and a table of all runs; return the page's path.

    Raises
    ------
    StorageError
        If the folder cannot be written.
    """
    static = folder / _STATIC
    try:
        static.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(
            f"Could not make the folder {static}: {error.strerror}. Choose another."
        ) from error
    compared = compare(experiments, store)
    parts = [HEAD, *([QUICK] if store.quick else []), *_gaps(experiments, store)]
    parts += [_difference(compared), LEFT_OPEN]
    for experiment in experiments:
        parts.append(_section(experiment, store))
        if experiment.is_figure:
            write_atomically(static / f"{experiment.name}.svg", draw_figure(experiment, store))
    if compared:
        table = comparison_table(compared).to_markdown()
        parts.append(f"## Every number beside the paper's\n\n{table}\n")
    every = pairs(experiments, quick=False)
    write_atomically(folder / RUNS, ledger(every, store))
    parts.append(_foot(every, store))
    return write_atomically(folder / "reproduction.md", "\n".join(parts).encode())


def _gaps(experiments: tuple[Experiment, ...], store: Store) -> list[str]:
    """Say what is not there, unless every method has run on the same number of sets."""
    counts = {
        (case.name, method): sum(not run.failed for run in store.records(case, method))
        for case, method in pairs(experiments, quick=store.quick)
    }
    most = max(counts.values(), default=0)
    if store.quick:
        most = min(most, 1)  # some cases have a second set, to show how tables look
    touched = {name for (name, _), n in counts.items() if n}
    missing: dict[str, dict[str, None]] = {}  # names once each, in their order
    for (name, method), n in counts.items():
        if n < most:
            who = METHODS[method].title if name in touched else "Every method"
            missing.setdefault(who, {})[f"{name} ({n} of {most})" if n else name] = None
    if not missing:
        return []
    lines = [f"- {who}: {', '.join(names)}" for who, names in missing.items()]
    each = "one set" if most == 1 else f"{most} sets"
    return [f"**Not complete.** Still missing, of {each} for each case and method:\n", *lines, ""]


def _difference(compared: list[Compared]) -> str:
    if not compared:
        said = "No run so far has a number that the paper prints."
    else:
        said = (
            f"{len(compared)} numbers have a counterpart that the paper prints; the last section "
            "lists them all. Two means are called different if Welch's test tells them apart at "
            "the level of 5 %, so that one in twenty equal ones would be, too. The data are not "
            "the paper's own: a difference is one of data and of method together.\n\n"
        )
        for table in verdict_tables(compared):
            said += f"**{table.title}**\n\n{table.to_markdown()}\n\n"
        said += NOT_COMPARED
    return f"## Where our numbers differ from the paper's\n\n{said}\n"


def _section(experiment: Experiment, store: Store) -> str:
    parts = [f"## {experiment.title}", "", f"`{experiment.name}`: {experiment.shows}.", ""]
    parts += [experiment.left_open, ""]
    if experiment.is_figure:
        path = (_STATIC / f"{experiment.name}.svg").as_posix()
        shown = f"{experiment.title}: {experiment.shows}"
        parts += [f"![{shown}]({path})", "", CAPTION, ""]
    for view in experiment.views:
        table = view_table(experiment, view, store).to_markdown()
        parts += [f"**{view.title}**", "", table, ""]
    if not any(view.printed for view in experiment.views):
        parts += ["The paper shows these results as a figure and prints no numbers.", ""]
    return "\n".join(parts + _trouble(experiment, store))


def _trouble(experiment: Experiment, store: Store) -> list[str]:
    """Return a line for each failed run, and for each method that did not converge."""
    lines = []
    for case in experiment.cases:
        for method in experiment.methods_for(case):
            title, records = METHODS[method].title, store.records(case, method)
            lines += [
                f"- **Failed:** {title} on {case.name}, set {run.number}: {one_line(run.reason)}"
                for run in records
                if run.failed
            ]
            short = [run for run in records if run.complaint]
            if short:
                lines.append(
                    f"- {title} on {case.name}: {len(short)} of {len(records)} runs warn that they "
                    f"may not have converged; set {short[0].number}, for example: "
                    + short[0].complaint.removeprefix(f"{title}: ")
                )
    return [*lines, ""] if lines else []


def _foot(every: list[tuple[Case, str]], store: Store) -> str:
    runs = [record for pair in every for record in store.records(*pair)]
    n_failed = sum(run.failed for run in runs)
    return (
        f"---\n\nmomentdag {__version__}, {len(runs)} runs, {n_failed} of them failed. Every "
        f"single run is a line of [runs.csv]({RUNS.as_posix()}).\n"
    )
