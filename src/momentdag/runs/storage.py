"""Saving a fitted estimator as a folder, and reading it back.

Every file is written under another name and moved into place, and `run.json`, which names them all
with their checksums, is written last: a folder is either complete or says that it is not.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from momentdag._version import __version__
from momentdag.data import Dataset
from momentdag.engines.protocol import Fit
from momentdag.errors import OptionError, StorageError
from momentdag.estimator import MomentDAG
from momentdag.graph import MomentGraph
from momentdag.knowledge import Knowledge
from momentdag.posterior import Posterior
from momentdag.runs.archive import read_archive, write_archive
from momentdag.runs.folder import (
    DATA,
    FILES,
    KNOWLEDGE,
    MECHANISMS,
    POSTERIOR,
    check_free,
    clear,
    open_folder,
)
from momentdag.runs.info import DataInfo, RunInfo, file_hash, now, read_info, write_info
from momentdag.runs.mechanisms import load_model, save_model

__all__ = ["describe", "load", "load_data", "load_posterior", "save", "save_files"]


def describe(estimator: MomentDAG, data: DataInfo, seed: int) -> RunInfo:
    """Return what `run.json` says before the fit.

    Raises
    ------
    OptionError
        If the engine or one of its options is unknown.
    """
    options = {
        "engine": estimator.engine,
        "n_draws": int(estimator.n_draws),
        "n_jobs": int(estimator.n_jobs),
        "random_state": seed,
        # With defaults filled in: they may change from version to version.
        "engine_options": estimator._engine().options.to_dict(),
    }
    knowledge = None if estimator.knowledge is None else estimator.knowledge.to_dict()
    deciding = {name: value for name, value in options.items() if name != "n_jobs"}
    said = json.dumps([data.fingerprint, deciding, knowledge, __version__], sort_keys=True)
    key = hashlib.sha256(said.encode("ascii")).hexdigest()
    return RunInfo("fitting", key, data, options, started=now())


def save(
    estimator: MomentDAG,
    folder: str | os.PathLike[str],
    data: Any = None,
    *,
    source: str = "",
    log_columns: Sequence[str] = (),
    force: bool = False,
) -> Path:
    """Write a fitted estimator to a run folder, see `momentdag.runs`.

    Parameters
    ----------
    estimator : MomentDAG
    folder : path-like
        Made if it is not there; must be empty, unless ``force`` is given.
    data : table, optional
        What it was fitted to. A run without its data answers every question, but nobody can make a
        report of it.
    source : str
        Where the data came from, for people.
    log_columns : sequence of str
        Columns of ``data`` that are natural logarithms, for people.
    force : bool
        Replace the run that is there.

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    StorageError
        If the folder is taken, in use or cannot be written.
    OptionError
        If the data are not those of the fit.

    Examples
    --------
    >>> import tempfile, momentdag as md, numpy as np
    >>> data = md.simulate.preset("linear-anm-2", np.random.default_rng(1), 100).data
    >>> options = {"family": "linear"}
    >>> estimator = md.MomentDAG(n_draws=500, random_state=0, engine_options=options).fit(data)
    >>> with tempfile.TemporaryDirectory() as scratch:
    ...     folder = save(estimator, Path(scratch) / "run", data)
    ...     load(folder).posterior_
    Posterior(500 draws of graph pairs over 2 variables, engine 'evidence')
    """
    check_is_fitted(estimator, "posterior_")
    posterior = estimator.posterior_
    provenance = posterior.provenance
    dataset = None if data is None else Dataset.from_table(data)
    if dataset is not None and dataset.fingerprint != provenance.data_hash:
        raise OptionError("Expected the data that the estimator was fitted to; these are others.")
    about = DataInfo(
        posterior.names,
        None if dataset is None else dataset.n_samples,
        provenance.data_hash,
        source,
        tuple(log_columns),
    )
    seed = 0 if provenance.seed is None else provenance.seed
    with open_folder(folder) as path:
        check_free(path, force)
        info = describe(estimator, about, seed)
        clear(path)
        save_files(estimator, path, info, dataset)
    return path


def save_files(estimator: MomentDAG, folder: Path, info: RunInfo, dataset: Dataset | None) -> None:
    """Write the files of a fitted estimator and declare the run complete."""
    estimator.posterior_.save(folder / POSTERIOR)
    if estimator.scm_ is not None:
        save_model(estimator.scm_, estimator.engine, folder / MECHANISMS)
    if estimator.knowledge is not None:
        estimator.knowledge.to_file(folder / KNOWLEDGE)
    if dataset is not None:
        content = {"names": list(dataset.names)}
        write_archive(folder / DATA, "data", content, {"values": dataset.values})
    files = {name: file_hash(folder / name) for name in FILES if (folder / name).exists()}
    result = {
        "status": estimator.status_,
        "best_mean_edges": estimator.best_graph_.edges("mean"),
        "best_variance_edges": estimator.best_graph_.edges("variance"),
        "summary": estimator.summary_.to_dict("split"),
        "details": _finite(estimator.details_),
    }
    write_info(folder, replace(info, status="complete", message="", result=result, files=files))


def load(folder: str | os.PathLike[str]) -> MomentDAG:
    """Read a complete run as the fitted estimator that it was.

    Nothing in the folder is ever executed, and no path in it is followed.

    Raises
    ------
    StorageError
        If the run is unfinished, damaged, altered or no run at all.
    """
    with _intact(folder) as (path, info):
        posterior = Posterior.load(path / POSTERIOR)
        if posterior.names != info.data.names:
            raise StorageError("posterior and run have different variables")
        knowledge = Knowledge.from_file(path / KNOWLEDGE) if KNOWLEDGE in info.files else None
        model = None
        if MECHANISMS in info.files:
            model = load_model(info.options["engine"], path / MECHANISMS)
            if model.names != posterior.names:
                raise StorageError("mechanisms and posterior have different variables")
        result = info.result
        best = MomentGraph.from_edges(
            posterior.names, result["best_mean_edges"], result["best_variance_edges"]
        )
        estimator = MomentDAG(knowledge=knowledge, **info.options)
        fit = Fit(posterior, model, best, result["status"], result["details"])
        estimator._accept(fit, _summary(result["summary"], posterior.names))
        estimator.n_features_in_ = posterior.n_variables
        estimator.feature_names_in_ = np.array(posterior.names, dtype=object)
        return estimator


def load_posterior(folder: str | os.PathLike[str]) -> Posterior:
    """Read the posterior of a complete run; quicker than `load`.

    Raises
    ------
    StorageError
        As from `load`.
    """
    with _intact(folder) as (path, _):
        return Posterior.load(path / POSTERIOR)


def load_data(folder: str | os.PathLike[str]) -> Dataset:
    """Read the table that a complete run was fitted to.

    Raises
    ------
    StorageError
        As from `load`, and if the run was saved without its data.
    """
    with _intact(folder) as (path, info):
        if DATA not in info.files:
            raise StorageError("the run was saved without its data")
        content, arrays = read_archive(path / DATA, "data")
        dataset = Dataset(arrays["values"], content["names"])
        if dataset.fingerprint != info.data.fingerprint:
            raise StorageError("the data are not those of the fit")
        return dataset


@contextmanager
def _intact(folder: str | os.PathLike[str]) -> Iterator[tuple[Path, RunInfo]]:
    """Give a complete run whose files are those it lists; whatever fails is a `StorageError`."""
    path, info = Path(folder), read_info(folder)
    if info.status != "complete":
        why = f" ({info.message})" if info.message else ""
        raise StorageError(
            f"Expected a complete run; the one in {folder} is {info.status}{why}. Continue it with "
            "`momentdag fit ... --resume`."
        )
    if POSTERIOR not in info.files:
        raise StorageError(f"{folder} is not an intact run folder: it lists no {POSTERIOR}.")
    for name in FILES:
        if name in info.files and file_hash(path / name) != info.files[name]:
            raise StorageError(
                f"{path / name} does not match its checksum in run.json; it was altered or "
                "damaged. Restore it from a copy or fit again."
            )
    try:
        yield path, info
    except Exception as error:  # damage that a checksum cannot see takes many forms
        raise StorageError(f"{folder} is not an intact run folder: {error}") from error


def _summary(stored: Any, names: tuple[str, ...]) -> pd.DataFrame:
    table = pd.DataFrame(stored["data"], stored["index"], stored["columns"], dtype=np.float64)
    table.index.name = "variable"
    if tuple(table.index) != names:
        raise StorageError("summary and posterior have different variables")
    return table


def _finite(value: Any) -> Any:
    """Return plain values with null for numbers that JSON has no name for."""
    if isinstance(value, dict):
        return {str(key): _finite(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(entry) for entry in value]
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value
