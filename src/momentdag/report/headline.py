"""Three sentences at the top of the page: what was found, how sure that is, what to do with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from momentdag.posterior.diagnostics import GRADES, Grade
from momentdag.report.doubt import DoubtContent
from momentdag.report.whatif import OutcomeContent, WhatIfContent

__all__ = ["Headline", "write_headline"]

_N_NAMED = 2


@dataclass(frozen=True)
class Headline:
    """One sentence each.

    Parameters
    ----------
    found, sure, act : str
    grade : {"fine", "weak", "do not use"}
        The worst of what ``sure`` tells of.
    """

    found: str
    sure: str
    act: str
    grade: Grade


def write_headline(
    n_variables: int,
    strongest: Mapping[str, Sequence[Mapping[str, Any]]],
    counts: Mapping[str, int],
    world: Grade | None,
    draws: Grade,
    doubt: DoubtContent | None,
    n_findings: int,
    whatif: WhatIfContent | None,
) -> Headline:
    """Return the sentences.

    Parameters
    ----------
    n_variables : int
    strongest : mapping
        Of "mean", "variance" and "variance_only" the likely pairs, most probable first.
    counts : mapping
        How many edges of "mean" and "variance" have a probability of one half or more.
    world, draws : Grade
        Of the world check (None without mechanisms) and of the draws.
    doubt : DoubtContent or None
    n_findings : int
        Groups of findings of the criticism.
    whatif : WhatIfContent or None
    """
    grade = max((one for one in (world, draws) if one is not None), key=GRADES.index)
    return Headline(
        _found(n_variables, strongest, counts),
        _sure(world, draws, doubt, n_findings),
        _act(grade, whatif),
        grade,
    )


def _found(
    n_variables: int,
    strongest: Mapping[str, Sequence[Mapping[str, Any]]],
    counts: Mapping[str, int],
) -> str:
    n_mean, n_variance = counts["mean"], counts["variance"]
    if not n_mean and not n_variance:
        return f"Among {n_variables} variables no edge has a probability of one half or more."
    edges = (
        f"Among {n_variables} variables, {n_mean} edge{'s' * (n_mean != 1)} probably "
        f"move{'s' * (n_mean == 1)} a mean and {n_variance} a spread"
    )
    only = strongest["variance_only"]
    named, verb = (only, "moves only the spread") if only else (strongest["variance"], "moves")
    if not named:
        return f"{edges}."
    if not only:
        verb = "moves the spread"
    listed = " and ".join(
        f"{one['cause']} {verb} of {one['effect']}" for one in list(named)[:_N_NAMED]
    )
    return f"{edges}; most clearly {listed}."


def _sure(world: Grade | None, draws: Grade, doubt: DoubtContent | None, n_findings: int) -> str:
    parts = []
    if world is not None:
        parts.append(
            {
                "fine": "the model reproduces the columns",
                "weak": "the model reproduces some columns only roughly",
                "do not use": "the model does not reproduce all columns",
            }[world]
        )
    parts.append(
        {
            "fine": "the draws agree",
            "weak": "there are few independent draws",
            "do not use": "chains of draws contradict each other",
        }[draws]
    )
    if doubt is not None and doubt.n_unsure:
        edges = "1 edge is" if doubt.n_unsure == 1 else f"{doubt.n_unsure} edges are"
        parts.append(f"{edges} sure only as far as the model's form is right")
    if n_findings:
        kinds = "1 kind" if n_findings == 1 else f"{n_findings} kinds"
        parts.append(f"the residuals show {kinds} of misfit")
    text = ", ".join(parts[:-1]) + (" and " if len(parts) > 1 else "") + parts[-1]
    return f"{text[0].upper()}{text[1:]}."


def _act(grade: Grade, whatif: WhatIfContent | None) -> str:
    if grade == "do not use":
        return "Do not act on the columns or edges named below before this is mended."
    usable = [] if whatif is None else [one for one in whatif.outcomes if one.best]
    if not usable:
        return (
            "No setting was found that steadies an outcome and keeps its mean; use the "
            "probabilities to decide what to measure or to try next."
        )
    outcome = min(usable, key=_ratio)
    caution = " Try it on a few parts first." if grade == "weak" else " Confirm it with a trial."
    return (
        f"To steady {outcome.name}, set {outcome.best_text}: its variance is then about "
        f"{100 * _ratio(outcome):.0f} % of today's and its mean stays.{caution}"
    )


def _ratio(outcome: OutcomeContent) -> float:
    robust = outcome.robust[outcome.best]
    return 1.0 if robust is None else robust.variance_ratio
