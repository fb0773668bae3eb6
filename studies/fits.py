"""How a table is fitted: by an engine, a baseline or a reference method."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from momentdag.baselines import fit as fit_baseline
from momentdag.estimator import MomentDAG
from momentdag.knowledge import Knowledge
from momentdag.posterior import Posterior, Provenance
from momentdag.stability import bootstrap
from studies.exact import exact_posterior
from studies.timing import timed

__all__ = [
    "Baseline",
    "Bootstrap",
    "Engine",
    "Fit",
    "Fitted",
    "Request",
    "Twice",
    "draw_exactly",
    "fit_nothing",
]


class Request(NamedTuple):
    """The input of a method. It never contains the truth."""

    data: pd.DataFrame
    knowledge: Knowledge | None
    seed: int
    n_draws: int
    options: Mapping[str, Any]


@dataclass(frozen=True)
class Fitted:
    """The result of a fit."""

    posterior: Posterior  # a point estimate is one draw
    status: str = "complete"  # or a sentence that says what was cut short
    estimator: MomentDAG | None = None  # if an engine was fitted
    measures: Mapping[str, float] = field(default_factory=dict)  # taken by the method itself


Fit: TypeAlias = Callable[[Request], Fitted]


@dataclass(frozen=True)
class Engine:
    """An engine of `MomentDAG`."""

    name: Literal["evidence", "variational"]

    def __call__(self, request: Request) -> Fitted:
        """Fit the estimator."""
        estimator = MomentDAG(
            engine=self.name,
            knowledge=request.knowledge,
            n_draws=request.n_draws,
            random_state=request.seed,
            engine_options=dict(request.options),
        ).fit(request.data)
        return Fitted(estimator.posterior_, estimator.status_, estimator)


@dataclass(frozen=True)
class Twice:
    """An engine fitted twice in a row: the second fit reuses the compiled programs."""

    engine: Engine

    def __call__(self, request: Request) -> Fitted:
        """Fit twice; return the second fit with the times of both."""
        measures: dict[str, float] = {}
        for label in ("first", "second"):
            fitted, timing = timed(lambda: self.engine(request))
            measures[f"{label}_seconds"] = timing.seconds
            measures[f"{label}_cpu_seconds"] = timing.cpu_seconds
        assert fitted.estimator is not None
        details = fitted.estimator.details_
        measures["n_steps"] = float(details["n_steps"])
        measures["converged"] = float(details["converged"])
        return Fitted(fitted.posterior, fitted.status, fitted.estimator, measures)


@dataclass(frozen=True)
class Bootstrap:
    """The evidence engine, fitted to tables of rows drawn with replacement, all draws pooled."""

    n_refits: int

    def __call__(self, request: Request) -> Fitted:
        """Fit every table; return the pooled draws."""
        estimator = MomentDAG(
            knowledge=request.knowledge,
            n_draws=request.n_draws,
            engine_options=dict(request.options),
        )
        rng = np.random.default_rng(request.seed)
        stability = bootstrap(rng, estimator, request.data, self.n_refits)
        return Fitted(stability.pooled())


@dataclass(frozen=True)
class Baseline:
    """A method of `momentdag.baselines`."""

    name: Literal["icdh", "host", "dds", "mc3", "varsort", "skewscore"]

    def __call__(self, request: Request) -> Fitted:
        """Fit the baseline."""
        data, knowledge, seed, n_draws, options = request
        result = fit_baseline(self.name, data, knowledge, n_draws, seed, options)
        return Fitted(result.posterior, result.status)


def fit_nothing(request: Request) -> Fitted:
    """Return one draw without edges, whatever the data."""
    names = tuple(str(name) for name in request.data.columns)
    empty = np.zeros((1, len(names), len(names)), dtype=bool)
    return Fitted(Posterior(names, empty, empty, Provenance("empty")))


def draw_exactly(request: Request) -> Fitted:
    """Draw independently from the exact posterior of a linear Gaussian model."""
    exact = exact_posterior(request.data)
    p = np.exp(exact.log_probability)
    rng = np.random.default_rng(request.seed)
    chosen = rng.choice(len(p), size=request.n_draws, p=p / p.sum())
    names = tuple(str(name) for name in request.data.columns)
    graphs = exact.mean_graphs[chosen], exact.variance_graphs[chosen]
    return Fitted(Posterior(names, *graphs, Provenance("exact")))
