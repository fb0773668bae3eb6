"""Fitted mechanisms of the evidence engine: densities, moments and drawn functions.

Given a graph pair, the coefficients w of a mean and u of a log standard deviation have posteriors
that are Gaussian to a good approximation and can be drawn from, so functions can be drawn together
with graphs: P(mean graph, variance graph, functions | data).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.linalg import solve_triangular

from momentdag.engines.evidence.calibration import Calibration, calibrate
from momentdag.engines.evidence.local.features import Projection
from momentdag.engines.evidence.local.location_scale import LocalFit, LocalScorer
from momentdag.engines.evidence.local.noise.density import NoiseDensity
from momentdag.engines.evidence.local.protocol import Parents
from momentdag.engines.evidence.refit import AllRows, Coefficients, chunks, refit
from momentdag.engines.evidence.state import ModelParts, read_parts, write_parts
from momentdag.engines.evidence.support.bitmasks import column_mask
from momentdag.engines.evidence.support.cache import BudgetedCache
from momentdag.engines.standardise import ColumnUnits, as_inputs
from momentdag.engines.thresholds import find_thresholds
from momentdag.graph import MomentGraph
from momentdag.posterior import Posterior
from momentdag.storage.state import State

__all__ = ["DrawnMechanism", "EvidenceMechanism", "EvidenceModel", "LocalMechanism"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

_BUDGET_BYTES = 256 * 2**20
_CALIBRATION_ROWS = 10_000
"""Rows of a long table, at most, that fitted moments are held against."""
_NOISE_ROWS = 50.0
"""How many rows the fitted density of the noise counts as in simulations, next to residuals."""


class Prediction(NamedTuple):
    """Conditional moments in standardised units, functions integrated out, each (n,)."""

    mean: FloatArray
    mean_variance: FloatArray
    log_std: FloatArray
    log_std_variance: FloatArray


@dataclass(frozen=True, eq=False)
class LocalMechanism:
    """One variable given its parents, in standardised units.

    Parameters
    ----------
    fit : LocalFit
    mean_basis, scale_basis : Projection
        The basis functions of both parent sets.
    coefficients : float array, shape (s,)
        Posterior mean of u; that of w is in ``fit.mean``.
    variances : float array, shape (s,)
        Posterior variances of u, which is diagonal.
    calibration : Calibration
    rows : float array, shape (n, d)
        The rows it was fitted to.
    target : float array, shape (n,)
        The variable itself in these rows, as an effect.
    """

    fit: LocalFit
    mean_basis: Projection
    scale_basis: Projection
    coefficients: FloatArray
    variances: FloatArray
    calibration: Calibration
    rows: FloatArray
    target: FloatArray
    _thresholds: dict[bytes, FloatArray] = field(default_factory=dict)

    @property
    def noise(self) -> NoiseDensity:
        """The standardised noise density."""
        return self.fit.noise

    def predict(self, values: FloatArray) -> Prediction:
        """Return conditional moments at rows of standardised ``values`` (n, d)."""
        Q, P = self.mean_basis(values), self.scale_basis(values)
        half = solve_triangular(self.fit.mean.factor, Q.T, lower=True)
        return Prediction(
            Q @ self.fit.mean.coefficients,
            np.einsum("ij,ij->j", half, half),
            P @ self.coefficients,
            (P * P) @ self.variances,
        )

    def moments(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and sd at rows of standardised ``values`` (n, d), functions averaged."""
        P = self.scale_basis(values)
        # √E[v²] with the log standard deviation normal around its mean.
        sd = np.exp(P @ self.coefficients + (P * P) @ self.variances)
        mean = self.mean_basis.function(self.fit.mean.coefficients, values)
        return self.calibration(mean, sd)

    def outside(self, values: FloatArray) -> npt.NDArray[np.bool_]:
        """Return at which rows of standardised ``values`` the parents left the data, (n,)."""
        return self.mean_basis.outside(values) | self.scale_basis.outside(values)

    @cached_property
    def residuals(self) -> FloatArray:
        """The standardised residuals of the rows, sorted, (n,)."""
        mean, sd = self.moments(self.rows)
        return np.sort((self.target - mean) / sd)

    def simulated_noise(self, noise: FloatArray) -> FloatArray:
        """Return the distribution function of the noise as the rows have it.

        The mean of a Dirichlet process around the fitted density, given the residuals: a shape
        that the density cannot have is followed where there are rows enough to show it.
        """
        n = len(self.residuals)
        seen = np.searchsorted(self.residuals, noise, side="right")
        fitted = self.noise.distribution(noise)
        return np.asarray((seen + _NOISE_ROWS * fitted) / (n + _NOISE_ROWS))

    def thresholds(self, levels: FloatArray, column: FloatArray) -> FloatArray:
        """Return where one of the standardised levels of ``column`` (n,) gives way to the next."""
        key = levels.tobytes()
        if key not in self._thresholds:
            self._thresholds[key] = find_thresholds(
                levels, column, *self.moments(self.rows), self.simulated_noise
            )
        return self._thresholds[key]

    def draw(self, rng: np.random.Generator) -> DrawnMechanism:
        """Draw the functions of this mechanism from their posterior."""
        factor = self.fit.mean.factor
        w = self.fit.mean.coefficients + solve_triangular(
            factor, rng.standard_normal(len(factor)), lower=True, trans="T"
        )
        u = self.coefficients + np.sqrt(self.variances) * rng.standard_normal(len(self.variances))
        return DrawnMechanism(self, w, u, self.calibration.draw(rng))


