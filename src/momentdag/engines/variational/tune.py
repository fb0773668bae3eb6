"""Batch size and hidden units by the objective (appendix D.2): a grid that Optuna walks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np
import optuna

from momentdag.engines.protocol import NullCheckpoint, Progress, silent
from momentdag.engines.standardise import standardise
from momentdag.engines.variational.fitting import train
from momentdag.engines.variational.knowledge_arrays import Stated, pose_problem
from momentdag.engines.variational.options import VariationalOptions
from momentdag.engines.variational.problem import Problem
from momentdag.errors import OptionError
from momentdag.knowledge import Knowledge
from momentdag.table import Dataset

__all__ = ["BATCH_SIZES", "HIDDEN_UNITS", "Tuned", "choose", "tune"]

BATCH_SIZES = (32, 64, 128, 256)
HIDDEN_UNITS = (8, 16, 32, 64)


@dataclass(frozen=True)
class Tuned:
    """The best setting of a grid.

    Parameters
    ----------
    options : VariationalOptions
        The given options with the best batch size and number of hidden units, which are not to be
        tuned again.
    objective : float
        Final objective of that setting, nats per row.
    trials : tuple of (int, int, float)
        Batch size, hidden units and objective of every finished setting, best first.
    """

    options: VariationalOptions
    objective: float
    trials: tuple[tuple[int, int, float], ...]


def tune(
    X: object,
    knowledge: Knowledge | None = None,
    options: VariationalOptions | None = None,
    *,
    batch_sizes: Sequence[int] = BATCH_SIZES,
    hidden_units: Sequence[int] = HIDDEN_UNITS,
    max_trials: int | None = None,
    seed: int = 0,
    storage: str | None = None,
    study_name: str = "momentdag-variational",
    progress: Progress = silent,
) -> Tuned:
    """Train with every batch size and number of hidden units, and return the best by objective.

    Every trial starts from the same seed, so that settings differ by nothing else.

    Parameters
    ----------
    X : table, shape (n_samples, n_variables)
    knowledge : Knowledge, optional
    options : VariationalOptions, optional
        What is not tuned.
    batch_sizes, hidden_units : sequence of int
        The grid; by default the paper's.
    max_trials : int, optional
        Trials of this call; by default all that are left.
    seed : int
    storage : str, optional
        Where Optuna keeps the study, for example "sqlite:///tuning.db": a study that was cut short
        goes on, and several processes may share it. By default memory.
    study_name : str
    progress : callable
        Told of finished trials.

    Raises
    ------
    OptionError
        If the grid is empty or a setting cannot be used, or if the study was made for other data.

    Examples
    --------
    A study that several evenings share; each call goes on where the last one stopped::

        tuned = tune(data, storage="sqlite:///tuning.db", max_trials=4)
        md.MomentDAG(engine="variational", engine_options=tuned.options.to_dict())
    """
    base = VariationalOptions() if options is None else options
    dataset = Dataset.from_table(X, min_variables=2)
    table = standardise(dataset)
    stated_knowledge = Knowledge() if knowledge is None else knowledge
    known = stated_knowledge.compile(dataset.names).reordered(table.columns)
    problem, stated = pose_problem(table, known, base)
    grid = _grid(base, batch_sizes, hidden_units)
    with _quiet_optuna():
        study = optuna.create_study(
            storage=storage,
            study_name=study_name,
            sampler=optuna.samplers.GridSampler(grid, seed=seed),
            direction="maximize",
            load_if_exists=True,
        )
        _claim(study, dataset.fingerprint)
        _walk(study, grid, problem, stated, base, seed, max_trials, progress)
    return _best(study, base, max_trials)


def choose(
    problem: Problem, stated: Stated, options: VariationalOptions, progress: Progress
) -> Tuned:
    """Return the options with the best setting of the paper's grid for this problem.

    Batches of all rows, and of more than there are, are the same: one of them is tried.
    """
    n_samples = problem.values.shape[0]
    n_larger = sum(size >= n_samples for size in BATCH_SIZES)
    grid = _grid(options, BATCH_SIZES[: len(BATCH_SIZES) - max(n_larger - 1, 0)], HIDDEN_UNITS)
    seed = options.tuning_seed
    with _quiet_optuna():
        sampler = optuna.samplers.GridSampler(grid, seed=seed)
        study = optuna.create_study(sampler=sampler, direction="maximize")
        _walk(study, grid, problem, stated, options, seed, None, progress)
    return _best(study, options, None)


def _grid(
    base: VariationalOptions, batch_sizes: Sequence[int], hidden_units: Sequence[int]
) -> dict[str, list[int]]:
    """Return the grid by the names of the options, after a look at every value."""
    if not batch_sizes or not hidden_units:
        raise OptionError("Expected at least one batch size and one number of hidden units.")
    for batch_size in batch_sizes:
        for n_hidden in hidden_units:
            replace(base, batch_size=batch_size, n_hidden=n_hidden)
    return {"batch_size": list(batch_sizes), "n_hidden": list(hidden_units)}


@contextmanager
def _quiet_optuna() -> Iterator[None]:
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        yield
    finally:
        optuna.logging.set_verbosity(before)


def _walk(
    study: optuna.Study,
    grid: dict[str, list[int]],
    problem: Problem,
    stated: Stated,
    base: VariationalOptions,
    seed: int,
    max_trials: int | None,
    progress: Progress,
) -> None:
    """Run the trials that are left, each from the same seed."""
    total = len(grid["batch_size"]) * len(grid["n_hidden"])

    def objective(trial: optuna.Trial) -> float:
        setting = replace(
            base,
            batch_size=trial.suggest_categorical("batch_size", grid["batch_size"]),
            n_hidden=trial.suggest_categorical("n_hidden", grid["n_hidden"]),
        )
        trained = train(
            np.random.default_rng(seed),
            problem,
            setting,
            silent,
            NullCheckpoint(),
            ordered=stated.ordered,
            projected=stated.projected,
        )
        return float(trained.objectives.max())

    def report(study: optuna.Study, trial: optuna.trial.FrozenTrial) -> None:
        progress("tuning", len(_finished(study)), total)

    left = total - len(_finished(study))
    if max_trials is not None:
        left = min(left, max_trials)
    if left > 0:
        study.optimize(objective, n_trials=left, callbacks=[report])


def _best(study: optuna.Study, base: VariationalOptions, max_trials: int | None) -> Tuned:
    trials = sorted(_finished(study), key=lambda trial: -trial[2])
    if not trials:
        raise OptionError(f"Expected at least one finished trial; got max_trials={max_trials}.")
    batch_size, n_hidden, best = trials[0]
    options = replace(base, batch_size=batch_size, n_hidden=n_hidden, tuning="none")
    return Tuned(options, best, tuple(trials))


def _finished(study: optuna.Study) -> list[tuple[int, int, float]]:
    """Return the finished settings, each once: processes that share a study may repeat one."""
    found = {}
    for trial in study.get_trials(states=[optuna.trial.TrialState.COMPLETE]):
        if trial.value is not None:
            setting = (int(trial.params["batch_size"]), int(trial.params["n_hidden"]))
            found[setting] = float(trial.value)
    return [(*setting, value) for setting, value in found.items()]


def _claim(study: optuna.Study, fingerprint: str) -> None:
    """Tie a new study to its data, and refuse one that belongs to others."""
    owner = study.user_attrs.get("data")
    if owner is None:
        study.set_user_attr("data", fingerprint)
    elif owner != fingerprint:
        raise OptionError(
            f"Expected study {study.study_name!r} to be of the same data; it is of others. Choose "
            "another study_name."
        )
