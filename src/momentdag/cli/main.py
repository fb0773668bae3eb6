"""The program: its commands, its exit codes and its error messages."""

from __future__ import annotations

import functools
import os
import signal
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Annotated, ParamSpec, TextIO

import typer

from momentdag._version import __version__
from momentdag.cli.changed import changed
from momentdag.cli.check import check
from momentdag.cli.console import as_flags, print_line, say
from momentdag.cli.demo import demo
from momentdag.cli.effects import effects
from momentdag.cli.fit import fit
from momentdag.cli.knowledge import knowledge
from momentdag.cli.levers import levers
from momentdag.cli.optimise import optimise
from momentdag.cli.query import query
from momentdag.cli.report import report
from momentdag.cli.screen import screen
from momentdag.cli.simulate import simulate
from momentdag.errors import MomentdagError, MomentdagWarning

__all__ = ["Interrupted", "app", "main"]

P = ParamSpec("P")

FAILED, REFUSED, INTERRUPTED, TERMINATED = 1, 2, 130, 143

_with_traceback = ContextVar("_with_traceback", default=False)

app = typer.Typer(
    name="momentdag",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


class Interrupted(KeyboardInterrupt):
    """The system asked the program to end (SIGTERM)."""


def _print_version(wanted: bool) -> None:
    if wanted:
        print_line(f"momentdag {__version__}")
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
        bool, typer.Option("--debug", help="Show the traceback of an error; allowed anywhere.")
    ] = False,
) -> None:
    """Learn from a table who moves the mean of whom, and who moves its variance.

    Start with `momentdag demo`, or with a table of your own: `momentdag fit cells.csv -o run`.

    Exit codes: 0 success; 2 invalid input (the message says what and why); 130 or 143 interrupted;
    1 any other failure.
    """
    _with_traceback.set(debug)


def main() -> None:
    """Run the command line; every failure is one message and an exit code, never a traceback."""
    arguments = sys.argv[1:]
    if "--debug" in arguments:
        # Users append --debug to a command that has just failed.
        arguments.remove("--debug")
        arguments.insert(0, "--debug")
    app(arguments)


def _add_command(function: Callable[P, None]) -> None:
    """Wrap a command so that any failure ends in one message and an exit code."""

    @functools.wraps(function)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> None:
        debug = _with_traceback.get()
        with _guard(debug), _notes(debug), _terminable():
            function(*args, **kwargs)

    app.command(function.__name__)(guarded)


@contextmanager
def _guard(debug: bool) -> Iterator[None]:
    try:
        yield
    except MomentdagError as error:
        raise _exit(error.text(as_flags), REFUSED, debug) from error
    except KeyboardInterrupt as error:
        code = TERMINATED if isinstance(error, Interrupted) else INTERRUPTED
        raise _exit(str(error) if error.args else "Interrupted.", code, debug) from error
    except BrokenPipeError as error:
        # The reader of our output has closed it. Python must not try to write the rest.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(FAILED) from error
    except MemoryError as error:
        detail = f" ({error})" if str(error) else ""
        message = (
            f"Out of memory{detail}. Use fewer rows (--option max_rows=...), columns (--columns) "
            "or processes (--jobs 1), or a machine with more memory. What a fit had finished is "
            "in its folder; --resume continues."
        )
        raise _exit(message, FAILED, debug) from error
    except Exception as error:
        if isinstance(error, typer.Exit):
            raise
        message = (
            f"Unexpected {type(error).__name__}: {error}. This is a bug in momentdag; run the "
            "command again with --debug and report the output."
        )
        raise _exit(message, FAILED, debug) from error


def _exit(message: str, code: int, debug: bool) -> typer.Exit:
    """Print the message, after the traceback if requested, and return the exit exception."""
    if debug:
        traceback.print_exc()
    say(message, style="red")
    return typer.Exit(code)


@contextmanager
def _notes(debug: bool) -> Iterator[None]:
    """Print momentdag's warnings as notes, and those of other libraries for debugging only."""

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        ours = issubclass(category, MomentdagWarning) or category.__name__ == "ConvergenceWarning"
        if ours or debug:
            say(f"Note: {message}", style="yellow")

    with warnings.catch_warnings():
        warnings.simplefilter("once")
        warnings.showwarning = show
        yield


@contextmanager
def _terminable() -> Iterator[None]:
    """Let SIGTERM end a command as ctrl-C does: by an exception, so that it can clean up."""

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


_COMMANDS = (
    *(demo, check, screen, knowledge, fit, report, query, effects, levers),
    *(optimise, changed, simulate),
)
for _command in _COMMANDS:
    _add_command(_command)
