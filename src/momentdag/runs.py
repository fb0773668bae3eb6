"""Run folders: a fit on disk, complete or resumable, readable without trusting it.

A folder holds

- ``run.json``: status, options, names and fingerprint of the data, checksums of the files below;
- ``posterior.zip``: the draws, see `momentdag.Posterior.load`;
- ``mechanisms.npz``: the fitted functions, as JSON and arrays;
- ``knowledge.json``: the prior knowledge, if any was given;
- ``data.npz``: the table that was fitted;
- ``recipe.toml``: what was done to the columns of the source before that;
- ``log.txt``, ``report.html``: for people;
- ``checkpoints/``: the finished stages of an unfinished fit; removed when it is complete.

Every file is written under a temporary name and moved into place. ``run.json``, which lists them
all with their checksums, is written last: a folder is complete, or says that it is not.
"""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from momentdag.engines.protocol import FitRequest, FitResult, Progress, silent
from momentdag.engines.regimes import observe_regimes
from momentdag.errors import OptionError, StorageError, quote
from momentdag.estimator import MomentDAG
from momentdag.posterior import Posterior
from momentdag.run_files import read_data, read_estimator, save_files
from momentdag.storage.checkpoint import FileCheckpoint
from momentdag.storage.folder import (
    CHECKPOINTS,
    DATA,
    POSTERIOR,
    check_free,
    clear,
    find_run,
    open_complete,
    open_folder,
)
from momentdag.storage.log import StageLog, logged
from momentdag.storage.run_info import DataInfo, RunInfo, describe_fit, read_info, write_info
from momentdag.table import Dataset, Prepared, Recipe, prepare_table
from momentdag.table.experimental import take_columns

__all__ = [
    "DataInfo",
    "Run",
    "RunInfo",
    "fit",
    "load",
    "load_data",
    "load_posterior",
    "load_run",
    "read_info",
    "save",
]

_logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Run:
    """A complete run, read and checked once.

    Parameters
    ----------
    estimator : MomentDAG
    info : RunInfo
        What `run.json` says.
    data : Dataset or None
        The table that was fitted, if it was requested and saved.
    """

    estimator: MomentDAG
    info: RunInfo
    data: Dataset | None

    @property
    def account(self) -> list[dict[str, str]]:
        """What was done to each column of the source: column, kind, action and why.

        Rows with an empty column are about the whole table.
        """
        return [dict(row) for row in self.info.account]

    @property
    def recipe(self) -> Recipe | None:
        """The same as a recipe, which prepares other rows of the same source."""
        recipe: Recipe | None = self.estimator.recipe_
        return recipe


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
    regime: Any = None,
    interventions: Any = None,
    reference: object = None,
) -> MomentDAG:
    """Fit an estimator in a run folder, so that an interrupted fit can be continued.

    Whatever ends the fit (an error, ctrl-C, a kill, a power cut), the folder says so and keeps the
    finished stages. The same call with ``resume`` then continues, and its result is bit-for-bit
    identical to that of an uninterrupted fit.

    Parameters
    ----------
    estimator : MomentDAG
        Its ``random_state`` must be an integer.
    X : table, shape (n_samples, n_variables), or Prepared
        What `momentdag.table.prepare_table` returned brings its own logarithms.
    folder : path-like
        Created if it does not exist.
    resume : bool
        Continue the interrupted fit in the folder; start one if there is none, and load it if it
        is complete.
    force : bool
        Replace the run in the folder.
    source : str
        Where the data came from; only shown.
    log_columns : sequence of str
        Columns of ``X`` that are natural logarithms; answers are in the units before them.
    progress : Progress
    regime, interventions, reference
        As of `MomentDAG.fit`.

    Returns
    -------
    MomentDAG
        Fitted: ``estimator`` itself, or one loaded from the folder if the run is complete.

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
    ...     copy = load(save(again, Path(scratch) / "copy", data))
    >>> copy.posterior_
    Posterior(500 draws of graph pairs over 2 variables, engine 'evidence')
    """
    if resume and force:
        raise OptionError(
            "Expected resume or force; got both. resume continues a run, force replaces it."
        )
    seed = estimator.random_state
    if not isinstance(seed, int | np.integer):
        raise OptionError(
            f"Expected an integer random_state; got {quote(seed)}. A fit is resumed from its seed."
        )
    # May raise, so before the folder is touched.
    request = estimator.prepare(X, regime=regime, interventions=interventions, reference=reference)
    dataset = request.dataset
    logs = (*log_columns, *(X.log_columns if isinstance(X, Prepared) else ()))
    data = DataInfo(dataset.names, dataset.n_samples, dataset.fingerprint, source, logs)
    info = _describe(estimator, data, int(seed))
    with open_folder(folder) as path:
        checkpoint = FileCheckpoint(path / CHECKPOINTS, info.key)
        before = find_run(path, info.key) if resume else None
        if before is None:
            check_free(path, force)
            clear(path)
        elif before.status == "complete":
            checkpoint.clear()
            return load(path)
        # Written before the log, so that a fit that dies without a log can still be resumed.
        write_info(path, info)
        with logged(path):
            request = replace(request, checkpoint=checkpoint, progress=StageLog(progress))
            _fit_and_save(estimator, request, path, info, checkpoint)
    return estimator


