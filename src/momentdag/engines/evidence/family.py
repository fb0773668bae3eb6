"""What every family of local scores offers to the search: fits, and cheap screens."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol, TypeAlias

__all__ = ["Evidences", "Parents", "ScoredFit", "Scorer"]


class Parents(NamedTuple):
    """Mean and variance parents of one variable as bit masks."""

    mean: int
    variance: int

    @property
    def union(self) -> int:
        """All parents."""
        return self.mean | self.variance


Evidences: TypeAlias = list[dict[Parents, float]]
"""Log evidences met so far, one dictionary for each variable."""


class ScoredFit(Protocol):
    """A fit of one variable given its parents."""

    @property
    def log_evidence(self) -> float:
        """The log marginal likelihood."""


class Scorer(Protocol):
    """A family of local scores over one table."""

    @property
    def n_variables(self) -> int:
        """Number of variables."""

    @property
    def fit_bytes(self) -> int:
        """Rough memory of one fit."""

    def fit(self, variable: int, parents: Parents) -> Any:
        """Return the fit of ``variable`` given ``parents``, a `ScoredFit`."""

    def screen(
        self,
        variable: int,
        fit: Any,
        parents: Parents,
        mean_additions: list[int],
        variance_additions: list[int],
    ) -> tuple[dict[int, float], dict[int, float]]:
        """Estimate the evidence each addition to ``parents`` would gain."""
