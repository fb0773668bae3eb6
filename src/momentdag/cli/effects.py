"""`momentdag effects`: mean and spread of variables when others are set."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

import momentdag as md
from momentdag.cli.console import print_json, print_line, print_records
from momentdag.cli.options import (
    ForceOption,
    JsonOption,
    LevelOption,
    RunArgument,
    SeedOption,
    WorldsOption,
)
from momentdag.cli.summary import log_scale_note, refuse_untrusted

__all__ = ["effects"]

_WORTH_SAYING = 0.05  # share of simulated rows outside the data


def effects(
    run: RunArgument,
    do: Annotated[
        list[str],
        typer.Option(
            "--do",
            metavar="NAME=VALUES",
            default_factory=list,
            show_default=False,
            help="Set a variable, in the units of the file: 3, or 1,2,3, or 0:10:5 (five values "
            "from 0 to 10). May be repeated; without it nothing is set.",
        ),
    ],
    target: Annotated[
        list[str],
        typer.Option(
            "--target",
            "-t",
            metavar="NAME",
            default_factory=list,
            show_default=False,
            help="Variable to predict; may be repeated. By default all that are not set.",
        ),
    ],
    limits: Annotated[
        list[str],
        typer.Option(
            "--limits",
            metavar="NAME=LOW:HIGH",
            default_factory=list,
            show_default=False,
            help="Also give the probability that a target falls outside; a side may be left open.",
        ),
    ],
    uncertainty: Annotated[
        Literal["both", "graph", "function"],
        typer.Option("--uncertainty", help="Which uncertainty the intervals include."),
    ] = "both",
    force: ForceOption = False,
    level: LevelOption = 0.9,
    worlds: WorldsOption = 200,
    seed: SeedOption = 0,
    json: JsonOption = False,
) -> None:
    """Predict mean and spread when variables are set from outside.

    Example: momentdag effects run --do pkc=3 --target erk
    """
    from momentdag.cli.inputs import parse_limits, parse_settings

    settings, bounds = parse_settings(do), parse_limits(limits)
    estimator = md.runs.load(run)
    result = md.effects.intervene(
        estimator,
        settings,
        target if target else None,
        limits=bounds,
        uncertainty=uncertainty,
        level=level,
        monte_carlo=md.effects.MonteCarlo(n_draws=worlds, random_state=seed),
    )
    refuse_untrusted(result.trust, force)
    table = result.to_frame()
    if json:
        print_json(
            {
                "level": result.level,
                "uncertainty": result.uncertainty,
                "trust": None if result.trust is None else result.trust.to_dict(),
                "effects": table.to_dict("records"),
            }
        )
        return
    outside = float(table["outside_data"].max())
    print_records(table.drop(columns="outside_data").to_dict("records"))
    print_line(f"low and high: {result.level:.0%} intervals.", log_scale_note(estimator))
    if outside >= _WORTH_SAYING:
        print_line(
            f"Up to {outside:.0%} of the simulated rows leave the region of the data; there "
            "functions are held as they are at its edge."
        )
    if result.trust is not None and (doubt := result.trust.message()):
        print_line(doubt, style="yellow")
