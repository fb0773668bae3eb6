"""Sets of variables as bit masks: bit i is variable i."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from momentdag.graph import BoolArray

__all__ = ["Words", "column_mask", "everyone_but", "from_words", "members", "to_words"]

Words: TypeAlias = npt.NDArray[np.uint64]
"""Masks in 64-bit words, shape (n_masks, n_words), lowest bits first."""

_WORD = 64


def members(mask: int) -> list[int]:
    """Return the variables of a mask, ascending.

    Examples
    --------
    >>> members(0b1101)
    [0, 2, 3]
    """
    found = []
    while mask:
        low = mask & -mask
        found.append(low.bit_length() - 1)
        mask ^= low
    return found


def column_mask(column: BoolArray) -> int:
    """Return the mask of the true entries of ``column`` (d,)."""
    return sum(1 << int(i) for i in np.flatnonzero(column))


def everyone_but(n_variables: int) -> tuple[int, ...]:
    """Return, for each variable, the mask of all others.

    Examples
    --------
    >>> [bin(mask) for mask in everyone_but(3)]
    ['0b110', '0b101', '0b11']
    """
    everyone = (1 << n_variables) - 1
    return tuple(everyone & ~(1 << j) for j in range(n_variables))


def to_words(masks: Iterable[int], n_variables: int) -> Words:
    """Return masks of ``n_variables`` variables as 64-bit words.

    Examples
    --------
    >>> to_words([1, 1 << 64], 65).tolist()
    [[1, 0], [0, 1]]
    """
    n_words = -(-n_variables // _WORD)
    rows = [[mask >> (_WORD * w) & (2**_WORD - 1) for w in range(n_words)] for mask in masks]
    return np.array(rows, dtype=np.uint64).reshape(len(rows), n_words)


def from_words(words: Words) -> list[int]:
    """Return the masks that `to_words` was given."""
    return [sum(word << (_WORD * w) for w, word in enumerate(row)) for row in words.tolist()]
