"""A table to look at, with the kinds of the fit it is held against."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from momentdag.errors import DataError, quote
from momentdag.table import Dataset, Prepared, prepare_table
from momentdag.table.raw import read_raw

if TYPE_CHECKING:
    from momentdag.estimator import MomentDAG
    from momentdag.table import Observed

__all__ = ["complete_rows", "read_table_of"]


def complete_rows(dataset: Dataset) -> Dataset:
    """Return the rows without missing cells: a missing value has no residual."""
    if not dataset.has_missing:
        return dataset
    return dataset.take_rows(~dataset.missing.any(axis=1))


def read_table_of(estimator: MomentDAG | None, X: object, *, min_variables: int = 2) -> Dataset:
    """Read a table as the fit read its own, or any table if there is no fit.

    The recipe of the fit is applied to a table with the columns of its source. To another one go
    the kinds and labels of the fit, as a guess from other rows might give a column another kind;
    columns with labels may then hold their texts or their codes.

    Parameters
    ----------
    estimator : MomentDAG or None
        Fitted.
    X : table, Prepared or Dataset, shape (n_samples, n_variables)
        A `Dataset` of the fitted kinds is returned as it is.
    min_variables : int
        Refuse tables with fewer columns.

    Raises
    ------
    NotFittedError
        If the estimator is not fitted.
    DataError
        If the table cannot be used, or holds a level that the fit did not have.
    """
    table = X.dataset if isinstance(X, Prepared) else X
    if estimator is None:
        return table if isinstance(table, Dataset) else prepare_table(table).dataset
    check_is_fitted(estimator, "posterior_")
    recipe = getattr(estimator, "recipe_", None)
    if recipe is not None and not isinstance(table, Dataset):
        named = {column.name for column in recipe.columns}
        if set(read_raw(table).names) == named:
            return prepare_table(table, recipe).dataset
    observed = estimator.result_.observed
    if isinstance(table, pd.DataFrame) and observed.labels:
        table = _encode(table, observed)
    dataset = Dataset.from_table(table, min_variables=min_variables)
    if dataset.names != observed.names or not observed.kinds:
        return dataset
    kinds = tuple(observed.kinds[name] for name in dataset.names)
    if dataset.kinds == kinds and dict(dataset.labels) == dict(observed.labels):
        return dataset
    return Dataset(
        dataset.values, dataset.names, kinds, observed.labels, observed.roots, dataset.has_missing
    )


def _encode(frame: pd.DataFrame, observed: Observed) -> pd.DataFrame:
    """Return a frame with codes for the texts of labelled columns."""
    encoded = frame.copy()
    for name, labels in observed.labels.items():
        if name not in frame or pd.api.types.is_float_dtype(frame[name].dtype):
            continue
        codes = {label.casefold(): float(code) for code, label in enumerate(labels)}
        texts = frame[name].map(lambda cell: str(cell).casefold(), na_action="ignore")
        if pd.api.types.is_integer_dtype(frame[name].dtype) and not texts.isin(codes).all():
            continue  # codes, not names
        stray = texts[~texts.isin(codes) & texts.notna()]
        if len(stray):
            raise DataError(
                f"Expected the levels {quote(list(labels))} in column {quote(name)}; got "
                f"{quote(str(frame[name].loc[stray.index[0]]))}."
            )
        encoded[name] = texts.map(codes).astype(np.float64)
    return encoded
