"""Effects of binary and whole-number causes: a table like those on wages, with known truth."""

from __future__ import annotations

import numpy as np
import pandas as pd

from momentdag.effects import MonteCarlo, intervene
from momentdag.knowledge import Knowledge
from studies.case import FIRST_SEED, Measures, Task
from studies.fits import Fitted

__all__ = ["cover_wages", "draw_wages"]

_N_ROWS, _N_TRUE_ROWS = 1000, 100_000
_TARGET = "lwage"
# What each cause is set to, before and after.
_SETTINGS = {"female": (0, 1), "married": (0, 1), "educ": (10, 16), "exper": (5, 25)}


def _draw_causes(rng: np.random.Generator, n: int) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "female": (rng.random(n) < 0.5).astype(float),
            "married": (rng.random(n) < 0.6).astype(float),
            "educ": np.clip(np.round(rng.normal(12.5, 2.5, n)), 6, 18),
            "exper": np.clip(np.round(rng.gamma(2.5, 6, n)), 0, 45),
        }
    )


def _moments(causes: pd.DataFrame) -> tuple[pd.Series, pd.Series]:
    """Return mean and sd of the log wage in each row."""
    female, married, educ, exper = (causes[name] for name in _SETTINGS)
    mean = 1 - 0.3 * female + 0.12 * married + 0.085 * educ + 0.022 * exper - 0.0003 * exper**2
    return mean, 0.3 * np.exp(-0.25 * female + 0.05 * (educ - 12.5))


def draw_wages(number: int) -> Task:
    """Draw one table; that the log wage is the effect is known, which causes matter is not."""
    rng = np.random.default_rng(FIRST_SEED + number)
    causes = _draw_causes(rng, _N_ROWS)
    mean, sd = _moments(causes)
    data = causes.assign(**{_TARGET: mean + sd * rng.standard_normal(_N_ROWS)})
    knowledge = Knowledge(tiers=[list(causes), [_TARGET]])
    return Task(data, {}, knowledge=knowledge, number=number)


def cover_wages(how: MonteCarlo, task: Task, fitted: Fitted) -> list[Measures]:
    """Set each cause to two values; compare mean and sd with the truth, and their difference."""
    assert fitted.estimator is not None
    population = _draw_causes(np.random.default_rng(1), _N_TRUE_ROWS)
    rows: list[Measures] = []
    for cause, values in _SETTINGS.items():
        answer = intervene(fitted.estimator, {cause: list(values)}, [_TARGET], monte_carlo=how)
        truths = [_truth(population, cause, value) for value in values]
        estimates = answer.to_frame().to_dict("records")
        effect = truths[1][0] - truths[0][0]
        found = estimates[1]["mean"] - estimates[0]["mean"]
        for (mean, sd), row in zip(truths, estimates, strict=True):
            rows.append(
                {
                    "is_ancestor": 1.0,
                    "mean_covered": float(row["mean_low"] <= mean <= row["mean_high"]),
                    "sd_covered": float(row["sd_low"] <= sd <= row["sd_high"]),
                    "variance_error": float(abs(row["sd"] ** 2 / sd**2 - 1)),
                    "effect_ratio": float(found / effect),
                }
            )
    return rows


def _truth(population: pd.DataFrame, cause: str, value: float) -> tuple[float, float]:
    mean, sd = _moments(population.assign(**{cause: float(value)}))
    return float(mean.mean()), float(np.sqrt(mean.var() + (sd**2).mean()))
