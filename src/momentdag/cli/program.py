"""What all commands share: the program, its exit codes and its manners when something is wrong."""

from __future__ import annotations

import functools
import os
import signal
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Annotated, ParamSpec, TextIO

import typer

from momentdag._version import __version__
from momentdag.cli.console import console, say
from momentdag.errors import MomentdagError, MomentdagWarning

__all__ = [
    "Interrupted",
    "JsonOption",
    "RunArgument",
    "SchedulerOption",
    "add_command",
    "app",
    "on_cluster",
]

P = ParamSpec("P")

FAILED, REFUSED, INTERRUPTED, TERMINATED = 1, 2, 130, 143

app = typer.Typer(
    name="momentdag",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

RunArgument = Annotated[
    Path, typer.Argument(metavar="RUN", help="The folder that `momentdag fit` made.")
]
JsonOption = Annotated[
    bool, typer.Option("--json", help="Print one JSON object, for other programs.")
]
SchedulerOption = Annotated[
    str | None,
    typer.Option(
        "--scheduler",
        metavar="ADDRESS",
        help="Work on this Dask cluster (tcp://host:port) instead of --jobs processes.",
    ),
]


class _Manners:
    debug = False


class Interrupted(KeyboardInterrupt):
    """The system asked the program to end (SIGTERM)."""


def _print_version(wanted: bool) -> None:
    if wanted:
        console().print(f"momentdag {__version__}", highlight=False)
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Show the version and exit.", callback=_print_version, is_eager=True
        ),
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the traceback of an error; may stand anywhere.")
    ] = False,
) -> None:
    """Learn from a table who moves the mean of whom, and who moves its variance.

    Start with `momentdag demo`, or with a table of your own: `momentdag fit cells.csv -o run`.

    Exit codes: 0 all is well; 2 something you gave cannot be used (one sentence says what);
    130 or 143 interrupted; 1 anything else.
    """
    _Manners.debug = debug


def on_cluster(address: str | None) -> AbstractContextManager[object]:
    """Run what is parallel on the cluster at ``address``, or on this machine if there is none."""
    if address is None:
        return nullcontext()
    from momentdag.parallel import cluster

    return cluster(address)


def add_command(function: Callable[P, None]) -> None:
    """Make a function a command; whatever goes wrong in it becomes one sentence and a code."""

    @functools.wraps(function)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> None:
        with _guard(), _notes(), _terminable():
            function(*args, **kwargs)

    app.command(function.__name__)(guarded)


@contextmanager
def _guard() -> Iterator[None]:
    try:
        yield
    except MomentdagError as error:
        raise _ended(str(error), REFUSED) from error
    except KeyboardInterrupt as error:
        code = TERMINATED if isinstance(error, Interrupted) else INTERRUPTED
        raise _ended(str(error) or "Interrupted.", code) from error
    except BrokenPipeError as error:
        # Whoever read our output has seen enough. Python must not try to write the rest.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(FAILED) from error
    except Exception as error:
        if isinstance(error, typer.Exit):
            raise
        message = (
            f"Unexpected {type(error).__name__}: {error}. This is a fault of momentdag; run the "
            "command again with --debug and report what it shows."
        )
        raise _ended(message, FAILED) from error


def _ended(message: str, code: int) -> typer.Exit:
    if _Manners.debug:
        traceback.print_exc()
    say(message, style="red")
    return typer.Exit(code)


@contextmanager
def _notes() -> Iterator[None]:
    """Print momentdag's warnings as notes; those of other libraries only for debugging."""

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        ours = issubclass(category, MomentdagWarning) or category.__name__ == "ConvergenceWarning"
        if ours or _Manners.debug:
            say(f"Note: {message}", style="yellow")

    with warnings.catch_warnings():
        warnings.simplefilter("once")
        warnings.showwarning = show
        yield


@contextmanager
def _terminable() -> Iterator[None]:
    """Let SIGTERM unwind the program as ctrl-C does."""

    def raise_interrupted(number: int, frame: object) -> None:
        raise Interrupted

    try:
        before = signal.signal(signal.SIGTERM, raise_interrupted)
    except ValueError:  # not in the main thread, where signals cannot be handled
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
