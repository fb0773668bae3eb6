"""`momentdag levers`: levers that cut a target's variance and keep its mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

import momentdag as md
from momentdag.cli.console import print_json, print_line, print_records
from momentdag.cli.options import JsonOption, LevelOption, RunArgument, SeedOption, WorldsOption
from momentdag.cli.summary import log_scale_note
from momentdag.errors import OptionError

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
    "p_variance_only": "p variance only",
}


def levers(
    run: RunArgument,
    target: Annotated[
        str, typer.Option("--target", "-t", help="The variable whose variance is to be cut.")
    ],
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
        typer.Option(
            "--candidates", metavar="NAMES", help="Variables that can be set: a,b,c. Default all."
        ),
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
    level: LevelOption = 0.9,
    worlds: WorldsOption = 200,
    seed: SeedOption = 0,
    json: JsonOption = False,
) -> None:
    """Rank levers that cut a target's variance and keep its mean.

    Example: momentdag levers run --target erk --hold-mean 5%
    """
    from momentdag.cli.inputs import parse_names

    fitted = md.runs.load_run(run)
    ranking = md.effects.levers(
        fitted.estimator,
        target,
        rank_by=rank_by,
        tolerance=None if hold_mean is None else _tolerance(fitted.estimator, target, hold_mean),
        candidates=None if candidates is None else parse_names(candidates),
        max_levers=max_levers,
        confidence=confidence,
        level=level,
        monte_carlo=md.effects.MonteCarlo(n_draws=worlds, random_state=seed),
    )
    records = ranking.to_frame().to_dict("records")
    if json:
        print_json(
            {
                "target": ranking.target,
                "rank_by": ranking.rank_by,
                "tolerance": ranking.tolerance,
                "confidence": ranking.confidence,
                "recommended": ranking.recommended,
                "levers": records,
            }
        )
        return
    print_records(
        [{heading: row[name] for name, heading in _HEADINGS.items()} for row in records],
        tuple(_HEADINGS.values()),
    )
    print_line(
        "variance ratio: the variance under the setting divided by that without it; low and high: "
        f"its {level:.0%} interval. by level: the factor due to the value set; by holding: the "
        "factor due to holding the lever still at any value."
    )
    print_line(
        f"The mean of {ranking.target} may move by {ranking.tolerance:.4g}.",
        log_scale_note(fitted.info),
    )
    print_line(f"Recommended: {_recommendation(ranking)}.")


def _tolerance(estimator: md.MomentDAG, target: str, text: str) -> float:
    from momentdag.cli.inputs import parse_tolerance

    summary = estimator.summary_
    if target not in summary.index:
        raise OptionError(f"Expected --target among {list(summary.index)}; got {target!r}.")
    mean, sd = (float(summary.loc[target, name]) for name in ("mean", "sd"))
    return parse_tolerance(text, mean, sd)


def _recommendation(ranking: LeverRanking) -> str:
    if ranking.recommended is None:
        return "none. No lever reduces the variance while keeping the mean within the tolerance"
    settings = [f"{name} to {value:.4g}" for name, value in ranking.recommended.items()]
    return f"set {' and '.join(settings)}"
