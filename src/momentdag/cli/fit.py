"""`momentdag fit`: from a table to a run folder."""

from __future__ import annotations

import time
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

import momentdag as md
from momentdag.cli.console import fit_progress, print_json, print_line
from momentdag.cli.options import (
    ColumnsOption,
    DataArgument,
    DrawsOption,
    DropOption,
    JobsOption,
    JsonOption,
    KindOption,
    KnowledgeOption,
    LogScaleOption,
    MissingOption,
    ReportOption,
    SeedOption,
    SheetOption,
    TransformOption,
)
from momentdag.cli.report import write_into_run
from momentdag.cli.summary import (
    doubt_line,
    draws_check,
    edge_records,
    print_edges,
    print_targets,
    world_line,
)
from momentdag.errors import OptionError

__all__ = ["fit"]


def fit(
    data: DataArgument,
    folder: Annotated[
        Path,
        typer.Option("--output", "-o", help="Folder for the run; made if it does not exist."),
    ],
    option: Annotated[
        list[str],
        typer.Option(
            "--option",
            metavar="NAME=VALUE",
            default_factory=list,
            show_default=False,
            help="An option of the engine; may be repeated.",
        ),
    ],
    kind: KindOption,
    transform: TransformOption,
    engine: Annotated[
        Literal["evidence", "variational"],
        typer.Option("--engine", help="How the posterior is computed."),
    ] = "evidence",
    knowledge: KnowledgeOption = None,
    draws: DrawsOption = 2000,
    seed: SeedOption = 0,
    jobs: JobsOption = 1,
    scheduler: Annotated[
        str | None,
        typer.Option(
            "--scheduler",
            metavar="ADDRESS",
            help="Work on this Dask cluster (tcp://host:port, or tls://host:port) instead of in "
            "--jobs processes. Dask sends pickled code: use a cluster that you trust.",
        ),
    ] = None,
    tls_ca_file: Annotated[
        Path | None,
        typer.Option(
            "--tls-ca-file", metavar="FILE", help="The authority of a tls:// scheduler (PEM)."
        ),
    ] = None,
    tls_cert: Annotated[
        Path | None,
        typer.Option("--tls-cert", metavar="FILE", help="One's own certificate for it (PEM)."),
    ] = None,
    tls_key: Annotated[
        Path | None,
        typer.Option("--tls-key", metavar="FILE", help="The key of that certificate (PEM)."),
    ] = None,
    log_scale: LogScaleOption = None,
    columns: ColumnsOption = None,
    drop: DropOption = None,
    missing: MissingOption = "auto",
    recipe: Annotated[
        Path | None,
        typer.Option("--recipe", help="A recipe that `momentdag check --recipe-out` wrote."),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Refuse a table in which anything must be changed.")
    ] = False,
    sheet: SheetOption = None,
    regime: Annotated[
        str | None,
        typer.Option(
            "--regime",
            metavar="COLUMN",
            help="The column that tells under which regime (batch, month, drug) a row was taken.",
        ),
    ] = None,
    reference: Annotated[
        str | None,
        typer.Option(
            "--reference", help="The regime to compare with; by default the one with most rows."
        ),
    ] = None,
    targets: Annotated[
        str | None,
        typer.Option(
            "--targets",
            metavar="COLUMN",
            help="The column that names what was set in a row, several with commas, or nothing.",
        ),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Continue an interrupted fit; start if there is none."),
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Replace the run that is in the folder.")
    ] = False,
    report: ReportOption = True,
    json: JsonOption = False,
) -> None:
    """Learn the mean graph and the variance graph of a table.

    Example: momentdag fit cells.csv -o run --knowledge lab.toml --jobs 2

    Text, dates, missing cells and columns that are no use are dealt with, and said; `momentdag
    check` shows it beforehand.

    The folder holds the whole result. If the fit is cut short (ctrl-C, a kill, a power cut), the
    folder stays valid, and the same command with --resume continues from there.
    """
    from momentdag.cli.inputs import TableOptions, parse_options, read_experiment, read_knowledge

    started = time.monotonic()
    if resume and force:
        raise OptionError(
            "Expected --resume or --force; got both. The first keeps the run in the folder, the "
            "second replaces it."
        )
    if scheduler is not None and engine != "evidence":
        raise OptionError(
            f"Expected --scheduler with the evidence engine; got --engine {engine}, whose restarts "
            "share one process. Leave --scheduler out."
        )
    if scheduler is None and (tls_ca_file, tls_cert, tls_key) != (None, None, None):
        raise OptionError("Expected --tls-... with --scheduler; there is no scheduler.")
    table = TableOptions(log_scale, columns, drop, kind, transform, missing, recipe, strict, sheet)
    prepared, stated = read_experiment(data, table, regime, targets, reference)
    dataset = stated.add_to(prepared)
    estimator = md.MomentDAG(
        engine=engine,
        knowledge=read_knowledge(knowledge),
        n_draws=draws,
        n_jobs=jobs,
        random_state=seed,
        engine_options=parse_options(option),
    )
    try:
        with (
            nullcontext()
            if scheduler is None
            else md.parallel.cluster(
                scheduler, tls_ca_file=tls_ca_file, tls_cert=tls_cert, tls_key=tls_key
            ),
            fit_progress() as progress,
        ):
            estimator = md.runs.fit(
                estimator,
                prepared,
                folder,
                resume=resume,
                force=force,
                source=data.name,
                progress=progress,
                regime=stated.labels,
                interventions=stated.interventions,
                reference=reference,
            )
    except KeyboardInterrupt as error:
        error.args = (
            f"Interrupted. What is finished is kept in {folder}; the same command with --resume "
            "continues from there.",
        )
        raise
    path = write_into_run(folder, estimator, dataset, data.name) if report else None
    if json:
        print_json(_record(estimator, dataset, folder, path, time.monotonic() - started))
    else:
        for sentence in prepared.summary:
            print_line(sentence)
        _print_result(estimator, dataset, folder, path)


