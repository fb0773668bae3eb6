"""`Dataset`: a checked table together with its units.

Nothing else in the library uses raw tables: engines read `Dataset.standardised`, and everything
reported to the user is converted to original units by `Dataset.location` and `Dataset.scale`.
Rows count from 0 in every message.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pandas as pd

from momentdag.errors import DataError, DataWarning, OptionError, did_you_mean
from momentdag.readonly import ReadOnlyArrays
from momentdag.table.checks import (
    MIN_SAMPLES,
    check_finite,
    check_no_copies,
    check_shape,
    check_width,
    take_notes,
)
from momentdag.table.experiment import Experiment
from momentdag.table.files import MAX_FILE_BYTES, Delimiter, read_file
from momentdag.table.fingerprint import fingerprint
from momentdag.table.kinds import Kind, all_roots, check_labels, guess_kind, resolve_kinds
from momentdag.table.observed import Observed, observe, observe_rows
from momentdag.table.scaling import standardise_columns
from momentdag.table.tables import FloatArray, check_names, quote, read_table

__all__ = ["MAX_FILE_BYTES", "MIN_SAMPLES", "Dataset"]


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Dataset(ReadOnlyArrays):
    """A checked table of observations that remembers its units and the kinds of its columns.

    Build one with `from_table` or `from_file`, which also warn of what needs attention; the
    constructor makes the same checks but only stores this in `notes`. Text, dates and other
    ordinary columns are turned into numbers by `momentdag.table.prepare_table`.

    Parameters
    ----------
    values : float array, shape (n_samples, n_variables)
        Observations in original units; copied and made read-only.
    names : sequence of str
        One unique name for each column.
    kinds : sequence of Kind, or mapping from name to Kind, optional
        "continuous", "ordered", "count", "binary", "category" or "time"; guessed where not given.
    labels : mapping from name to sequence of str, optional
        What the codes 0, 1, ... of a binary, ordered or category column stand for.
    roots : sequence of str
        Columns that are never effects; those of kind "time" always are.
    allow_missing : bool
        Accept NaN as missing cells; by default they are refused.
    experiment : Experiment, optional
        Regimes of the rows and cells that were set, see `momentdag.table.with_experiment`.

    Attributes
    ----------
    location, scale : float array, shape (n_variables,)
        Mean and (population) standard deviation of the observed cells of each column.
    standardised : float array, shape (n_samples, n_variables)
        ``(values - location) / scale``: mean 0 and standard deviation 1 in each column.
    notes : tuple of str
        What needs attention: discrete columns, extreme cells, few rows.

    Raises
    ------
    DataError
        If a column is not numeric, has missing or infinite cells, does not vary or is a linear
        copy of another; if names are missing or repeated; if rows are fewer than `MIN_SAMPLES`;
        if kinds, labels or roots do not fit the columns.

    Examples
    --------
    >>> import numpy as np
    >>> celsius = np.array([18.0, 21.0, 19.5, 23.0, 20.5, 22.0, 17.0, 19.0, 24.0, 26.0])
    >>> litres = np.array([1.2, 3.4, 2.2, 4.1, 0.3, 2.9, 3.3, 1.8, 2.7, 1.1])
    >>> data = Dataset(np.column_stack([celsius, litres]), ["celsius", "litres"])
    >>> data
    Dataset(10 samples, 2 variables: celsius, litres)
    >>> data.location.tolist(), data.standardised.std(axis=0).round(12).tolist()
    ([21.0, 2.3], [1.0, 1.0])
    >>> data.kinds
    ('continuous', 'continuous')
    """

    values: FloatArray
    names: tuple[str, ...]
    kinds: tuple[Kind, ...]
    labels: Mapping[str, tuple[str, ...]]
    roots: tuple[str, ...]
    experiment: Experiment | None
    location: FloatArray
    scale: FloatArray
    standardised: FloatArray
    notes: tuple[str, ...]

    def __init__(
        self,
        values: object,
        names: Sequence[str],
        kinds: Sequence[Kind] | Mapping[str, Kind] | None = None,
        labels: Mapping[str, Sequence[str]] | None = None,
        roots: Sequence[str] = (),
        allow_missing: bool = False,
        experiment: Experiment | None = None,
    ) -> None:
        table = read_table(values, names)
        check_shape(table.values.shape, min_variables=1)
        check_width(len(table.names))
        check_finite(table.names, table.values, allow_missing=allow_missing)
        location, scale, standardised = standardise_columns(table.names, table.values)
        check_no_copies(table.names, table.values, standardised, scale)
        guesses = tuple(guess_kind(column) for column in table.values.T)
        resolved = resolve_kinds(table.names, guesses, kinds)
        texts = check_labels(table.names, table.values, resolved, {} if labels is None else labels)
        if experiment is not None:
            experiment.check(table.names, len(table.values))
        attributes: dict[str, object] = {
            "values": table.values,
            "names": table.names,
            "kinds": resolved,
            "labels": texts,
            "roots": all_roots(table.names, resolved, roots),
            "experiment": experiment,
            "location": location,
            "scale": scale,
            "standardised": standardised,
            "notes": take_notes(table.names, table.values, standardised),
        }
        for name, value in attributes.items():
            object.__setattr__(self, name, value)

    @classmethod
    def from_table(
        cls, X: object, names: Sequence[str] | None = None, *, min_variables: int = 1
    ) -> Dataset:
        """Read a frame, array or list of rows, and warn of what needs attention.

        Parameters
        ----------
        X : table, shape (n_samples, n_variables)
            A pandas, polars or pyarrow frame, a 2-D array, or a list of rows. A `Dataset` is
            returned as it is, without new warnings.
        names : sequence of str, optional
            New names for the columns. By default the frame's own, and x1, x2, ... for arrays.
        min_variables : int
            Refuse tables with fewer columns.

        Raises
        ------
        DataError
            If the table cannot be used; the message names the column and the row.

        Warns
        -----
        DataWarning
            Once for each kind of note.

        Examples
        --------
        >>> import numpy as np
        >>> X = np.random.default_rng(0).normal(size=(50, 2))
        >>> Dataset.from_table(X).names
        ('x1', 'x2')
        >>> X[17, 1] = np.nan
        >>> Dataset.from_table(X, names=["raf", "mek"])
        Traceback (most recent call last):
        ...
        momentdag.errors.DataError: Expected no missing values (NaN); column 'mek' has 1 (first at
        row 17). Drop or impute them first. Rows count from 0.
        """
        _check_option("min_variables", min_variables)
        if isinstance(X, Dataset) and names is None:
            check_shape(X.values.shape, min_variables)
            return X
        if isinstance(X, Dataset):
            dataset = X._with(X.values, names, X.experiment)
        else:
            table = read_table(X, names)
            check_shape(table.values.shape, min_variables)
            dataset = cls(table.values, table.names)
        _warn(dataset.notes)
        return dataset

    @classmethod
    def from_file(
        cls,
        path: str | os.PathLike[str],
        delimiter: Delimiter | None = None,
        *,
        min_variables: int = 1,
        max_bytes: int = MAX_FILE_BYTES,
    ) -> Dataset:
        r"""Read a CSV, TSV or Parquet file, and warn of what needs attention.

        Text files are UTF-8 with a header line and decimal points; spaces around names are
        dropped. Cells that are empty or say NA, NaN, null or None count as missing. Parquet needs
        pyarrow; an index column that pandas stored is left out.

        Parameters
        ----------
        path : path-like
        delimiter : {",", ";", "\t", "|", " "}, optional
            What separates the columns of a text file. Detected from the first lines by default.
        min_variables : int
            Refuse tables with fewer columns.
        max_bytes : int
            Refuse larger files, and Parquet files that would unpack to more.

        Raises
        ------
        DataError
            If the file cannot be read or its table cannot be used; the message gives the line.
        OptionError
            If ``delimiter`` is none of the choices.

        Warns
        -----
        DataWarning
            Once for each kind of note.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> rows = [f"{i % 17};{i * i % 31}.5" for i in range(40)]
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder) / "growth.csv"
        ...     _ = path.write_text("\n".join(["dose;growth", *rows]))
        ...     Dataset.from_file(path)
        Dataset(40 samples, 2 variables: dose, growth)
        """
        _check_option("min_variables", min_variables)
        _check_option("max_bytes", max_bytes)
        try:
            table = read_file(path, delimiter, max_bytes)
            check_shape(table.values.shape, min_variables)
            dataset = cls(table.values, table.names)
        except DataError as error:
            raise DataError(f"{path}: {error}") from error.__cause__
        _warn(dataset.notes)
        return dataset

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return int(self.values.shape[0])

    @property
    def n_variables(self) -> int:
        """Number of columns."""
        return int(self.values.shape[1])

    @cached_property
    def missing(self) -> npt.NDArray[np.bool_]:
        """The missing cells, shape (n_samples, n_variables)."""
        missing = np.isnan(self.values)
        missing.setflags(write=False)
        return missing

    @property
    def has_missing(self) -> bool:
        """Whether any cell is missing."""
        return bool(self.missing.any())

    def with_values(self, values: object) -> Dataset:
        """Return a table with the same columns and other, complete values (n, n_variables).

        They are in original units; labelled columns hold their codes.
        """
        return self._with(values, self.names, self.experiment)

    def take_rows(self, rows: npt.ArrayLike) -> Dataset:
        """Return some of the rows, given by number or as booleans, with the same columns."""
        chosen = np.asarray(rows)
        experiment = None if self.experiment is None else self.experiment.take_rows(chosen)
        return self._with(self.values[chosen], self.names, experiment, allow_missing=True)

    def _with(
        self,
        values: object,
        names: Sequence[str] | None,
        experiment: Experiment | None,
        *,
        allow_missing: bool = False,
    ) -> Dataset:
        new = check_names(self.names if names is None else names)
        if len(new) != self.n_variables:
            raise DataError(
                f"Expected one name for each of the {self.n_variables} columns; got {len(new)} "
                "names."
            )
        renamed = dict(zip(self.names, new, strict=True))
        labels = {renamed[name]: texts for name, texts in self.labels.items()}
        roots = [renamed[name] for name in self.roots]
        return Dataset(values, new, self.kinds, labels, roots, allow_missing, experiment)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of names, values and stated kinds, as text; the same on every machine."""
        own = fingerprint(self.names, self.values, self.kinds, self.labels, self.roots)
        return own if self.experiment is None else self.experiment.fingerprint(own)

    def observe(self, log_columns: tuple[str, ...] = (), regime: str | None = None) -> Observed:
        """Return what answers need to know of the columns: ranges, moments, grids, correlations.

        ``log_columns`` are natural logarithms of what the file holds. Moments are those of rows
        in which nothing was set, under one ``regime``, by default the reference.
        """
        moments = np.stack([self.location, self.scale])
        columns = (self.names, self.values, self.standardised, moments)
        whole = observe(*columns, log_columns, self.kinds, self.labels, self.roots)
        rows = None if self.experiment is None else self.experiment.undisturbed(regime)
        return whole if rows is None else observe_rows(whole, self.values[rows])

    def summary(self) -> pd.DataFrame:
        """Return min, q05, median, q95, max, mean and sd of each column (index: its name)."""
        return self.observe().summary

    def index(self, variable: str | int) -> int:
        """Return the position of a variable given by name or position.

        Raises
        ------
        DataError
            If there is no such variable.
        """
        if isinstance(variable, str) and variable in self.names:
            return self.names.index(variable)
        if isinstance(variable, (int, np.integer)) and 0 <= variable < self.n_variables:
            return int(variable)
        raise DataError(
            f"Expected a variable among {list(self.names)}; got {quote(variable)}."
            f"{did_you_mean(variable, self.names)}"
        )

    def to_original(self, values: npt.ArrayLike, variable: str | int) -> FloatArray:
        """Convert standardised values of one variable to its original units.

        Parameters
        ----------
        values : array, any shape
        variable : str or int
            Name or position.

        Examples
        --------
        >>> data = Dataset([[1, 0], [3, 1], [1, 0], [3, 3], [1, 5]] * 2, ["dose", "growth"])
        >>> data.to_original([-1.0, 0.0, 1.0], "growth").round(3).tolist()
        [-0.139, 1.8, 3.739]
        >>> data.from_original([1.8], "growth").tolist()
        [0.0]
        """
        j = self.index(variable)
        # Halves: near the largest floats scale * value can overflow where the sum does not.
        half = np.asarray(values, dtype=np.float64) * 0.5 * self.scale[j] + self.location[j] * 0.5
        return np.asarray(half * 2.0)

    def from_original(self, values: npt.ArrayLike, variable: str | int) -> FloatArray:
        """Convert values of one variable in original units to standardised ones.

        Parameters
        ----------
        values : array, any shape
        variable : str or int
            Name or position.
        """
        j = self.index(variable)
        half = np.asarray(values, dtype=np.float64) * 0.5 - self.location[j] * 0.5
        return np.asarray(half / self.scale[j] * 2.0)

    def to_frame(self) -> pd.DataFrame:
        """Return the observations in original units as a new pandas table."""
        return pd.DataFrame(self.values.copy(), columns=list(self.names))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Dataset):
            return NotImplemented
        return self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __repr__(self) -> str:
        shown = ", ".join(self.names[:6]) + (", ..." if self.n_variables > 6 else "")
        return f"Dataset({self.n_samples} samples, {self.n_variables} variables: {shown})"


def _check_option(name: str, value: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise OptionError(f"Expected {name} to be a positive whole number; got {quote(value)}.")


def _warn(notes: tuple[str, ...]) -> None:
    for note in notes:
        warnings.warn(note, DataWarning, stacklevel=3)
