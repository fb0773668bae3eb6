"""Our mechanisms as DoWhy causal mechanisms; importing this module needs DoWhy."""

from __future__ import annotations

from typing import Self, TypeAlias

import numpy as np
import numpy.typing as npt
from dowhy.gcm.causal_mechanisms import InvertibleFunctionalCausalModel, StochasticModel
from dowhy.gcm.causal_models import PARENTS_DURING_FIT

from momentdag.engines.protocol import Mechanism
from momentdag.errors import OptionError

__all__ = ["PARENTS_DURING_FIT", "LocationScaleModel", "RootModel"]

FloatArray: TypeAlias = npt.NDArray[np.float64]


class _FittedMechanism:
    """A mechanism of our fit with its generator, in a table of ``width`` columns."""

    def __init__(
        self, rng: np.random.Generator, mechanism: Mechanism, columns: list[int], width: int
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


class LocationScaleModel(_FittedMechanism, InvertibleFunctionalCausalModel):  # type: ignore[misc]
    """A variable with causes: its mean plus its standard deviation times noise."""

    def _moments(self, parent_samples: FloatArray) -> tuple[FloatArray, FloatArray]:
        values = np.zeros((len(parent_samples), self.width))
        values[:, self.columns] = parent_samples
        mean, sd = self.mechanism.moments(values)
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


class RootModel(_FittedMechanism, StochasticModel):  # type: ignore[misc]
    """A variable without causes."""

    def draw_samples(self, num_samples: int) -> FloatArray:
        """Draw values, (num_samples, 1)."""
        mean, sd = self.mechanism.moments(np.zeros((1, self.width)))
        noise = self.mechanism.draw_noise(self.rng, num_samples)
        return (mean + sd * noise)[:, None]
