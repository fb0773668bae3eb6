"""The content of an archive (JSON values and arrays), and its checks when it is read back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from momentdag.errors import StorageError, quote

__all__ = ["Arrays", "State", "is_text", "take_array", "take_floats", "take_names"]

Arrays: TypeAlias = Mapping[str, npt.NDArray[Any]]

_LARGEST = 1e150  # data with an sd beyond 1e140 are never fitted; squares must stay finite


class State(NamedTuple):
    """A posterior, a fitted model, a table or a stage of a fit as plain values.

    Parameters
    ----------
    content : mapping
        Plain JSON values.
    arrays : mapping from name to array
        Of booleans, integers or floats.
    """

    content: Mapping[str, Any]
    arrays: Arrays


def take_names(content: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the variable names of a stored state.

    Raises
    ------
    StorageError
        If ``content["names"]`` is not a list of text.

    Examples
    --------
    >>> take_names({"names": ["raf", "mek"]})
    ('raf', 'mek')
    """
    names = content.get("names")
    if not (isinstance(names, list) and all(is_text(name) for name in names)):
        raise StorageError(f"Expected a list of variable names; got {quote(names)}.")
    return tuple(names)


def is_text(value: object) -> bool:
    r"""Tell whether a value is text that can be written as UTF-8: without lone surrogates.

    Examples
    --------
    >>> is_text("naïve"), is_text("\ud800"), is_text(None)
    (True, False, False)
    """
    if not isinstance(value, str):
        return False
    return value.isascii() or value.encode("utf-8", "replace").decode("utf-8") == value


def take_array(
    arrays: Arrays, name: str, dtype: type[np.generic], shape: tuple[int | None, ...]
) -> npt.NDArray[Any]:
    """Return a stored array after checking its type and shape (None: any length).

    Raises
    ------
    StorageError
        If it is missing, or has another type or shape.

    Examples
    --------
    >>> take_array({"a": np.zeros((2, 3))}, "a", np.float64, (None, 3)).shape
    (2, 3)
    """
    if name not in arrays:
        raise StorageError(f"Expected an array {name!r}; there is none.")
    array = arrays[name]
    fits = len(array.shape) == len(shape) and all(
        expected is None or expected == length
        for expected, length in zip(shape, array.shape, strict=True)
    )
    if array.dtype != dtype or not fits:
        raise StorageError(
            f"Expected array {name!r} of type {dtype.__name__} and shape {shape}; got "
            f"{array.dtype} and {array.shape}."
        )
    return array


def take_floats(
    arrays: Arrays, name: str, shape: tuple[int | None, ...]
) -> npt.NDArray[np.float64]:
    """Return a stored array of finite floats; what is too small to be inverted is 0.

    Raises
    ------
    StorageError
        As from `take_array`, and if an entry is not finite or too large to be squared.
    """
    array = take_array(arrays, name, np.float64, shape)
    if not (np.abs(array) <= _LARGEST).all():
        raise StorageError(f"Expected array {name!r} to be finite and below {_LARGEST:g}.")
    # The inverse of a denormal is no number.
    return np.where(np.abs(array) < np.finfo(np.float64).tiny, 0.0, array)
