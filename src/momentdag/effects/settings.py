"""Settings of interventions: parsed, checked and compared with the range of the data."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from momentdag.effects.changes import Change, ChangeFunction
from momentdag.effects.inputs import EffectInputs
from momentdag.effects.targets import targets_of
from momentdag.errors import ExtrapolationWarning, OptionError

__all__ = ["Do", "Settings", "parse_do", "parse_targets", "warn_outside"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
_MAX_NAMED_LEVELS = 10
Given: TypeAlias = (
    "float | str | Sequence[float | str] | Sequence[float] | FloatArray | ChangeFunction"
)
Do: TypeAlias = "Mapping[str, Given] | pd.DataFrame"
"""Variables to set: each to one value, to a grid of values, or to a function of its own value (a
`Shift`, say); or a frame with a column for each variable and a row for each joint setting. Levels
of text are given by their names."""


@dataclass(frozen=True, eq=False)
class Settings:
    """Interventions on the same variables.

    Parameters
    ----------
    names : tuple of str
        The variables that are set.
    columns : tuple of int
        Their columns in the data.
    values : float array, shape (n_settings, n_set) or (n_settings, n_set, n_rows)
        One row for each intervention, on the scale of the fit; no columns if nothing is set. A
        third axis holds a value for each noise row of a posterior sample.
    shown : float array of that shape, or None
        The same in the units of the file; None if these are no others.
    changes : mapping from column to Change
        Variables that still respond to their causes, and what is then done to their values.
    index : Index or None
        Labels of the interventions, if they were given as a frame.
    """

    names: tuple[str, ...]
    columns: tuple[int, ...]
    values: FloatArray
    shown: FloatArray | None = None
    changes: Mapping[int, Change] = field(default_factory=dict)
    index: pd.Index | None = None

    @property
    def all_names(self) -> tuple[str, ...]:
        """The variables that are set or changed."""
        return (*self.names, *(change.name for change in self.changes.values()))

    def __len__(self) -> int:
        return len(self.values)

    @classmethod
    def none(cls) -> Settings:
        """Return the one setting without any intervention."""
        return cls((), (), np.zeros((1, 0)))

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each setting, one column for each variable, in the file's units."""
        shown = self.values if self.shown is None else self.shown
        frame = pd.DataFrame(
            shown.copy(), index=self.index, columns=pd.Index(self.names, dtype=object)
        )
        for change in self.changes.values():
            frame[change.name] = change.text
        return frame


def parse_do(inputs: EffectInputs, do: Do) -> Settings:
    """Check the variables and values to set, in the units of the file, and cross the grids.

    Raises
    ------
    OptionError
        If a variable is unknown, a grid is empty or a value is not a finite number.

    Warns
    -----
    ExtrapolationWarning
        If a value lies outside the data's range, or between the levels of a variable on a grid.
    """
    if isinstance(do, pd.DataFrame):
        grids = {str(name): do[name].tolist() for name in do.columns}
        if not grids or not len(do):
            raise OptionError("Expected a frame of settings with a row and a column at least.")
        return _parse_values(inputs, grids, np.column_stack, do.index)
    if not isinstance(do, Mapping):
        raise OptionError(
            f"Expected do as a mapping from names to values, or as a frame; got {do!r}."
        )
    values = {name: given for name, given in do.items() if not callable(given)}
    functions = {name: given for name, given in do.items() if callable(given)}
    changes = {
        inputs.column(name, "do"): Change.of(inputs, name, function)
        for name, function in functions.items()
    }
    return replace(_parse_values(inputs, values, _cross), changes=changes)


def _parse_values(
    inputs: EffectInputs,
    given: Mapping[str, Any],
    combine: Callable[[Sequence[FloatArray]], FloatArray],
    index: pd.Index | None = None,
) -> Settings:
    """Check values of variables, in the units of the file, and combine them into settings."""
    columns = tuple(inputs.column(name, "do") for name in given)
    grids = [_grid(name, _codes(inputs, name, values)) for name, values in given.items()]
    fitted = [inputs.to_fit(name, grid) for name, grid in zip(given, grids, strict=True)]
    for name, grid in zip(given, grids, strict=True):
        warn_outside(inputs, name, float(grid.min()), float(grid.max()))
        _warn_between(inputs, name, grid)
    if not given:
        return Settings.none()
    return Settings(tuple(given), columns, combine(fitted), combine(grids), index=index)


