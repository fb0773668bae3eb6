"""The noise distributions of the paper (appendix D.3.4), drawn raw: not scaled to sd 1."""

from __future__ import annotations

import math
from typing import Literal, get_args

import numpy as np

from momentdag.simulate.options import FloatArray, check_choice

__all__ = ["NoiseKind", "draw_noise", "noise_std"]

NoiseKind = Literal["gaussian", "laplace", "student_t3"]
"""N(0, 1), sd 1; Laplace(0, 1), sd sqrt 2; Student t with 3 degrees of freedom, sd sqrt 3."""

_STD: dict[NoiseKind, float] = {
    "gaussian": 1.0,
    "laplace": math.sqrt(2.0),
    "student_t3": math.sqrt(3.0),
}


def draw_noise(rng: np.random.Generator, noise: NoiseKind, shape: tuple[int, ...]) -> FloatArray:
    """Draw independent noise of the given shape.

    Raises
    ------
    OptionError
        If ``noise`` is not one of the declared kinds.

    Examples
    --------
    >>> draw_noise(np.random.default_rng(0), "laplace", (4, 2)).shape
    (4, 2)
    """
    check_choice("noise", noise, get_args(NoiseKind))
    match noise:
        case "gaussian":
            return rng.standard_normal(shape)
        case "laplace":
            return rng.laplace(0.0, 1.0, shape)
        case "student_t3":
            return rng.standard_t(3, shape)


def noise_std(noise: NoiseKind) -> float:
    """Return the standard deviation of a noise kind.

    Raises
    ------
    OptionError
        If ``noise`` is not one of the declared kinds.

    Examples
    --------
    >>> noise_std("gaussian")
    1.0
    """
    check_choice("noise", noise, get_args(NoiseKind))
    return _STD[noise]
