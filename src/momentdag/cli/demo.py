"""`momentdag demo`: the main job on the embedded Sachs data."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from rich.console import Console
from rich.table import Table
from sklearn.exceptions import ConvergenceWarning

from momentdag.datasets import load_sachs
from momentdag.errors import DataWarning, StorageError
from momentdag.estimator import MomentDAG
from momentdag.posterior import Posterior

__all__ = ["run_demo"]

_SHOWN = 0.1  # least probability of an edge in the tables


def run_demo(console: Console, folder: Path, n_draws: int, seed: int, n_jobs: int) -> None:
    """Fit the Sachs data on the log scale, show the most probable edges, save the posterior."""
    _make(folder)
    sachs = load_sachs(truth="17")
    data = pd.DataFrame(np.log(sachs.data))
    console.print(
        f"Sachs et al. 2005: {data.shape[1]} proteins measured in {data.shape[0]} single cells, "
        "on the log scale."
    )
    console.print("Learning who moves the mean of whom, and who moves its variance ...")
    estimator = MomentDAG(n_draws=n_draws, random_state=seed, n_jobs=n_jobs, verbose=True)
    with warnings.catch_warnings():
        # Logarithms tame the outlying cells that the raw data are known for; how good the draws
        # are is printed below.
        warnings.simplefilter("ignore", DataWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        estimator.fit(data)
    posterior = estimator.posterior_
    console.print(_edge_table(posterior, sachs.union_graph))
    console.print(
        "A probability is the share of drawn graph pairs that hold the edge. 'accepted' says what "
        "the 17-edge reference network of Sachs et al. has between the two proteins."
    )
    diagnostics = posterior.diagnostics()
    console.print(f"Check of the draws: {diagnostics.message()}", markup=False)
    path = folder / "sachs-posterior.zip"
    posterior.save(path)
    console.print(f"The posterior ({posterior.n_draws} draws) is saved in {path}", markup=False)


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(
            f"Could not make the folder {folder}: {error.strerror}. Choose another with --output."
        ) from error


def _edge_table(posterior: Posterior, reference: pd.DataFrame | None) -> Table:
    mean = posterior.edge_probabilities("mean")
    variance = posterior.edge_probabilities("variance")
    either = posterior.edge_probabilities("either")
    table = Table("cause", "effect", "moves the mean", "moves the variance", "accepted")
    for column in table.columns[2:4]:
        column.justify = "right"
    edges = [(c, e) for c in either.index for e in either.columns if either.loc[c, e] >= _SHOWN]
    for cause, effect in sorted(edges, key=lambda edge: -either.loc[edge]):
        table.add_row(
            cause,
            effect,
            _shown(mean.loc[cause, effect]),
            _shown(variance.loc[cause, effect]),
            _accepted(reference, cause, effect),
        )
    return table


def _shown(probability: float) -> str:
    return f"{probability:.2f}" if probability >= 0.005 else "-"


def _accepted(reference: pd.DataFrame | None, cause: str, effect: str) -> str:
    if reference is None:
        return ""
    if reference.loc[cause, effect]:
        return "yes"
    return "reversed" if reference.loc[effect, cause] else "no"
