"""Regimes in an engine: indicator columns that are roots, and a model held in one of the regimes.

Every regime but the reference is one more column, 1 in its rows and 0 elsewhere, which has no
causes and no likelihood. An edge from it into X_j says that the regime changes the mean, or the
variance, of X_j given its other causes. Answers are about the user's variables in one regime at a
time: there the indicators are constants.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from momentdag.engines.protocol import (
    AnyMechanism,
    DiscreteMechanism,
    FittedModel,
    Mechanism,
    as_continuous,
    as_discrete,
)
from momentdag.engines.standardise import StandardisedTable
from momentdag.errors import StorageError
from momentdag.graph import MomentGraph, TargetedGraph
from momentdag.posterior import Posterior
from momentdag.posterior.targets import TargetDraws
from momentdag.storage.state import State
from momentdag.table import Dataset, Kind, Observed, Regimes

__all__ = [
    "HeldFunctions",
    "RegimeModel",
    "add_indicators",
    "hold",
    "observe_regimes",
    "split_targets",
]

FloatArray: TypeAlias = npt.NDArray[np.float64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]

_MIDDLE, _HALF = 0.5, 0.5
"""An indicator enters a function as -1 or 1, however many rows its regime has: as far apart as the
values of a balanced binary column."""


def add_indicators(table: StandardisedTable, regimes: Regimes) -> StandardisedTable:
    """Return a table with an indicator for every regime but the reference, after its columns."""
    n_more, d = len(regimes.others), len(table.units.names)
    usual: Kind = "continuous"
    kinds: tuple[Kind, ...] = table.units.kinds
    if not kinds:
        kinds = (usual,) * d
    binary: Kind = "binary"
    added = (binary,) * n_more
    units = table.units._replace(
        names=(*table.units.names, *regimes.nodes),
        location=np.append(table.units.location, np.full(n_more, _MIDDLE)),
        scale=np.append(table.units.scale, np.full(n_more, _HALF)),
        kinds=(*kinds, *added),
    )
    indicators = (regimes.indicators - _MIDDLE) / _HALF
    columns = np.append(table.columns, d + np.arange(n_more))
    return StandardisedTable(np.hstack([table.values, indicators]), columns, units)


def split_targets(
    regimes: Regimes, mean_graphs: BoolArray, variance_graphs: BoolArray
) -> tuple[BoolArray, BoolArray, TargetDraws]:
    """Return drawn graphs (n_draws, d + R, d + R) without the indicators, and their edges."""
    d = mean_graphs.shape[-1] - len(regimes.others)
    mean_targets, variance_targets = (
        np.ascontiguousarray(graphs[:, d:, :d]) for graphs in (mean_graphs, variance_graphs)
    )
    targets = TargetDraws(
        regimes.column, regimes.reference, regimes.others, mean_targets, variance_targets
    )
    return mean_graphs[:, :d, :d], variance_graphs[:, :d, :d], targets


def observe_regimes(dataset: Dataset, log_columns: tuple[str, ...] = ()) -> dict[str, Observed]:
    """Return what answers need to know of the columns in each regime; empty without regimes."""
    regimes = None if dataset.experiment is None else dataset.experiment.regimes
    if regimes is None:
        return {}
    return {level: dataset.observe(log_columns, level) for level in regimes.levels}


@dataclass(frozen=True, eq=False)
class RegimeModel:
    """A fitted model in one of the regimes.

    Parameters
    ----------
    wide : FittedModel
        Of the variables and the indicators.
    regimes : tuple of str
        All regimes, the reference first.
    usual : TargetedGraph
        Gives the targets for graphs that have none.
    code : int
        The regime that the model is held in, by its place.
    """

    wide: FittedModel
    regimes: tuple[str, ...]
    usual: TargetedGraph
    code: int = 0

    @classmethod
    def of(cls, wide: FittedModel, targets: TargetDraws) -> RegimeModel:
        """Return a model in the reference regime, given draws of what the others change."""
        names = wide.names[: len(wide.names) - len(targets.levels)]
        none = np.zeros((len(names), len(names)), dtype=bool)
        usual = TargetedGraph(
            names=names,
            mean_graph=none,
            variance_graph=none,
            regimes=targets.nodes,
            mean_targets=targets.mean.mean(axis=0) > 0.5,
            variance_targets=targets.variance.mean(axis=0) > 0.5,
        )
        return cls(wide, targets.regimes, usual)

    @property
    def names(self) -> tuple[str, ...]:
        """The variables, in the order of the data's columns."""
        return self.wide.names[: len(self.wide.names) - len(self.regimes) + 1]

    def at(self, code: int) -> RegimeModel:
        """Return the same model in another regime."""
        return replace(self, code=code)

    def _graph(self, graph: MomentGraph) -> MomentGraph:
        if isinstance(graph, TargetedGraph):
            return graph.with_regimes
        own = replace(self.usual, mean_graph=graph.mean_graph, variance_graph=graph.variance_graph)
        return own.with_regimes

    def _values(self, values: FloatArray) -> FloatArray:
        return with_indicators(values, len(self.regimes) - 1, self.code)

    def log_density(self, values: FloatArray, posterior: Posterior) -> FloatArray:
        """Return the log density of each row of ``values`` (n, d) under the mixture, (n,)."""
        wide = self._widen(posterior)
        # Of the indicators themselves: their shares among the rows, which are no part of this.
        everything = self.wide.log_density(self._values(values), wide)
        return everything - self._own_density(wide)

    def _widen(self, posterior: Posterior) -> Posterior:
        """Return a posterior with the indicators as variables."""
        n, d = len(self.wide.names), len(self.names)
        targets = posterior.target_draws
        graphs = np.zeros((2, posterior.n_draws, n, n), dtype=bool)
        graphs[0, :, :d, :d] = posterior.mean_graphs
        graphs[1, :, :d, :d] = posterior.variance_graphs
        if targets is None:
            graphs[0, :, d:, :d] = self.usual.mean_targets
            graphs[1, :, d:, :d] = self.usual.variance_targets
        else:
            graphs[0, :, d:, :d], graphs[1, :, d:, :d] = targets.mean, targets.variance
        return Posterior(self.wide.names, graphs[0], graphs[1], posterior.provenance)

    def _own_density(self, posterior: Posterior) -> float:
        graph = posterior.draw(0)
        mechanisms = self.wide.mean_functions(graph)
        values = self._values(np.zeros((1, len(self.names))))
        total = 0.0
        for k, name in enumerate(self.wide.names[len(self.names) :]):
            mechanism = as_discrete(mechanisms[name])
            assert mechanism is not None  # an indicator is binary
            total += float(mechanism.log_masses(values, values[:, len(self.names) + k])[0])
        return total

    def moments(
        self, values: FloatArray, graph: MomentGraph, variable: str
    ) -> tuple[FloatArray, FloatArray]:
        """Return the conditional mean and sd of ``variable`` for each row, ((n,), (n,))."""
        return self.mean_functions(graph)[variable].moments(values)

    def mean_functions(self, graph: MomentGraph) -> Mapping[str, AnyMechanism]:
        """Return every variable's mechanism at its posterior mean given a graph pair."""
        return self._held(self.wide.mean_functions(self._graph(graph)))

    def draw_functions(
        self, rng: np.random.Generator, graph: MomentGraph
    ) -> Mapping[str, AnyMechanism]:
        """Draw every variable's mechanism from its posterior given a graph pair."""
        return self._held(self.wide.draw_functions(rng, self._graph(graph)))

    def _held(self, functions: Mapping[str, AnyMechanism]) -> Mapping[str, AnyMechanism]:
        return HeldFunctions(functions, self.names, len(self.regimes) - 1, self.code)

    def to_state(self) -> State:
        """Return the model as plain values and arrays."""
        content, arrays = self.wide.to_state()
        own = {
            "regimes": list(self.regimes),
            "usual_mean": self.usual.mean_targets.astype(int).tolist(),
            "usual_variance": self.usual.variance_targets.astype(int).tolist(),
        }
        return State({**content, "in_regimes": own}, arrays)

    @classmethod
    def around(cls, wide: FittedModel, stored: Any) -> RegimeModel:
        """Return the model that stored ``in_regimes`` along with the state of ``wide``.

        Raises
        ------
        StorageError
            If it is malformed.
        """
        try:
            regimes = tuple(str(level) for level in stored["regimes"])
            d = len(wide.names) - len(regimes) + 1
            none = np.zeros((d, d), dtype=bool)
            usual = TargetedGraph(
                names=wide.names[:d],
                mean_graph=none,
                variance_graph=none,
                regimes=wide.names[d:],
                mean_targets=np.array(stored["usual_mean"], dtype=bool),
                variance_targets=np.array(stored["usual_variance"], dtype=bool),
            )
        except Exception as error:  # a forged entry may be anything
            raise StorageError(f"The regimes of the model are malformed: {error}.") from error
        return cls(wide, regimes, usual)

    @classmethod
    def from_state(cls, state: State) -> RegimeModel:
        """Refuse: the engine that made the wide model restores it, see `around`."""
        raise StorageError("A model with regimes is restored by its engine.")


