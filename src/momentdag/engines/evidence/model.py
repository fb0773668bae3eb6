"""Fitted mechanisms of the evidence engine: densities, moments and drawn functions.

Given a graph pair, the coefficients w of a mean and u of a log standard deviation have Gaussian
posteriors in closed form, so functions can be drawn together with graphs:
P(mean graph, variance graph, functions | data).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.linalg import solve_triangular

from momentdag.data import Dataset
from momentdag.engines.evidence.family import Parents
from momentdag.engines.evidence.features import FeatureMap
from momentdag.engines.evidence.noise import NoiseDensity
from momentdag.engines.evidence.prior import column_mask
from momentdag.engines.evidence.score import LocalFit, LocalScorer
from momentdag.graph import MomentGraph
from momentdag.posterior import Posterior

__all__ = ["DrawnFunction", "DrawnMechanism", "EvidenceModel", "LocalMechanism"]

FloatArray: TypeAlias = npt.NDArray[np.float64]


class Prediction(NamedTuple):
    """Conditional moments in standardised units, functions integrated out, each (n,)."""

    mean: FloatArray
    mean_variance: FloatArray
    log_std: FloatArray
    log_std_variance: FloatArray


@dataclass(frozen=True)
class LocalMechanism:
    """One variable given its parents, in standardised units.

    Parameters
    ----------
    fit : LocalFit
    parents : Parents
    mean_features, variance_features : FeatureMap
    coefficients : float array, shape (r,)
        Posterior mean of u; that of w is in ``fit.mean``.
    variances : float array, shape (r,)
        Posterior variances of u, which is diagonal.
    """

    fit: LocalFit
    parents: Parents
    mean_features: FeatureMap
    variance_features: FeatureMap
    coefficients: FloatArray
    variances: FloatArray

    @property
    def noise(self) -> NoiseDensity:
        """The standardised noise density."""
        return self.fit.noise

    def predict(self, values: FloatArray) -> Prediction:
        """Return conditional moments at rows of standardised ``values`` (n, d)."""
        Q = self.mean_features.project(self.parents.mean, values)
        P = self.variance_features.project(self.parents.variance, values)
        half = solve_triangular(self.fit.mean.factor, Q.T, lower=True)
        return Prediction(
            Q @ self.fit.mean.coefficients,
            np.einsum("ij,ij->j", half, half),
            P @ self.coefficients,
            (P * P) @ self.variances,
        )

    def draw(self, rng: np.random.Generator) -> DrawnMechanism:
        """Draw the functions of this mechanism from their posterior."""
        factor = self.fit.mean.factor
        w = self.fit.mean.coefficients + solve_triangular(
            factor, rng.standard_normal(len(factor)), lower=True, trans="T"
        )
        u = self.coefficients + np.sqrt(self.variances) * rng.standard_normal(len(self.variances))
        return DrawnMechanism(self, w, u)


@dataclass(frozen=True)
class DrawnMechanism:
    """Functions of one variable drawn from their posterior."""

    local: LocalMechanism
    mean_coefficients: FloatArray
    scale_coefficients: FloatArray

    def moments(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and sd at rows of standardised ``values`` (n, d)."""
        local = self.local
        Q = local.mean_features.project(local.parents.mean, values)
        P = local.variance_features.project(local.parents.variance, values)
        return Q @ self.mean_coefficients, np.exp(P @ self.scale_coefficients)


class EvidenceModel:
    """Mechanisms of every variable under any graph pair, in original units."""

    def __init__(
        self,
        dataset: Dataset,
        columns: npt.NDArray[np.intp],
        scorer: LocalScorer,
    ) -> None:
        self.names = dataset.names
        self._columns = columns
        self._location = dataset.location[columns]
        self._scale = dataset.scale[columns]
        self._scorer = scorer
        self._position = {dataset.names[c]: k for k, c in enumerate(columns)}
        self._mechanisms: dict[tuple[int, Parents], LocalMechanism] = {}

    def _standardise(self, values: FloatArray) -> FloatArray:
        return (values[:, self._columns] - self._location) / self._scale

    def _parents(self, graph: MomentGraph, variable: int) -> Parents:
        own = self._columns[variable]
        mean = graph.mean_graph[self._columns, own]
        variance = graph.variance_graph[self._columns, own]
        return Parents(column_mask(mean), column_mask(variance))

    def mechanism(self, graph: MomentGraph, name: str) -> LocalMechanism:
        """Return the fitted mechanism of one variable under a graph pair."""
        variable = self._position[name]
        parents = self._parents(graph, variable)
        key = (variable, parents)
        if key not in self._mechanisms:
            scorer = self._scorer
            fit = scorer.fit(variable, parents)
            u, variances = scorer.scale_posterior(fit, parents)
            self._mechanisms[key] = LocalMechanism(
                fit, parents, scorer.mean_features, scorer.variance_features, u, variances
            )
        return self._mechanisms[key]

    def log_density(self, values: FloatArray, posterior: Posterior) -> FloatArray:
        """Return the log density of each row of ``values`` (n, d) under the mixture, (n,)."""
        z = self._standardise(values)
        units = -float(np.log(self._scale).sum())
        local: dict[tuple[int, Parents], FloatArray] = {}
        total: FloatArray = np.full(len(z), -np.inf)
        for graph, weight in posterior.distinct_pairs():
            log_density = np.full(len(z), units + np.log(weight))
            for name, k in self._position.items():
                key = (k, self._parents(graph, k))
                if key not in local:
                    local[key] = self._local_log_density(z, k, self.mechanism(graph, name))
                log_density += local[key]
            total = np.logaddexp(total, log_density)
        return total

    def _local_log_density(
        self, z: FloatArray, variable: int, mechanism: LocalMechanism
    ) -> FloatArray:
        at = mechanism.predict(z)
        # The uncertain mean widens the noise; the log standard deviation enters at its mean.
        log_std = 0.5 * np.log(np.exp(2 * at.log_std) + at.mean_variance)
        e = (z[:, variable] - at.mean) * np.exp(-log_std)
        return np.asarray(mechanism.noise.log_density(e) - log_std)

    def moments(
        self, values: FloatArray, graph: MomentGraph, variable: str
    ) -> tuple[FloatArray, FloatArray]:
        """Return the conditional mean and sd of ``variable`` for each row, ((n,), (n,))."""
        k = self._position[variable]
        at = self.mechanism(graph, variable).predict(self._standardise(values))
        # E[v²] with the log standard deviation normal around its mean.
        sd = np.exp(at.log_std + at.log_std_variance)
        return self._location[k] + self._scale[k] * at.mean, self._scale[k] * sd

    def draw_functions(
        self, rng: np.random.Generator, graph: MomentGraph
    ) -> dict[str, DrawnFunction]:
        """Draw the functions of every variable from their posterior given a graph pair."""
        return {
            name: DrawnFunction(self, name, self.mechanism(graph, name).draw(rng))
            for name in self.names
        }


@dataclass(frozen=True)
class DrawnFunction:
    """The mean and scale functions of one variable, drawn from their posterior."""

    model: EvidenceModel
    name: str
    drawn: DrawnMechanism

    def moments(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and sd at rows of ``values`` (n, d), in the data's units and columns."""
        k = self.model._position[self.name]
        mean, sd = self.drawn.moments(self.model._standardise(values))
        scale = self.model._scale[k]
        return self.model._location[k] + scale * mean, scale * sd
