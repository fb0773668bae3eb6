"""The screen for heteroscedasticity and the criticism of the fit, as the page shows them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from momentdag.report.criticism_groups import FindingGroup, group_findings
from momentdag.screening import Criticism, Screening, criticise, heteroscedasticity
from momentdag.table import Dataset

if TYPE_CHECKING:
    from momentdag.estimator import MomentDAG
    from momentdag.graph import MomentGraph

__all__ = ["CriticismContent", "ScreeningContent", "criticise_fit", "screen_data"]

_MAX_SCREENED = 20
_MAX_CRITICISED = 60
_N_SCORE_DRAWS = 100  # fewer make ordinary rows look influential
_N_QUANTILES = 200
_N_BINS = 20


@dataclass(frozen=True)
class ScreeningContent:
    """The screen as sentences and table rows.

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
    """The criticism as sentences, table rows and plot data.

    Parameters
    ----------
    groups : list of FindingGroup
        Evidence against the model by what is wrong, with something to try.
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
        Histogram densities of the probability transforms: 1 where the fitted noise is right.
    values, fitted, residuals : float array, shape (n_rows, d)
        The rows shown: data, conditional means (of binary columns the probability of the higher
        value) and standardised residuals.
    """

    groups: list[FindingGroup]
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
    estimator: MomentDAG, dataset: Dataset, consensus: MomentGraph
) -> tuple[Screening, ScreeningContent] | None:
    """Screen the data for heteroscedasticity; None for many variables, which takes minutes.

    Graphs and mean functions are those of the fit. Only a family without mechanisms needs the
    quick search of the screen.
    """
    if dataset.n_variables > _MAX_SCREENED:
        return None
    if estimator.scm_ is None:
        screening = heteroscedasticity(dataset, knowledge=estimator.knowledge)
    else:
        screening = heteroscedasticity(dataset, model=estimator, graph=consensus)
    rows = screening.to_frame().reset_index().to_dict("records")
    return screening, ScreeningContent(screening.describe().split("\n"), rows, screening.level)


def criticise_fit(
    estimator: MomentDAG, dataset: Dataset, consensus: MomentGraph, shown: npt.NDArray[np.intp]
) -> tuple[Criticism, CriticismContent] | None:
    """Compare the consensus pair with the data; None without mechanisms or for many variables."""
    if estimator.scm_ is None or dataset.n_variables > _MAX_CRITICISED:
        return None
    criticism = criticise(estimator, dataset, graph=consensus, n_draws=_N_SCORE_DRAWS)
    score = criticism.describe().split("\n")[-1]
    residuals = criticism.residuals
    n_rows = residuals.dataset.n_samples  # without incomplete ones
    n_quantiles = min(_N_QUANTILES, n_rows)
    # For many rows, quantiles at even steps of probability and both ends.
    at = np.unique(np.linspace(0, n_rows - 1, n_quantiles).astype(np.intp))
    curves = [criticism.quantiles(name) for name in dataset.names]
    bins = [
        np.histogram(residuals.pit[name], bins=_N_BINS, range=(0, 1), density=True)[0]
        for name in dataset.names
    ]
    return criticism, CriticismContent(
        group_findings(criticism, estimator.result_.observed.log_columns),
        score,
        criticism.level,
        criticism.to_frame().reset_index().to_dict("records"),
        [curve["residual"].to_numpy()[at] for curve in curves],
        curves[0]["normal"].to_numpy()[at],
        bins,
        residuals.dataset.values[shown],
        _fitted(estimator, residuals.mean).to_numpy()[shown],
        residuals.standardised.to_numpy()[shown],
    )


def _fitted(estimator: MomentDAG, mean: pd.DataFrame) -> pd.DataFrame:
    """Return conditional means with those of binary columns as probabilities."""
    observed = estimator.result_.observed
    shown = mean.copy()
    for name, kind in observed.kinds.items():
        if kind == "binary":
            low, high = observed.levels[name]
            shown[name] = (mean[name] - low) / (high - low)
    return shown
