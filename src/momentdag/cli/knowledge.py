"""`momentdag knowledge`: a knowledge file to fill in for one table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from momentdag.cli.console import print_line
from momentdag.cli.options import SheetOption
from momentdag.errors import DataError, OptionError, StorageError

__all__ = ["knowledge"]


def knowledge(
    template: Annotated[
        Path,
        typer.Option(
            "--template",
            metavar="DATA",
            help="A CSV, Excel or Parquet file whose columns the knowledge is about.",
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write to this TOML file. By default it is printed."),
    ] = None,
    sheet: SheetOption = None,
) -> None:
    """Write a knowledge file to fill in, with every statement explained and the table's columns.

    Example: momentdag knowledge --template cells.csv -o cells-knowledge.toml

    Then: momentdag fit cells.csv -o run --knowledge cells-knowledge.toml
    """
    from momentdag.cli.inputs import TableOptions, read_source
    from momentdag.knowledge.template import write_template
    from momentdag.storage.files import write_atomically
    from momentdag.table.check import check_raw

    raw = read_source(template, TableOptions(sheet=sheet))
    try:
        kept = check_raw(raw).kept
    except DataError as error:
        raise DataError(f"{template}: {error}") from error.__cause__
    if len(kept) < 2:
        raise OptionError(f"{template}: expected at least two usable columns; got {list(kept)}.")
    text = write_template(kept, template.name)
    if output is None:
        typer.echo(text, nl=False)  # as it is: wrapped lines would be no TOML
        return
    if output.exists():
        raise StorageError(f"{output} exists; it may hold knowledge. Choose another name.")
    write_atomically(output, text.encode("utf-8"))
    print_line(f"Fill in {output}, and pass it to a fit with --knowledge {output}")
