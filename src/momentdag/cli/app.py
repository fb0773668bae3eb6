"""The `momentdag` command."""

from __future__ import annotations

import sys
from collections.abc import Callable

from momentdag.cli.asking import effects, levers, query
from momentdag.cli.fitting import demo, fit, report, screen
from momentdag.cli.program import add_command, app
from momentdag.cli.trying import bench, reproduce, simulate

__all__ = ["app", "main"]

_COMMANDS: tuple[Callable[..., None], ...] = (
    demo,
    screen,
    fit,
    report,
    query,
    effects,
    levers,
    simulate,
    reproduce,
    bench,
)
for _command in _COMMANDS:
    add_command(_command)


def main() -> None:
    """Run the command line; a refusal is one sentence and exit code 2, never a traceback."""
    arguments = sys.argv[1:]
    if "--debug" in arguments:
        # People add it to the end of a command that has just failed.
        arguments.remove("--debug")
        arguments.insert(0, "--debug")
    app(arguments)
