"""The world check as the page shows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from momentdag.effects import MonteCarlo, intervene
from momentdag.effects.inputs import consensus_pair
from momentdag.effects.targets import spell_target
from momentdag.effects.world import MAX_MEAN_GAP, MAX_SD_GAP, describe_world
from momentdag.posterior.diagnostics import GRADES, Grade
from momentdag.report.levels import form_of, level_shares, names_of_levels
from momentdag.table import Dataset

if TYPE_CHECKING:
    from momentdag.estimator import MomentDAG

__all__ = ["WorldContent", "check_model"]

_EFFORT = 48, 128  # draws and rows of noise


@dataclass(frozen=True)
class WorldContent:
    """A sentence, its grade, and a row for each column.

    Parameters
    ----------
    message : str
    grade : {"fine", "weak", "do not use"}
        Of the worst column.
    rows : list of dict
        See `MomentDAG.world_check`; also kind, and for categories and binary columns level,
        observed_share and modelled_share: of the most frequent level of a category, of the higher
        of two values (modelled_share is None where it cannot be told). A category has no mean and
        no sd.
    outside_data : float
        Share of simulated rows that left the region of the data.
    max_mean_gap, max_sd_gap : float
        Beyond which a column is not reproduced, in sds and as a fraction.
    log_columns : tuple of str
        Columns that were fitted as logarithms.
    """

    message: str
    grade: Grade
    rows: list[dict[str, Any]]
    outside_data: float
    max_mean_gap: float
    max_sd_gap: float
    log_columns: tuple[str, ...]


def check_model(estimator: MomentDAG, dataset: Dataset) -> WorldContent | None:
    """Return the check of a fit, or None if it has no mechanisms; shares are those of the data."""
    if estimator.scm_ is None:
        return None
    table = estimator.world_check()
    verdicts = set(table["verdict"])
    grade = max(verdicts, key=GRADES.index)
    observed = estimator.result_.observed
    shares = _shares(estimator, dataset)
    nothing = {"level": None, "observed_share": None, "modelled_share": None}
    return WorldContent(
        describe_world(table),
        grade,
        [
            {
                **row,
                "kind": observed.kinds.get(row["column"]),
                **shares.get(row["column"], nothing),
            }
            for row in table.to_dict("records")
        ],
        float(table["outside_data"].max()),
        MAX_MEAN_GAP,
        MAX_SD_GAP,
        observed.log_columns,
    )


def _shares(estimator: MomentDAG, dataset: Dataset) -> dict[str, dict[str, Any]]:
    """Return the observed and the modelled share of one level of each column that has levels."""
    observed = estimator.result_.observed
    assert estimator.scm_ is not None  # `check_model` has looked
    mechanisms = estimator.scm_.mean_functions(consensus_pair(estimator))
    chosen: dict[str, tuple[str, float]] = {}
    for name, kind in observed.kinds.items():
        if form_of(observed, name, mechanisms[name]) != "mean":
            column = dataset.values[:, dataset.index(name)]
            shares = level_shares(observed.levels[name], column)
            k = int(np.argmax(shares)) if kind == "category" else len(shares) - 1
            chosen[name] = names_of_levels(observed, name)[k], float(shares[k])
    if not chosen:
        return {}
    targets = {
        name: spell_target(name, level)
        if observed.kinds[name] == "category" or name in observed.labels
        else name
        for name, (level, _) in chosen.items()
    }
    means: Mapping[str, float] = {}
    if targets:
        how = MonteCarlo(*_EFFORT)
        answer = intervene(estimator, {}, targets=list(targets.values()), monte_carlo=how)
        means = answer.to_frame().set_index("target")["mean"].to_dict()
    found = {}
    for name, (level, share) in chosen.items():
        modelled = means.get(targets.get(name, ""))
        if modelled is not None and observed.kinds[name] == "binary":
            low, high = observed.levels[name]
            modelled = float((modelled - low) / (high - low))
        found[name] = {"level": level, "observed_share": share, "modelled_share": modelled}
    return found
