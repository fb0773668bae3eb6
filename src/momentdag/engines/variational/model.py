"""Fitted mechanisms of the variational engine: the networks under any graph pair, in NumPy.

The networks are point estimates: given a graph pair there is one function for each variable, and
what a posterior over functions would add is not there. Noise is standard normal.

Every restart has networks of its own. As the likelihood is a product over variables, each variable
takes, whatever its parents, the networks of the restart that fit it best given them. Where draws
were resampled by the evidence of refitted last layers, mechanisms have the same refitted layers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from momentdag.engines.region import Region
from momentdag.engines.standardise import ColumnUnits, read_units
from momentdag.engines.thresholds import find_thresholds
from momentdag.engines.variational.last_layer import Refit, refit
from momentdag.engines.variational.likelihood import LOG_SCALE_RANGE, SLOPE, Networks
from momentdag.errors import StorageError
from momentdag.graph import BoolArray, MomentGraph
from momentdag.posterior import Posterior
from momentdag.storage.state import Arrays, State, take_floats

__all__ = ["WITNESS_ROWS", "NetworkMechanism", "VariationalModel"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

WITNESS_ROWS = 2000
"""Rows of the data, at most, by which networks are chosen."""
_HALF_LOG_TAU = 0.5 * float(np.log(2.0 * np.pi))


class VariationalModel:
    """Mechanisms of every variable under any graph pair, in original units.

    Parameters
    ----------
    units : ColumnUnits
        Of the data's columns.
    mean_networks, variance_networks : Networks
        Of all restarts, every array led by an axis of their number; in the order of the data's
        columns, for standardised values.
    witnesses : float array, shape (m, d)
        Standardised rows by which a restart's networks are chosen.
    refitted : bool
        Whether last layers are refitted to these rows for each variable and parents.
    """

    def __init__(
        self,
        units: ColumnUnits,
        mean_networks: Networks,
        variance_networks: Networks,
        witnesses: FloatArray,
        *,
        refitted: bool = False,
    ) -> None:
        self.names = units.names
        self._location = units.location
        self._scale = units.scale
        self._mean_networks = _as_numpy(mean_networks)
        self._variance_networks = _as_numpy(variance_networks)
        self._witnesses = np.asarray(witnesses, dtype=np.float64)
        self._refitted = refitted
        self._chosen: dict[tuple[int, bytes, bytes], int] = {}
        self._refits: dict[tuple[int, bytes, bytes], Refit] = {}
        self._regions: dict[bytes, Region] = {}

    def to_state(self) -> State:
        """Return the model as plain values and arrays: units, rows and weights."""
        arrays: dict[str, npt.NDArray[Any]] = {
            "location": self._location,
            "scale": self._scale,
            "witnesses": self._witnesses,
        }
        for moment, networks in (
            ("mean", self._mean_networks),
            ("variance", self._variance_networks),
        ):
            for name, part in networks._asdict().items():
                arrays[f"{moment}_{name}"] = np.asarray(part)
        return State({"names": list(self.names), "refitted": self._refitted}, arrays)

    @classmethod
    def from_state(cls, state: State) -> VariationalModel:
        """Return the model that gave ``state``; its results are bit-for-bit identical.

        Raises
        ------
        StorageError
            If something is missing or malformed.
        """
        units = read_units(state)
        d = len(units.names)
        mean = _read_networks(state.arrays, "mean", d, None)
        n_restarts = len(mean.output)
        variance = _read_networks(state.arrays, "variance", d, n_restarts)
        witnesses = take_floats(state.arrays, "witnesses", (None, d))
        if not n_restarts or not len(witnesses):
            raise StorageError(
                "Expected networks of at least one restart, and rows; some are gone."
            )
        # Files of earlier versions do not say: nothing was refitted.
        refitted = state.content.get("refitted", False) is True
        return cls(units, mean, variance, witnesses, refitted=refitted)

    def _standardise(self, values: FloatArray) -> FloatArray:
        return (np.asarray(values, dtype=np.float64) - self._location) / self._scale

    @property
    def rows(self) -> FloatArray:
        """Rows of the data by which networks were chosen, (m, d)."""
        return self._location + self._scale * self._witnesses

    def inside(self, values: FloatArray, parents: BoolArray) -> FloatArray:
        """Return rows (n, d), standardised, with parents that left the data moved to its edge."""
        z = self._standardise(values)
        if parents.any():
            z[:, parents] = self._region(parents).clamp(z[:, parents])
        return z

    def extrapolates(self, values: FloatArray, parents: BoolArray) -> BoolArray:
        """Return at which rows of ``values`` (n, d) the parents lie where no data were, (n,)."""
        if not parents.any():
            return np.zeros(len(values), dtype=bool)
        return self._region(parents).outside(self._standardise(values)[:, parents])

    def _region(self, parents: BoolArray) -> Region:
        key = parents.tobytes()
        if key not in self._regions:
            self._regions[key] = Region(self._witnesses[:, parents])
        return self._regions[key]

    def standardised_moments(
        self, z: FloatArray, variable: int, mean_parents: BoolArray, variance_parents: BoolArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return mean and log sd of one variable at standardised rows (n, d), each (n,)."""
        if self._refitted:
            return self._refitted_moments(z, variable, mean_parents, variance_parents)
        restart = self._restart(variable, mean_parents, variance_parents)
        return self._moments_of(restart, z, variable, mean_parents, variance_parents)

    def _refitted_moments(
        self, z: FloatArray, variable: int, mean_parents: BoolArray, variance_parents: BoolArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return mean and log sd under the restart of largest evidence, each (n,)."""
        key = (variable, mean_parents.tobytes(), variance_parents.tobytes())
        if key not in self._refits:
            found = refit(
                *map(_as_single, (self._mean_networks, self._variance_networks)),
                np.asarray(self._witnesses, dtype=np.float32),
                np.int32(variable),
                mean_parents.astype(np.float32),
                variance_parents.astype(np.float32),
            )
            best = int(np.argmax(found.log_evidence))
            self._chosen[key] = best
            self._refits[key] = Refit(*(np.asarray(part, np.float64)[best] for part in found))
        own, restart = self._refits[key], self._chosen[key]
        units = _hidden(self._mean_networks, restart, variable, mean_parents, z)
        mean = own.constant + z @ own.slopes + units @ own.last
        units = _hidden(self._variance_networks, restart, variable, variance_parents, z)
        log_sd = own.log_sd + own.log_constant + z @ own.log_slopes + units @ own.log_last
        return np.asarray(mean), np.asarray(np.clip(log_sd, own.lowest, own.highest))

    def _restart(self, variable: int, mean_parents: BoolArray, variance_parents: BoolArray) -> int:
        """Return the restart whose networks fit the variable best given its parents."""
        n_restarts = len(self._mean_networks.output)
        if n_restarts == 1:
            return 0
        key = (variable, mean_parents.tobytes(), variance_parents.tobytes())
        if key not in self._chosen:
            z = self._witnesses
            fits = [
                _log_density(
                    z[:, variable],
                    *self._moments_of(k, z, variable, mean_parents, variance_parents),
                ).mean()
                for k in range(n_restarts)
            ]
            self._chosen[key] = int(np.argmax(fits))
        return self._chosen[key]

    def _moments_of(
        self,
        restart: int,
        z: FloatArray,
        variable: int,
        mean_parents: BoolArray,
        variance_parents: BoolArray,
    ) -> tuple[FloatArray, FloatArray]:
        told = (mean_parents, variance_parents)
        mean = _output(self._mean_networks, restart, variable, mean_parents, told, z)
        raw = _output(self._variance_networks, restart, variable, variance_parents, told, z)
        return mean, LOG_SCALE_RANGE * np.tanh(raw / LOG_SCALE_RANGE)

    def log_density(self, values: FloatArray, posterior: Posterior) -> FloatArray:
        """Return the log density of each row of ``values`` (n, d) under the mixture, (n,)."""
        z = self._standardise(values)
        units = -float(np.log(self._scale).sum())
        local: dict[tuple[int, bytes, bytes], FloatArray] = {}
        total: FloatArray = np.full(len(z), -np.inf)
        for graph, weight in posterior.distinct_pairs():
            log_density = np.full(len(z), units + np.log(weight))
            for j in range(len(self.names)):
                mean_parents = graph.mean_graph[:, j]
                variance_parents = graph.variance_graph[:, j]
                key = (j, mean_parents.tobytes(), variance_parents.tobytes())
                if key not in local:
                    moments = self.standardised_moments(z, j, mean_parents, variance_parents)
                    local[key] = _log_density(z[:, j], *moments)
                log_density += local[key]
            total = np.logaddexp(total, log_density)
        return total

    def moments(
        self, values: FloatArray, graph: MomentGraph, variable: str
    ) -> tuple[FloatArray, FloatArray]:
        """Return the conditional mean and sd of ``variable`` for each row, ((n,), (n,))."""
        return self.mean_functions(graph)[variable].moments(values)

    def mean_functions(self, graph: MomentGraph) -> dict[str, NetworkMechanism]:
        """Return every variable's mechanism given a graph pair."""
        return {
            name: NetworkMechanism(self, j, graph.mean_graph[:, j], graph.variance_graph[:, j])
            for j, name in enumerate(self.names)
        }

    def draw_functions(
        self, rng: np.random.Generator, graph: MomentGraph
    ) -> dict[str, NetworkMechanism]:
        """Return the same as `mean_functions`: networks are point estimates, nothing is drawn."""
        return self.mean_functions(graph)

    def to_original(
        self, variable: int, mean: FloatArray, log_sd: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Convert a standardised mean and log sd to the data's units."""
        scale = self._scale[variable]
        return self._location[variable] + scale * mean, scale * np.exp(log_sd)


@dataclass(frozen=True)
class NetworkMechanism:
    """One variable given its parents.

    Parameters
    ----------
    model : VariationalModel
    variable : int
    mean_parents, variance_parents : bool array, shape (d,)
    """

    is_discrete: ClassVar[bool] = False

    model: VariationalModel
    variable: int
    mean_parents: BoolArray
    variance_parents: BoolArray

    def moments(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the conditional mean and sd at rows of ``values`` (n, d), ((n,), (n,))."""
        z = self.model.inside(values, self.mean_parents | self.variance_parents)
        mean, log_sd = self.model.standardised_moments(
            z, self.variable, self.mean_parents, self.variance_parents
        )
        return self.model.to_original(self.variable, mean, log_sd)

    def draw_noise(self, rng: np.random.Generator, size: int) -> FloatArray:
        """Draw standard normal noise, (size,)."""
        return rng.standard_normal(size)

    def noise_cdf(self, noise: FloatArray) -> FloatArray:
        """Return P(E <= e) of the standard normal for each e, the same shape."""
        return np.asarray(ndtr(noise))

    def noise_log_density(self, noise: FloatArray) -> FloatArray:
        """Return the log density of the standard normal, the same shape."""
        return np.asarray(-0.5 * (noise * noise + np.log(2 * np.pi)))

    def simulated_noise_cdf(self, noise: FloatArray) -> FloatArray:
        """Return the same: networks come with normal noise and nothing else."""
        return self.noise_cdf(noise)

    def extrapolates(self, values: FloatArray) -> BoolArray:
        """Return at which rows of ``values`` (n, d) the parents lie where no data were, (n,)."""
        return self.model.extrapolates(values, self.mean_parents | self.variance_parents)

    def thresholds(self, levels: FloatArray) -> FloatArray:
        """Return where mean + sd · noise passes from one level of the variable to the next."""
        rows = self.model.rows
        return find_thresholds(levels, rows[:, self.variable], *self.moments(rows), self.noise_cdf)


def _as_numpy(networks: Networks) -> Networks:
    return Networks(*(np.asarray(part, dtype=np.float64) for part in networks))


def _read_networks(arrays: Arrays, moment: str, d: int, n_restarts: int | None) -> Networks:
    """Return the stored networks of one moment, of ``n_restarts`` restarts or of any number."""
    first = take_floats(arrays, f"{moment}_first", (n_restarts, d, d, None))
    n_restarts, h = first.shape[0], first.shape[3]
    shapes: dict[str, tuple[int | None, ...]] = {
        "hidden": (n_restarts, d, h),
        "last": (n_restarts, d, h),
        "output": (n_restarts, d),
        "shift": (n_restarts, None, d, d),
    }
    # Kept in NumPy: JAX would cut them to single precision.
    parts: dict[str, Any] = {
        name: take_floats(arrays, f"{moment}_{name}", shape) for name, shape in shapes.items()
    }
    return Networks(first, **parts)


def _log_density(values: FloatArray, mean: FloatArray, log_sd: FloatArray) -> FloatArray:
    noise = (values - mean) * np.exp(-log_sd)
    return np.asarray(-0.5 * noise**2 - log_sd - _HALF_LOG_TAU)


def _as_single(networks: Networks) -> Networks:
    return Networks(*(np.asarray(part, dtype=np.float32) for part in networks))


def _hidden(
    networks: Networks, restart: int, variable: int, parents: BoolArray, z: FloatArray
) -> FloatArray:
    """Return the hidden units of one network at rows z (n, d), (n, h)."""
    first, hidden = networks.first[restart], networks.hidden[restart]
    inner = z[:, parents] @ first[parents, variable] + hidden[variable]
    return np.asarray(np.maximum(inner, SLOPE * inner))


def _output(
    networks: Networks,
    restart: int,
    variable: int,
    parents: BoolArray,
    told: tuple[BoolArray, BoolArray],
    z: FloatArray,
) -> FloatArray:
    """Return one network at rows z (n, d), of which only the parents' columns are read, (n,)."""
    _, _, last, output, shift = (part[restart] for part in networks)
    active = _hidden(networks, restart, variable, parents, z)
    constant = output[variable]
    for there, own in zip(told, shift, strict=False):
        constant = constant + own[there, variable].sum()
    return np.asarray(active @ last[variable] + constant)
