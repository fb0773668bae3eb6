"""Standardised residuals, probability transforms and log scores of a fit on a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from momentdag.data import Dataset
from momentdag.effects.fitted import read_fit
from momentdag.engines.protocol import FittedModel
from momentdag.errors import DataError
from momentdag.graph import MomentGraph
from momentdag.screening.leave_one_out import LogScores, NoiseLogDensity, smoothed_scores

if TYPE_CHECKING:
    from momentdag.estimator import MomentDAG

__all__ = ["Residuals", "log_scores", "residuals"]

FloatArray: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Residuals:
    """A fit held against a table; every frame has a row for each row and a column per variable.

    Parameters
    ----------
    dataset : Dataset
    graph : MomentGraph
        The pair whose mechanisms are looked at.
    mean, sd : DataFrame
        Conditional moments, in the data's units.
    standardised : DataFrame
        (x - mean) / sd.
    pit : DataFrame
        Probability of a value up to x under the fitted noise: uniform if that is right.
    seen : bool
        Whether the table is the one the fit was made from.
    """

    dataset: Dataset
    graph: MomentGraph
    mean: pd.DataFrame
    sd: pd.DataFrame
    standardised: pd.DataFrame
    pit: pd.DataFrame
    seen: bool


def residuals(estimator: MomentDAG, X: object, graph: MomentGraph | None) -> Residuals:
    """Hold a fit against a table, at its most probable pair unless another is given.

    Raises
    ------
    NotFittedError, OptionError
        If the estimator is not fitted or has no mechanisms.
    DataError
        If the table has other columns.
    GraphError
        If the graph has other variables.
    """
    fitted = read_fit(estimator)
    dataset = Dataset.from_table(X)
    if dataset.names != fitted.names:
        raise DataError(f"Expected the columns {list(fitted.names)}; got {list(dataset.names)}.")
    pair = estimator.best_graph_ if graph is None else graph.reorder(fitted.names)
    values = dataset.values
    parts: dict[str, dict[str, FloatArray]] = {"mean": {}, "sd": {}, "standardised": {}, "pit": {}}
    mechanisms = fitted.model.mean_functions(pair)
    for j, name in enumerate(dataset.names):
        mean, sd = mechanisms[name].moments(values)
        noise = (values[:, j] - mean) / sd
        found = (mean, sd, noise, mechanisms[name].noise_cdf(noise))
        for part, column in zip(parts.values(), found, strict=True):
            part[name] = column
    frames = {what: pd.DataFrame(part) for what, part in parts.items()}
    seen = dataset.fingerprint == fitted.posterior.provenance.data_hash
    return Residuals(dataset, pair, **frames, seen=seen)


def log_scores(
    rng: np.random.Generator, model: FittedModel, held: Residuals, n_draws: int
) -> dict[str, LogScores]:
    """Return each variable's log scores over draws of its function, in the data's units.

    On the rows of the fit they are leave-one-out scores; on new rows, log predictive densities.
    The noise shape is that of the fit: it is not drawn.
    """
    values = held.dataset.values
    fixed = model.mean_functions(held.graph)
    noises = {name: NoiseLogDensity(fixed[name]) for name in held.dataset.names}
    densities: dict[str, list[FloatArray]] = {name: [] for name in held.dataset.names}
    for _ in range(n_draws):
        drawn = model.draw_functions(rng, held.graph)
        for j, name in enumerate(held.dataset.names):
            mean, sd = drawn[name].moments(values)
            densities[name].append(noises[name]((values[:, j] - mean) / sd) - np.log(sd))
    scores = {}
    for name, of_draws in densities.items():
        stacked = np.stack(of_draws)
        if held.seen:
            scores[name] = smoothed_scores(stacked)
        else:
            mixture = np.logaddexp.reduce(stacked, axis=0) - np.log(n_draws)
            scores[name] = LogScores(mixture, np.full(mixture.shape, -np.inf))
    return scores
