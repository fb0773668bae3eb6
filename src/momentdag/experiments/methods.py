"""The methods that are compared: both engines and every baseline, behind one call."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from momentdag.engines.variational.options import VariationalOptions
from momentdag.errors import OptionError
from momentdag.knowledge import Knowledge
from momentdag.posterior import Posterior, Provenance

__all__ = [
    "BASELINES",
    "EMPTY",
    "ENGINES",
    "METHODS",
    "N_DRAWS",
    "N_QUICK_DRAWS",
    "Method",
    "Outcome",
    "run",
]

ENGINES = ("evidence", "variational", "variational-published")
BASELINES = ("mc3", "dds", "icdh", "host", "varsort")
EMPTY = "empty"
"""The graph without edges, which every other method should beat."""

N_DRAWS = 2000
N_QUICK_DRAWS = 400


class Request(NamedTuple):
    """What a method is asked to do."""

    data: pd.DataFrame
    knowledge: Knowledge | None
    seed: int
    n_draws: int
    options: Mapping[str, Any]


Fit: TypeAlias = Callable[[Request], tuple[Posterior, str]]
"""To draws (a point estimate is one), and "complete" or what went wrong."""


@dataclass(frozen=True)
class Engine:
    """An engine of `MomentDAG`."""

    name: Literal["evidence", "variational"]

    def __call__(self, request: Request) -> tuple[Posterior, str]:
        """Fit the estimator."""
        from momentdag.estimator import MomentDAG

        estimator = MomentDAG(
            engine=self.name,
            knowledge=request.knowledge,
            n_draws=request.n_draws,
            random_state=request.seed,
            engine_options=dict(request.options),
        ).fit(request.data)
        return estimator.posterior_, estimator.status_


@dataclass(frozen=True)
class Baseline:
    """A method of `momentdag.baselines`."""

    name: Literal["icdh", "host", "dds", "mc3", "varsort"]

    def __call__(self, request: Request) -> tuple[Posterior, str]:
        """Fit the baseline."""
        from momentdag.baselines import fit

        data, knowledge, seed, n_draws, options = request
        result = fit(self.name, data, knowledge, n_draws, seed, options)
        return result.posterior, result.status


def _no_edges(request: Request) -> tuple[Posterior, str]:
    """Return one draw without edges, whatever the data."""
    names = tuple(str(name) for name in request.data.columns)
    nothing = np.zeros((1, len(names), len(names)), dtype=bool)
    return Posterior(names, nothing, nothing, Provenance(EMPTY)), "complete"


@dataclass(frozen=True)
class Method:
    """A method, its settings, and what it is in the paper.

    Parameters
    ----------
    title : str
    fit : Fit
    module : str
        Where its code begins; everything that this module imports counts.
    paper : str or None
        The row of the paper's tables that it stands for.
    options : mapping
        Settings; what is not named is the default.
    quick : mapping
        Settings of a quick run, on top.
    knowledge : {"hard", "soft"}
        How it is told orderings.
    """

    title: str
    fit: Fit
    module: str
    paper: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    quick: Mapping[str, Any] = field(default_factory=dict)
    knowledge: Literal["hard", "soft"] = "hard"

    def settings(self, *, quick: bool) -> dict[str, Any]:
        """Return the options of a run."""
        return {**self.options, **self.quick} if quick else dict(self.options)


class Outcome(NamedTuple):
    """What came of a run.

    Attributes
    ----------
    posterior : Posterior
    seconds : float
        Wall time of the fit.
    status : str
        "complete", or a sentence saying what went wrong.
    warnings : tuple of str
    """

    posterior: Posterior
    seconds: float
    status: str
    warnings: tuple[str, ...]


_QUICK_EVIDENCE = {"n_starts": 1, "n_kicks": 0, "n_chains": 2, "thinning": 10}
_QUICK_VARIATIONAL = {"max_steps": 3000}
METHODS: Mapping[str, Method] = MappingProxyType(
    {
        "evidence": Method(
            "Evidence",
            Engine("evidence"),
            "momentdag.engines.evidence.engine",
            quick=_QUICK_EVIDENCE,
        ),
        "evidence-linear": Method(
            "Evidence, linear",
            Engine("evidence"),
            "momentdag.engines.evidence.engine",
            options={"family": "linear"},
        ),
        "variational": Method(
            "Variational",
            Engine("variational"),
            "momentdag.engines.variational.engine",
            paper="Proposed",
            quick={**_QUICK_VARIATIONAL, "n_restarts": 1, "warm_up_steps": 500},
        ),
        "variational-published": Method(
            "Variational, near the paper",
            Engine("variational"),
            "momentdag.engines.variational.engine",
            paper="Proposed",
            options=VariationalOptions.published().to_dict(),
            quick=_QUICK_VARIATIONAL,
            knowledge="soft",
        ),
        "mc3": Method("MC3", Baseline("mc3"), "momentdag.baselines.mc3", paper="MC3"),
        "dds": Method(
            "DDS",
            Baseline("dds"),
            "momentdag.baselines.dds",
            paper="DDS",
            quick={"max_steps": 3000},
        ),
        "icdh": Method(
            "ICDH",
            Baseline("icdh"),
            "momentdag.baselines.icdh",
            paper="ICDH",
            quick={"n_rounds": 1, "max_steps": 50},
        ),
        "host": Method("HOST", Baseline("host"), "momentdag.baselines.host", paper="HOST"),
        "varsort": Method(
            "VarSort", Baseline("varsort"), "momentdag.baselines.varsort", paper="VarSort"
        ),
        EMPTY: Method("Empty graph", _no_edges, "momentdag.posterior"),
    }
)


def run(
    name: str,
    data: pd.DataFrame,
    orderings: Sequence[tuple[str, str]] = (),
    *,
    seed: int,
    n_draws: int,
    quick: bool,
) -> Outcome:
    """Run a method on a table.

    Parameters
    ----------
    name : str
        One of `METHODS`.
    data : DataFrame, shape (n_samples, n_variables)
    orderings : sequence of (first, second)
        What is known about the order.
    seed : int
    n_draws : int
        Of Bayesian methods; a point estimate is one draw.
    quick : bool
        Take the cheaper settings.

    Raises
    ------
    OptionError
        If there is no such method.

    Examples
    --------
    >>> import numpy as np, momentdag as md
    >>> data = md.simulate.preset("linear-anm-3", np.random.default_rng(1)).data
    >>> outcome = run("varsort", data, seed=0, n_draws=10, quick=True)
    >>> outcome.status, outcome.posterior.n_draws
    ('complete', 1)
    """
    if name not in METHODS:
        raise OptionError(f"Expected a method among {list(METHODS)}; got {name!r}.")
    method = METHODS[name]
    knowledge = None
    if orderings:
        knowledge = Knowledge(order=list(orderings), strength=method.knowledge)
    request = Request(data, knowledge, seed, n_draws, method.settings(quick=quick))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        start = time.perf_counter()
        posterior, status = method.fit(request)
        seconds = time.perf_counter() - start
    said = dict.fromkeys(f"{w.category.__name__}: {w.message}" for w in caught)
    return Outcome(posterior, seconds, status, tuple(said))
