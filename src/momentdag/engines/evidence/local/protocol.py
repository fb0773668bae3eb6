"""What every family of local scores offers to the search: fits, and cheap screens."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, NamedTuple, Protocol, TypeAlias

__all__ = ["Evidences", "Parents", "ScoreCounts", "ScoredFit", "Scorer", "new_entries"]


class Parents(NamedTuple):
    """Mean and variance parents of one variable as bit masks."""

    mean: int
    variance: int

    @property
    def union(self) -> int:
        """All parents."""
        return self.mean | self.variance


Evidences: TypeAlias = list[dict[Parents, float]]
"""Log evidences computed so far, one dictionary for each variable."""


def new_entries(scored: Evidences, known: Evidences) -> Evidences:
    """Return the evidences that were not known before."""
    return [
        {parents: value for parents, value in new.items() if parents not in old}
        for new, old in zip(scored, known, strict=True)
    ]


@dataclass
class ScoreCounts:
    """How many local scores were computed, and how many of them are to be read with care."""

    computed: int = 0
    not_converged: int = 0
    failed: int = 0

    def add(self, *, converged: bool = True, failed: bool = False) -> None:
        """Count one score."""
        self.computed += 1
        self.failed += failed
        self.not_converged += not converged and not failed

    def include(self, others: ScoreCounts) -> None:
        """Add the counts of another scorer."""
        self.computed += others.computed
        self.not_converged += others.not_converged
        self.failed += others.failed

    def raise_to(self, others: ScoreCounts) -> None:
        """Take each count of ``others`` that is larger."""
        self.computed = max(self.computed, others.computed)
        self.not_converged = max(self.not_converged, others.not_converged)
        self.failed = max(self.failed, others.failed)

    def to_dict(self) -> dict[str, int]:
        """Return the counts as plain values."""
        return asdict(self)


class ScoredFit(Protocol):
    """A fit of one variable given its parents."""

    @property
    def log_evidence(self) -> float:
        """The log marginal likelihood."""


class Scorer(Protocol):
    """A family of local scores over one table."""

    counts: ScoreCounts

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
