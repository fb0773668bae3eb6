"""The evidence engine's model as plain values and arrays.

A mechanism is a deterministic function of the rows, the inducing rows and the hyper-parameters.
These are stored, and mechanisms are fitted again when they are asked for.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, NamedTuple, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from momentdag.engines.evidence.local.features import Kernel
from momentdag.engines.evidence.local.hyperparameters import (
    Hyperparameters,
    hyperparameters_of,
    make_scorer,
)
from momentdag.engines.evidence.local.interventions import InterventionScorer, scorer_of
from momentdag.engines.evidence.local.location_scale import LocalScorer, NoiseFamily
from momentdag.engines.evidence.options import EvidenceOptions
from momentdag.engines.evidence.refit import AllRows
from momentdag.engines.standardise import ColumnUnits, read_units
from momentdag.errors import StorageError, quote
from momentdag.storage.state import Arrays, State, take_array, take_floats

__all__ = ["ModelParts", "read_parts", "write_parts"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
IndexArray: TypeAlias = npt.NDArray[np.intp]


class ModelParts(NamedTuple):
    """What an `EvidenceModel` is made from.

    Parameters
    ----------
    units : ColumnUnits
        In the order of the data's columns.
    columns : int array, shape (d,)
        The engine's order of the columns.
    scorer : LocalScorer or InterventionScorer
    rows : AllRows or None
    """

    units: ColumnUnits
    columns: npt.NDArray[np.intp]
    scorer: LocalScorer | InterventionScorer
    rows: AllRows | None


def write_parts(parts: ModelParts) -> State:
    """Return the parts of a model as a state."""
    units, columns, scorer, rows = parts
    own: LocalScorer = scorer_of(scorer, 0)
    values, inducing_rows, targets = (
        own.mean_features.values,
        own.mean_features.inducing_rows,
        own.columns.T,
    )
    if isinstance(scorer, InterventionScorer):
        values, inducing_rows, targets = scorer.values, scorer.inducing_rows, scorer.values
    arrays: dict[str, npt.NDArray[Any]] = {
        "location": units.location,
        "scale": units.scale,
        "columns": columns.astype(np.int64),
        "values": values,
        "inducing_rows": inducing_rows.astype(np.int64),
    }
    # Effects differ from causes only in runs of earlier versions, which spread tied values.
    if not np.array_equal(values, targets):
        arrays["targets"] = targets
    if isinstance(scorer, InterventionScorer):
        arrays["set_cells"] = scorer.set_cells
    if rows is not None:
        arrays["all_values"] = rows.values
        if rows.set_cells is not None:
            arrays["all_set_cells"] = rows.set_cells
        if rows.effects is not None:
            arrays["all_targets"] = rows.effects
    content = {
        "names": list(units.names),
        "kinds": list(units.kinds),
        "noise": own.noise,
        "hyperparameters": asdict(hyperparameters_of(own)),
    }
    return State(content, arrays)


def read_parts(state: State) -> ModelParts:
    """Return the parts of the model that a state was written from.

    Raises
    ------
    StorageError
        If something is missing or malformed.
    """
    units = read_units(state)
    d, arrays = len(units.names), state.arrays
    columns = take_array(arrays, "columns", np.int64, (d,)).astype(np.intp)
    if not np.array_equal(np.sort(columns), np.arange(d)):
        raise StorageError("Expected columns to be an order of the variables; it is not.")
    values = take_floats(arrays, "values", (None, d))
    n = len(values)
    inducing_rows = take_array(arrays, "inducing_rows", np.int64, (None,)).astype(np.intp)
    if not len(inducing_rows) or inducing_rows.min() < 0 or inducing_rows.max() >= n:
        raise StorageError(f"Expected inducing rows from 0 to {n - 1}; they are not.")
    noise: Any = state.content.get("noise")
    if noise not in get_args(NoiseFamily):
        raise StorageError(f"Expected noise among {get_args(NoiseFamily)}; got {quote(noise)}.")
    hyperparameters = _hyperparameters(state.content.get("hyperparameters"))

    def make(values: FloatArray, inducing_rows: IndexArray, targets: FloatArray) -> LocalScorer:
        chosen = (hyperparameters, EvidenceOptions(noise=noise), units.reordered(columns))
        made = make_scorer(values, targets, inducing_rows, *chosen)
        assert isinstance(made, LocalScorer)  # as the family is not the linear one
        return made

    scorer: LocalScorer | InterventionScorer
    if "set_cells" in arrays:
        set_cells = take_array(arrays, "set_cells", np.bool_, (n, d))
        if set_cells.all(axis=0).any():
            raise StorageError("Expected rows in which each variable was not set; one has none.")
        scorer = InterventionScorer(
            values, inducing_rows, set_cells, lambda rows, inducing: make(rows, inducing, rows)
        )
    else:
        scorer = make(values, inducing_rows, _targets(arrays, "targets", values))
    rows = None
    if "all_values" in arrays:
        all_values = take_floats(arrays, "all_values", (None, d))
        if len(all_values) < n:
            raise StorageError(f"Expected at least {n} rows in all; got {len(all_values)}.")
        effects = None
        if "all_targets" in arrays:
            effects = take_floats(arrays, "all_targets", all_values.shape)
        all_set = None
        if "all_set_cells" in arrays:
            all_set = take_array(arrays, "all_set_cells", np.bool_, all_values.shape)
        rows = AllRows(all_values, effects, all_set)
    return ModelParts(units, columns, scorer, rows)


def _targets(arrays: Arrays, name: str, values: FloatArray) -> FloatArray:
    """Return columns as effects, (n, d): stored only where they differ from those as causes."""
    return take_floats(arrays, name, values.shape) if name in arrays else values


def _hyperparameters(stored: Any) -> Hyperparameters:
    try:
        inputs, mean, variance = (
            stored[name] for name in ("inputs", "mean_kernel", "variance_kernel")
        )
        features = stored.get("features", "usual")  # fits of earlier versions do not say
        if inputs not in ("values", "ranks"):
            raise StorageError(f"Expected inputs 'values' or 'ranks'; got {quote(inputs)}.")
        if features not in ("usual", "fine"):
            raise StorageError(f"Expected features 'usual' or 'fine'; got {quote(features)}.")
        return Hyperparameters(inputs, _kernel(mean), _kernel(variance), features)
    except (KeyError, TypeError) as error:
        raise StorageError(f"Expected hyper-parameters of two kernels; {error}.") from None


def _kernel(stored: Any) -> Kernel:
    kernel = Kernel(**stored)
    numbers = (kernel.scale, kernel.bias, kernel.linear)
    if kernel.shape not in ("network", "rbf") or not all(
        isinstance(number, float) and (number == 0 or 1e-50 <= number <= 1e50) for number in numbers
    ):
        raise StorageError(f"Expected a kernel; got {quote(stored)}.")
    return kernel
