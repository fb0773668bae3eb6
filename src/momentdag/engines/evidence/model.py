"""The fitted model of the evidence engine: mechanisms of any graph pair, densities of rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from momentdag.engines.evidence.calibration import calibrate
from momentdag.engines.evidence.discrete import DiscreteEvidenceMechanism, discrete_mechanism
from momentdag.engines.evidence.local.interventions import InterventionScorer, scorer_of
from momentdag.engines.evidence.local.location_scale import LocalFit, LocalScorer
from momentdag.engines.evidence.local.mixed import MixedScorer
from momentdag.engines.evidence.local.protocol import Parents
from momentdag.engines.evidence.mechanisms import (
    DrawnMechanism,
    EvidenceMechanism,
    LocalMechanism,
    Units,
    mechanism_bytes,
)
from momentdag.engines.evidence.refit import AllRows, Coefficients, chunks, refit
from momentdag.engines.evidence.state import ModelParts, read_parts, write_parts
from momentdag.engines.evidence.support.bitmasks import column_mask
from momentdag.engines.evidence.support.cache import BudgetedCache
from momentdag.engines.standardise import ColumnUnits
from momentdag.graph import MomentGraph
from momentdag.posterior import Posterior
from momentdag.storage.state import State

__all__ = ["EvidenceModel"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

AnyMechanism: TypeAlias = EvidenceMechanism | DiscreteEvidenceMechanism

_BUDGET_BYTES = 256 * 2**20
_CALIBRATION_ROWS = 10_000
"""Rows of a long table, at most, that fitted moments are held against."""


class EvidenceModel:
    """Mechanisms of every variable under any graph pair, in original units.

    Those that were asked for are kept within ``budget_bytes``.

    Parameters
    ----------
    units : ColumnUnits
        Of the data's columns.
    columns : int array, shape (d,)
        The engine's order of the columns.
    scorer : LocalScorer or InterventionScorer
        Of the rows that structure was learned from.
    budget_bytes : int
    rows : AllRows or None
        All rows, if those of the scorer are a subset: functions are fitted to them.
    """

    def __init__(
        self,
        units: ColumnUnits,
        columns: npt.NDArray[np.intp],
        scorer: LocalScorer | InterventionScorer,
        budget_bytes: int = _BUDGET_BYTES,
        rows: AllRows | None = None,
    ) -> None:
        self.names = units.names
        self._units = Units(
            columns, units.location[columns], units.scale[columns], units.counts[columns]
        )
        self._kinds = units.kinds
        self.scorer = scorer
        self.rows = rows
        self._position = {units.names[c]: k for k, c in enumerate(columns)}
        self._mechanisms: BudgetedCache[
            tuple[int, Parents], LocalMechanism | DiscreteEvidenceMechanism
        ] = BudgetedCache(budget_bytes, _bytes)

    def to_state(self) -> State:
        """Return the model as plain values and arrays; mechanisms are fitted again from them."""
        columns, location, scale, _ = self._units
        back = np.argsort(columns)
        units = ColumnUnits(self.names, location[back], scale[back], self._kinds)
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

    def mechanism(
        self, graph: MomentGraph, name: str
    ) -> LocalMechanism | DiscreteEvidenceMechanism:
        """Return the fitted mechanism of one variable under a graph pair."""
        variable = self._position[name]
        parents = self._parents(graph, variable)
        return self._mechanisms.get((variable, parents), lambda: self._fitted(variable, parents))

    def _fitted(
        self, variable: int, parents: Parents
    ) -> LocalMechanism | DiscreteEvidenceMechanism:
        scorer = scorer_of(self.scorer, variable)
        all_rows = None if self.rows is None else self.rows.of(variable)
        fit = scorer.fit(variable, parents)
        if not isinstance(fit, LocalFit):
            assert isinstance(scorer, MixedScorer)
            return discrete_mechanism(scorer, variable, parents, fit, self._units)
        mean_basis = scorer.mean_features.projection(parents.mean)
        scale_basis = scorer.variance_features.projection(parents.variance)
        u, variances = scorer.scale_posterior(fit, parents)
        if all_rows is not None and fit.converged:
            found = refit(
                all_rows,
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
        if all_rows is not None:
            # Every so many rows: tables are often sorted.
            step = -(-len(all_rows.values) // _CALIBRATION_ROWS)
            rows, target = all_rows.values[::step], all_rows.targets[::step, variable]
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
            total[part] = self._log_density(values[part], pairs)
        return total

    def _log_density(
        self, values: FloatArray, pairs: list[tuple[MomentGraph, float]]
    ) -> FloatArray:
        z = self._units.standardise(values)
        local: dict[tuple[int, Parents], FloatArray] = {}
        total: FloatArray = np.full(len(z), -np.inf)
        for graph, weight in pairs:
            log_density = np.full(len(z), np.log(weight))
            for name, k in self._position.items():
                key = (k, self._parents(graph, k))
                if key not in local:
                    local[key] = self._local(values, z, k, self.mechanism(graph, name))
                log_density += local[key]
            total = np.logaddexp(total, log_density)
        return total

    def _local(
        self,
        values: FloatArray,
        z: FloatArray,
        k: int,
        mechanism: LocalMechanism | DiscreteEvidenceMechanism,
    ) -> FloatArray:
        """Return the log density of one variable at rows ``values``, standardised ``z`` (n, d)."""
        if isinstance(mechanism, LocalMechanism):
            own = _local_log_density(z[:, k], mechanism, z)
            return np.asarray(own - np.log(self._units.scale[k]))
        return mechanism.log_masses(values, values[:, self._units.columns[k]])

    def moments(
        self, values: FloatArray, graph: MomentGraph, variable: str
    ) -> tuple[FloatArray, FloatArray]:
        """Return the conditional mean and sd of ``variable`` for each row, ((n,), (n,))."""
        return self.mean_functions(graph)[variable].moments(values)

    def mean_functions(self, graph: MomentGraph) -> Mapping[str, AnyMechanism]:
        """Return every variable's mechanism at its posterior mean given a graph pair."""
        return _Functions(self, graph, None)

    def draw_functions(
        self, rng: np.random.Generator, graph: MomentGraph
    ) -> Mapping[str, AnyMechanism]:
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


