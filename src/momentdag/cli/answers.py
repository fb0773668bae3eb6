"""What `momentdag query`, `effects` and `levers` do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from momentdag import runs
from momentdag.cli.console import console, plain, print_json, print_records
from momentdag.cli.parsing import parse_limits, parse_names, parse_settings, parse_tolerance
from momentdag.effects import MonteCarlo, intervene, levers
from momentdag.errors import OptionError
from momentdag.posterior.language import ask

__all__ = ["EffectRequest", "LeverRequest", "run_effects", "run_levers", "run_query"]


@dataclass(frozen=True)
class EffectRequest:
    """Everything that `momentdag effects` was asked for."""

    run: Path
    do: Sequence[str]
    targets: Sequence[str] | None
    limits: Sequence[str]
    uncertainty: Literal["both", "graph", "function"]
    level: float
    worlds: int
    seed: int


@dataclass(frozen=True)
class LeverRequest:
    """Everything that `momentdag levers` was asked for."""

    run: Path
    target: str
    hold_mean: str | None
    candidates: str | None
    rank_by: Literal["level", "total"]
    max_levers: int
    confidence: float
    level: float
    worlds: int
    seed: int


def run_query(run: Path, questions: Sequence[str], as_json: bool) -> None:
    """Print the probability of each question."""
    posterior = runs.load_posterior(run)
    records: list[dict[str, Any]] = []
    for question in questions:
        answer = ask(posterior, question)
        records.append({"question": question, **answer._asdict()})
    if as_json:
        print_json({"n_draws": posterior.n_draws, "answers": records})
    else:
        print_records(records)


def run_effects(request: EffectRequest, as_json: bool) -> None:
    """Print mean and spread of the targets in each setting."""
    settings, limits = parse_settings(request.do), parse_limits(request.limits)
    result = intervene(
        runs.load(request.run),
        settings,
        request.targets,
        limits=limits,
        uncertainty=request.uncertainty,
        level=request.level,
        monte_carlo=MonteCarlo(n_draws=request.worlds, random_state=request.seed),
    )
    records = result.to_frame().to_dict("records")
    if as_json:
        print_json({"level": result.level, "uncertainty": result.uncertainty, "effects": records})
        return
    print_records(records)
    console().print(
        f"low and high: {result.level:.0%} intervals.{_units(request.run)}", markup=False
    )


def run_levers(request: LeverRequest, as_json: bool) -> None:
    """Print the levers of a target, best first."""
    estimator = runs.load(request.run)
    tolerance = None
    if request.hold_mean is not None:
        if request.target not in estimator.summary_.index:
            raise OptionError(
                f"Expected --target among {list(estimator.summary_.index)}; got {request.target!r}."
            )
        observed = estimator.summary_.loc[request.target]
        tolerance = parse_tolerance(
            request.hold_mean, float(observed["mean"]), float(observed["sd"])
        )
    ranking = levers(
        estimator,
        request.target,
        rank_by=request.rank_by,
        tolerance=tolerance,
        candidates=None if request.candidates is None else parse_names(request.candidates),
        max_levers=request.max_levers,
        confidence=request.confidence,
        level=request.level,
        monte_carlo=MonteCarlo(n_draws=request.worlds, random_state=request.seed),
    )
    records = ranking.to_frame().to_dict("records")
    if as_json:
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
    out = console()
    shown = [{said: row[name] for name, said in _SHOWN.items()} for row in records]
    print_records(shown, tuple(_SHOWN.values()))
    out.print(
        "Variance ratio: what the setting leaves of the variance, low and high its "
        f"{request.level:.0%} interval; by level: what its level does; by holding: what holding it "
        "still anywhere would do.",
        markup=False,
    )
    out.print(
        f"The mean of {plain(ranking.target)} may move by {ranking.tolerance:.4g}."
        f"{_units(request.run)}",
        markup=False,
    )
    best = ranking.recommended
    said = "nothing: no lever steadies it and surely holds its mean"
    if best is not None:
        said = "set " + " and ".join(
            f"{plain(name)} to {value:.4g}" for name, value in best.items()
        )
    out.print(f"Recommended: {said}.", markup=False)


# Headings of short words, which wrap: the table fits a terminal of 100 columns.
_SHOWN = {
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


def _units(run: Path) -> str:
    """Return a reminder of the columns that are logarithms."""
    columns = runs.read_info(run).data.log_columns
    if not columns:
        return ""
    return f" Natural logarithms, as fitted: {plain(', '.join(columns))}."
