"""The variational engine's model as plain values and arrays: the weights of its networks."""

from __future__ import annotations

from typing import Any

from momentdag.engines.storage import State, read_units, take_floats
from momentdag.engines.variational.likelihood import Networks
from momentdag.engines.variational.model import VariationalModel

__all__ = ["from_state", "state"]


def state(model: VariationalModel) -> State:
    """Return what a model can be made from again."""
    arrays = {"location": model._location, "scale": model._scale}
    for moment, networks in (
        ("mean", model._mean_networks),
        ("variance", model._variance_networks),
    ):
        for name, part in zip(Networks._fields, networks, strict=True):
            arrays[f"{moment}_{name}"] = part
    return State({"names": list(model.names)}, arrays)


def from_state(stored: State) -> VariationalModel:
    """Return the model that `state` was made from; it gives the same bits.

    Raises
    ------
    StorageError
        If something is missing or malformed.
    """
    units = read_units(stored)
    d = len(units.names)
    networks = []
    for moment in ("mean", "variance"):
        first = take_floats(stored.arrays, f"{moment}_first", (d, d, None))
        h = first.shape[2]
        shapes = {"hidden": (d, h), "last": (d, h), "output": (d,)}
        # Kept in NumPy: JAX would cut them to single precision.
        parts: list[Any] = [first]
        for name, shape in shapes.items():
            parts.append(take_floats(stored.arrays, f"{moment}_{name}", shape))
        networks.append(Networks(*parts))
    return VariationalModel(units, *networks)