@dataclass(frozen=True, eq=False)
class DrawnMechanism:
    """Functions of one variable drawn from their posterior, in standardised units.

    Parameters
    ----------
    local : LocalMechanism
        What they were drawn from.
    mean_coefficients, scale_coefficients : float array, shapes (r,) and (s,)
    calibration : Calibration
    """

    local: LocalMechanism
    mean_coefficients: FloatArray
    scale_coefficients: FloatArray
    calibration: Calibration

    @property
    def noise(self) -> NoiseDensity:
        """The standardised noise density."""
        return self.local.noise

    def simulated_noise(self, noise: FloatArray) -> FloatArray:
        """Return the distribution function of the noise as the rows have it."""
        return self.local.simulated_noise(noise)

    def outside(self, values: FloatArray) -> npt.NDArray[np.bool_]:
        """Return at which rows of standardised ``values`` the parents left the data, (n,)."""
        return self.local.outside(values)

    def thresholds(self, levels: FloatArray, column: FloatArray) -> FloatArray:
        """Return those of the averaged functions: how often a level occurs may vary with draws."""
        return self.local.thresholds(levels, column)

    def moments(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and sd at rows of standardised ``values`` (n, d)."""
        log_std = self.local.scale_basis.function(self.scale_coefficients, values)
        mean = self.local.mean_basis.function(self.mean_coefficients, values)
        return self.calibration(mean, np.exp(log_std))


def _mechanism_bytes(mechanism: LocalMechanism) -> int:
    """Return roughly the memory of what grows with rows and basis functions."""
    fit, bases = mechanism.fit, (mechanism.mean_basis, mechanism.scale_basis)
    arrays = [
        mechanism.target,
        fit.log_std,
        fit.residual,
        fit.second_moment,
        fit.mean.gram,
        fit.mean.factor,
    ]
    arrays += [array for basis in bases for array in (basis.inducing, basis.weights)]
    arrays += [basis.region.rows for basis in bases if basis.region is not None]
    return sum(array.nbytes for array in arrays)


class Units(NamedTuple):
    """From the data's columns and units to the engine's, and back."""

    columns: npt.NDArray[np.intp]
    location: FloatArray
    scale: FloatArray

    def standardise(self, values: FloatArray) -> FloatArray:
        """Return rows (n, d) in the engine's order of columns and in standard units."""
        return as_inputs((values[:, self.columns] - self.location) / self.scale)


@dataclass(frozen=True, eq=False)
class EvidenceMechanism:
    """One variable's mechanism in the data's units, an `engines.protocol.Mechanism`.

    Parameters
    ----------
    standardised : LocalMechanism or DrawnMechanism
        With averaged or with drawn functions.
    units : Units
    variable : int
        Its place in the engine's order of columns.
    column : float array, shape (n,)
        The standardised variable in the rows of the fit.
    """

    standardised: LocalMechanism | DrawnMechanism
    units: Units
    variable: int
    column: FloatArray

    def moments(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and sd at rows of ``values`` (n, d), in the data's units and columns."""
        mean, sd = np.empty((2, len(values)))
        for part in chunks(len(values)):
            z = self.units.standardise(values[part])
            mean[part], sd[part] = self.standardised.moments(z)
        scale = self.units.scale[self.variable]
        return self.units.location[self.variable] + scale * mean, scale * sd

    def draw_noise(self, rng: np.random.Generator, size: int) -> FloatArray:
        """Draw standardised noise, (size,)."""
        return self.standardised.noise.draw(rng, (size,))

    def noise_cdf(self, noise: FloatArray) -> FloatArray:
        """Return P(E <= e) for each standardised residual e, the same shape."""
        return self.standardised.noise.distribution(noise)

    def simulated_noise_cdf(self, noise: FloatArray) -> FloatArray:
        """Return the same for simulating rows: close to the residuals of the rows of the fit."""
        return self.standardised.simulated_noise(noise)

    def extrapolates(self, values: FloatArray) -> npt.NDArray[np.bool_]:
        """Return at which rows of ``values`` (n, d) the parents lie where no data were, (n,)."""
        return self.standardised.outside(self.units.standardise(values))

    def thresholds(self, levels: FloatArray) -> FloatArray:
        """Return where mean + sd · noise passes from one level of the variable to the next."""
        location, scale = self.units.location[self.variable], self.units.scale[self.variable]
        found = self.standardised.thresholds((levels - location) / scale, self.column)
        return np.asarray(location + scale * found)


class EvidenceModel:
    """Mechanisms of every variable under any graph pair, in original units.

    Those that were asked for are kept within ``budget_bytes``.

    Parameters
    ----------
    units : ColumnUnits
        Of the data's columns.
    columns : int array, shape (d,)
        The engine's order of the columns.
    scorer : LocalScorer
        Of the rows that structure was learned from.
    budget_bytes : int
    rows : AllRows or None
        All rows, if those of the scorer are a subset: functions are fitted to them.
    """

    def __init__(
        self,
        units: ColumnUnits,
        columns: npt.NDArray[np.intp],
        scorer: LocalScorer,
        budget_bytes: int = _BUDGET_BYTES,
        rows: AllRows | None = None,
    ) -> None:
        self.names = units.names
        self._units = Units(columns, units.location[columns], units.scale[columns])
        self.scorer = scorer
        self.rows = rows
        self._position = {units.names[c]: k for k, c in enumerate(columns)}
        self._mechanisms: BudgetedCache[tuple[int, Parents], LocalMechanism] = BudgetedCache(
            budget_bytes, _mechanism_bytes
        )

    def to_state(self) -> State:
        """Return the model as plain values and arrays; mechanisms are fitted again from them."""
        columns, location, scale = self._units
        back = np.argsort(columns)
        units = ColumnUnits(self.names, location[back], scale[back])
        return write_parts(ModelParts(units, columns, self.scorer, self.rows))

    @classmethod
    def from_state(cls, state: State) -> EvidenceModel:
        """Return the model that gave ``state``; its results are bit-for-bit identical.

        Raises
        ------
        StorageError
            If something is missing or malformed.
        """
        units, columns, scorer, rows = read_parts(state)
        return cls(units, columns, scorer, rows=rows)

    def standardise(self, values: FloatArray) -> FloatArray:
        """Return rows (n, d) of the data as mechanisms take them."""
        return self._units.standardise(values)

    def _parents(self, graph: MomentGraph, variable: int) -> Parents:
        columns = self._units.columns
        mean = graph.mean_graph[columns, columns[variable]]
        variance = graph.variance_graph[columns, columns[variable]]
        return Parents(column_mask(mean), column_mask(variance))

    def mechanism(self, graph: MomentGraph, name: str) -> LocalMechanism:
        """Return the fitted mechanism of one variable under a graph pair."""
        variable = self._position[name]
        parents = self._parents(graph, variable)
        return self._mechanisms.get((variable, parents), lambda: self._fitted(variable, parents))

    def _fitted(self, variable: int, parents: Parents) -> LocalMechanism:
        scorer = self.scorer
        fit = scorer.fit(variable, parents)
        mean_basis = scorer.mean_features.projection(parents.mean)
        scale_basis = scorer.variance_features.projection(parents.variance)
        u, variances = scorer.scale_posterior(fit, parents)
        if self.rows is not None and fit.converged:
            found = refit(
                self.rows,
                variable,
                (mean_basis.in_box(), scale_basis.in_box()),
                Coefficients(fit.mean, u, variances, fit.tails, fit.noise),
                scorer.prior_precisions(fit, parents),
                n_before=len(fit.residual),
                noise=scorer.noise,
            )
            fit = fit._replace(mean=found.mean, tails=found.tails, noise=found.noise)
            u, variances = found.scale, found.scale_variances
        rows, target = scorer.mean_features.values, scorer.columns[variable]
        if self.rows is not None:
            # Every so many rows: tables are often sorted.
            step = -(-len(self.rows.values) // _CALIBRATION_ROWS)
            rows, target = self.rows.values[::step], self.rows.targets[::step, variable]
        P = scale_basis(rows)
        calibration = calibrate(
            target,
            mean_basis.function(fit.mean.coefficients, rows),
            np.exp(P @ u + (P * P) @ variances),
            fit.noise.distribution,
        )
        return LocalMechanism(fit, mean_basis, scale_basis, u, variances, calibration, rows, target)

    def log_density(self, values: FloatArray, posterior: Posterior) -> FloatArray:
        """Return the log density of each row of ``values`` (n, d) under the mixture, (n,)."""
        pairs = list(posterior.distinct_pairs())
        total = np.empty(len(values))
        for part in chunks(len(values)):
            total[part] = self._log_density(self._units.standardise(values[part]), pairs)
        return total

    def _log_density(self, z: FloatArray, pairs: list[tuple[MomentGraph, float]]) -> FloatArray:
        units = -float(np.log(self._units.scale).sum())
        local: dict[tuple[int, Parents], FloatArray] = {}
        total: FloatArray = np.full(len(z), -np.inf)
        for graph, weight in pairs:
            log_density = np.full(len(z), units + np.log(weight))
            for name, k in self._position.items():
                key = (k, self._parents(graph, k))
                if key not in local:
                    local[key] = _local_log_density(z[:, k], self.mechanism(graph, name), z)
                log_density += local[key]
            total = np.logaddexp(total, log_density)
        return total

    def moments(
        self, values: FloatArray, graph: MomentGraph, variable: str
    ) -> tuple[FloatArray, FloatArray]:
        """Return the conditional mean and sd of ``variable`` for each row, ((n,), (n,))."""
        return self.mean_functions(graph)[variable].moments(values)

    def mean_functions(self, graph: MomentGraph) -> Mapping[str, EvidenceMechanism]:
        """Return every variable's mechanism at its posterior mean given a graph pair."""
        return _Functions(self, graph, None)

    def draw_functions(
        self, rng: np.random.Generator, graph: MomentGraph
    ) -> Mapping[str, EvidenceMechanism]:
        """Draw every variable's mechanism from its posterior given a graph pair.

        A mechanism is drawn when it is asked for, each from a stream of its own: asking for some
        variables costs nothing for the others, and gives what asking for all would.
        """
        return _Functions(self, graph, rng)


def _local_log_density(y: FloatArray, mechanism: LocalMechanism, z: FloatArray) -> FloatArray:
    at = mechanism.predict(z)
    # The uncertain mean widens the noise; the log standard deviation enters at its mean.
    log_std = 0.5 * np.log(np.exp(2 * at.log_std) + at.mean_variance)
    e = (y - at.mean) * np.exp(-log_std)
    return np.asarray(mechanism.noise.log_density(e) - log_std)


class _Functions(Mapping[str, EvidenceMechanism]):
    """The mechanisms of all variables, made on first use; drawn if there is an ``rng``."""

    def __init__(
        self, model: EvidenceModel, graph: MomentGraph, rng: np.random.Generator | None
    ) -> None:
        self._model = model
        self._graph = graph
        # Taken now: what comes of this draw must not depend on when it is looked at.
        self._seed = None if rng is None else int(rng.integers(2**63))
        self._made: dict[str, EvidenceMechanism] = {}

    def __getitem__(self, name: str) -> EvidenceMechanism:
        if name not in self._made:
            model = self._model
            variable = model._position[name]
            local = model.mechanism(self._graph, name)
            mechanism: LocalMechanism | DrawnMechanism = local
            if self._seed is not None:
                mechanism = local.draw(np.random.default_rng([self._seed, variable]))
            column = model.scorer.mean_features.values[:, variable]
            self._made[name] = EvidenceMechanism(mechanism, model._units, variable, column)
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._model.names)

    def __len__(self) -> int:
        return len(self._model.names)
