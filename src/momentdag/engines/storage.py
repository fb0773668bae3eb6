"""Fitted models as plain JSON values and arrays, and the checks on the way back.

Each engine has a module ``storage`` with a pair of functions: ``state(model)`` returns a `State`,
and ``from_state(state)`` returns a model that gives the same bits. Whoever keeps a state decides
how; a state that comes back is checked here, as files can be damaged or forged.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from momentdag.errors import StorageError, quote

__all__ = ["ColumnUnits", "State", "read_units", "take_array", "take_floats"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
Arrays: TypeAlias = Mapping[str, npt.NDArray[Any]]

_LARGEST = 1e150  # data with an sd beyond 1e140 are never fitted; squares must stay finite


class State(NamedTuple):
    """All there is to a fitted model."""

    content: Mapping[str, Any]
    arrays: Arrays


class ColumnUnits(NamedTuple):
    """What a model remembers of its `Dataset`: names, means and sds of the columns."""

    names: tuple[str, ...]
    location: FloatArray
    scale: FloatArray


def take_array(
    arrays: Arrays, name: str, kind: type[np.generic], shape: tuple[int | None, ...]
) -> npt.NDArray[Any]:
    """Return a stored array after checking its type and shape (None: any length).

    Raises
    ------
    StorageError
        If it is missing or another.

    Examples
    --------
    >>> take_array({"a": np.zeros((2, 3))}, "a", np.float64, (None, 3)).shape
    (2, 3)
    """
    if name not in arrays:
        raise StorageError(f"Expected an array {name!r}; there is none.")
    array = arrays[name]
    fits = len(array.shape) == len(shape) and all(
        wanted is None or wanted == length
        for wanted, length in zip(shape, array.shape, strict=True)
    )
    if array.dtype != kind or not fits:
        raise StorageError(
            f"Expected array {name!r} of type {kind.__name__} and shape {shape}; got "
            f"{array.dtype} and {array.shape}."
        )
    return array


def take_floats(arrays: Arrays, name: str, shape: tuple[int | None, ...]) -> FloatArray:
    """Return a stored array of finite floats.

    Raises
    ------
    StorageError
        As from `take_array`, and if an entry is not finite or larger than any honest one.
    """
    array = take_array(arrays, name, np.float64, shape)
    if not (np.abs(array) <= _LARGEST).all():
        raise StorageError(f"Expected array {name!r} to be finite and below {_LARGEST:g}.")
    return array


def read_units(state: State) -> ColumnUnits:
    """Return names, locations and scales of a state.

    Raises
    ------
    StorageError
        If they are malformed.
    """
    names = state.content.get("names")
    if not (isinstance(names, list) and names and all(isinstance(name, str) for name in names)):
        raise StorageError(f"Expected a list of variable names; got {quote(names)}.")
    location = take_floats(state.arrays, "location", (len(names),))
    scale = take_floats(state.arrays, "scale", (len(names),))
    if not (scale > 0).all():
        raise StorageError("Expected positive scales; one is not.")
    return ColumnUnits(tuple(names), location, scale)
