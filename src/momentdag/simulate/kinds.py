"""Kinds of columns: how each is stored as numbers, written in a table, and set from outside.

Inside, a table is a float array. A category is stored as the position of its level; all other kinds
are stored as they are.
"""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from momentdag.errors import OptionError
from momentdag.simulate.options import FloatArray

__all__ = [
    "CATEGORY_LEVELS",
    "N_ORDERED_LEVELS",
    "SCALED_KINDS",
    "Kind",
    "check_kind",
    "decode",
    "encode",
]

Kind = Literal["continuous", "ordered", "count", "binary", "category"]
"""Kinds of simulated columns."""

SCALED_KINDS: tuple[Kind, ...] = ("continuous", "ordered", "count")
"""Kinds with a variance of their own, so that they can have variance parents."""

CATEGORY_LEVELS = ("a", "b", "c")
N_ORDERED_LEVELS = 5

_EXPECTED: dict[Kind, str] = {
    "continuous": "finite numbers",
    "ordered": f"levels among 1..{N_ORDERED_LEVELS}",
    "count": "whole numbers >= 0",
    "binary": "0 and 1, or False and True",
    "category": f"levels among {list(CATEGORY_LEVELS)}",
}


def check_kind(option: str, kind: str) -> None:
    """Refuse anything but a declared kind."""
    if kind not in get_args(Kind):
        raise OptionError(f"Expected {option} among {list(get_args(Kind))}; got {kind!r}.")


def decode(kind: Kind, codes: FloatArray, *, boolean: bool = False) -> npt.NDArray[Any]:
    """Write a column as it stands in a table: float, int, bool or text.

    Examples
    --------
    >>> decode("category", np.array([0.0, 2.0])).tolist()
    ['a', 'c']
    >>> decode("binary", np.array([0.0, 1.0]), boolean=True).tolist()
    [False, True]
    """
    match kind:
        case "continuous":
            return codes.copy()
        case "category":
            return np.array(CATEGORY_LEVELS, dtype=object)[codes.astype(np.intp)]
        case "binary" if boolean:
            return codes.astype(np.bool_)
        case _:
            return codes.astype(np.int64)


def encode(name: str, kind: Kind, value: npt.ArrayLike, n: int) -> FloatArray:
    """Read the setting of a column as numbers, shape (n,).

    Parameters
    ----------
    name : str
        Of the column, for the message.
    kind : Kind
    value : scalar or array of shape (n,)
        One value for all rows, or one for each, as it would stand in the table.
    n : int

    Raises
    ------
    OptionError
        If the setting has another shape, or is no value that the kind can have.

    Examples
    --------
    >>> encode("machine", "category", "b", 2).tolist()
    [1.0, 1.0]
    """
    setting = np.asarray(value)
    if setting.shape not in {(), (n,)}:
        raise OptionError(
            f"Expected do[{name!r}] to be one value or {n} values, one for each row; got an array "
            f"of shape {setting.shape}."
        )
    codes = _codes(kind, setting)
    if codes is None:
        raise OptionError(f"Expected do[{name!r}] to be {_EXPECTED[kind]}; got {value!r}.")
    return np.broadcast_to(codes, (n,))


def _codes(kind: Kind, setting: npt.NDArray[Any]) -> FloatArray | None:
    """Return the numbers that stand for a setting, or None if the kind has no such value."""
    if kind == "category":
        level_of = {level: float(code) for code, level in enumerate(CATEGORY_LEVELS)}
        found = [level_of.get(str(level)) for level in setting.ravel()]
        if any(code is None for code in found):
            return None
        return np.array(found, dtype=np.float64).reshape(setting.shape)
    if setting.dtype.kind not in ("biuf" if kind == "binary" else "iuf"):
        return None
    codes = setting.astype(np.float64)
    if not np.isfinite(codes).all():
        return None
    possible = {
        "continuous": np.isfinite(codes),
        "ordered": np.isin(codes, np.arange(1.0, N_ORDERED_LEVELS + 1)),
        "count": (codes >= 0) & (codes == np.floor(codes)),
        "binary": np.isin(codes, [0.0, 1.0]),
    }[kind]
    return codes if bool(np.all(possible)) else None
