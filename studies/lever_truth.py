"""The ranking of levers by a ranker who knows the mechanisms, on the paper's figure 1."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from momentdag.effects.levers import LEVEL_MATTERS
from momentdag.graph import MomentGraph
from momentdag.simulate import Simulation

__all__ = ["FIGURE_1", "TARGET", "VARIANCE_CAUSES", "TrulyBest", "moments_after", "truly_best"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

TARGET, VARIANCE_CAUSES = "x1", ("x5", "x6")
FIGURE_1 = MomentGraph.from_edges(
    ["x1", "x2", "x3", "x4", "x5", "x6"],
    mean=[(cause, TARGET) for cause in ("x2", "x3", "x4")],
    variance=[(cause, TARGET) for cause in VARIANCE_CAUSES],
)
"""Five causes of one protein, two of which act on its variance alone."""

_N_ROWS = 10_000
_N_LEVELS = 21


class TrulyBest(NamedTuple):
    """The lever that should rank first: by the ratio by level, and by the total ratio."""

    by_level: str
    by_total: str


def moments_after(simulation: Simulation, do: dict[str, float], n_rows: int) -> tuple[float, float]:
    """Return mean and variance of the target under a setting, by simulation."""
    values = simulation.intervene(np.random.default_rng(1), do, n_rows)[TARGET]
    return float(values.mean()), float(values.var())


def truly_best(simulation: Simulation, tolerance: float) -> TrulyBest:
    """Return the levers that a ranker who knows the mechanisms would put first."""
    rng = np.random.default_rng(2)
    rows = simulation.sample(rng, _N_ROWS)
    shuffled = rows.iloc[rng.permutation(len(rows))].reset_index(drop=True)
    mean, sd = _target_moments(simulation, rows)
    usual, variance = float(mean.mean()), float(mean.var() + np.mean(sd**2))
    level_ratio, total_ratio = {}, {}
    for lever in simulation.graph.parents(TARGET):
        smallest = np.inf
        low, high = np.quantile(simulation.data[lever], [0.05, 0.95])
        for value in np.linspace(low, high, _N_LEVELS):
            mean_at, sd_at = _target_moments(simulation, rows.assign(**{lever: value}))
            if abs(mean_at.mean() - usual) <= tolerance:
                smallest = min(smallest, float(mean_at.var() + np.mean(sd_at**2)))
        # E_x Var(Y | do x): the levers are roots, so each value may meet any row of the others.
        elsewhere, _ = _target_moments(simulation, shuffled.assign(**{lever: rows[lever]}))
        held_still = float(np.mean(sd**2) + 0.5 * np.mean((mean - elsewhere) ** 2))
        level_ratio[lever], total_ratio[lever] = smallest / held_still, smallest / variance

    def place(lever: str) -> tuple[bool, bool, float]:
        matters = level_ratio[lever] <= LEVEL_MATTERS
        fails = not np.isfinite(total_ratio[lever])
        return fails, not matters, level_ratio[lever] if matters else total_ratio[lever]

    return TrulyBest(
        by_level=min(total_ratio, key=place),
        by_total=min(total_ratio, key=lambda lever: total_ratio[lever]),
    )


def _target_moments(simulation: Simulation, values: pd.DataFrame) -> tuple[FloatArray, FloatArray]:
    """Return conditional means and sds of the target, shape (n_rows,) each."""
    moments = simulation.mechanisms.moments(values.to_numpy())
    assert moments is not None
    target = simulation.graph.index(TARGET)
    return moments[0][:, target], moments[1][:, target]
