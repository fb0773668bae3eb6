"""Two pages of the documentation, drawn from the finished runs when the documentation is built."""

from __future__ import annotations

from pathlib import Path

from momentdag.storage.files import write_atomically
from studies.comparison import Compared, compare, comparison_table, verdict_tables
from studies.figures import draw_figure
from studies.methods import METHODS
from studies.prose import BENCHMARKS, CAPTION, LEFT_OPEN, NOT_COMPARED, PAPER, QUICK
from studies.registry import STUDIES
from studies.store import Record, Store, make_folder, one_line
from studies.study import Study, case_method_pairs
from studies.tables import view_table

__all__ = ["write_pages"]


def write_pages(store: Store, folder: Path) -> list[Path]:
    """Write ``reproduction.md``, ``benchmarks.md``, figures and tables; return their paths."""
    make_folder(folder)
    in_paper = [study for study in STUDIES.values() if study.kind == "paper"]
    benchmarks = [study for study in STUDIES.values() if study.kind == "benchmark"]
    contents = {
        "reproduction.md": paper_page(in_paper, store),
        "benchmarks.md": benchmark_page(benchmarks, store),
        **{f"{study.name}.svg": draw_figure(study, store) for study in in_paper if study.is_figure},
    }
    for table in sorted(store.folder.glob("*.csv")):
        contents[table.name] = table.read_text(encoding="utf-8")
    return [write_atomically(folder / name, content.encode()) for name, content in contents.items()]


def paper_page(studies: list[Study], store: Store) -> str:
    """Return the page of the paper's tables and figures, and where ours differ."""
    compared = compare(studies, store)
    parts = [PAPER, *([QUICK] if store.quick else []), *_gaps(studies, store)]
    parts += [_difference(compared), LEFT_OPEN]
    parts += [_section(study, store) for study in studies]
    if compared:
        table = comparison_table(compared).to_markdown()
        parts.append(f"## Every number beside the paper's\n\n{table}\n")
    runs = _runs(studies, store)
    parts.append(
        f"---\n\n{len(runs)} runs, {sum(run.failed for run in runs)} of them failed"
        f"{_outdated(runs, store)}. Every single run is a line of {{download}}`runs.csv`.\n"
    )
    return "\n".join(parts)


def _outdated(runs: list[Record], store: Store) -> str:
    """Say how many runs are of an earlier version of their method."""
    old = [run for run in runs if store.is_outdated(run)]
    if not old:
        return ""
    methods = ", ".join(sorted({METHODS[run.method].title for run in old}))
    return f", {len(old)} of them with an earlier version of the method ({methods})"


def benchmark_page(studies: list[Study], store: Store) -> str:
    """Return the page of the benchmarks that have been run, and the names of the others."""
    measured = [study for study in studies if any(_tables(study, store))]
    parts = [BENCHMARKS, *([QUICK] if store.quick else [])]
    parts += [_section(study, store) for study in measured]
    missing = [f"- `{study.name}`: {study.shows}" for study in studies if study not in measured]
    if missing:
        parts += ["## Not measured yet\n", *missing, ""]
    return "\n".join(parts)


def _runs(studies: list[Study], store: Store) -> list[Record]:
    return [r for pair in case_method_pairs(studies, quick=False) for r in store.records(*pair)]


def _gaps(studies: list[Study], store: Store) -> list[str]:
    """List the missing runs, unless every method has run on the same number of data sets."""
    counts = {
        (case.name, method): sum(not run.failed for run in store.records(case, method))
        for case, method in case_method_pairs(studies, quick=store.quick)
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
        text = "No run so far corresponds to a number that the paper prints."
    else:
        text = (
            f"{len(compared)} numbers have a counterpart that the paper prints; the last section "
            "lists them all. Two means are called different if Welch's test rejects equality at "
            "the level of 5 %, so one in twenty equal pairs would be, too. The data are not those "
            "of the paper: a difference may come from the data as well as from the method.\n\n"
        )
        for table in verdict_tables(compared):
            text += f"**{table.title}**\n\n{table.to_markdown()}\n\n"
        text += NOT_COMPARED
    return f"## Where our numbers differ from the paper's\n\n{text}\n"


def _section(study: Study, store: Store) -> str:
    parts = [f"## {study.title}", "", f"`{study.name}`: {study.shows}.", "", study.about, ""]
    if study.is_figure:
        parts += [f"![{study.title}: {study.shows}]({study.name}.svg)", "", CAPTION, ""]
    parts += _tables(study, store)
    if study.kind == "paper" and not any(view.printed for view in study.views):
        parts += ["The paper shows these results as a figure and prints no numbers.", ""]
    return "\n".join(parts + _trouble(study, store))


def _tables(study: Study, store: Store) -> list[str]:
    parts = []
    for view in study.views:
        table = view_table(study, view, store)
        if table is not None and table.rows:
            parts += [f"**{table.title}**", "", table.to_markdown(), ""]
    return parts


def _trouble(study: Study, store: Store) -> list[str]:
    """Return a line for each failed run, and for each method that did not converge."""
    lines = []
    for case in study.cases:
        for method in study.methods_for(case):
            title, records = METHODS[method].title, store.records(case, method)
            lines += [
                f"- **Failed:** {title} on {case.name}, set {run.number}: {one_line(run.reason)}"
                for run in records
                if run.failed
            ]
            warned = [run for run in records if run.warning]
            if warned and study.kind == "paper":  # benchmarks count poor chains in a column
                lines.append(
                    f"- {title} on {case.name}: {len(warned)} of {len(records)} runs warn that "
                    f"they may not have converged; set {warned[0].number}, for example: "
                    + warned[0].warning.removeprefix(f"{title}: ")
                )
    return [*lines, ""] if lines else []
