"""`momentdag screen`: test whether there is a variance graph worth learning."""

from __future__ import annotations

from typing import Annotated

import typer

import momentdag as md
from momentdag.cli.console import as_flags, print_json, print_line
from momentdag.cli.options import (
    ColumnsOption,
    DataArgument,
    DropOption,
    JobsOption,
    JsonOption,
    KindOption,
    KnowledgeOption,
    LogScaleOption,
    SeedOption,
    SheetOption,
    TransformOption,
)

__all__ = ["screen"]


def screen(
    data: DataArgument,
    kind: KindOption,
    transform: TransformOption,
    knowledge: KnowledgeOption = None,
    level: Annotated[
        float, typer.Option("--level", help="Probability of any false alarm, over all columns.")
    ] = 0.05,
    log_scale: LogScaleOption = None,
    columns: ColumnsOption = None,
    drop: DropOption = None,
    sheet: SheetOption = None,
    seed: SeedOption = 0,
    jobs: JobsOption = 1,
    json: JsonOption = False,
) -> None:
    """Test whether the spread of any column depends on the others.

    Rows with missing cells are left out.
    """
    from momentdag.cli.inputs import TableOptions, read_data, read_knowledge

    table = TableOptions(log_scale, columns, drop, kind, transform, "drop", sheet=sheet)
    dataset = read_data(data, table).dataset
    screening = md.screening.heteroscedasticity(
        dataset,
        knowledge=read_knowledge(knowledge),
        level=level,
        n_jobs=jobs,
        random_state=seed,
    )
    if json:
        print_json(
            {
                "n_samples": dataset.n_samples,
                "level": level,
                "is_heteroscedastic": screening.is_heteroscedastic,
                "variables": list(screening.variables),
                "table": screening.to_frame().reset_index().to_dict("records"),
            }
        )
    else:
        print_line(screening.describe(as_flags))
