"""Which variables can be set, and to which values: as the data have them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from momentdag.effects.inputs import EffectInputs
from momentdag.effects.settings import warn_outside
from momentdag.errors import OptionError

__all__ = ["Bounds", "LeverRange", "find_ranges"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
Bounds: TypeAlias = Mapping[str, tuple[float, float]]

_N_FINE = 81
_MAX_COMPUTED_LEVELS = 15


class LeverRange(NamedTuple):
    """The values a lever can be set to, on the scale of the fit, rising.

    Parameters
    ----------
    computed : float array, shape (k,)
        Where outcomes are computed.
    settings : float array, shape (m,)
        Where the lever may be set; splines interpolate, unless these are the computed ones.
    """

    computed: FloatArray
    settings: FloatArray

    @property
    def middle(self) -> float:
        """A setting in the middle."""
        return float(self.settings[len(self.settings) // 2])


def find_ranges(
    inputs: EffectInputs,
    target: str,
    candidates: Sequence[str] | None,
    fixed: Sequence[str],
    bounds: Bounds | None,
    n_settings: int,
) -> dict[str, LeverRange]:
    """Return the settings of each candidate that causes the target in some draw.

    Raises
    ------
    OptionError
        If a name is unknown or bounds are malformed.
    """
    given = {} if bounds is None else dict(bounds)
    for name in [*(() if candidates is None else candidates), *given]:
        if inputs.column(name, "candidates or bounds") == inputs.names.index(target):
            raise OptionError(f"The target {name!r} cannot be its own lever. Name other variables.")
    for name in fixed:
        inputs.column(name, "fixed")
        if candidates is not None and name in candidates:
            raise OptionError(f"{name!r} is both a candidate and fixed. Leave it out of one.")
    ranges = {}
    for name, probability in inputs.posterior.ancestor_probabilities("either")[target].items():
        if probability == 0 or name in fixed:
            continue
        if candidates is not None and name not in candidates:
            continue
        if candidates is None and inputs.observed.kinds.get(str(name)) == "time":
            continue  # nobody sets the date
        low, high = given.get(name, _usual_range(inputs, str(name)))
        if not (np.isfinite([low, high]).all() and low < high):
            raise OptionError(f"Expected bounds[{name!r}] with low < high; got {(low, high)!r}.")
        if name in given:
            warn_outside(inputs, str(name), low, high)
        ranges[str(name)] = _range(inputs, str(name), low, high, n_settings)
    return ranges


def _range(inputs: EffectInputs, name: str, low: float, high: float, n_settings: int) -> LeverRange:
    levels = inputs.levels(name)
    if levels is None:
        low, high = inputs.to_fit(name, np.array([low, high]))
        return LeverRange(np.linspace(low, high, n_settings), np.linspace(low, high, _N_FINE))
    # A hair beyond: bounds in the units of the file may be rounded.
    slack = 1e-9 * float(np.ptp(levels))
    inside = levels[(levels >= low - slack) & (levels <= high + slack)]
    if not len(inside):
        raise OptionError(
            f"Expected bounds[{name!r}] around a value that {name!r} has; there is none from "
            f"{low:g} to {high:g}."
        )
    settings = inputs.to_fit(name, inside)
    if len(settings) <= _MAX_COMPUTED_LEVELS:
        return LeverRange(settings, settings)
    spread = np.unique(np.linspace(0, len(settings) - 1, n_settings).round().astype(int))
    return LeverRange(settings[spread], settings)


def _usual_range(inputs: EffectInputs, name: str) -> tuple[float, float]:
    """Return the central 90 % of a column, or all of it if most of it is one value."""
    low, q05, q95, high = (
        float(inputs.summary.loc[name, column]) for column in ("min", "q05", "q95", "max")
    )
    return (q05, q95) if q05 < q95 else (low, high)