def save(
    estimator: MomentDAG,
    folder: str | os.PathLike[str],
    data: Any = None,
    *,
    source: str = "",
    log_columns: Sequence[str] = (),
    force: bool = False,
    regime: Any = None,
    interventions: Any = None,
) -> Path:
    """Write a fitted estimator to a run folder.

    Parameters
    ----------
    estimator : MomentDAG
    folder : path-like
        Created if it does not exist; must be empty, unless ``force`` is given.
    data : table, optional
        The table it was fitted to. A run without its data answers every query, but cannot make
        a report.
    source : str
        Where the data came from; only shown.
    log_columns : sequence of str
        Columns of ``data`` that are natural logarithms; answers are in the units before them.
    force : bool
        Replace the run in the folder.
    regime, interventions
        What was stated of the rows of ``data`` in the fit.

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    StorageError
        If the folder is taken, in use or cannot be written.
    OptionError
        If ``data`` is not the table of the fit.
    """
    check_is_fitted(estimator, "posterior_")
    posterior = estimator.posterior_
    provenance = posterior.provenance
    dataset = None if data is None else _as_fitted(estimator, data, regime, interventions)
    if dataset is not None and dataset.fingerprint != provenance.data_hash:
        raise OptionError("`data` is not the table this model was fitted to.")
    if dataset is not None and log_columns:
        result = _in_units_of_file(estimator.result_, dataset, tuple(log_columns))
        estimator = clone(estimator).adopt(result, estimator.knowledge_)
    n_samples = None if dataset is None else dataset.n_samples
    about = DataInfo(posterior.names, n_samples, provenance.data_hash, source, tuple(log_columns))
    with open_folder(folder) as path:
        check_free(path, force)
        info = _describe(estimator, about, 0 if provenance.seed is None else provenance.seed)
        clear(path)
        save_files(estimator, path, info, dataset)
    return path


def load(folder: str | os.PathLike[str]) -> MomentDAG:
    """Read a complete run as a fitted estimator.

    Nothing in the folder is executed, and no path in it is followed.

    Raises
    ------
    StorageError
        If the run is unfinished, damaged or altered, or the folder holds no run.
    """
    return load_run(folder).estimator


def load_run(folder: str | os.PathLike[str], *, with_data: bool = False) -> Run:
    """Read a complete run: the estimator, its `run.json` and, on request, its table."""
    with open_complete(folder) as (path, info):
        data = read_data(path, info) if with_data and DATA in info.files else None
        return Run(read_estimator(path, info), info, data)


def load_posterior(folder: str | os.PathLike[str]) -> Posterior:
    """Read only the posterior of a complete run, with the checks of `load`."""
    with open_complete(folder) as (path, _):
        return Posterior.load(path / POSTERIOR)


def load_data(folder: str | os.PathLike[str]) -> Dataset:
    """Read the table that a complete run was fitted to.

    Raises
    ------
    StorageError
        As from `load`, and if the run was saved without its data.
    """
    with open_complete(folder) as (path, info):
        if DATA not in info.files:
            raise StorageError(f"{folder}: the run was saved without its data.")
        return read_data(path, info)


def _as_fitted(estimator: MomentDAG, data: Any, regime: Any, interventions: Any) -> Dataset:
    """Return a table as the fit has seen it."""
    recipe = getattr(estimator, "recipe_", None)
    targets = estimator.posterior_.target_draws
    reference = None if regime is None or targets is None else targets.reference
    data, stated = take_columns(data, regime, interventions, reference)
    if recipe is None or isinstance(data, Dataset):
        return stated.add_to(Dataset.from_table(data))
    return stated.add_to(prepare_table(data, recipe))


def _in_units_of_file(
    result: FitResult, dataset: Dataset, log_columns: tuple[str, ...]
) -> FitResult:
    """Return a result whose answers speak the units of the file, not their logarithms."""
    observed = dataset.observe(log_columns)
    return replace(result, observed=observed, observed_in=observe_regimes(dataset, log_columns))


def _describe(estimator: MomentDAG, data: DataInfo, seed: int) -> RunInfo:
    """Return what `run.json` says before the fit."""
    options: dict[str, Any] = {
        "engine": estimator.engine,
        "n_draws": int(estimator.n_draws),
        "n_jobs": int(estimator.n_jobs),
        "random_state": seed,
        # With defaults filled in: they may change from version to version.
        "engine_options": estimator.build_engine().options.to_dict(),
    }
    if estimator.kinds is not None:
        options["kinds"] = dict(estimator.kinds)
    if estimator.missing != "auto":
        options["missing"] = estimator.missing
    knowledge = None if estimator.knowledge is None else estimator.knowledge.to_dict()
    recipe = getattr(estimator, "recipe_", None)
    info = describe_fit(data, options, knowledge, None if recipe is None else recipe.to_toml())
    return replace(info, account=tuple(getattr(estimator, "account_", ())))


def _fit_and_save(
    estimator: MomentDAG,
    request: FitRequest,
    folder: Path,
    info: RunInfo,
    checkpoint: FileCheckpoint,
) -> None:
    dataset = request.dataset
    _logger.info("Fitting %d rows of %d variables.", dataset.n_samples, dataset.n_variables)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            estimator.run(request)
        if info.data.log_columns:
            result = _in_units_of_file(estimator.result_, dataset, info.data.log_columns)
            estimator.adopt(result, request.knowledge)
        save_files(estimator, folder, info, dataset)
    except BaseException as error:
        stopped = isinstance(error, KeyboardInterrupt | SystemExit | GeneratorExit)
        message = "" if stopped else f"{type(error).__name__}: {error}"
        _logger.error("The fit was interrupted." if stopped else f"The fit failed. {message}")
        # If even this cannot be written, the status stays "fitting", which also can be resumed.
        with suppress(StorageError):
            ended = replace(info, status="interrupted" if stopped else "failed", message=message)
            write_info(folder, ended)
        raise
    checkpoint.clear()
    _logger.info("Complete: %d draws.", estimator.posterior_.n_draws)
    # Only after the run is saved: a filter may turn warnings into errors.
    for warning in caught:
        _logger.warning("%s", warning.message)
    for warning in caught:
        warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
