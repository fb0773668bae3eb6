"""`momentdag check`: everything that is unusual about a table, and a recipe for it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from momentdag.cli.console import print_json, print_line, print_records
from momentdag.cli.options import (
    ColumnsOption,
    DataArgument,
    DropOption,
    JsonOption,
    KindOption,
    LogScaleOption,
    MissingOption,
    SheetOption,
    TransformOption,
)
from momentdag.errors import DataError

__all__ = ["check"]

_SHOWN = ("column", "kind", "action", "distinct", "missing", "range", "notes")


def check(
    data: DataArgument,
    kind: KindOption,
    transform: TransformOption,
    columns: ColumnsOption = None,
    drop: DropOption = None,
    log_scale: LogScaleOption = None,
    missing: MissingOption = "auto",
    sheet: SheetOption = None,
    recipe_out: Annotated[
        Path | None,
        typer.Option("--recipe-out", help="Write what a fit would do to this TOML file."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Say everything that is unusual about a table, and what a fit does about it.

    Example: momentdag check survey.xlsx --recipe-out survey.toml

    Edit the recipe and pass it on: momentdag fit survey.xlsx -o run --recipe survey.toml
    """
    from momentdag.cli.inputs import TableOptions, overrides, read_source
    from momentdag.storage.files import write_atomically
    from momentdag.table.check import check_raw

    options = TableOptions(log_scale, columns, drop, kind, transform, missing, sheet=sheet)
    raw = read_source(data, options)
    try:
        found = check_raw(raw, **overrides(raw, options))
    except DataError as error:
        raise DataError(f"{data}: {error}") from error.__cause__
    if recipe_out is not None:
        write_atomically(recipe_out, found.recipe.to_toml().encode("utf-8"))
    records = found.table.to_dict("records")
    if json:
        print_json(
            {
                "n_rows": found.n_rows,
                "n_rows_kept": found.n_rows_kept,
                "columns": records,
                "findings": [finding.text for finding in found.findings],
                "changes": list(found.changes),
                "missing": found.recipe.missing,
                "recipe": found.recipe.to_toml(),
            }
        )
        return
    for record in records:
        texts = dict.fromkeys([record["why"], record["findings"]])
        record["notes"] = " ".join(text for text in texts if text)
    print_records(records, _SHOWN)
    print_line(
        f"A fit uses {found.n_rows_kept} of {found.n_rows} rows and {len(found.kept)} of "
        f"{len(records)} columns."
    )
    for finding in found.findings:
        print_line(finding.text)
    if recipe_out is not None:
        print_line(f"The recipe is in {recipe_out}; pass it to a fit with --recipe {recipe_out}")
