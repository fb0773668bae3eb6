"""Our mechanisms as DoWhy causal mechanisms; importing this module needs DoWhy."""

from __future__ import annotations

from typing import Any, Generic, Self, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
from dowhy.gcm.causal_mechanisms import (
    FunctionalCausalModel,
    InvertibleFunctionalCausalModel,
    StochasticModel,
)
from dowhy.gcm.causal_models import PARENTS_DURING_FIT

from momentdag.engines.protocol import (
    AnyMechanism,
    DiscreteMechanism,
    Mechanism,
    as_continuous,
    as_discrete,
)
from momentdag.errors import OptionError

__all__ = [
    "PARENTS_DURING_FIT",
    "DiscreteModel",
    "DiscreteRootModel",
    "LocationScaleModel",
    "RootModel",
    "make_model",
]

FloatArray: TypeAlias = npt.NDArray[np.float64]
AnyKind = TypeVar("AnyKind", bound=AnyMechanism)


class _FittedMechanism(Generic[AnyKind]):
    """A mechanism of our fit with its generator, in a table of ``width`` columns."""

    def __init__(
        self, rng: np.random.Generator, mechanism: AnyKind, columns: list[int], width: int
    ) -> None:
        self.rng = rng
        self.mechanism = mechanism
        self.columns = columns
        self.width = width

    def fit(self, X: FloatArray, Y: FloatArray | None = None) -> None:
        """Raise `OptionError`: the mechanism is fitted already."""
        raise OptionError(
            "This model was fitted by momentdag and cannot be fitted again. Fit MomentDAG to the "
            "new data and export the result."
        )

    def clone(self) -> Self:
        """Return a copy, which is fitted too."""
        return type(self)(self.rng, self.mechanism, self.columns, self.width)

    def _rows(self, parent_samples: Any) -> FloatArray:
        """Return rows of the table with values of the parents (n, p) in their columns."""
        parents = np.asarray(parent_samples, dtype=np.float64)
        values = np.zeros((len(parents), self.width))
        values[:, self.columns] = parents.reshape(len(parents), -1)
        return values


class LocationScaleModel(_FittedMechanism[Mechanism], InvertibleFunctionalCausalModel):  # type: ignore[misc]
    """A variable with causes: its mean plus its standard deviation times noise."""

    def _moments(self, parent_samples: FloatArray) -> tuple[FloatArray, FloatArray]:
        mean, sd = self.mechanism.moments(self._rows(parent_samples))
        return mean[:, None], sd[:, None]

    def draw_noise_samples(self, num_samples: int) -> FloatArray:
        """Draw standardised noise, (num_samples, 1)."""
        return self.mechanism.draw_noise(self.rng, num_samples)[:, None]

    def evaluate(self, parent_samples: FloatArray, noise_samples: FloatArray) -> FloatArray:
        """Return mean + sd · noise, (n, 1), for values of the parents (n, p)."""
        mean, sd = self._moments(parent_samples)
        return mean + sd * np.reshape(noise_samples, (-1, 1))

    def estimate_noise(self, target_samples: FloatArray, parent_samples: FloatArray) -> FloatArray:
        """Return (target - mean) / sd, (n, 1)."""
        mean, sd = self._moments(parent_samples)
        return (np.reshape(target_samples, (-1, 1)) - mean) / sd


class RootModel(_FittedMechanism[Mechanism], StochasticModel):  # type: ignore[misc]
    """A variable without causes."""

    def draw_samples(self, num_samples: int) -> FloatArray:
        """Draw values, (num_samples, 1)."""
        mean, sd = self.mechanism.moments(np.zeros((1, self.width)))
        noise = self.mechanism.draw_noise(self.rng, num_samples)
        return (mean + sd * noise)[:, None]


class DiscreteModel(_FittedMechanism[DiscreteMechanism], FunctionalCausalModel):  # type: ignore[misc]
    """A discrete variable with causes: the value that its even noise settles on.

    Many values of the noise give the same value, so it cannot be inverted.
    """

    def draw_noise_samples(self, num_samples: int) -> FloatArray:
        """Draw noise between 0 and 1, (num_samples, 1)."""
        return self.rng.uniform(size=(num_samples, 1))

    def evaluate(self, parent_samples: FloatArray, noise_samples: FloatArray) -> FloatArray:
        """Return the values (n, 1) for values of the parents (n, p) and noise."""
        uniforms = np.asarray(noise_samples, dtype=np.float64).ravel()
        return self.mechanism.settle(self._rows(parent_samples), uniforms)[:, None]


class DiscreteRootModel(_FittedMechanism[DiscreteMechanism], StochasticModel):  # type: ignore[misc]
    """A discrete variable without causes."""

    def draw_samples(self, num_samples: int) -> FloatArray:
        """Draw values, (num_samples, 1)."""
        values = np.zeros((num_samples, self.width))
        return self.mechanism.settle(values, self.rng.uniform(size=num_samples))[:, None]


def make_model(
    rng: np.random.Generator, mechanism: AnyMechanism, columns: list[int], width: int
) -> Any:
    """Return the DoWhy mechanism of a variable with its parents in these columns."""
    discrete = as_discrete(mechanism)
    if discrete is not None:
        model = DiscreteModel if columns else DiscreteRootModel
        return model(rng, discrete, columns, width)
    continuous = as_continuous(mechanism)
    return (LocationScaleModel if columns else RootModel)(rng, continuous, columns, width)
