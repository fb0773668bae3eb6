"""What an estimator is given, checked and read: numbers of draws and jobs, tables, new rows."""

from __future__ import annotations

import warnings
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import validate_data

from momentdag.errors import DataError, DataWarning, OptionError, quote
from momentdag.table import Dataset, Prepared, prepare_table
from momentdag.table.checks import check_finite, check_shape
from momentdag.table.experimental import ExperimentColumns
from momentdag.table.prepare import encode_table
from momentdag.table.raw import read_raw
from momentdag.table.tables import read_table

__all__ = ["check_counts", "read_dataset", "read_rows", "remember_columns"]

FloatArray: TypeAlias = npt.NDArray[np.float64]


def check_counts(estimator: Any) -> None:
    """Refuse numbers of draws and processes that are none.

    Raises
    ------
    OptionError
    """
    for name in ("n_draws", "n_jobs"):
        value = getattr(estimator, name)
        all_cores = name == "n_jobs" and value == -1
        if not all_cores and (not isinstance(value, int | np.integer) or value < 1):
            also = " or -1" if name == "n_jobs" else ""
            raise OptionError(
                f"Expected {name} to be a positive integer{also}; got {quote(value)}."
            )


def remember_columns(estimator: Any, names: tuple[str, ...]) -> None:
    """Set what every scikit-learn estimator says of its columns."""
    estimator.n_features_in_ = len(names)
    estimator.feature_names_in_ = np.array(names, dtype=object)


def read_dataset(estimator: Any, X: Any, stated: ExperimentColumns) -> Dataset:
    """Return the table as a `Dataset`, and remember what was done to it."""
    if isinstance(X, Dataset | Prepared):
        dataset = X if isinstance(X, Dataset) else X.dataset
        if estimator.kinds or estimator.missing != "auto":
            raise OptionError(
                "kinds and missing are for tables; this one is prepared already. Give them to "
                "the Dataset, or to prepare_table."
            )
        check_shape(dataset.values.shape, min_variables=2)
        remember_columns(estimator, dataset.names)
        estimator.recipe_ = None if isinstance(X, Dataset) else X.recipe
        estimator.account_ = () if isinstance(X, Dataset) else X.account
        return stated.add_to(X)
    try:
        validate_data(estimator, X, skip_check_array=True)
    except TypeError as error:  # scikit-learn refuses labels of several types
        raise DataError(f"Expected column names as text; {error}") from error
    prepared = prepare_table(X, kinds=estimator.kinds, missing=estimator.missing)
    estimator.recipe_, estimator.account_ = prepared.recipe, prepared.account
    for note in prepared.dataset.notes:
        warnings.warn(note, DataWarning, stacklevel=5)
    if prepared.changes:
        more = "See account_, or momentdag.check."
        warnings.warn(" ".join([*prepared.summary, more]), DataWarning, stacklevel=5)
    return stated.add_to(prepared)


def read_rows(estimator: Any, X: Any) -> tuple[tuple[str, ...], FloatArray]:
    """Return names and values of new rows, as the recipe of the fit has them."""
    if isinstance(X, Dataset):
        return X.names, X.values
    validate_data(estimator, X, reset=False, skip_check_array=True)
    recipe = getattr(estimator, "recipe_", None)
    if recipe is None:
        table = read_table(X)
        names, values = table.names, table.values
    else:
        columns = encode_table(read_raw(X), recipe)
        names = tuple(column.name for column in columns)
        values = np.column_stack([column.values for column in columns])
    check_finite(names, values)
    return names, values
