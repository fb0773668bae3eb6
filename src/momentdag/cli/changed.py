"""`momentdag changed`: what changed between two regimes, and what it is due to."""

from __future__ import annotations

from typing import Annotated

import typer

import momentdag as md
from momentdag.cli.console import print_json, print_line, print_records
from momentdag.cli.options import JsonOption, LevelOption, RunArgument, SeedOption, WorldsOption
from momentdag.cli.summary import log_scale_note, print_targets

__all__ = ["changed"]


def changed(
    run: RunArgument,
    before: Annotated[
        str | None, typer.Option("--before", help="A regime; by default the reference.")
    ] = None,
    after: Annotated[str | None, typer.Option("--after", help="Another regime.")] = None,
    target: Annotated[
        str | None,
        typer.Option("--target", "-t", metavar="NAME", help="Split the change of this variable."),
    ] = None,
    level: LevelOption = 0.9,
    worlds: WorldsOption = 100,
    seed: SeedOption = 0,
    json: JsonOption = False,
) -> None:
    """Say what each regime changed; of a target, by how much and what it is due to.

    Example: momentdag changed run --before march --after april --target thickness

    The parts of a change (a mechanism's mean or its spread) add up to the row "all changes".
    """
    from momentdag.errors import OptionError

    if (after is None) != (target is None) or (before is not None and after is None):
        raise OptionError(
            "Expected --after along with --target: what a change is due to is asked of one "
            "variable and of two regimes. Without both, the targets of every regime are shown."
        )
    estimator = md.runs.load(run)
    targets = estimator.posterior_.targets()  # refuses a fit without regimes
    if after is None or target is None:
        if json:
            print_json({"targets": targets.to_dict("records")})
        else:
            print_targets(estimator.posterior_)
        return
    drawn = estimator.posterior_.target_draws
    assert drawn is not None  # there are targets
    change = md.effects.attribute_change(
        estimator,
        drawn.reference if before is None else before,
        after,
        target,
        level=level,
        monte_carlo=md.effects.MonteCarlo(n_draws=worlds, n_rows=256, random_state=seed),
    )
    table = change.to_frame()
    records = table.astype(object).where(table.notna(), None).to_dict("records")
    if json:
        print_json({"level": level, "target": target, "parts": records})
        return
    shown = [
        {name: "" if value is None else value for name, value in row.items()} for row in records
    ]
    print_records(shown)
    print_line(change.describe())
    print_line(f"low and high: {level:.0%} intervals.", log_scale_note(estimator))
