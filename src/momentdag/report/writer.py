"""`write_report`: one HTML file for one fit."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sklearn.utils.validation import check_is_fitted

from momentdag.errors import DataError, DataWarning
from momentdag.knowledge import Knowledge
from momentdag.report.columns import Account
from momentdag.report.content import gather_content
from momentdag.report.page import render_page
from momentdag.report.variables import Effort
from momentdag.screening.tables import read_table_of
from momentdag.storage.files import write_atomically
from momentdag.storage.folder import REPORT
from momentdag.storage.run_info import INFO_NAME

if TYPE_CHECKING:
    from momentdag.estimator import MomentDAG

__all__ = ["write_report"]

_TITLE = "Who moves the mean, who moves the spread"


def write_report(
    estimator: MomentDAG,
    data: object,
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    knowledge: Knowledge | None = None,
    account: Account | None = None,
    outcomes: Sequence[str] | None = None,
) -> Path:
    """Write one HTML file that shows a fit: graphs, curves, levers, checks and assumptions.

    The file needs no network and no other file. It contains up to 300 rows of the data.

    Parameters
    ----------
    estimator : MomentDAG
        Fitted.
    data : table, shape (n_samples, n_variables)
        The rows of the fit (or new ones), with the same columns. A `Dataset` is not checked again.
    path : path-like
        An existing file is replaced once the new one is complete.
    title : str, optional
    knowledge : Knowledge, optional
        Statements to compare with the posterior; by default those of the fit.
    account : sequence of mappings, optional
        What was done to each column before the fit: rows with column, kind, action and why. By
        default ``estimator.account_``.
    outcomes : sequence of str, optional
        What can be asked about in the section “What if?”. By default the three variables that
        others move most probably; an empty list leaves the section out.

    Returns
    -------
    Path

    Raises
    ------
    NotFittedError
        If the estimator is not fitted.
    DataError
        If the table cannot be used or has other columns than the fit.
    OptionError
        If an outcome is unknown or a category.
    KnowledgeError
        If the knowledge names unknown columns or contradicts itself.
    StorageError
        If the file cannot be written.

    Examples
    --------
    With a fitted ``estimator``::

        md.report.write_report(estimator, data, "report.html", title="Dose and stress")
    """
    check_is_fitted(estimator, "posterior_")
    with warnings.catch_warnings():
        # The page itself shows these notes.
        warnings.simplefilter("ignore", DataWarning)
        dataset = read_table_of(estimator, data)
    expected = estimator.posterior_.names
    if dataset.names != expected:
        raise DataError(f"Expected the columns {list(expected)}; got {list(dataset.names)}.")
    stated = estimator.knowledge if knowledge is None else knowledge
    told = getattr(estimator, "account_", ()) if account is None else account
    heading = _TITLE if title is None else title
    place = Path(path)
    in_run = place.name == REPORT and (place.parent / INFO_NAME).is_file()
    run = place.resolve().parent.name if in_run else "RUN"
    content = gather_content(estimator, dataset, heading, stated, Effort(), told, outcomes, run)
    return write_atomically(path, render_page(content).encode("utf-8"))
