"""Standardised residuals, probability transforms and log scores of a fit on a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import ndtri

from momentdag.effects.inputs import read_inputs
from momentdag.engines.protocol import (
    AnyMechanism,
    DiscreteMechanism,
    FittedModel,
    as_continuous,
    as_discrete,
)
from momentdag.errors import DataError
from momentdag.graph import MomentGraph
from momentdag.screening.leave_one_out import LogScores, NoiseLogDensity, smoothed_scores
from momentdag.screening.tables import complete_rows, read_table_of
from momentdag.table import Dataset

if TYPE_CHECKING:
    from momentdag.estimator import MomentDAG

__all__ = ["Residuals", "compute_residuals", "fitted_mechanisms", "log_scores", "spread_transform"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

_EDGE = 1e-12  # of a probability transform: its normal quantile stays finite
_LEAST_LOG = -700.0  # log probability of a level that a draw excludes: finite, so that means exist


@dataclass(frozen=True, eq=False)
class Residuals:
    """A fit compared with a table; every frame has the table's rows and columns.

    Parameters
    ----------
    dataset : Dataset
    graph : MomentGraph
        The pair whose mechanisms are used.
    mean, sd : DataFrame
        Conditional moments, in the data's units.
    standardised : DataFrame
        (x - mean) / sd; of discrete variables normal quantiles of ``pit``.
    pit : DataFrame
        Probability integral transform under the fitted noise: uniform if that is right; of discrete
        variables a random point between P(Y < y) and P(Y <= y).
    seen : bool
        Whether the table is the one the model was fitted to.
    discrete : frozenset of str
        Variables that have probabilities of levels in place of noise.
    """

    dataset: Dataset
    graph: MomentGraph
    mean: pd.DataFrame
    sd: pd.DataFrame
    standardised: pd.DataFrame
    pit: pd.DataFrame
    seen: bool
    discrete: frozenset[str] = frozenset()


def fitted_mechanisms(
    estimator: MomentDAG, dataset: Dataset, graph: MomentGraph | None
) -> tuple[MomentGraph, Mapping[str, AnyMechanism]]:
    """Return a pair, the most probable one by default, with its mechanisms at posterior means.

    Raises
    ------
    NotFittedError, OptionError
        If the estimator is not fitted or has no mechanisms.
    DataError
        If the table has other columns than the fit.
    GraphError
        If the graph has other variables.
    """
    inputs = read_inputs(estimator)
    if dataset.names != inputs.names:
        raise DataError(f"Expected the columns {list(inputs.names)}; got {list(dataset.names)}.")
    pair = estimator.best_graph_ if graph is None else graph.reorder(inputs.names)
    return pair, inputs.model.mean_functions(pair)


def compute_residuals(estimator: MomentDAG, X: object, graph: MomentGraph | None) -> Residuals:
    """Compare a fit with a table; errors are those of `fitted_mechanisms`."""
    table = read_table_of(estimator, X, min_variables=1)
    dataset = complete_rows(table)
    pair, mechanisms = fitted_mechanisms(estimator, dataset, graph)
    values = dataset.values
    parts: dict[str, dict[str, FloatArray]] = {"mean": {}, "sd": {}, "standardised": {}, "pit": {}}
    for j, name in enumerate(dataset.names):
        mechanism = mechanisms[name]
        mean, sd = mechanism.moments(values)
        discrete = as_discrete(mechanism)
        if discrete is None:
            noise = (values[:, j] - mean) / sd
            pit = as_continuous(mechanism).noise_cdf(noise)
        else:
            pit = spread_transform(np.random.default_rng(j), discrete, values, values[:, j])
            noise = np.asarray(ndtri(pit))
        columns = (mean, sd, noise, pit)
        for part, column in zip(parts.values(), columns, strict=True):
            part[name] = column
    frames = {label: pd.DataFrame(part) for label, part in parts.items()}
    seen = table.fingerprint == estimator.posterior_.provenance.data_hash
    discrete_names = frozenset(name for name, one in mechanisms.items() if one.is_discrete)
    return Residuals(dataset, pair, **frames, seen=seen, discrete=discrete_names)


def spread_transform(
    rng: np.random.Generator, mechanism: DiscreteMechanism, values: FloatArray, y: FloatArray
) -> FloatArray:
    """Return P(Y < y) plus a random part of P(Y = y): uniform if the model is right.

    Randomised quantile residuals (Dunn and Smyth 1996).
    """
    upper = mechanism.distribution(values, y)
    mass = np.exp(mechanism.log_masses(values, y))
    return np.clip(upper - rng.random(len(y)) * mass, _EDGE, 1 - _EDGE)


def log_scores(
    rng: np.random.Generator, model: FittedModel, residuals: Residuals, n_draws: int
) -> dict[str, LogScores]:
    """Return each variable's log scores over draws of its function, in the data's units.

    On the rows of the fit they are leave-one-out scores; on new rows, log predictive densities.
    The noise shape stays that of the fit.
    """
    names, values = residuals.dataset.names, residuals.dataset.values
    fixed = model.mean_functions(residuals.graph)
    noises = {
        name: NoiseLogDensity(as_continuous(fixed[name]))
        for name in names
        if not fixed[name].is_discrete
    }
    densities: dict[str, list[FloatArray]] = {name: [] for name in names}
    for _ in range(n_draws):
        drawn = model.draw_functions(rng, residuals.graph)
        for j, name in enumerate(names):
            discrete = as_discrete(drawn[name])
            if discrete is not None:
                masses = discrete.log_masses(values, values[:, j])
                densities[name].append(np.maximum(masses, _LEAST_LOG))
                continue
            mean, sd = drawn[name].moments(values)
            densities[name].append(noises[name]((values[:, j] - mean) / sd) - np.log(sd))
    scores = {}
    for name, of_draws in densities.items():
        stacked = np.stack(of_draws)
        if residuals.seen:
            scores[name] = smoothed_scores(stacked)
        else:
            mixture = np.logaddexp.reduce(stacked, axis=0) - np.log(n_draws)
            scores[name] = LogScores(mixture, np.full(mixture.shape, -np.inf))
    return scores
