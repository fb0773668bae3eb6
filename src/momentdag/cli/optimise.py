"""`momentdag optimise`: settings of several levers for several outcomes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

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

if TYPE_CHECKING:
    from momentdag.effects import Optimum

__all__ = ["optimise"]


def _names_option(flag: str, what: str) -> typer.models.OptionInfo:
    option: typer.models.OptionInfo = typer.Option(
        flag, metavar="NAME", default_factory=list, show_default=False, help=what
    )
    return option


def optimise(
    run: RunArgument,
    maximise: Annotated[
        list[str], _names_option("--maximise", "Raise the mean of an outcome; may be repeated.")
    ],
    minimise: Annotated[
        list[str], _names_option("--minimise", "Lower the mean of an outcome; may be repeated.")
    ],
    steady: Annotated[
        list[str], _names_option("--steady", "Lower the spread of an outcome; may be repeated.")
    ],
    aim: Annotated[
        list[str],
        typer.Option(
            "--aim",
            metavar="NAME=NUMBER",
            default_factory=list,
            show_default=False,
            help="Bring an outcome to a value, mean and spread together; may be repeated.",
        ),
    ],
    hold: Annotated[
        list[str],
        typer.Option(
            "--hold",
            metavar="NAME[=TOLERANCE]",
            default_factory=list,
            show_default=False,
            help="Keep the mean of an outcome within 0.1sd (the default), 5%, or a number in its "
            "units; may be repeated.",
        ),
    ],
    limits: Annotated[
        list[str],
        typer.Option(
            "--limits",
            metavar="NAME=LOW:HIGH",
            default_factory=list,
            show_default=False,
            help="Limits of an outcome; a side may be left open, and --max-risk says how often "
            "they may be passed. May be repeated.",
        ),
    ],
    weight: Annotated[
        list[str],
        typer.Option(
            "--weight",
            metavar="NAME=NUMBER",
            default_factory=list,
            show_default=False,
            help="Weight of an outcome (1 for others); may be repeated.",
        ),
    ],
    cost: Annotated[
        list[str],
        typer.Option(
            "--cost",
            metavar="NAME=NUMBER",
            default_factory=list,
            show_default=False,
            help="What setting a variable costs, in sds of gain (0 for others); may be repeated.",
        ),
    ],
    max_risk: Annotated[
        float, typer.Option("--max-risk", help="How often limits may be passed.")
    ] = 0.05,
    candidates: Annotated[
        str | None,
        typer.Option(
            "--candidates", metavar="NAMES", help="Variables that can be set: a,b,c. Default all."
        ),
    ] = None,
    fixed: Annotated[
        str | None,
        typer.Option("--fixed", metavar="NAMES", help="Variables that cannot be set: a,b,c."),
    ] = None,
    max_levers: Annotated[
        int,
        typer.Option("--max-levers", min=1, max=4, help="Maximum number of levers set jointly."),
    ] = 3,
    confidence: Annotated[
        float, typer.Option("--confidence", help="Probability with which constraints must hold.")
    ] = 0.9,
    proposals: Annotated[
        int, typer.Option("--proposals", min=1, max=100, help="Number of proposals.")
    ] = 5,
    force: ForceOption = False,
    level: LevelOption = 0.9,
    worlds: WorldsOption = 200,
    seed: SeedOption = 0,
    json: JsonOption = False,
) -> None:
    """Find settings of several levers that serve several outcomes at once.

    Example: momentdag optimise run --maximise yield --steady thickness --hold thickness
    """
    from momentdag.cli.inputs import parse_holds, parse_limits, parse_names, parse_numbers

    estimator = md.runs.load(run)
    optimum = md.effects.optimise(
        estimator,
        maximise=maximise,
        minimise=minimise,
        steady=steady,
        aim=parse_numbers(aim, "--aim"),
        weights=parse_numbers(weight, "--weight"),
        hold=parse_holds(hold),
        limits=parse_limits(limits),
        max_risk=max_risk,
        candidates=None if candidates is None else parse_names(candidates),
        fixed=() if fixed is None else parse_names(fixed),
        costs=parse_numbers(cost, "--cost"),
        max_levers=max_levers,
        confidence=confidence,
        n_proposals=proposals,
        level=level,
        force=force,
        monte_carlo=md.effects.MonteCarlo(n_draws=worlds, random_state=seed),
    )
    refuse_untrusted(optimum.trust, force)
    if json:
        print_json(dict(optimum.to_dict()))
        return
    _print(optimum)
    print_line(
        f"low and high: {level:.0%} intervals. gain: in sds of today, with the cost taken off. "
        "spread falls, mean stays: probabilities.",
        log_scale_note(estimator),
    )
    print_line(f"Recommended: {optimum.recommendation()}")


def _print(optimum: Optimum) -> None:
    print_line(f"To {optimum.goals}.")
    headings = {
        "proposal": "proposal",
        "setting": "setting",
        "gain": "gain",
        "gain_low": "low",
        "gain_high": "high",
        "p_better": "better",
        "p_holds": "constraints",
    }
    _print_columns(optimum.table.to_dict("records"), headings)
    headings = {
        "proposal": "proposal",
        "outcome": "outcome",
        "mean": "mean",
        "mean_change": "change",
        "sd": "sd",
        "sd_ratio": "sd ratio",
        "p_spread_falls": "spread falls",
        "p_mean_stays": "mean stays",
    }
    if "risk" in optimum.by_outcome:
        headings["risk"] = "risk"
    _print_columns(optimum.by_outcome.to_dict("records"), headings)


def _print_columns(records: list[dict[str, object]], headings: dict[str, str]) -> None:
    rows = [{heading: row[name] for name, heading in headings.items()} for row in records]
    print_records(rows, tuple(headings.values()))
