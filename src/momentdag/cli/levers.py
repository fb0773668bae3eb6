"""`momentdag levers`: levers that cut a target's variance and keep its mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

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
    from momentdag.effects import LeverRanking

__all__ = ["levers"]

# Short headings, which wrap: the table fits a terminal of 100 columns.
_HEADINGS = {
    "setting": "setting",
    "variance_ratio": "variance ratio",
    "variance_ratio_low": "low",
    "variance_ratio_high": "high",
    "ratio_by_level": "by level",
    "ratio_by_holding": "by holding",
    "mean_change": "mean change",
    "holds": "mean held",
    "p_variance_only": "only the spread",
}


def levers(
    run: RunArgument,
    target: Annotated[
        str, typer.Option("--target", "-t", help="The variable whose variance is to be cut.")
    ],
    cost: Annotated[
        list[str],
        typer.Option(
            "--cost",
            metavar="NAME=NUMBER",
            default_factory=list,
            show_default=False,
            help="What setting a variable costs (1 for others); may be repeated. Levers are then "
            "ranked by what they gain per cost.",
        ),
    ],
    hold_mean: Annotated[
        str | None,
        typer.Option(
            "--hold-mean",
            metavar="TOLERANCE",
            help="How far the mean of the target may move: 0.1sd (the default), 5% of itself, or a "
            "number in its units.",
        ),
    ] = None,
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
    rank_by: Annotated[
        Literal["level", "total"],
        typer.Option(
            "--rank-by",
            help="level: first the levers whose value matters, then those that only need to be "
            "held still. total: by both effects together.",
        ),
    ] = "level",
    max_levers: Annotated[
        int,
        typer.Option("--max-levers", min=1, max=3, help="Maximum number of levers set jointly."),
    ] = 1,
    confidence: Annotated[
        float,
        typer.Option(
            "--confidence", help="Probability with which the mean must stay within the tolerance."
        ),
    ] = 0.9,
    every: Annotated[
        bool, typer.Option("--all", help="Also list levers that change next to nothing.")
    ] = False,
    force: ForceOption = False,
    level: LevelOption = 0.9,
    worlds: WorldsOption = 200,
    seed: SeedOption = 0,
    json: JsonOption = False,
) -> None:
    """Rank levers that cut a target's variance and keep its mean.

    Example: momentdag levers run --target erk --hold-mean 0.1sd
    """
    from momentdag.cli.inputs import parse_costs, parse_names

    estimator = md.runs.load(run)
    ranking = md.effects.levers(
        estimator,
        target,
        rank_by=rank_by,
        tolerance=hold_mean,
        candidates=None if candidates is None else parse_names(candidates),
        fixed=() if fixed is None else parse_names(fixed),
        costs=parse_costs(cost),
        max_levers=max_levers,
        confidence=confidence,
        level=level,
        force=force,
        monte_carlo=md.effects.MonteCarlo(n_draws=worlds, random_state=seed),
    )
    refuse_untrusted(ranking.trust, force)
    if json:
        print_json(dict(ranking.to_dict()))
        return
    _print_table(ranking, every, level)
    print_line(
        f"The mean of {ranking.target} may move by {ranking.tolerance_text}.",
        log_scale_note(estimator),
    )
    print_line(f"Recommended: {ranking.recommendation()}")


def _print_table(ranking: LeverRanking, every: bool, level: float) -> None:
    table = ranking.to_frame()
    listed = table if every else table[table["has_effect"].astype(bool)]
    headings = {**_HEADINGS, **({"cost": "cost"} if "cost" in table else {})}
    print_records(
        [
            {heading: row[name] for name, heading in headings.items()}
            for row in listed.to_dict("records")
        ],
        tuple(headings.values()),
    )
    n_hidden = len(table) - len(listed)
    if n_hidden:
        print_line(f"{n_hidden} more change next to nothing; --all lists them.")
    print_line(
        "variance ratio: the variance under the setting divided by that without it; low and high: "
        f"its {level:.0%} interval. by level: the factor due to the value set; by holding: the "
        "factor due to holding the lever still at any value. only the spread: the probability "
        "that the lever has no path to the mean."
    )
    print_line(
        "A share of a variance says where today's variance originates; a variance ratio says what "
        "remains under a setting. A lever that scales the noise of the target can cut far more "
        "than the share that originates in it."
    )
