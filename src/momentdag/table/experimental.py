"""Tables with an experiment: regimes and interventions, given as columns or beside the table."""

from __future__ import annotations

from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
import pandas as pd

from momentdag.errors import DataError, OptionError, quote
from momentdag.table.dataset import Dataset
from momentdag.table.experiment import Experiment, read_regimes, read_set_cells
from momentdag.table.prepare import Prepared
from momentdag.table.raw import RawColumn

__all__ = ["ExperimentColumns", "cell_texts", "take_columns", "undisturbed_rows", "with_experiment"]

_COLUMN = "regime"


class ExperimentColumns(NamedTuple):
    """What is stated of an experiment, a value for each row of a table.

    Parameters
    ----------
    regime : sequence or None
        A label for each row.
    column : str
        What the regimes are called.
    interventions : sequence, table or None
        See `read_set_cells`.
    reference : object
        The regime to compare with.
    """

    regime: Any = None
    column: str = _COLUMN
    interventions: Any = None
    reference: object = None

    @property
    def labels(self) -> pd.Series[Any] | None:
        """The regimes as a named series, as `MomentDAG.fit` takes them."""
        if self.regime is None:
            return None
        return pd.Series(list(self.regime), name=self.column, dtype=object)

    def add_to(self, table: Dataset | Prepared) -> Dataset:
        """Return a table with this experiment; without any, as it is."""
        return with_experiment(
            table,
            self.regime,
            self.interventions,
            reference=self.reference,
            column=self.column,
        )


def take_columns(
    X: Any, regime: Any, interventions: Any, reference: object
) -> tuple[Any, ExperimentColumns]:
    """Return a table without the columns that tell of an experiment, and these columns.

    Parameters
    ----------
    X : table
    regime, interventions : str, or values for each row, or None
        A text is the name of a column of ``X``.
    reference : object

    Raises
    ------
    DataError
        If there is no such column.
    OptionError
        If there is a reference without regimes.
    """
    if regime is None and reference is not None:
        raise OptionError("Expected a regime along with the reference; there is none.")
    column = getattr(regime, "name", None)
    column = regime if isinstance(regime, str) else _COLUMN if column is None else str(column)
    found = {}
    for what, stated in (("regime", regime), ("interventions", interventions)):
        if not isinstance(stated, str):
            continue
        try:
            frame = nw.from_native(X, eager_only=True)
        except TypeError:
            raise DataError(
                f"Expected a frame with named columns, as {what} is the name of one; give the "
                "values themselves for an array."
            ) from None
        if stated not in frame.columns:
            raise DataError(
                f"Expected {what} among the columns {list(frame.columns)}; got {quote(stated)}."
            )
        found[what] = frame[stated].to_list()
    if found:
        frame = nw.from_native(X, eager_only=True)
        texts = {one for one in (regime, interventions) if isinstance(one, str)}
        X = frame.drop(*texts).to_native()
    return X, ExperimentColumns(
        found.get("regime", regime), column, found.get("interventions", interventions), reference
    )


def undisturbed_rows(dataset: Dataset) -> Dataset:
    """Return the rows of the reference regime in which nothing was set, as an ordinary table.

    All rows where there are too few of these.
    """
    experiment = dataset.experiment
    if experiment is None:
        return dataset
    rows = experiment.undisturbed()
    values = dataset.values if rows is None else dataset.values[rows]
    parts = (dataset.names, dataset.kinds, dataset.labels, dataset.roots)
    try:
        return Dataset(values, *parts, allow_missing=True)
    except DataError:  # a column that others changed may be constant in these rows
        return Dataset(dataset.values, *parts, allow_missing=True)


def cell_texts(column: RawColumn) -> list[Any]:
    """Return the cells of a column as a file has them: text, numbers, or None."""
    if not column.levels:
        return [None if np.isnan(value) else float(value) for value in column.values]
    return [None if np.isnan(code) else column.levels[int(code)] for code in column.values]


def with_experiment(
    table: Dataset | Prepared,
    regime: Any = None,
    interventions: Any = None,
    *,
    reference: object = None,
    column: str = _COLUMN,
) -> Dataset:
    """Return a table that knows under which regime its rows were taken and what was set in them.

    Parameters
    ----------
    table : Dataset or Prepared
        Of a prepared table, the columns are those of its source, before rows were left out.
    regime : sequence of length n, optional
        A label for each row.
    interventions : sequence of length n, or table of bool, optional
        See `momentdag.MomentDAG.fit`.
    reference : object, optional
        The regime that others are compared with; by default the one with most rows.
    column : str
        What the regimes are called.

    Raises
    ------
    DataError
        If a label is missing, a regime has too few rows, or an intervention cannot be.
    OptionError
        If there is no such reference.

    Examples
    --------
    >>> data = Dataset(np.random.default_rng(0).normal(size=(40, 2)), ["a", "b"])
    >>> data = with_experiment(data, ["march", "april"] * 20, reference="march", column="month")
    >>> data.experiment.regimes.nodes
    ('month=april',)
    """
    if regime is None and interventions is None:
        return table.dataset if isinstance(table, Prepared) else table
    dataset, rows, left_out = table, None, {}
    if isinstance(table, Prepared):
        dataset, rows, left_out = table.dataset, table.rows, dict(table.recipe.left_out)
    assert isinstance(dataset, Dataset)
    n_rows = dataset.n_samples if rows is None else len(rows)
    experiment = Experiment()
    if regime is not None:
        labels = list(regime)
        if len(labels) != n_rows:
            raise DataError(f"Expected a regime for each of the {n_rows} rows; got {len(labels)}.")
        experiment = Experiment(read_regimes(labels, column, reference))
    if interventions is not None:
        cells = read_set_cells(interventions, dataset.names, n_rows, left_out)
        experiment = Experiment(experiment.regimes, cells)
    if rows is not None:
        experiment = experiment.take_rows(rows)
    regimes, set_cells = experiment.regimes, experiment.set_cells
    if set_cells is not None and (empty := np.argwhere(set_cells & dataset.missing)).size:
        raise DataError(
            f"Expected the values that were set; {dataset.names[empty[0, 1]]!r} is missing in row "
            f"{empty[0, 0]} of the used rows. Leave out such rows. Rows count from 0."
        )
    if regimes is not None and (clash := sorted(set(regimes.nodes) & set(dataset.names))):
        raise DataError(f"Expected regimes and columns of other names; both have {clash[0]!r}.")
    return Dataset(
        dataset.values,
        dataset.names,
        dataset.kinds,
        dataset.labels,
        dataset.roots,
        allow_missing=True,
        experiment=experiment,
    )
