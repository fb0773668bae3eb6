"""What each regime changed, as the page shows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from momentdag.effects import MonteCarlo, attribute_change

if TYPE_CHECKING:
    from momentdag.estimator import MomentDAG

__all__ = ["ChangeContent", "describe_change"]

_LEAST = 0.1  # smallest probability in the table
_MOST_REGIMES, _MOST_VARIABLES = 4, 2  # of which a change is split: a page must not take long
_VISIBLE = 0.2  # change of a mean in sds, or of an sd as a share, that is worth splitting
_EFFORT = MonteCarlo(n_draws=40, n_rows=128)


@dataclass(frozen=True)
class ChangeContent:
    """The targets of the regimes, and some changes with what they are due to.

    Parameters
    ----------
    column, reference : str
    targets : list of dict
        regime, variable, mean, variance: those that are likely enough.
    n_hidden : int
        Pairs of a regime and a variable that are not.
    least : float
        From which probability.
    attributions : list of dict
        regime, target, message and rows, see `AttributedChange.to_frame`.
    """

    column: str
    reference: str
    targets: list[dict[str, Any]]
    n_hidden: int
    least: float
    attributions: list[dict[str, Any]]


def describe_change(estimator: MomentDAG) -> ChangeContent | None:
    """Return what changed in a fit with regimes, or None."""
    drawn = estimator.posterior_.target_draws
    if drawn is None:
        return None
    table = estimator.posterior_.targets()
    largest = table[["mean", "variance"]].max(axis=1)
    shown = table[largest >= _LEAST]
    order = np.argsort(-largest[largest >= _LEAST].to_numpy(), kind="stable")
    attributions = []
    if estimator.scm_ is not None:
        for regime in drawn.levels[:_MOST_REGIMES]:
            for target in _most_changed(estimator, regime):
                change = attribute_change(
                    estimator, drawn.reference, regime, target, monte_carlo=_EFFORT
                )
                rows = change.to_frame()
                attributions.append(
                    {
                        "regime": regime,
                        "target": target,
                        "message": change.describe(),
                        "rows": rows.astype(object).where(rows.notna(), None).to_dict("records"),
                    }
                )
    return ChangeContent(
        drawn.column,
        drawn.reference,
        shown.iloc[order].to_dict("records"),
        int(len(table) - len(shown)),
        _LEAST,
        attributions,
    )


def _most_changed(estimator: MomentDAG, regime: str) -> list[str]:
    """Return the variables whose mean and sd moved most, if any did visibly."""
    drawn, observed = estimator.posterior_.target_draws, estimator.result_.observed_in
    assert drawn is not None  # the caller has looked
    before, after = observed[drawn.reference].shown, observed[regime].shown
    size = (after["mean"] - before["mean"]).abs() / before["sd"]
    size = size.clip(lower=(after["sd"] / before["sd"] - 1).abs())
    kinds = estimator.result_.observed.kinds
    size = size[[name for name in size.index if kinds.get(name) != "category"]]
    size = size[size >= _VISIBLE].sort_values(ascending=False, kind="stable")
    return [str(name) for name in size.index[:_MOST_VARIABLES]]
