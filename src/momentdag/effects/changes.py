"""Interventions that change a variable instead of fixing it: shifts and other functions.

A variable that is set forgets its causes. One that is changed still responds to them, and the
function is applied to the value it would have had:

    do(X_j = g(m_j + v_j E_j)).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from momentdag.effects.inputs import EffectInputs
from momentdag.errors import OptionError, quote

__all__ = ["Change", "ChangeFunction", "Shift"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
ChangeFunction: TypeAlias = Callable[[npt.NDArray[Any]], Any]
"""From values of a variable (n,) to others, in the units of the file; of text, names of levels."""


@dataclass(frozen=True)
class Shift:
    """What a variable would have been, times a factor, plus a constant.

    Parameters
    ----------
    by : float
        Added, in the units of the file.
    times : float
        The factor.

    Examples
    --------
    >>> Shift(by=2.0)(np.array([1.0, 5.0])).tolist()
    [3.0, 7.0]
    >>> str(Shift(by=-0.5)), str(Shift(times=1.1)), str(Shift(by=1, times=2))
    ('- 0.5', 'x 1.1', 'x 2 + 1')
    """

    by: float = 0.0
    times: float = 1.0

    def __post_init__(self) -> None:
        for name in ("by", "times"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float | np.number):
                raise OptionError(f"Expected {name} of a shift as a number; got {quote(value)}.")
            if not np.isfinite(value):
                raise OptionError(f"Expected {name} of a shift to be finite; got {value!r}.")

    def __call__(self, values: npt.NDArray[Any]) -> FloatArray:
        """Return the shifted values."""
        return np.asarray(self.times * values + self.by, dtype=np.float64)

    def __str__(self) -> str:
        parts = [] if self.times == 1 else [f"x {self.times:g}"]
        if self.by or not parts:
            parts.append(f"{'-' if self.by < 0 else '+'} {abs(self.by):g}")
        return " ".join(parts)


@dataclass(frozen=True, eq=False)
class Change:
    """A function of one variable, on the scale of the fit.

    Parameters
    ----------
    name : str
    function : callable
        In the units of the file, as the user gave it.
    inputs : EffectInputs
        Whose units and levels these are.
    text : str
        For tables.
    """

    name: str
    function: ChangeFunction
    inputs: EffectInputs
    text: str

    @classmethod
    def of(cls, inputs: EffectInputs, name: str, function: ChangeFunction) -> Change:
        """Return the change that a user asked for, named for tables.

        Raises
        ------
        OptionError
            If text is to be shifted.
        """
        if not isinstance(function, Shift):
            return cls(name, function, inputs, getattr(function, "__name__", "function"))
        if name in inputs.observed.labels:
            raise OptionError(f"{name!r} holds text, which cannot be shifted. Name a level.")
        return cls(name, function, inputs, str(function))

    def __call__(self, values: FloatArray) -> FloatArray:
        """Return changed values, of the same shape, on the scale of the fit.

        Raises
        ------
        OptionError
            If the function does not return one finite number, or one level, for each value.
        """
        flat = values.ravel()
        labels = self.inputs.observed.labels.get(self.name)
        if labels is None:
            returned = self.function(self.inputs.to_file(self.name, flat))
        else:
            texts = np.array([labels[int(code)] for code in flat], dtype=object)
            found = np.asarray(self.function(texts), dtype=object)
            returned = [self.inputs.code(self.name, value) for value in np.atleast_1d(found)]
        try:
            changed = np.broadcast_to(np.asarray(returned, dtype=np.float64), flat.shape)
        except (TypeError, ValueError) as error:
            raise OptionError(
                f"Expected the function of {self.name!r} to return one value for each of its "
                f"{len(flat)} values; {error}."
            ) from None
        if not np.isfinite(changed).all():
            raise OptionError(
                f"Expected finite values from the function of {self.name!r}; it returned "
                f"{changed[~np.isfinite(changed)][0]}."
            )
        return self.inputs.to_fit(self.name, changed).reshape(values.shape)