def with_indicators(values: FloatArray, n_indicators: int, code: int) -> FloatArray:
    """Return rows (n, d) with the indicators of one regime, (n, d + R)."""
    more = np.zeros((len(values), n_indicators))
    if code:
        more[:, code - 1] = 1.0
    return np.hstack([values, more])


class HeldFunctions(Mapping[str, AnyMechanism]):
    """The mechanisms of the user's variables in one regime."""

    def __init__(
        self, functions: Mapping[str, AnyMechanism], names: tuple[str, ...], n: int, code: int
    ) -> None:
        self._functions = functions
        self._names = names
        self._n = n
        self._code = code

    def __getitem__(self, name: str) -> AnyMechanism:
        if name not in self._names:
            raise KeyError(name)
        return hold(self._functions[name], self._n, self._code)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def at(self, code: int) -> HeldFunctions:
        """Return the same functions, drawn or not, in another regime."""
        return HeldFunctions(self._functions, self._names, self._n, code)


def hold(mechanism: AnyMechanism, n_indicators: int, code: int) -> AnyMechanism:
    """Return a mechanism of the wide table as one of the user's columns, in one regime."""
    discrete = as_discrete(mechanism)
    if discrete is not None:
        return _HeldDiscrete(discrete, n_indicators, code)
    return _HeldContinuous(as_continuous(mechanism), n_indicators, code)


