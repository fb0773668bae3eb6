"""The fingerprint of a table: by it a run knows the data that it was fitted to."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

import numpy as np

from momentdag.table.kinds import Kind, guess_kind
from momentdag.table.tables import FloatArray

__all__ = ["fingerprint"]


def fingerprint(
    names: tuple[str, ...],
    values: FloatArray,
    kinds: tuple[Kind, ...],
    labels: Mapping[str, tuple[str, ...]],
    roots: tuple[str, ...],
) -> str:
    """Return the SHA-256 of a table as hexadecimal text; the same on every machine.

    Kinds, labels and roots enter only where they are not what the values alone say, so that
    tables of plain numbers keep the fingerprint of earlier versions.

    Parameters
    ----------
    names : tuple of str
    values : float array, shape (n, d)
    kinds : tuple of Kind
    labels : mapping from name to tuple of str
    roots : tuple of str
    """
    digest = hashlib.sha256(json.dumps([len(values), *names]).encode("ascii"))
    guessed = tuple(guess_kind(column) for column in values.T)
    if kinds != guessed or labels or roots:
        stated = [kinds, sorted(labels.items()), roots]
        digest.update(json.dumps(stated).encode("ascii"))
    for column in values.T:
        # Every NaN gets the same bits.
        bits = np.ascontiguousarray(np.where(np.isnan(column), np.nan, column), dtype="<f8")
        digest.update(bits.data)
    return digest.hexdigest()
