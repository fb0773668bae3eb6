"""Local scores of rows in which some variables were set by an experimenter.

Where X_j was set, its value tells nothing of its causes: the term of X_j is left out of the
likelihood for that row, while the row still serves as an input to the effects of X_j. A variable is
therefore scored on its own rows, by a scorer of these rows alone. Variables with the same rows
share one, and with it the bases of parent sets: an orthogonal basis is orthogonal on the rows it
was made for, and on no others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from momentdag.engines.evidence.local.protocol import Parents, ScoreCounts, Scorer

__all__ = ["InterventionScorer", "reordered_cells", "scorer_of", "used_rows"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
IndexArray: TypeAlias = npt.NDArray[np.intp]


class InterventionScorer:
    """Scores of every variable on the rows in which it was not set.

    Parameters
    ----------
    values : float array, shape (n, d)
        Standardised columns.
    inducing_rows : int array, shape (M,)
    set_cells : bool array, shape (n, d)
        The cells that were set.
    build : function
        From some rows and the inducing rows among them to their scorer.
    """

    def __init__(
        self,
        values: FloatArray,
        inducing_rows: IndexArray,
        set_cells: BoolArray,
        build: Callable[[FloatArray, IndexArray], Scorer],
    ) -> None:
        self.values = values
        self.inducing_rows = inducing_rows
        self.set_cells = set_cells
        patterns, which = np.unique(set_cells, axis=1, return_inverse=True)
        self._rows = [np.flatnonzero(~pattern) for pattern in patterns.T]
        self._scorers = [
            build(values[rows], _inducing_within(inducing_rows, rows)) for rows in self._rows
        ]
        self._which = which.reshape(-1)

    @property
    def counts(self) -> ScoreCounts:
        """How many scores were computed."""
        return self._scorers[0].counts

    @counts.setter
    def counts(self, counts: ScoreCounts) -> None:
        for scorer in self._scorers:
            scorer.counts = counts

    @property
    def n_samples(self) -> int:
        """Number of rows, with those that some variable does not use."""
        return len(self.set_cells)

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return len(self._which)

    @property
    def fit_bytes(self) -> int:
        """Rough memory of one fit."""
        return max(scorer.fit_bytes for scorer in self._scorers)

    def of(self, variable: int) -> Any:
        """Return the scorer of the rows in which a variable was not set."""
        return self._scorers[self._which[variable]]

    def rows(self, variable: int) -> IndexArray:
        """Return the rows in which a variable was not set, (m,)."""
        rows: IndexArray = self._rows[self._which[variable]]
        return rows

    def fit(self, variable: int, parents: Parents) -> Any:
        """Return the fit of ``variable`` given ``parents`` on its own rows."""
        return self.of(variable).fit(variable, parents)

    def screen(
        self,
        variable: int,
        fit: Any,
        parents: Parents,
        mean_additions: list[int],
        variance_additions: list[int],
    ) -> tuple[dict[int, float], dict[int, float]]:
        """Estimate the evidence each addition to ``parents`` would gain."""
        gains: tuple[dict[int, float], dict[int, float]] = self.of(variable).screen(
            variable, fit, parents, mean_additions, variance_additions
        )
        return gains


def reordered_cells(set_cells: BoolArray, columns: IndexArray) -> BoolArray:
    """Return set cells (n, d) in the engine's order of columns; no indicator was ever set."""
    n_more = len(columns) - set_cells.shape[1]
    wide = np.hstack([set_cells, np.zeros((len(set_cells), n_more), dtype=bool)])
    return np.ascontiguousarray(wide[:, columns])


def scorer_of(scorer: Any, variable: int) -> Any:
    """Return what scores one variable: a scorer of its own rows where some were set."""
    return scorer.of(variable) if isinstance(scorer, InterventionScorer) else scorer


def used_rows(scorer: Any, variable: int) -> IndexArray | None:
    """Return the rows that one variable is scored on, (m,); None for all of them."""
    return scorer.rows(variable) if isinstance(scorer, InterventionScorer) else None


def _inducing_within(inducing_rows: IndexArray, rows: IndexArray) -> IndexArray:
    """Return inducing rows as places among ``rows`` (m,), as many as before where that can be.

    Those that are not among these rows are replaced by others, always the same ones.
    """
    kept = np.flatnonzero(np.isin(rows, inducing_rows))
    n_more = min(len(inducing_rows), len(rows)) - len(kept)
    if n_more <= 0:
        return kept
    others = np.setdiff1d(np.arange(len(rows)), kept)
    more = np.random.default_rng(len(rows)).choice(others, n_more, replace=False)
    return np.sort(np.concatenate([kept, more]))
