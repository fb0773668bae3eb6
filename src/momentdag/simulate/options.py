"""Checks of the options of the simulators."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
import numpy.typing as npt

from momentdag.errors import DataError, OptionError

__all__ = ["FloatArray", "check_choice", "check_count", "check_finite", "check_positive"]

FloatArray = npt.NDArray[np.float64]


def check_choice(option: str, value: str, choices: Sequence[str]) -> None:
    """Refuse a value outside the closed choices."""
    if value not in choices:
        raise OptionError(f"Expected {option} among {list(choices)}; got {value!r}.")


def check_count(option: str, value: object, minimum: int) -> None:
    """Refuse anything but a whole number of at least ``minimum``."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < minimum:
        raise OptionError(f"Expected {option} as a whole number >= {minimum}; got {value!r}.")


def check_positive(option: str, value: float) -> None:
    """Refuse anything but a finite number above zero."""
    number = isinstance(value, Real) and not isinstance(value, bool) and np.isfinite(value)
    if not number or value <= 0:
        raise OptionError(f"Expected {option} as a finite number > 0; got {value!r}.")


def check_finite(values: FloatArray, names: Sequence[str], remedy: str) -> None:
    """Refuse a simulated table with infinite or missing values."""
    bad: npt.NDArray[Any] = ~np.isfinite(values)
    if bad.any():
        row, column = np.argwhere(bad)[0]
        raise DataError(
            f"Expected a finite simulated table; variable {names[column]!r} is "
            f"{values[row, column]} in row {row}. {remedy}"
        )
