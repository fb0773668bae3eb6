"""`write_report`: from a fit to a file that anyone can open."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from sklearn.utils.validation import check_is_fitted

from momentdag.atomic import write_atomically
from momentdag.data import Dataset
from momentdag.errors import DataError, DataWarning
from momentdag.knowledge import Knowledge
from momentdag.report.content import gather
from momentdag.report.page import render
from momentdag.report.variables import Effort

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
) -> Path:
    """Write one HTML file that shows a fit: graphs, curves, levers, checks and assumptions.

    The file needs no network and no other file. It holds up to 300 rows of the data.

    Parameters
    ----------
    estimator : MomentDAG
        Fitted.
    data : table, shape (n_samples, n_variables)
        The rows of the fit (or new ones), with the same columns.
    path : path-like
        Where to write; an existing file is replaced once the new one is complete.
    title : str, optional
    knowledge : Knowledge, optional
        Statements to hold against the posterior; by default those of the fit.

    Returns
    -------
    Path

    Raises
    ------
    NotFittedError
        If the estimator is not fitted.
    DataError
        If the table cannot be used or has other columns.
    KnowledgeError
        If the knowledge does not fit the columns or contradicts itself.
    StorageError
        If the file cannot be written.

    Examples
    --------
    >>> import momentdag as md, numpy as np, pathlib, tempfile
    >>> rng = np.random.default_rng(0)
    >>> dose = rng.uniform(-2, 2, 100)
    >>> X = np.column_stack([dose, np.exp(0.5 * dose) * rng.normal(size=100)])
    >>> fit = md.MomentDAG(n_draws=100, random_state=0).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = md.report.write_report(fit, X, pathlib.Path(folder) / "report.html")
    ...     "Both graphs" in path.read_text(encoding="utf-8")
    True
    """
    check_is_fitted(estimator, "posterior_")
    with warnings.catch_warnings():
        # The page itself shows what deserves a look.
        warnings.simplefilter("ignore", DataWarning)
        dataset = Dataset.from_table(data, min_variables=2)
    expected = estimator.posterior_.names
    if dataset.names != expected:
        raise DataError(f"Expected the columns {list(expected)}; got {list(dataset.names)}.")
    stated = estimator.knowledge if knowledge is None else knowledge
    content = gather(estimator, dataset, _TITLE if title is None else title, stated, Effort())
    return write_atomically(path, render(content).encode("utf-8"))
