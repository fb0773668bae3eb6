"""Are edges as frequent as their probabilities say."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from benchmarks.tables import Table
from momentdag.metrics import brier_score, expected_calibration_error, reliability_table

__all__ = ["CALIBRATED", "calibration", "calibration_tables"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

CALIBRATED = ("sparse-5", "sparse-10")


def calibration(runs: list[dict[str, Any]], moment: str) -> dict[str, Any]:
    """Return calibration error, Brier score and reliability of one graph, all runs pooled."""
    probabilities: FloatArray = np.concatenate([run[f"probabilities_{moment}"] for run in runs])
    truth = np.concatenate([run[f"truth_{moment}"] for run in runs])
    table = reliability_table(probabilities, truth)
    return {
        "expected_calibration_error": expected_calibration_error(probabilities, truth),
        "brier_score": brier_score(probabilities, truth),
        "reliability": [
            {key: None if np.isnan(value) else value for key, value in row.items()}
            for row in table.astype(float).to_dict("records")
        ],
    }


def calibration_tables(found: dict[str, Any]) -> list[Table]:
    """Return the tables of what `calibration` gave for the mean and the variance graph."""
    both = {moment: found[moment] for moment in ("mean", "variance")}
    summary = Table(
        f"Calibration of edge probabilities, {found['n_sets']} sets of {' and '.join(CALIBRATED)}",
        ("graph", "expected calibration error", "Brier score"),
        [
            (moment, f"{own['expected_calibration_error']:.4f}", f"{own['brier_score']:.4f}")
            for moment, own in both.items()
        ],
    )
    rows = []
    for mean, variance in zip(*(own["reliability"] for own in both.values()), strict=True):
        cells = [f"{mean['bin_low']:.1f} - {mean['bin_high']:.1f}"]
        for row in (mean, variance):
            used = row["n"] > 0
            cells += [f"{row['n']:.0f}"]
            cells += [
                f"{row[key]:.3f}" if used else "-" for key in ("mean_probability", "frequency")
            ]
        rows.append(tuple(cells))
    columns = ("probability", *(f"{m} {c}" for m in both for c in ("edges", "said", "true")))
    note = "Pairs of variables by the probability given to the edge; 'said' is its mean, 'true' "
    return [summary, Table("Reliability", columns, rows, note + "the share of edges that exist.")]
