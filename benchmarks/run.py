"""The one entry to all benchmarks: ``python -m benchmarks all`` or ``python benchmarks/run.py``."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Annotated, Any, get_args

# Before NumPy is loaded, here and in worker processes: times are those of one thread.
for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")
_ROOT = Path(__file__).resolve().parent.parent
if str(_ROOT) not in sys.path:  # run as a script
    sys.path.insert(0, str(_ROOT))

import typer  # noqa: E402
from rich.console import Console  # noqa: E402

from benchmarks.accuracy import DEFAULT_CASES, run_accuracy  # noqa: E402
from benchmarks.effects import DEFAULT_EFFECT_CASES, run_effects  # noqa: E402
from benchmarks.engines import DEFAULT_PRESETS, SETTINGS, run_engines  # noqa: E402
from benchmarks.knowledge import run_knowledge  # noqa: E402
from benchmarks.posterior_quality import run_quality  # noqa: E402
from benchmarks.real import run_real  # noqa: E402
from benchmarks.scale import run_scale  # noqa: E402
from benchmarks.speed import run_speed  # noqa: E402
from benchmarks.variational_speed import run_variational_speed  # noqa: E402
from momentdag.engines.evidence.options import EvidenceOptions  # noqa: E402
from momentdag.engines.evidence.score import NoiseFamily  # noqa: E402
from momentdag.errors import OptionError  # noqa: E402
from momentdag.simulate import presets  # noqa: E402

app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode=None)

_RESULTS = _ROOT / "benchmarks" / "results"
_RAW = _ROOT / "artefacts" / "benchmarks"

Output = Annotated[Path, typer.Option("--output", help="Folder for the tables.")]
Raw = Annotated[Path, typer.Option("--raw", help="Folder of single runs; finished ones are kept.")]
Jobs = Annotated[int, typer.Option(help="Processes, one data set each.")]
Draws = Annotated[int, typer.Option(min=1, help="Draws; published figures use the default.")]
Options = Annotated[
    str, typer.Option("--options", help="Engine options as JSON; published figures use none.")
]


def _console() -> Console:
    # Into a file or pipe a wide table stays one table.
    console = Console()
    return console if console.is_terminal else Console(width=200)


def _parsed(options: str) -> dict[str, Any]:
    try:
        parsed = json.loads(options)
    except json.JSONDecodeError as error:
        raise typer.BadParameter(f"Expected JSON; got {options!r} ({error}).") from None
    if not isinstance(parsed, dict):
        raise typer.BadParameter(f"Expected a JSON object; got {options!r}.")
    try:
        EvidenceOptions.from_mapping(parsed)
    except OptionError as error:
        raise typer.BadParameter(str(error)) from None
    return parsed


def _split(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _cases(text: str) -> tuple[str, ...]:
    """Refuse a misspelt preset now rather than as twenty failed runs."""
    for case in (cases := _split(text)):
        name, colon, noise = case.partition(":")
        if name not in presets():
            raise typer.BadParameter(f"Expected presets among {list(presets())}; got {name!r}.")
        if colon and noise not in get_args(NoiseFamily):
            known = list(get_args(NoiseFamily))
            raise typer.BadParameter(f"Expected a noise family among {known}; got {noise!r}.")
    return cases


def _numbers(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in _split(text))
    except ValueError:
        raise typer.BadParameter(f"Expected whole numbers with commas; got {text!r}.") from None


def _exit_on(n_failures: int) -> None:
    if n_failures:
        typer.echo(f"{n_failures} run(s) failed; the JSON file says how.", err=True)
        raise typer.Exit(1)


@app.command()
def accuracy(
    cases: Annotated[
        str,
        typer.Option(
            "--presets", help="With commas: preset or preset:noise; sparse-50 on request."
        ),
    ] = ",".join(DEFAULT_CASES),
    sets: Annotated[int, typer.Option(min=1, help="Data sets for each preset.")] = 20,
    calibration_sets: Annotated[
        int, typer.Option(min=0, help="At least this many of sparse-5 and sparse-10.")
    ] = 50,
    samples: Annotated[int, typer.Option(min=50, help="Rows of each data set.")] = 500,
    draws: Draws = 2000,
    jobs: Jobs = 1,
    options: Options = "{}",
    output: Output = _RESULTS,
    raw: Raw = _RAW,
) -> None:
    """Measure on simulated data: SHD and F1 per graph, order search, calibration."""
    args = (_cases(cases), sets, calibration_sets, draws, samples, jobs, _parsed(options))
    _exit_on(run_accuracy(_console(), output, raw, *args))


@app.command()
def engines(
    cases: Annotated[str, typer.Option("--presets", help="With commas.")] = ",".join(
        DEFAULT_PRESETS
    ),
    settings: Annotated[
        str, typer.Option(help=f"With commas, among {', '.join(SETTINGS)}.")
    ] = ",".join(SETTINGS),
    sets: Annotated[int, typer.Option(min=1, help="Data sets for each preset.")] = 20,
    draws: Draws = 2000,
    jobs: Jobs = 1,
    output: Output = _RESULTS,
    raw: Raw = _RAW,
) -> None:
    """Compare both engines on the same simulated data."""
    for setting in (chosen := _split(settings)):
        if setting not in SETTINGS:
            raise typer.BadParameter(f"Expected settings among {list(SETTINGS)}; got {setting!r}.")
    args = (_cases(cases), chosen, sets, draws)
    _exit_on(run_engines(_console(), output, raw, *args, jobs=jobs))


@app.command()
def quality(
    sets: Annotated[int, typer.Option(min=1, help="Data sets for each size.")] = 20,
    draws: Draws = 2000,
    output: Output = _RESULTS,
) -> None:
    """Compare draws with exact posteriors on linear Gaussian data."""
    run_quality(_console(), output, sets, draws)


@app.command()
def real(
    draws: Draws = 2000,
    jobs: Jobs = 1,
    rows: Annotated[int, typer.Option(min=100, help="Rows of the light tunnel.")] = 1500,
    options: Options = "{}",
    output: Output = _RESULTS,
) -> None:
    """Fit the light tunnel and the Sachs data."""
    run_real(_console(), output, rows, draws, jobs, _parsed(options))


@app.command()
def speed(
    sizes: Annotated[str, typer.Option(help="Variables of the fits, with commas.")] = "5,10,20",
    fits: Annotated[int, typer.Option(min=1, help="Fits for each size.")] = 3,
    rows: Annotated[
        str, typer.Option(help="Rows, with commas; fits up to 10000.")
    ] = "500,2000,10000,50000,100000",
    draws: Draws = 2000,
    options: Options = "{}",
    output: Output = _RESULTS,
) -> None:
    """Time local scores, fits and growth with rows; leave the machine alone meanwhile."""
    sizes_, rows_ = _numbers(sizes), _numbers(rows)
    run_speed(_console(), output, sizes_, fits, 5, draws, rows_, engine_options=_parsed(options))


@app.command()
def variational(
    restarts: Annotated[int, typer.Option(min=1, help="Restarts of each fit.")] = 1,
    output: Output = _RESULTS,
) -> None:
    """Time the variational engine on the Sachs data; leave the machine alone meanwhile."""
    run_variational_speed(_console(), output, restarts)


@app.command()
def scale(
    rows: Annotated[
        str, typer.Option(help="Rows of the long tables, with commas.")
    ] = "1000,10000,100000,1000000",
    variables: Annotated[int, typer.Option(min=2, help="Variables of the long tables.")] = 10,
    sizes: Annotated[
        str, typer.Option(help="Variables of the wide tables, with commas; 50,100 on request.")
    ] = "5,10,20",
    samples: Annotated[int, typer.Option(min=50, help="Rows of the wide tables.")] = 1000,
    draws: Draws = 2000,
    options: Options = "{}",
    output: Output = _RESULTS,
    raw: Raw = _RAW,
) -> None:
    """Time whole fits and measure their memory; leave the machine alone meanwhile."""
    args = (_numbers(rows), variables, _numbers(sizes), samples, draws, _parsed(options))
    _exit_on(run_scale(_console(), output, raw, *args))


@app.command()
def knowledge(
    sets: Annotated[int, typer.Option(min=1, help="Data sets for each preset.")] = 10,
    cases: Annotated[str, typer.Option("--presets", help="With commas.")] = "sparse-5,sparse-10",
    draws: Draws = 2000,
    jobs: Jobs = 1,
    options: Options = "{}",
    output: Output = _RESULTS,
    raw: Raw = _RAW,
) -> None:
    """Compare the expected SHD with half of the true orderings given."""
    args = (_cases(cases), sets, 0.5, draws, 500, jobs, _parsed(options))
    _exit_on(run_knowledge(_console(), output, raw, *args))


@app.command()
def effects(
    sets: Annotated[int, typer.Option(min=1, help="Data sets for each case.")] = 40,
    cases: Annotated[str, typer.Option("--cases", help="With commas.")] = ",".join(
        DEFAULT_EFFECT_CASES
    ),
    draws: Draws = 500,
    worlds: Annotated[int, typer.Option(min=2, help="Draws of graph and functions.")] = 200,
    jobs: Jobs = 1,
    output: Output = _RESULTS,
    raw: Raw = _RAW,
) -> None:
    """Measure effects on simulated data: coverage, levers, decomposition."""
    for case in (chosen := _split(cases)):
        if case not in DEFAULT_EFFECT_CASES:
            known = list(DEFAULT_EFFECT_CASES)
            raise typer.BadParameter(f"Expected cases among {known}; got {case!r}.")
    _exit_on(run_effects(_console(), output, raw, chosen, sets, draws, worlds, jobs))


@app.command("all")
def everything(jobs: Jobs = 1, output: Output = _RESULTS, raw: Raw = _RAW) -> None:
    """Measure everything with default settings: the published tables."""
    console = _console()
    run_speed(console, output)  # first, before worker processes are about
    run_variational_speed(console, output)
    run_quality(console, output)
    run_real(console, output, jobs=jobs)
    n_failures = run_knowledge(console, output, raw, jobs=jobs)
    n_failures += run_scale(console, output, raw)
    n_failures += run_engines(console, output, raw, jobs=jobs)
    n_failures += run_effects(console, output, raw, jobs=jobs)
    _exit_on(n_failures + run_accuracy(console, output, raw, jobs=jobs))


if __name__ == "__main__":
    app()
