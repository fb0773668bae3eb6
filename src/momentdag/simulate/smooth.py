"""Smooth functions of one standardised input, and standardised distributions.

Both have random parameters. The functions are nonlinear throughout: a linear one between Gaussian
variables would leave the direction of the edge open.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol, get_args

import numpy as np
from scipy import special, stats

from momentdag.simulate.noise import NoiseKind, noise_std
from momentdag.simulate.options import FloatArray, check_choice

__all__ = ["Distribution", "Marginal", "Noise", "Shape", "SmoothFunction"]

Shape = Literal["monotone", "non-monotone", "either"]
"""Which family the functions are drawn from."""

Form = Literal["tanh", "softplus", "asinh", "sine", "bump", "valley"]
MarginalForm = Literal["normal", "uniform", "mixture", "skew"]

_FORMS: dict[Shape, tuple[Form, ...]] = {
    "monotone": ("tanh", "softplus", "asinh"),
    "non-monotone": ("sine", "bump", "valley"),
    "either": ("tanh", "softplus", "asinh", "sine", "bump", "valley"),
}
# Ranges of the slope: bent visibly within two sd of the input, yet without a step.
_SLOPES: dict[Form, tuple[float, float]] = {
    "tanh": (1.0, 2.0),
    "softplus": (2.0, 3.5),
    "asinh": (3.0, 6.0),
    "sine": (1.6, 2.4),
    "bump": (1.0, 1.6),
    "valley": (1.5, 2.5),
}
_REACH = 4.0  # inputs saturate smoothly at this many sd, so that no setting can overflow


@dataclass(frozen=True)
class SmoothFunction:
    """A smooth nonlinear function of one standardised input.

    With ``t = slope (4 tanh(z / 4) - centre)`` it is tanh t, log(1 + exp t), asinh t (monotone),
    sin t, exp(-t²/2) or log cosh t (not monotone). It is constant far outside the data.

    Parameters
    ----------
    form : {"tanh", "softplus", "asinh", "sine", "bump", "valley"}
    slope, centre : float

    Examples
    --------
    >>> SmoothFunction("tanh", slope=1.0, centre=0.0)(np.array([0.0])).tolist()
    [0.0]
    """

    form: Form
    slope: float
    centre: float

    @classmethod
    def draw(cls, rng: np.random.Generator, shape: Shape = "either") -> SmoothFunction:
        """Draw a form of the given shape and its parameters.

        Raises
        ------
        OptionError
            If ``shape`` is not one of the declared ones.
        """
        check_choice("shape", shape, get_args(Shape))
        forms = _FORMS[shape]
        form = forms[int(rng.integers(len(forms)))]
        slope = float(rng.choice([-1.0, 1.0]) * rng.uniform(*_SLOPES[form]))
        return cls(form, slope, float(rng.uniform(-0.5, 0.5)))

    def __call__(self, z: FloatArray) -> FloatArray:
        """Return the function at each input, in the input's shape."""
        t: FloatArray = self.slope * (_REACH * np.tanh(z / _REACH) - self.centre)
        match self.form:
            case "tanh":
                return np.tanh(t)
            case "softplus":
                return np.logaddexp(0.0, t)
            case "asinh":
                return np.arcsinh(t)
            case "sine":
                return np.sin(t)
            case "bump":
                return np.exp(-0.5 * t**2)
            case "valley":
                log_cosh: FloatArray = np.logaddexp(t, -t) - np.log(2.0)
                return log_cosh


class Distribution(Protocol):
    """A distribution of mean 0 and variance 1."""

    def quantile(self, uniforms: FloatArray) -> FloatArray:
        """Map uniforms in (0, 1) to draws."""
        ...


@dataclass(frozen=True)
class Noise:
    """A noise of the paper, scaled to sd 1.

    Examples
    --------
    >>> Noise("laplace").quantile(np.array([0.5])).tolist()
    [0.0]
    """

    kind: NoiseKind

    def quantile(self, uniforms: FloatArray) -> FloatArray:
        """Map uniforms in (0, 1) to draws."""
        drawn: FloatArray = self._raw.ppf(uniforms) / noise_std(self.kind)
        return drawn

    def cdf(self, values: FloatArray) -> FloatArray:
        """Return the probability below each value."""
        below: FloatArray = self._raw.cdf(values * noise_std(self.kind))
        return below

    @property
    def _raw(self) -> stats.rv_continuous:
        return {"gaussian": stats.norm, "laplace": stats.laplace, "student_t3": stats.t(3)}[
            self.kind
        ]


@dataclass(frozen=True)
class Marginal:
    """The distribution of a continuous variable without causes: mean 0, variance 1.

    Parameters
    ----------
    form : {"normal", "uniform", "mixture", "skew"}
        "mixture" is ``weight N(0, 1) + (1 - weight) N(distance, width²)``, "skew" a gamma
        distribution of the given gamma_shape; both standardised.
    weight, distance, width, gamma_shape : float
    sign : {-1.0, 1.0}
        Mirrored with -1.

    Examples
    --------
    >>> Marginal("uniform").quantile(np.array([0.5, 1.0])).round(3).tolist()
    [0.0, 1.732]
    """

    form: MarginalForm
    weight: float = 0.5
    distance: float = 3.0
    width: float = 1.0
    gamma_shape: float = 2.0
    sign: float = 1.0

    @classmethod
    def draw(cls, rng: np.random.Generator) -> Marginal:
        """Draw a form and its parameters."""
        forms = get_args(MarginalForm)
        return cls(
            form=forms[int(rng.integers(len(forms)))],
            weight=float(rng.uniform(0.3, 0.7)),
            distance=float(rng.uniform(2.5, 4.0)),
            width=float(rng.uniform(0.5, 1.0)),
            gamma_shape=float(rng.uniform(1.0, 3.0)),
            sign=float(rng.choice([-1.0, 1.0])),
        )

    def quantile(self, uniforms: FloatArray) -> FloatArray:
        """Map uniforms in (0, 1) to draws."""
        drawn: FloatArray
        match self.form:
            case "normal":
                drawn = special.ndtri(uniforms)
            case "uniform":
                drawn = np.sqrt(12.0) * (uniforms - 0.5)
            case "mixture":
                drawn = self._mixture(uniforms)
            case "skew":
                drawn = special.gammaincinv(self.gamma_shape, uniforms) - self.gamma_shape
                drawn = drawn / np.sqrt(self.gamma_shape)
        return self.sign * drawn

    def _mixture(self, uniforms: FloatArray) -> FloatArray:
        w, distance = self.weight, self.distance
        first = uniforms < w
        # The rest of the uniform, rescaled, is uniform again within each component.
        within = np.where(first, uniforms / w, (uniforms - w) / (1 - w))
        normal = special.ndtri(np.clip(within, 2.0**-54, 1 - 2.0**-53))
        raw = np.where(first, normal, distance + self.width * normal)
        variance = w + (1 - w) * self.width**2 + w * (1 - w) * distance**2
        standard: FloatArray = (raw - (1 - w) * distance) / np.sqrt(variance)
        return standard
