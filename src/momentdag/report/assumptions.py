"""The assumptions behind the answers, in plain words, and what the data say about each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from momentdag.report.convergence import Convergence
from momentdag.table import Dataset
from momentdag.table.checks import SAMPLES_PER_VARIABLE

if TYPE_CHECKING:
    from momentdag.screening import Criticism, Screening

__all__ = ["Assumption", "Verdict", "judge_assumptions", "lag_correlation"]

Verdict: TypeAlias = Literal["looks fine", "doubtful", "not checked", "cannot be checked"]

_LEVEL = 0.01  # chance of a false alarm about the order of the rows
_NO_RESIDUALS = "There are no residuals to check: see the section on criticism."


@dataclass(frozen=True)
class Assumption:
    """One assumption with a verdict from the data."""

    title: str
    explanation: str
    verdict: Verdict
    reason: str


def judge_assumptions(
    dataset: Dataset,
    convergence: Convergence,
    screening: Screening | None,
    criticism: Criticism | None,
) -> list[Assumption]:
    """Return the assumptions, each with a verdict where the data allow one."""
    return [
        _no_hidden_causes(criticism),
        Assumption(
            "No cycles",
            "No variable affects its own causes while the rows are recorded.",
            "cannot be checked",
            "It depends on how fast the process is and when it was measured.",
        ),
        _separate_rows(dataset, criticism),
        _kinds(dataset, criticism),
        _enough_rows(dataset),
        _spread_differs(screening),
        _gaussian(criticism),
        _functions_suffice(criticism),
        Assumption(
            "The draws represent the posterior",
            "The sampler has visited enough graphs for shares of draws to be probabilities.",
            "doubtful" if convergence.is_poor else "looks fine",
            convergence.message,
        ),
    ]


def lag_correlation(residuals: npt.NDArray[np.float64]) -> tuple[int, float, float]:
    """Return the column of (n, d) with the largest lag-one autocorrelation, r, and a p-value.

    For independent rows r √n is nearly standard normal. The p-value is two-sided and multiplied
    by d (Bonferroni).

    Examples
    --------
    >>> walk = np.cumsum(np.random.default_rng(0).normal(size=(200, 1)), axis=0)
    >>> column, r, p = lag_correlation(walk)
    >>> r > 0.9, p < 1e-9
    (True, True)
    """
    n, d = residuals.shape
    centred = residuals - residuals.mean(axis=0)
    r = np.sum(centred[1:] * centred[:-1], axis=0) / np.sum(centred**2, axis=0)
    column = int(np.argmax(np.abs(r)))
    p_value = min(1.0, 2 * d * float(ndtr(-abs(r[column]) * np.sqrt(n))))
    return column, float(r[column]), p_value


def _no_hidden_causes(criticism: Criticism | None) -> Assumption:
    title = "No unmeasured common causes"
    explanation = "Every common cause of two variables is itself one of the columns."
    reason = "Data cannot prove it; ask someone who knows the process."
    if criticism is not None:
        pairs = criticism.noise_pairs
        related = pairs[pairs["p_value"] < criticism.level].sort_values("p_value")
        if len(related):
            listed = _listed([f"{row.first} and {row.second}" for row in related.itertuples()], 3)
            reason = f"Residuals move together in {listed}: a sign of a hidden cause."
            return Assumption(title, explanation, "doubtful", reason)
        reason = f"Residuals show no sign of one. {reason}"
    return Assumption(title, explanation, "cannot be checked", reason)


def _separate_rows(dataset: Dataset, criticism: Criticism | None) -> Assumption:
    title = "Independent rows"
    explanation = "One row says nothing about the next: no drift, no repeated measurements."
    if criticism is None:
        return Assumption(title, explanation, "not checked", _NO_RESIDUALS)
    # Rows come in the order of their time, which is not a fault.
    judged = [name for name in dataset.names if name not in dataset.roots]
    # Clipped, so that a few large residuals do not decide.
    residuals = np.clip(criticism.residuals.standardised[judged].to_numpy(), -3, 3)
    column, r, p_value = lag_correlation(residuals)
    name = judged[column]
    correlation = f"Residuals of {name} have a correlation of {r:.2f} with the previous row"
    if p_value < _LEVEL:
        reason = f"{correlation}. Probabilities are then too certain; keep every k-th row only."
        return Assumption(title, explanation, "doubtful", reason)
    reason = f"{correlation}, the largest of all columns and within chance."
    return Assumption(title, explanation, "looks fine", reason)


def _gaussian(criticism: Criticism | None) -> Assumption:
    title = "Gaussian noise"
    explanation = (
        "Noise is bell-shaped: in general, mean and variance causes can be told apart with "
        "certainty only then."
    )
    if criticism is None:
        return Assumption(title, explanation, "not checked", _NO_RESIDUALS)
    tested = criticism.variables["p_gaussian"].notna()
    if not tested.any():
        reason = "No column has noise of this kind: all are discrete."
        return Assumption(title, explanation, "not checked", reason)
    if not criticism.non_gaussian:
        which = (
            "All residuals" if tested.all() else "All residuals of columns that are not discrete"
        )
        return Assumption(title, explanation, "looks fine", f"{which} look Gaussian.")
    reason = f"Residuals are not Gaussian for {_listed(criticism.non_gaussian)}."
    p_noise = criticism.variables.loc[list(criticism.non_gaussian), "p_noise"]
    if criticism.noise != "gaussian" and not (p_noise < criticism.level).any():
        reason += f" The {criticism.noise} noise of this fit matches their shape."
    return Assumption(title, explanation, "doubtful", reason)


def _functions_suffice(criticism: Criticism | None) -> Assumption:
    title = "Only mean and spread change"
    explanation = (
        "Parents change the mean and the spread of a variable, smoothly, and nothing else."
    )
    if criticism is None:
        return Assumption(title, explanation, "not checked", _NO_RESIDUALS)
    table = criticism.dependence
    dependent = table[table["p_value"] < criticism.level].sort_values("p_value")
    if len(dependent) == 0:
        reason = "Neither residuals nor their sizes depend on other columns."
        return Assumption(title, explanation, "looks fine", reason)
    listed = _listed([f"{row.variable} on {row.other}" for row in dependent.itertuples()], 3)
    reason = f"Residuals still depend on other columns: {listed}."
    return Assumption(title, explanation, "doubtful", reason)


def _kinds(dataset: Dataset, criticism: Criticism | None) -> Assumption:
    title = "Columns are what they are taken for"
    explanation = (
        "Numbers are measured on a scale, counts count, levels have an order or none, as their "
        "kinds say; and no cell is extreme."
    )
    notes = [note for note in dataset.notes if not note.startswith("Few rows")]
    if notes:
        return Assumption(title, explanation, "doubtful", " ".join(notes))
    kinds = ", ".join(f"{n} {kind}" for kind, n in Counter(dataset.kinds).most_common())
    reason = f"No cell is extreme. Check the kinds above: {kinds}."
    return Assumption(title, explanation, "looks fine", reason)


def _enough_rows(dataset: Dataset) -> Assumption:
    n, d = dataset.n_samples, dataset.n_variables
    enough = n >= SAMPLES_PER_VARIABLE * d
    return Assumption(
        "Enough rows for free functions",
        "Functions may have any smooth shape, which takes many rows to learn.",
        "looks fine" if enough else "doubtful",
        f"{n} rows for {d} variables"
        + (
            "."
            if enough
            else f": fewer than {SAMPLES_PER_VARIABLE} each. Weak edges may be missed."
        ),
    )


def _spread_differs(screening: Screening | None) -> Assumption:
    title = "Some spread changes"
    explanation = "There are variance edges to find: noise does not have the same size everywhere."
    if screening is None:
        reason = "Not screened: it takes minutes for many variables."
        return Assumption(title, explanation, "not checked", reason)
    if screening.is_heteroscedastic:
        listed = _listed(screening.variables)
        return Assumption(title, explanation, "looks fine", f"Tests find it in {listed}.")
    reason = "No test finds it: variance edges have little support."
    return Assumption(title, explanation, "doubtful", reason)


def _listed(names: Sequence[str], most: int = 5) -> str:
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")