def _bytes(mechanism: LocalMechanism | DiscreteEvidenceMechanism) -> int:
    if isinstance(mechanism, LocalMechanism):
        return mechanism_bytes(mechanism)
    functions = mechanism.functions
    bases = (functions.mean_basis, functions.scale_basis)
    return sum(array.nbytes for basis in bases for array in (basis.inducing, basis.weights))


class _Functions(Mapping[str, AnyMechanism]):
    """The mechanisms of all variables, made on first use; drawn if there is an ``rng``."""

    def __init__(
        self, model: EvidenceModel, graph: MomentGraph, rng: np.random.Generator | None
    ) -> None:
        self._model = model
        self._graph = graph
        # Taken now: what comes of this draw must not depend on when it is looked at.
        self._seed = None if rng is None else int(rng.integers(2**63))
        self._made: dict[str, AnyMechanism] = {}

    def __getitem__(self, name: str) -> AnyMechanism:
        if name not in self._made:
            model = self._model
            variable = model._position[name]
            local = model.mechanism(self._graph, name)
            mechanism: LocalMechanism | DrawnMechanism | DiscreteEvidenceMechanism = local
            if self._seed is not None:
                mechanism = local.draw(np.random.default_rng([self._seed, variable]))
            if isinstance(mechanism, DiscreteEvidenceMechanism):
                self._made[name] = mechanism
                return mechanism
            column = scorer_of(model.scorer, variable).mean_features.values[:, variable]
            self._made[name] = EvidenceMechanism(mechanism, model._units, variable, column)
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._model.names)

    def __len__(self) -> int:
        return len(self._model.names)
