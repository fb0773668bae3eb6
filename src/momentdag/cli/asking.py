"""The commands that question a run: query, effects, levers."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from momentdag.cli.program import JsonOption, RunArgument

__all__ = ["effects", "levers", "query"]

LevelOption = Annotated[
    float, typer.Option("--level", help="Probability of the intervals.", show_default=True)
]
WorldsOption = Annotated[
    int, typer.Option("--worlds", min=2, help="Draws of graphs and functions to average over.")
]
SeedOption = Annotated[
    int, typer.Option("--seed", min=0, help="The same seed gives the same answer.")
]


def query(
    run: RunArgument,
    questions: Annotated[
        list[str],
        typer.Argument(metavar="QUESTION", help='Such as "mek -> erk [variance]", in quotes.'),
    ],
    json: JsonOption = False,
) -> None:
    """Ask how probable edges and paths are.

    "a -> b" is an edge, "a ~> b" a directed path. In brackets the moment: mean, variance, either
    (the default), both, mean only, variance only. Join with "and" (or a comma), "or", "not" and
    parentheses. Names with spaces stand in quotes.

    Example: momentdag query run "pkc ~> erk [mean] and not raf -> mek"
    """
    from momentdag.cli.answers import run_query

    run_query(run, questions, json)


def effects(
    run: RunArgument,
    do: Annotated[
        list[str] | None,
        typer.Option(
            "--do",
            metavar="NAME=VALUES",
            help="Set a variable: 3, or 1,2,3, or 0:10:5 (five values from 0 to 10). May be "
            "repeated; without it the world as it is.",
        ),
    ] = None,
    target: Annotated[
        list[str] | None,
        typer.Option("--target", "-t", help="Ask about this variable; by default all."),
    ] = None,
    limits: Annotated[
        list[str] | None,
        typer.Option(
            "--limits",
            metavar="NAME=LOW:HIGH",
            help="Also the chance that a target falls outside; a side may be left open.",
        ),
    ] = None,
    uncertainty: Annotated[
        Literal["both", "graph", "function"],
        typer.Option("--uncertainty", help="What the intervals hold."),
    ] = "both",
    level: LevelOption = 0.9,
    worlds: WorldsOption = 200,
    seed: SeedOption = 0,
    json: JsonOption = False,
) -> None:
    """Predict mean and spread when variables are set from outside.

    Example: momentdag effects run --do pkc=3 --target erk
    """
    from momentdag.cli.answers import EffectRequest, run_effects

    settings, bounds = ([] if given is None else given for given in (do, limits))
    targets = target if target else None  # none given may arrive as an empty list
    request = EffectRequest(run, settings, targets, bounds, uncertainty, level, worlds, seed)
    run_effects(request, json)


def levers(
    run: RunArgument,
    target: Annotated[str, typer.Option("--target", "-t", help="The variable to steady.")],
    hold_mean: Annotated[
        str | None,
        typer.Option(
            "--hold-mean",
            metavar="TOLERANCE",
            help="How far the mean of the target may move: 5% of itself, 0.1sd, or a number in "
            "its units. By default 0.1sd.",
        ),
    ] = None,
    candidates: Annotated[
        str | None,
        typer.Option("--candidates", metavar="NAMES", help="What can be set: a,b,c. Default all."),
    ] = None,
    rank_by: Annotated[
        Literal["level", "total"],
        typer.Option(
            "--rank-by",
            help="level: first what steadies by where it is set, then what steadies by being held "
            "still. total: both together.",
        ),
    ] = "level",
    max_levers: Annotated[
        int, typer.Option("--max-levers", min=1, max=3, help="Also settings of so many at once.")
    ] = 1,
    confidence: Annotated[
        float, typer.Option("--confidence", help="Probability with which the mean must hold.")
    ] = 0.9,
    level: LevelOption = 0.9,
    worlds: WorldsOption = 200,
    seed: SeedOption = 0,
    json: JsonOption = False,
) -> None:
    """Rank what to set to steady a target and keep its mean.

    Example: momentdag levers run --target erk --hold-mean 5%
    """
    from momentdag.cli.answers import LeverRequest, run_levers

    request = LeverRequest(
        run, target, hold_mean, candidates, rank_by, max_levers, confidence, level, worlds, seed
    )
    run_levers(request, json)
