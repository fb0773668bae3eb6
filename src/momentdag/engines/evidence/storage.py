"""The evidence engine's model as plain values and arrays.

A mechanism is a deterministic function of the rows, the inducing rows and the hyper-parameters, so
these are stored, and mechanisms are fitted again when they are asked for.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, get_args

import numpy as np

from momentdag.engines.evidence.features import MEAN_DETAIL, Kernel
from momentdag.engines.evidence.model import EvidenceModel
from momentdag.engines.evidence.options import EvidenceOptions
from momentdag.engines.evidence.refit import AllRows
from momentdag.engines.evidence.score import LocalScorer, NoiseFamily
from momentdag.engines.evidence.scoring import Hyperparameters, make_scorer
from momentdag.engines.storage import State, read_units, take_array, take_floats
from momentdag.errors import StorageError

__all__ = ["from_state", "state"]


def state(model: EvidenceModel) -> State:
    """Return what a model can be made from again."""
    scorer, columns = model.scorer, model._units.columns
    back = np.argsort(columns)
    hyperparameters = Hyperparameters(
        "values" if scorer.mean_features._sorted is None else "ranks",
        scorer.mean_features.kernel,
        scorer.variance_features.kernel,
        "usual" if scorer.mean_features._detail == MEAN_DETAIL else "fine",
    )
    values, targets = scorer.mean_features.values, scorer.columns.T
    arrays = {
        "location": model._units.location[back],
        "scale": model._units.scale[back],
        "columns": columns.astype(np.int64),
        "values": values,
        "inducing_rows": scorer.mean_features.inducing_rows.astype(np.int64),
    }
    if not np.array_equal(values, targets):
        arrays["targets"] = targets
    if model.rows is not None:
        arrays["all_values"] = model.rows.values
        if model.rows.targets is not model.rows.values:
            arrays["all_targets"] = model.rows.targets
    content = {
        "names": list(model.names),
        "noise": scorer.noise,
        "hyperparameters": asdict(hyperparameters),
    }
    return State(content, arrays)


def from_state(stored: State) -> EvidenceModel:
    """Return the model that `state` was made from; it gives the same bits.

    Raises
    ------
    StorageError
        If something is missing or malformed.
    """
    units = read_units(stored)
    d, arrays = len(units.names), stored.arrays
    columns = take_array(arrays, "columns", np.int64, (d,)).astype(np.intp)
    if not np.array_equal(np.sort(columns), np.arange(d)):
        raise StorageError("Expected columns to be an order of the variables; it is not.")
    values = take_floats(arrays, "values", (None, d))
    n = len(values)
    targets = take_floats(arrays, "targets", (n, d)) if "targets" in arrays else values
    rows = take_array(arrays, "inducing_rows", np.int64, (None,)).astype(np.intp)
    if not len(rows) or rows.min() < 0 or rows.max() >= n:
        raise StorageError(f"Expected inducing rows from 0 to {n - 1}; they are not.")
    noise: Any = stored.content.get("noise")
    if noise not in get_args(NoiseFamily):
        raise StorageError(f"Expected noise among {get_args(NoiseFamily)}; got {noise!r}.")
    hyperparameters = _hyperparameters(stored.content.get("hyperparameters"))
    scorer = make_scorer(values, targets, rows, hyperparameters, EvidenceOptions(noise=noise))
    assert isinstance(scorer, LocalScorer)  # as the family is not the linear one
    return EvidenceModel(units, columns, scorer, rows=_all_rows(stored, n))


def _all_rows(stored: State, n_before: int) -> AllRows | None:
    arrays = stored.arrays
    if "all_values" not in arrays:
        return None
    values = take_floats(arrays, "all_values", (None, len(stored.content["names"])))
    if len(values) < n_before:
        raise StorageError(f"Expected at least {n_before} rows in all; got {len(values)}.")
    same = "all_targets" not in arrays
    return AllRows(values, values if same else take_floats(arrays, "all_targets", values.shape))


def _hyperparameters(stored: Any) -> Hyperparameters:
    try:
        inputs, mean, variance = (
            stored[name] for name in ("inputs", "mean_kernel", "variance_kernel")
        )
        features = stored.get("features", "usual")  # fits of earlier versions do not say
        if inputs not in ("values", "ranks"):
            raise StorageError(f"Expected inputs 'values' or 'ranks'; got {inputs!r}.")
        if features not in ("usual", "fine"):
            raise StorageError(f"Expected features 'usual' or 'fine'; got {features!r}.")
        return Hyperparameters(inputs, _kernel(mean), _kernel(variance), features)
    except (KeyError, TypeError) as error:
        raise StorageError(f"Expected hyper-parameters of two kernels; {error}.") from None


def _kernel(stored: Any) -> Kernel:
    kernel = Kernel(**stored)
    numbers = (kernel.scale, kernel.bias, kernel.linear)
    if kernel.shape not in ("network", "rbf") or not all(
        isinstance(number, float) and 0 <= number < np.inf for number in numbers
    ):
        raise StorageError(f"Expected a kernel; got {stored!r}.")
    return kernel
