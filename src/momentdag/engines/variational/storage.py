"""The variational engine's model as plain values and arrays: the weights of its networks."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from momentdag.engines.storage import State, read_units, take_floats
from momentdag.engines.variational.likelihood import Networks
from momentdag.engines.variational.model import VariationalModel
from momentdag.errors import StorageError

__all__ = ["from_state", "state"]


def state(model: VariationalModel) -> State:
    """Return what a model can be made from again."""
    arrays: dict[str, npt.NDArray[Any]] = {
        "location": model._location,
        "scale": model._scale,
        "witnesses": model._witnesses,
    }
    for moment, networks in (
        ("mean", model._mean_networks),
        ("variance", model._variance_networks),
    ):
        for name, part in zip(Networks._fields, networks, strict=True):
            arrays[f"{moment}_{name}"] = np.asarray(part)
    return State({"names": list(model.names), "refitted": model._refitted}, arrays)


def from_state(stored: State) -> VariationalModel:
    """Return the model that `state` was made from; it gives the same bits.

    Raises
    ------
    StorageError
        If something is missing or malformed.
    """
    units = read_units(stored)
    d = len(units.names)
    networks: list[Networks] = []
    n_restarts: int | None = None
    for moment in ("mean", "variance"):
        first = take_floats(stored.arrays, f"{moment}_first", (n_restarts, d, d, None))
        n_restarts, h = first.shape[0], first.shape[3]
        shapes: dict[str, tuple[int | None, ...]] = {
            "hidden": (n_restarts, d, h),
            "last": (n_restarts, d, h),
            "output": (n_restarts, d),
            "shift": (n_restarts, None, d, d),
        }
        # Kept in NumPy: JAX would cut them to single precision.
        parts: list[Any] = [first]
        for name, shape in shapes.items():
            parts.append(take_floats(stored.arrays, f"{moment}_{name}", shape))
        networks.append(Networks(*parts))
    witnesses = take_floats(stored.arrays, "witnesses", (None, d))
    if not n_restarts or not len(witnesses):
        raise StorageError("Expected networks of at least one restart, and rows; there are none.")
    # Files of earlier versions say nothing of it: nothing was refitted.
    refitted = stored.content.get("refitted", False) is True
    return VariationalModel(units, networks[0], networks[1], witnesses, refitted=refitted)