@dataclass(frozen=True, eq=False)
class _Held:
    """What mechanisms of either kind share."""

    mechanism: Any
    n_indicators: int
    code: int

    def _wide(self, values: FloatArray) -> FloatArray:
        return with_indicators(values, self.n_indicators, self.code)

    def moments(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the conditional mean and sd at each row, ((n,), (n,))."""
        found: tuple[FloatArray, FloatArray] = self.mechanism.moments(self._wide(values))
        return found

    def extrapolates(self, values: FloatArray) -> BoolArray:
        """Return at which rows the parents lie where no data were, (n,)."""
        return np.asarray(self.mechanism.extrapolates(self._wide(values)))


@dataclass(frozen=True, eq=False)
class _HeldContinuous(_Held):
    """A `Mechanism` in one regime."""

    is_discrete: ClassVar[bool] = False

    mechanism: Mechanism

    def draw_noise(self, rng: np.random.Generator, size: int) -> FloatArray:
        """Draw standardised noise, (size,)."""
        return self.mechanism.draw_noise(rng, size)

    def noise_cdf(self, noise: FloatArray) -> FloatArray:
        """Return P(E <= e) for each standardised residual e, the same shape."""
        return self.mechanism.noise_cdf(noise)

    def noise_log_density(self, noise: FloatArray) -> FloatArray:
        """Return log p(e) for each standardised residual e, the same shape."""
        return self.mechanism.noise_log_density(noise)

    def simulated_noise_cdf(self, noise: FloatArray) -> FloatArray:
        """Return the same for simulating rows: close to the residuals of the rows of the fit."""
        return self.mechanism.simulated_noise_cdf(noise)

    def thresholds(self, levels: FloatArray) -> FloatArray:
        """Return where mean + sd · noise passes from one level of the variable to the next."""
        return self.mechanism.thresholds(levels)


@dataclass(frozen=True, eq=False)
class _HeldDiscrete(_Held):
    """A `DiscreteMechanism` in one regime."""

    is_discrete: ClassVar[bool] = True

    mechanism: DiscreteMechanism

    @property
    def levels(self) -> FloatArray:
        """The values it had in the data, rising, (K,)."""
        return self.mechanism.levels

    def shares(self, values: FloatArray) -> FloatArray:
        """Return the probability of each level, (n, K)."""
        return self.mechanism.shares(self._wide(values))

    def spread_by(self, factor: float) -> DiscreteMechanism:
        """Return the mechanism with ``factor`` times the spread that its mean leaves free."""
        return replace(self, mechanism=self.mechanism.spread_by(factor))

    def settle(self, values: FloatArray, uniforms: FloatArray) -> FloatArray:
        """Return the value that each row takes whose noise is ``uniforms`` (n,) in (0, 1)."""
        return self.mechanism.settle(self._wide(values), uniforms)

    def probability(self, values: FloatArray, low: float, high: float) -> FloatArray:
        """Return P(low <= Y <= high) at each row, (n,)."""
        return self.mechanism.probability(self._wide(values), low, high)

    def distribution(self, values: FloatArray, y: FloatArray) -> FloatArray:
        """Return P(Y <= y) for each row with its own y (n,), (n,)."""
        return self.mechanism.distribution(self._wide(values), y)

    def log_masses(self, values: FloatArray, y: FloatArray) -> FloatArray:
        """Return log P(Y = y) for each row with its own y (n,), (n,)."""
        return self.mechanism.log_masses(self._wide(values), y)