def _record(
    estimator: md.MomentDAG, data: md.Dataset, folder: Path, report: Path | None, seconds: float
) -> dict[str, Any]:
    from momentdag.posterior.doubt_text import doubt_record

    posterior = estimator.posterior_
    return {
        "folder": str(folder),
        "report": None if report is None else str(report),
        "status": estimator.status_,
        "n_samples": data.n_samples,
        "n_samples_for_structure": _n_samples_for_structure(posterior, data),
        "n_variables": data.n_variables,
        "n_draws": posterior.n_draws,
        "seconds": round(seconds, 3),
        "edges": edge_records(posterior),
        "consensus": {
            "mean": [list(edge) for edge in estimator.mean_graph_.edges],
            "variance": [list(edge) for edge in estimator.variance_graph_.edges],
        },
        "targets": [] if posterior.target_draws is None else posterior.targets().to_dict("records"),
        "draws_are_poor": posterior.diagnostics().is_poor,
        "draws": posterior.diagnostics().grade,
        "doubt": doubt_record(posterior),
        "world": None if estimator.scm_ is None else estimator.world_check().to_dict("records"),
        "account": list(estimator.account_),
    }


def _print_result(
    estimator: md.MomentDAG, data: md.Dataset, folder: Path, report: Path | None
) -> None:
    posterior = estimator.posterior_
    print_edges(edge_records(posterior))
    if posterior.target_draws is not None:
        print_targets(posterior)
    n_for_structure = _n_samples_for_structure(posterior, data)
    if n_for_structure < data.n_samples:
        print_line(
            f"Graphs were learned from {n_for_structure} of the {data.n_samples} rows, drawn at "
            "random; functions are fitted to all. --option max_rows=... sets the number."
        )
    if estimator.scm_ is not None:
        print_line(world_line(estimator))
    print_line(doubt_line(posterior))
    print_line(draws_check(posterior))
    if estimator.status_ != "complete":
        print_line(f"The fit was {estimator.status_}.", style="yellow")
    print_line(f"The run is in {folder}")
    if report is not None:
        print_line(f"Open the report in a browser: {report}")


def _n_samples_for_structure(posterior: md.Posterior, data: md.Dataset) -> int:
    return int(posterior.provenance.options.get("n_samples_for_structure", data.n_samples))