def _cross(grids: Sequence[FloatArray]) -> FloatArray:
    """Return every combination of the grids' values, shape (n_combinations, n_grids)."""
    crossed = np.meshgrid(*grids, indexing="ij")
    return np.stack([grid.ravel() for grid in crossed], axis=1)


def parse_targets(
    inputs: EffectInputs, targets: Sequence[str] | None, set_names: Sequence[str]
) -> tuple[str, ...]:
    """Return the target variables; None stands for all that are not in ``set_names``.

    Raises
    ------
    OptionError
        If a target is unknown, repeated or set by the intervention.
    """
    if targets is None:
        targets = [name for name in inputs.names if name not in set_names]
    if isinstance(targets, str):
        raise OptionError(f"Expected targets as a list of names; got {targets!r}.")
    targets = [one for name in targets for one in targets_of(inputs.observed, name)]
    for name in targets:
        if inputs.names[inputs.target(name).column] in set_names:
            raise OptionError(
                f"Expected targets that are not set; {name!r} is. Remove it from the targets or "
                "from the intervention."
            )
    if len(set(targets)) < len(targets) or not targets:
        raise OptionError(f"Expected at least one target and no repeats; got {list(targets)}.")
    return tuple(targets)


def warn_outside(inputs: EffectInputs, name: str, low: float, high: float) -> None:
    """Warn if values from ``low`` to ``high`` leave the range of the data."""
    least, most = inputs.summary.loc[name, ["min", "max"]]
    if low < least or high > most:
        value = low if low < least else high
        warnings.warn(
            f"{name!r} was observed from {least:.6g} to {most:.6g}; at {value:.6g} the answer "
            "is that of the edge of the data, where functions are held.",
            ExtrapolationWarning,
            stacklevel=4,
        )


def _warn_between(inputs: EffectInputs, name: str, grid: FloatArray) -> None:
    """Warn if a variable that takes few values is set to one it never had."""
    levels = inputs.levels(name)
    if levels is None or len(levels) > _MAX_NAMED_LEVELS:
        return
    labels = inputs.observed.labels.get(name)
    if labels is not None and not np.isin(grid, levels).all():
        raise OptionError(f"Expected do[{name!r}] among its levels {list(labels)}.")
    distance = np.abs(grid[:, None] - levels).min(axis=1)
    never = grid[distance > 1e-6 * np.ptp(levels)]
    inside = never[(never > levels[0]) & (never < levels[-1])]
    if len(inside):
        warnings.warn(
            f"{name!r} takes the values {', '.join(f'{level:g}' for level in levels)}; at "
            f"{inside[0]:g}, which it never had, the answer interpolates.",
            ExtrapolationWarning,
            stacklevel=4,
        )


def _codes(inputs: EffectInputs, name: str, values: Any) -> Any:
    """Return levels of text, one or several, as their codes."""
    if isinstance(values, str | bool | np.bool_):
        return inputs.code(name, values)
    if isinstance(values, list | tuple) or (isinstance(values, np.ndarray) and values.ndim == 1):
        return [inputs.code(name, value) for value in values]
    return values


def _grid(name: str, values: float | Sequence[float] | FloatArray) -> FloatArray:
    grid = np.asarray(values)
    if grid.dtype.kind not in "iuf" or grid.ndim > 1 or not grid.size:
        raise OptionError(f"Expected do[{name!r}] as a number or a list of them; got {values!r}.")
    if not np.isfinite(grid).all():
        raise OptionError(f"Expected finite values in do[{name!r}]; got {values!r}.")
    return np.atleast_1d(grid).astype(np.float64)
