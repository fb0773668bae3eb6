"""A fit that survives interruption."""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from momentdag.data import Dataset
from momentdag.data.checks import check_variances
from momentdag.engines.protocol import Progress, silent
from momentdag.errors import OptionError, StorageError
from momentdag.estimator import MomentDAG
from momentdag.runs.checkpoints import FileCheckpoint
from momentdag.runs.folder import CHECKPOINTS, check_free, clear, logged, open_folder
from momentdag.runs.info import INFO_NAME, DataInfo, RunInfo, read_info, write_info
from momentdag.runs.storage import describe, load, save_files

__all__ = ["fit"]

_logger = logging.getLogger(__name__)


def fit(
    estimator: MomentDAG,
    X: Any,
    folder: str | os.PathLike[str],
    *,
    resume: bool = False,
    force: bool = False,
    source: str = "",
    log_columns: Sequence[str] = (),
    progress: Progress = silent,
) -> MomentDAG:
    """Fit an estimator in a run folder, so that a fit cut short can be continued.

    Whatever ends the fit (an error, ctrl-C, a kill, a power cut), the folder says so and keeps what
    was finished. The same call with ``resume`` then goes on, and ends with the same bits as a fit
    that was never cut short.

    Parameters
    ----------
    estimator : MomentDAG
        With an integer ``random_state``.
    X : table, shape (n_samples, n_variables)
    folder : path-like
        Made if it is not there.
    resume : bool
        Go on with the interrupted fit in the folder; start if there is none, and read it if it is
        complete.
    force : bool
        Replace the run in the folder.
    source : str
        Where the data came from, for people.
    log_columns : sequence of str
        Columns of ``X`` that are natural logarithms, for people.
    progress : Progress

    Returns
    -------
    MomentDAG
        Fitted: ``estimator`` itself, or one read from the folder if the run is complete.

    Raises
    ------
    StorageError
        If the folder is taken, in use or cannot be written, or holds another run.
    DataError, KnowledgeError, OptionError
        If the table, the knowledge or an option cannot be used.

    Examples
    --------
    >>> import tempfile, momentdag as md
    >>> data = md.simulate.preset("linear-anm-2", np.random.default_rng(1), 100).data
    >>> estimator = md.MomentDAG(n_draws=500, random_state=0, engine_options={"family": "linear"})
    >>> with tempfile.TemporaryDirectory() as scratch:
    ...     _ = fit(estimator, data, Path(scratch) / "run")
    ...     again = fit(estimator, data, Path(scratch) / "run", resume=True)  # is complete
    >>> again.posterior_
    Posterior(500 draws of graph pairs over 2 variables, engine 'evidence')
    """
    if resume and force:
        raise OptionError("Expected resume or force; got both. One keeps a run, one replaces it.")
    seed = estimator.random_state
    if not isinstance(seed, int | np.integer):
        raise OptionError(
            "Expected an integer random_state, without which no fit can be continued; got "
            f"{seed!r}."
        )
    dataset = Dataset.from_table(X, min_variables=2)
    check_variances(dataset.names, dataset.scale)  # before the folder is touched
    about = DataInfo(
        dataset.names, dataset.n_samples, dataset.fingerprint, source, tuple(log_columns)
    )
    info = describe(estimator, about, int(seed))
    if estimator.knowledge is not None:
        estimator.knowledge.check(dataset.names)
    with open_folder(folder) as path:
        checkpoint = FileCheckpoint(path / CHECKPOINTS, info.key)
        if resume and (path / INFO_NAME).exists():
            if _is_complete(path, info):
                checkpoint.clear()
                return load(path)
        else:
            check_free(path, force)
            clear(path)
        # Before the log: a folder that a kill or a full disk leaves without it can be resumed.
        write_info(path, info)
        with logged(path):
            _fit_in(path, info, estimator, dataset, checkpoint, progress)
    return estimator


def _is_complete(folder: Path, info: RunInfo) -> bool:
    """Tell whether the run in a folder is complete; refuse one that is not the same."""
    there = read_info(folder)
    if there.key != info.key:
        raise StorageError(
            f"Expected to resume the run in {folder}; it has other data, options, knowledge, seed "
            "or version of momentdag. Use force to replace it, or choose another folder."
        )
    return there.status == "complete"


def _fit_in(
    folder: Path,
    info: RunInfo,
    estimator: MomentDAG,
    dataset: Dataset,
    checkpoint: FileCheckpoint,
    progress: Progress,
) -> None:
    _logger.info("Fitting %d rows of %d variables.", dataset.n_samples, dataset.n_variables)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            estimator._fit(dataset, checkpoint, _logging_stages(progress))
        save_files(estimator, folder, info, dataset)
    except BaseException as error:
        stopped = isinstance(error, KeyboardInterrupt | SystemExit | GeneratorExit)
        message = "" if stopped else f"{type(error).__name__}: {error}"
        _logger.error("The fit was %s. %s", "interrupted" if stopped else "cut short", message)
        # Should even this fail, the folder still says "fitting", which is as good.
        with suppress(StorageError):
            status = replace(info, status="interrupted" if stopped else "failed", message=message)
            write_info(folder, status)
        raise
    checkpoint.clear()
    _logger.info("Complete: %d draws.", estimator.posterior_.n_draws)
    # Passed on only now, as they may have been made errors and the run is worth keeping.
    for warning in caught:
        _logger.warning("%s", warning.message)
    for warning in caught:
        warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)


def _logging_stages(progress: Progress) -> Progress:
    """Report to ``progress``, and log each stage when it begins."""
    last = ""

    def report(stage: str, done: int, total: int) -> None:
        nonlocal last
        if stage != last:
            last = stage
            _logger.info("Stage: %s", stage)
        progress(stage, done, total)

    return report
