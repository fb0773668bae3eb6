"""The files of a run folder: what a fitted estimator and its table are written to and read from."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from momentdag.engines.protocol import FitResult, FittedModel
from momentdag.engines.regimes import RegimeModel
from momentdag.errors import DataError, StorageError, quote
from momentdag.estimator import MomentDAG
from momentdag.graph import MomentGraph
from momentdag.knowledge import Knowledge
from momentdag.posterior import Posterior
from momentdag.storage.archive import read_archive, write_archive
from momentdag.storage.budget import BUDGET
from momentdag.storage.files import read_regular, write_atomically
from momentdag.storage.folder import DATA, KNOWLEDGE, MECHANISMS, POSTERIOR, RECIPE, hash_files
from momentdag.storage.run_info import RunInfo, write_info
from momentdag.storage.state import take_array, take_names
from momentdag.table import Dataset, Observed, Recipe
from momentdag.table.experiment import take_experiment

__all__ = ["read_data", "read_estimator", "save_files"]


def save_files(estimator: MomentDAG, folder: Path, info: RunInfo, dataset: Dataset | None) -> None:
    """Write the files of a fitted estimator and declare the run complete."""
    estimator.posterior_.save(folder / POSTERIOR)
    if estimator.scm_ is not None:
        content, arrays = estimator.scm_.to_state()
        content = {"engine": estimator.engine, **content}
        write_archive(folder / MECHANISMS, "mechanisms", content, arrays)
    if estimator.knowledge is not None:
        estimator.knowledge.to_file(folder / KNOWLEDGE)
    recipe = getattr(estimator, "recipe_", None)
    if recipe is not None:
        write_atomically(folder / RECIPE, recipe.to_toml().encode("utf-8"))
    if dataset is not None:
        content = {
            "names": list(dataset.names),
            "kinds": list(dataset.kinds),
            "labels": {name: list(labels) for name, labels in dataset.labels.items()},
            "roots": list(dataset.roots),
        }
        columns: dict[str, Any] = {"values": dataset.values}
        if dataset.experiment is not None:
            content["experiment"], more = dataset.experiment.to_state()
            columns |= more
        write_archive(folder / DATA, "data", content, columns)
    result = {
        "status": estimator.status_,
        "best_mean_edges": estimator.best_graph_.edges("mean"),
        "best_variance_edges": estimator.best_graph_.edges("variance"),
        **estimator.result_.observed.to_dict(),
        "details": estimator.details_,
    }
    if estimator.result_.observed_in:
        result["observed_in"] = {
            regime: observed.to_dict() for regime, observed in estimator.result_.observed_in.items()
        }
    files = hash_files(folder)
    write_info(folder, replace(info, status="complete", message="", result=result, files=files))


def read_estimator(path: Path, info: RunInfo) -> MomentDAG:
    """Return the fitted estimator of a run.

    Raises
    ------
    StorageError
        If the files do not belong together.
    """
    posterior = Posterior.load(path / POSTERIOR)
    if posterior.names != info.data.names:
        raise StorageError("posterior and run have different variables")
    knowledge = Knowledge.from_file(path / KNOWLEDGE) if KNOWLEDGE in info.files else None
    estimator = MomentDAG(knowledge=knowledge, **info.options)
    model = None
    if MECHANISMS in info.files:
        model = _read_model(path / MECHANISMS, estimator)
        if model.names != posterior.names:
            raise StorageError("mechanisms and posterior have different variables")
        known = posterior.target_draws
        in_posterior = () if known is None else known.regimes
        if (model.regimes if isinstance(model, RegimeModel) else ()) != in_posterior:
            raise StorageError("mechanisms and posterior have different regimes")
    estimator.account_ = tuple(dict(row) for row in info.account)
    estimator.recipe_ = None
    if RECIPE in info.files:
        text = read_regular(path / RECIPE, BUDGET.text_bytes).decode("utf-8")
        estimator.recipe_ = Recipe.from_toml(text)
    result = info.result
    best = MomentGraph.from_edges(
        posterior.names, result["best_mean_edges"], result["best_variance_edges"]
    )
    try:
        observed = Observed.from_dict(result, posterior.names, info.data.log_columns)
        in_regimes = {
            regime: Observed.from_dict(stored, posterior.names, info.data.log_columns)
            for regime, stored in result.get("observed_in", {}).items()
        }
        targets = posterior.target_draws
        if set(in_regimes) != (set() if targets is None else set(targets.regimes)):
            raise DataError("posterior and run have different regimes")
    except DataError as error:
        raise StorageError(str(error)) from error
    return estimator.adopt(
        FitResult(posterior, model, best, observed, result["status"], result["details"], in_regimes)
    )


def _read_model(path: Path, estimator: MomentDAG) -> FittedModel:
    state = read_archive(path, "mechanisms")
    if state.content.get("engine") != estimator.engine:
        raise StorageError(
            f"{path}: expected mechanisms of the engine {quote(estimator.engine)}; got "
            f"{quote(state.content.get('engine'))}."
        )
    try:
        return estimator.build_engine().restore_model(state)
    except StorageError as error:
        raise StorageError(f"{path}: {error}") from error


def read_data(path: Path, info: RunInfo) -> Dataset:
    """Return the table of a run.

    Raises
    ------
    StorageError
        If it is not the one that was fitted.
    """
    content, arrays = read_archive(path / DATA, "data", max_bytes=BUDGET.table_bytes)
    names = take_names(content)
    values = take_array(arrays, "values", np.float64, (None, len(names)))
    # Runs of earlier versions store neither kinds nor labels: all are guessed then.
    dataset = Dataset(
        values,
        names,
        content.get("kinds"),
        content.get("labels"),
        content.get("roots", ()),
        allow_missing=True,
        experiment=take_experiment(content.get("experiment"), arrays, values.shape),
    )
    if dataset.fingerprint != info.data.fingerprint:
        raise StorageError(f"{DATA} is not the table of the fit")
    return dataset
