"""What the answers rest on, in plain words, and what these data say about each of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from momentdag.data import Dataset
from momentdag.data.checks import SAMPLES_PER_VARIABLE
from momentdag.report.convergence import Convergence

if TYPE_CHECKING:
    from momentdag.screening import Criticism, Screening

__all__ = ["Assumption", "Verdict", "judge_assumptions", "lag_correlation"]

Verdict: TypeAlias = Literal["looks fine", "doubtful", "not checked", "cannot be checked"]

_LEVEL = 0.01  # chance of a false alarm about the order of the rows
_NO_RESIDUALS = "There are no residuals to look at: see the section on criticism."


@dataclass(frozen=True)
class Assumption:
    """One assumption with what the data say of it."""

    title: str
    plainly: str
    verdict: Verdict
    because: str


def judge_assumptions(
    dataset: Dataset,
    convergence: Convergence,
    screening: Screening | None,
    criticism: Criticism | None,
) -> list[Assumption]:
    """Return the assumptions, with a verdict on those that data can speak to."""
    return [
        _no_hidden_causes(criticism),
        Assumption(
            "No cycles",
            "No variable acts back on its own causes while the rows were recorded.",
            "cannot be checked",
            "It is a matter of how fast the process is and when it was measured.",
        ),
        _separate_rows(dataset, criticism),
        _continuous(dataset),
        _enough_rows(dataset),
        _spread_differs(screening),
        _gaussian(criticism),
        _functions_suffice(criticism),
        Assumption(
            "The draws stand for the posterior",
            "The sampler has seen enough graphs for its shares to be probabilities.",
            "doubtful" if convergence.is_poor else "looks fine",
            convergence.message,
        ),
    ]


def lag_correlation(residuals: npt.NDArray[np.float64]) -> tuple[int, float, float]:
    """Return the column of (n, d) that follows its own previous row most, r, and a p-value.

    r is the lag-one autocorrelation; without any, r √n is nearly standard normal. The p-value is
    two-sided and multiplied by d.

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
    plainly = "Whatever moves two of the variables is itself among the columns."
    why = "Data cannot prove it; ask who knows the process."
    if criticism is not None:
        pairs = criticism.noise_pairs
        found = pairs[pairs["p_value"] < criticism.level].sort_values("p_value")
        if len(found):
            listed = _listed([f"{one.first} and {one.second}" for one in found.itertuples()], 3)
            why = f"What is left unexplained moves together in {listed}: a sign of a hidden cause."
            return Assumption(title, plainly, "doubtful", why)
        why = f"Residuals show no sign of one. {why}"
    return Assumption(title, plainly, "cannot be checked", why)


def _separate_rows(dataset: Dataset, criticism: Criticism | None) -> Assumption:
    title = "Rows stand alone"
    plainly = "One row says nothing about the next: no drift, no repeated measures."
    if criticism is None:
        return Assumption(title, plainly, "not checked", _NO_RESIDUALS)
    # Large residuals are cut: a few must not decide.
    residuals = np.clip(criticism.residuals.standardised.to_numpy(), -3, 3)
    column, r, p_value = lag_correlation(residuals)
    followed = f"Residuals of {dataset.names[column]} have a correlation of {r:.2f} with the row "
    if p_value < _LEVEL:
        because = f"{followed}before. Probabilities are then too sure; thin the rows."
        return Assumption(title, plainly, "doubtful", because)
    because = f"{followed}before, the largest of all columns and within chance."
    return Assumption(title, plainly, "looks fine", because)


def _gaussian(criticism: Criticism | None) -> Assumption:
    title = "Gaussian noise"
    plainly = (
        "Noise is bell-shaped: then, and in general only then, mean and variance causes can be "
        "told apart for certain."
    )
    if criticism is None:
        return Assumption(title, plainly, "not checked", _NO_RESIDUALS)
    if not criticism.non_gaussian:
        return Assumption(title, plainly, "looks fine", "Residuals look Gaussian throughout.")
    unlike = f"Residuals are not Gaussian for {_listed(criticism.non_gaussian)}."
    misfits = criticism.variables.index[criticism.variables["p_noise"] < criticism.level]
    if criticism.noise != "gaussian" and len(misfits) == 0:
        unlike += f" The {criticism.noise} noise of this fit follows their shape."
    return Assumption(title, plainly, "doubtful", unlike)


def _functions_suffice(criticism: Criticism | None) -> Assumption:
    title = "Mean and spread say it all"
    plainly = "Given its parents only the mean and the spread of a variable change, smoothly."
    if criticism is None:
        return Assumption(title, plainly, "not checked", _NO_RESIDUALS)
    table = criticism.dependence
    found = table[table["p_value"] < criticism.level].sort_values("p_value")
    if len(found) == 0:
        because = "No residual, nor its size, still depends on another column."
        return Assumption(title, plainly, "looks fine", because)
    listed = _listed([f"{one.variable} on {one.other}" for one in found.itertuples()], 3)
    because = f"Something in the residuals still depends on other columns: {listed}."
    return Assumption(title, plainly, "doubtful", because)


def _continuous(dataset: Dataset) -> Assumption:
    title = "Numbers, not categories"
    plainly = "Every column is measured on a continuous scale, without extreme cells."
    notes = [note for note in dataset.notes if not note.startswith("Few rows")]
    if notes:
        return Assumption(title, plainly, "doubtful", " ".join(notes))
    because = "No column is discrete or has extreme cells."
    return Assumption(title, plainly, "looks fine", because)


def _enough_rows(dataset: Dataset) -> Assumption:
    n, d = dataset.n_samples, dataset.n_variables
    enough = n >= SAMPLES_PER_VARIABLE * d
    return Assumption(
        "Enough rows for free functions",
        "Functions may have any smooth shape, which takes rows to find.",
        "looks fine" if enough else "doubtful",
        f"{n} rows for {d} variables"
        + ("." if enough else f": fewer than {SAMPLES_PER_VARIABLE} each. Weak edges are missed."),
    )


def _spread_differs(screening: Screening | None) -> Assumption:
    title = "Some spread changes"
    plainly = "The variance graph has something to find: noise is not of the same size everywhere."
    if screening is None:
        because = "The screen was left out here: it takes long for many variables."
        return Assumption(title, plainly, "not checked", because)
    if screening.is_heteroscedastic:
        listed = _listed(screening.variables)
        return Assumption(title, plainly, "looks fine", f"Tests find it in {listed}.")
    because = "No test finds it: edges of the variance graph rest on little."
    return Assumption(title, plainly, "doubtful", because)


def _listed(names: Sequence[str], most: int = 5) -> str:
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")
