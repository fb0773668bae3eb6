"""Drawn edges of regimes into variables: what each regime changes, and in which moment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from momentdag.errors import OptionError, StorageError, quote
from momentdag.graph import BoolArray
from momentdag.readonly import ReadOnlyArrays

__all__ = ["TargetDraws", "take_targets"]


@dataclass(frozen=True, eq=False)
class TargetDraws(ReadOnlyArrays):
    """Which variables each regime changes, in every draw.

    Parameters
    ----------
    column : str
        What the regimes are called: batch, drug, month.
    reference : str
        The regime that others are compared with.
    levels : tuple of str
        The other regimes.
    mean, variance : bool array, shape (n_draws, n_levels, d)
    """

    column: str
    reference: str
    levels: tuple[str, ...]
    mean: BoolArray
    variance: BoolArray

    @property
    def nodes(self) -> tuple[str, ...]:
        """What statements of knowledge call the regimes."""
        return tuple(f"{self.column}={level}" for level in self.levels)

    @property
    def regimes(self) -> tuple[str, ...]:
        """All regimes, the reference first."""
        return (self.reference, *self.levels)

    def check(self, n_draws: int, n_variables: int) -> None:
        """Refuse arrays that do not belong to a posterior of this size.

        Raises
        ------
        OptionError
        """
        shape = (n_draws, len(self.levels), n_variables)
        if self.mean.shape != shape or self.variance.shape != shape:
            raise OptionError(f"Expected targets of shape {shape}; got {self.mean.shape}.")

    @property
    def bits(self) -> npt.NDArray[np.uint8]:
        """Both, packed, (n_draws, n_bytes)."""
        flat = [part.reshape(len(part), -1) for part in (self.mean, self.variance)]
        return np.packbits(np.hstack(flat), axis=1)

    def code(self, level: str) -> int:
        """Return the place of a regime among `regimes`.

        Raises
        ------
        OptionError
            If there is no such regime.
        """
        if level not in self.regimes:
            raise OptionError(
                f"Expected a regime of {quote(self.column)} among {list(self.regimes)}; got "
                f"{quote(level)}."
            )
        return self.regimes.index(level)

    def table(self, names: tuple[str, ...]) -> pd.DataFrame:
        """Return a row for each regime and variable: regime, variable, mean, variance."""
        d = len(names)
        return pd.DataFrame(
            {
                "regime": np.repeat(np.array(self.levels, dtype=object), d),
                "variable": np.tile(np.array(names, dtype=object), len(self.levels)),
                "mean": self.mean.mean(axis=0).ravel(),
                "variance": self.variance.mean(axis=0).ravel(),
            }
        )

    def to_state(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        """Return plain values and arrays, see `take_targets`."""
        content = {
            "column": self.column,
            "reference": self.reference,
            "levels": list(self.levels),
        }
        return content, {"target_bits": self.bits}


def take_targets(
    content: Any, arrays: Mapping[str, npt.NDArray[Any]], n_draws: int, n_variables: int
) -> TargetDraws:
    """Return what `TargetDraws.to_state` gave.

    Raises
    ------
    StorageError
        If it is malformed.
    """
    texts = [content["column"], content["reference"], *content["levels"]]
    levels = tuple(content["levels"])
    if not levels or not all(isinstance(text, str) for text in texts):
        raise StorageError(f"Expected the names of regimes; got {quote(texts)}.")
    n = len(levels) * n_variables
    bits = arrays.get("target_bits")
    if bits is None or bits.dtype != np.uint8 or bits.shape != (n_draws, -(-2 * n // 8)):
        raise StorageError("The draws of the regimes' targets are missing or malformed.")
    flags = np.unpackbits(bits, axis=1, count=2 * n).view(np.bool_)
    mean, variance = (
        part.reshape(n_draws, len(levels), n_variables) for part in (flags[:, :n], flags[:, n:])
    )
    return TargetDraws(content["column"], content["reference"], levels, mean, variance)
