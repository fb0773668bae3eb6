"""The screen before the fit and the criticism after it, as the page shows them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from momentdag.data import Dataset
from momentdag.report.picture import shown_pair
from momentdag.screening import Criticism, Screening, criticise, heteroscedasticity

if TYPE_CHECKING:
    from momentdag.estimator import MomentDAG
    from momentdag.knowledge import Knowledge

__all__ = ["CriticismContent", "ScreeningContent", "criticise_fit", "screen_data"]

_MOST_SCREENED = 20
_MOST_CRITICISED = 60
_N_SCORE_DRAWS = 40
_N_QUANTILES = 200
_N_BINS = 20


@dataclass(frozen=True)
class ScreeningContent:
    """The screen.

    Parameters
    ----------
    sentences : list of str
        Head, one for each variable, conclusion.
    rows : list of dict
        variable, the p-values, heteroscedastic, moves_with.
    level : float
    """

    sentences: list[str]
    rows: list[dict[str, Any]]
    level: float


@dataclass(frozen=True)
class CriticismContent:
    """The criticism.

    Parameters
    ----------
    findings : list of str
        What speaks against the model, each with something to try.
    score : str
        The log score, in a sentence.
    level : float
        Chance of any false alarm.
    rows : list of dict
        For each variable skewness, excess_kurtosis, p_gaussian, p_noise, log_score.
    quantiles : list of float array
        Of each variable's standardised residuals, at ``normal``.
    normal : float array
        Normal quantiles.
    bins : list of float array
        Shares of the probability transforms in equal bins: 1 where the fitted noise is right.
    values, fitted, residuals : float array, shape (n_rows, d)
        Some rows: the data, conditional means and standardised residuals.
    """

    findings: list[str]
    score: str
    level: float
    rows: list[dict[str, Any]]
    quantiles: list[Any]
    normal: Any
    bins: list[Any]
    values: Any
    fitted: Any
    residuals: Any


def screen_data(
    dataset: Dataset, knowledge: Knowledge | None
) -> tuple[Screening, ScreeningContent] | None:
    """Screen the data for heteroscedasticity; None for many variables, which takes minutes."""
    if dataset.n_variables > _MOST_SCREENED:
        return None
    found = heteroscedasticity(dataset, knowledge=knowledge)
    rows = found.to_frame().reset_index().to_dict("records")
    return found, ScreeningContent(found.describe().split("\n"), rows, found.level)


def criticise_fit(
    estimator: MomentDAG, dataset: Dataset, shown: npt.NDArray[np.intp]
) -> tuple[Criticism, CriticismContent] | None:
    """Hold the consensus pair against the data; None for families without mechanisms."""
    if estimator.scm_ is None or dataset.n_variables > _MOST_CRITICISED:
        return None
    found = criticise(estimator, dataset, graph=shown_pair(estimator), n_draws=_N_SCORE_DRAWS)
    _, *findings, score = found.describe().split("\n")
    held = found.residuals
    n_quantiles = min(_N_QUANTILES, dataset.n_samples)
    # Of many rows, quantiles at even steps of probability and both ends.
    at = np.unique(np.linspace(0, dataset.n_samples - 1, n_quantiles).astype(np.intp))
    curves = [found.quantiles(name) for name in dataset.names]
    bins = [
        np.histogram(held.pit[name], bins=_N_BINS, range=(0, 1), density=True)[0]
        for name in dataset.names
    ]
    return found, CriticismContent(
        [text.removeprefix("- ") for text in findings],
        score,
        found.level,
        found.to_frame().reset_index().to_dict("records"),
        [curve["residual"].to_numpy()[at] for curve in curves],
        curves[0]["normal"].to_numpy()[at],
        bins,
        dataset.values[shown],
        held.mean.to_numpy()[shown],
        held.standardised.to_numpy()[shown],
    )
