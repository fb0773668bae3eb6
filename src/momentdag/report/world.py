"""The world check as the page shows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from momentdag.effects.world import MAX_MEAN_GAP, MAX_SD_GAP, describe_world

if TYPE_CHECKING:
    from momentdag.estimator import MomentDAG

__all__ = ["WorldContent", "check_model"]


@dataclass(frozen=True)
class WorldContent:
    """A sentence, its grade, and a row for each column.

    Parameters
    ----------
    message : str
    grade : {"fine", "weak", "do not use"}
        Of the worst column.
    rows : list of dict
        See `MomentDAG.world_check`.
    outside_data : float
        Share of simulated rows that left the region of the data.
    max_mean_gap, max_sd_gap : float
        Beyond which a column is not reproduced, in sds and as a fraction.
    log_columns : tuple of str
        Columns that were fitted as logarithms.
    """

    message: str
    grade: str
    rows: list[dict[str, Any]]
    outside_data: float
    max_mean_gap: float
    max_sd_gap: float
    log_columns: tuple[str, ...]


def check_model(estimator: MomentDAG) -> WorldContent | None:
    """Return the check of a fit, or None if it has no mechanisms."""
    if estimator.scm_ is None:
        return None
    table = estimator.world_check()
    verdicts = set(table["verdict"])
    grade = next((g for g in ("do not use", "weak") if g in verdicts), "fine")
    return WorldContent(
        describe_world(table),
        grade,
        table.to_dict("records"),
        float(table["outside_data"].max()),
        MAX_MEAN_GAP,
        MAX_SD_GAP,
        estimator.result_.observed.log_columns,
    )
